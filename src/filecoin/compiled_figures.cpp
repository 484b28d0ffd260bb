#include "filecoin/compiled_figures.hpp"

#include <string_view>

#include "base/assert.hpp"

namespace cuzk {
namespace {

struct Row {
  std::string_view circuit;
  CompiledFigures figures;
};

// Of what Recorder makes of each circuit; compiled_figures_test.cpp compiles them again. 64-bit machine.
constexpr Row kRows[] = {
    {"porep-2k", {14934653, 61001964}},    {"porep-4k", {15518201, 63358408}},  {"porep-16k", {16568785, 67641504}},
    {"porep-32k", {17152333, 69997948}},   {"porep-8m", {21471181, 87560124}},  {"porep-16m", {22054729, 89916568}},
    {"porep-512m", {24739445, 100839204}}, {"porep-1g", {25322993, 103195648}}, {"porep-32g", {722388563, 327793122}},
    {"porep-64g", {727640495, 330149566}}, {"snap-1k", {6861852, 6369138}},     {"snap-2k", {9354072, 8400106}},
    {"snap-4k", {11875212, 10465026}},     {"snap-8k", {14352452, 12510190}},   {"snap-16k", {34347995, 6462024}},
    {"snap-32k", {36869135, 8526944}},     {"snap-8m", {54602188, 24885536}},   {"snap-16m", {57123328, 26950456}},
    {"snap-512m", {314834518, 37428492}},  {"snap-32g", {443680526, 49772356}}, {"snap-64g", {465362330, 51837580}},
    {"window-2k", {199948, 764124}},       {"window-4k", {256588, 972316}},     {"window-16k", {297048, 1120080}},
    {"window-32k", {353688, 1328272}},     {"window-8m", {588348, 2187948}},    {"window-16m", {644988, 2396140}},
    {"window-512m", {782548, 2899860}},    {"window-1g", {839188, 3108052}},    {"window-32g", {1147190526, 3677488}},
    {"window-64g", {1188396200, 3884308}}, {"winning-2k", {827574, 124810}},    {"winning-4k", {1014486, 145658}},
    {"winning-16k", {1148004, 160492}},    {"winning-32k", {1334916, 181340}},  {"winning-8m", {2109294, 267538}},
    {"winning-16m", {2296206, 288386}},    {"winning-512m", {2750154, 338902}}, {"winning-1g", {2937066, 359750}},
    {"winning-32g", {3391014, 410266}},    {"winning-64g", {3577926, 431114}},
};

}  // namespace

CompiledFigures compiled_figures(const CircuitSpec& circuit) {
  for (const Row& row : kRows) {
    if (row.circuit == circuit.id()) return row.figures;
  }
  CUZK_ASSERT(false && "a circuit of circuit_specs() is missing in the table");
  return {};
}

}  // namespace cuzk
