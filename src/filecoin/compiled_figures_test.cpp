// The table of compiled circuits against compiled circuits: all but most of PoRep's, which take a second or more each.
#include "filecoin/compiled_figures.hpp"

#include <gtest/gtest.h>

namespace cuzk {
namespace {

TEST(CompiledFigures, AreThoseOfTheCircuits) {
  for (const CircuitSpec& spec : circuit_specs()) {
    const CompiledFigures figures = compiled_figures(spec);
    EXPECT_GT(figures.terms, 0u) << spec.id();
    if (spec.kind() == ProofKind::kPorep && spec.id() != "porep-2k") continue;
    const CompiledCircuit circuit = spec.compile();
    EXPECT_EQ(figures.terms, circuit.num_terms()) << spec.id();
    EXPECT_EQ(figures.bytes, circuit.bytes()) << spec.id();
  }
}

}  // namespace
}  // namespace cuzk
