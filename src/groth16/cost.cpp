#include "groth16/cost.hpp"

#include <algorithm>
#include <cmath>

#include "groth16/query_selection.hpp"
#include "msm/msm.hpp"

namespace cuzk {
namespace {

// Half of the bits of a witness, which come out of SHA-256, are ones.
constexpr double kOnes = 0.5;
// Bases that a sum goes through at a time.
constexpr uint64_t kLongestSegment = uint64_t{1} << 22;
// What a whole run takes beyond its operations measured one by one: sums that first touch their memory, and in a setup
// exponents, clearing and copying of points. Measured on two cores of a Xeon (family 6, model 167) with winning-32g and
// porep-2k, 5 runs: 1.06 to 1.2 for a proof, 1.35 to 1.5 for a setup.
constexpr double kWholeProof = 1.08, kWholeSetup = 1.4;

double at(double rate, uint64_t units) { return rate * static_cast<double>(units); }

// Of the segments that a sum is made in.
double sum_seconds(const SizedRate& addition, uint64_t count, uint64_t additions) {
  return additions == 0 ? 0 : kWholeProof * at(addition.at(std::min<uint64_t>(count, kLongestSegment)), additions);
}

}  // namespace

double SizedRate::at(uint64_t size) const {
  const double levels = std::log2(static_cast<double>(std::max<uint64_t>(1, size))) - log2_small;
  return small + growth * std::max(0.0, levels);
}

std::vector<StepTime> prove_times(const CircuitSizes& circuit, const ProofRates& rates) {
  const SrsShape srs = circuit.srs_shape();
  const uint64_t levels = 7 * uint64_t{circuit.log2_domain()};
  const auto query = [](uint64_t points, uint64_t others, const SizedRate& addition, double selected) {
    return kOnes * at(selected, points - std::min(points, others)) +
           sum_seconds(addition, others, QuerySelection::additions(others));
  };
  return {
      {"expand witness", at(rates.wire, circuit.aux)},
      {"matrices", at(rates.term, circuit.terms)},
      {"quotient", at(rates.quotient_point.at(circuit.domain()), circuit.domain() * levels)},
      {"sum h", sum_seconds(rates.addition_g1, srs.h, msm_additions(srs.h))},
      {"classify wires", at(rates.wire, circuit.aux) / 8},
      {"sum l", query(srs.l, circuit.l_others(), rates.addition_g1, rates.selected_g1)},
      {"sum a", query(srs.a, circuit.a_others(), rates.addition_g1, rates.selected_g1)},
      {"sum b_g1", query(srs.b_g1, circuit.b_others(), rates.addition_g1, rates.selected_g1)},
      {"sum b_g2", query(srs.b_g2, circuit.b_others(), rates.addition_g2, rates.selected_g2)},
      {"assemble", rates.self_check / 2, false},
      {"self-check",
       rates.self_check / 2 + sum_seconds(rates.addition_g1, circuit.inputs, msm_additions(circuit.inputs)), false}};
}

double read_params_cpu_seconds(const SrsShape& shape, const ProofRates& rates) {
  return at(rates.read_g1, shape.ic + shape.h + shape.l + shape.a + shape.b_g1) + at(rates.read_g2, shape.b_g2);
}

std::vector<StepTime> setup_times(const CircuitSizes& circuit, const SetupRates& rates) {
  const SrsShape srs = circuit.srs_shape();
  return {
      {"evaluate circuit at tau", at(rates.lagrange_row, circuit.rows()) + at(rates.transposed_term, circuit.terms)},
      {"tables", rates.tables},
      {"h", kWholeSetup * at(rates.multiple_g1, srs.h)},
      {"l", kWholeSetup * at(rates.multiple_g1, srs.l)},
      {"a", kWholeSetup * at(rates.multiple_g1, srs.a)},
      {"b_g1", kWholeSetup * at(rates.multiple_g1, srs.b_g1)},
      {"b_g2", kWholeSetup * at(rates.multiple_g2, srs.b_g2)}};
}

}  // namespace cuzk
