#include "groth16/cost.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "groth16/query_selection.hpp"
#include "msm/msm.hpp"
#include "parallel/parallel.hpp"
#include "srs/params_file.hpp"

namespace cuzk {
namespace {

// Bases that a sum goes through at a time.
constexpr uint64_t kLongestSegment = uint64_t{1} << 22;

double seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Work at(const Work& rate, uint64_t units) { return static_cast<double>(units) * rate; }

// Of the segments that a sum is made in.
Work sum_work(const SizedRate& addition, uint64_t count, uint64_t additions) {
  return additions == 0 ? Work{} : at(addition.at(std::min<uint64_t>(count, kLongestSegment)), additions);
}

template <class Curve>
Work query_work(const ProofRates& rates, uint64_t points, uint64_t most_others, const QueryShares& shares,
                const SizedRate& addition, const Work& selected) {
  const auto others = static_cast<uint64_t>(shares.others * static_cast<double>(most_others));
  // Where bases and scalars are brought together, memory that is new each time.
  constexpr uint64_t kGathered = sizeof(Affine<Curve>) + sizeof(Fr) + sizeof(std::pair<size_t, const Fr*>);
  const uint64_t gathered = kGathered * std::min<uint64_t>(others, QuerySelection::kGatherPoints);
  return static_cast<double>(points) * shares.ones * selected + at(rates.cleared_byte, gathered) +
         sum_work(addition, others, QuerySelection::additions(others));
}

}  // namespace

double Work::wall_seconds(size_t threads) const {
  return serial_seconds + (cpu_seconds - serial_seconds) / static_cast<double>(threads);
}

Work SizedRate::at(uint64_t size) const {
  const double levels = std::log2(static_cast<double>(std::max<uint64_t>(1, size))) - log2_small;
  return small + std::max(0.0, levels) * growth;
}

ProcessorClock ProcessorClock::now() { return {seconds(CLOCK_PROCESS_CPUTIME_ID), seconds(CLOCK_THREAD_CPUTIME_ID)}; }

Work ProcessorClock::elapsed() const {
  const ProcessorClock end = now();
  const double all = end.process - process, own = end.thread - thread;
  const auto threads = static_cast<double>(parallel_threads());
  // all = serial + parallel, own = serial + parallel / threads.
  const double serial = threads == 1 ? all : (threads * own - all) / (threads - 1);
  return {all, std::clamp(serial, 0.0, all)};
}

std::vector<StepTime> prove_times(const CircuitSizes& circuit, const ProofRates& rates) {
  const SrsShape srs = circuit.srs_shape();
  const uint64_t levels = 7 * uint64_t{circuit.log2_domain()};
  const auto g1 = [&](uint64_t points, uint64_t others, const QueryShares& shares) {
    return query_work<G1Curve>(rates, points, others, shares, rates.addition_g1, rates.selected_g1);
  };
  return {
      {"expand witness", at(rates.wire, circuit.aux)},
      {"matrices", at(rates.term, circuit.terms) + at(rates.row, circuit.domain())},
      {"quotient", at(rates.quotient_point.at(circuit.domain()), circuit.domain() * levels)},
      {"sum h", sum_work(rates.addition_g1, srs.h, msm_additions(srs.h))},
      {"classify wires", at(rates.classified_wire, circuit.aux)},
      {"sum l", g1(srs.l, circuit.l_others(), rates.l)},
      {"sum a", g1(srs.a, circuit.a_others(), rates.a)},
      {"sum b_g1", g1(srs.b_g1, circuit.b_others(), rates.b)},
      {"sum b_g2",
       query_work<G2Curve>(rates, srs.b_g2, circuit.b_others(), rates.b, rates.addition_g2, rates.selected_g2)},
      {"assemble", rates.assemble},
      {"self-check", rates.self_check + sum_work(rates.addition_g1, circuit.inputs, msm_additions(circuit.inputs))}};
}

Work read_params_work(const SrsShape& shape, const ProofRates& rates) {
  Work ic = at(rates.read_ic, shape.ic);
  if (shape.ic <= kReadChunkPoints) ic.serial_seconds = ic.cpu_seconds;
  return ic + at(rates.read_g1, shape.h + shape.l + shape.a + shape.b_g1) + at(rates.read_g2, shape.b_g2);
}

std::vector<StepTime> setup_times(const CircuitSizes& circuit, const SetupRates& rates) {
  const SrsShape srs = circuit.srs_shape();
  return {{"evaluate circuit at tau", at(rates.evaluated_term, circuit.terms)},
          {"tables", rates.tables},
          {"h", at(rates.multiple_g1, srs.h)},
          {"l", at(rates.multiple_g1, srs.l)},
          {"a", at(rates.multiple_g1, srs.a)},
          {"b_g1", at(rates.multiple_g1, srs.b_g1)},
          {"b_g2", at(rates.multiple_g2, srs.b_g2)}};
}

}  // namespace cuzk
