#include "groth16/cost.hpp"

#include <algorithm>

#include "groth16/query_selection.hpp"
#include "msm/msm.hpp"

namespace cuzk {
namespace {

// Half of the bits of a witness, which come out of SHA-256, are ones.
constexpr double kOnes = 0.5;

double at(double rate, uint64_t units) { return rate * static_cast<double>(units); }

}  // namespace

std::vector<StepTime> prove_times(const CircuitSizes& circuit, const ProofRates& rates) {
  const SrsShape srs = circuit.srs_shape();
  const uint64_t levels = 7 * uint64_t{circuit.log2_domain()};
  const auto query = [](uint64_t points, uint64_t others, double addition, double selected) {
    return kOnes * at(selected, points - std::min(points, others)) + at(addition, QuerySelection::additions(others));
  };
  return {{"expand witness", at(rates.wire, circuit.aux)},
          {"matrices", at(rates.term, circuit.terms)},
          {"quotient", at(rates.quotient_point, circuit.domain() * levels)},
          {"sum h", at(rates.addition_g1, msm_additions(srs.h))},
          {"classify wires", at(rates.wire, circuit.aux) / 8},
          {"sum l", query(srs.l, circuit.l_others(), rates.addition_g1, rates.selected_g1)},
          {"sum a", query(srs.a, circuit.a_others(), rates.addition_g1, rates.selected_g1)},
          {"sum b_g1", query(srs.b_g1, circuit.b_others(), rates.addition_g1, rates.selected_g1)},
          {"sum b_g2", query(srs.b_g2, circuit.b_others(), rates.addition_g2, rates.selected_g2)},
          {"assemble", rates.self_check / 2},
          {"self-check", rates.self_check / 2 + at(rates.addition_g1, msm_additions(circuit.inputs))}};
}

double read_params_seconds(const SrsShape& shape, const ProofRates& rates) {
  return at(rates.read_g1, shape.ic + shape.h + shape.l + shape.a + shape.b_g1) + at(rates.read_g2, shape.b_g2);
}

std::vector<StepTime> setup_times(const CircuitSizes& circuit, const SetupRates& rates) {
  const SrsShape srs = circuit.srs_shape();
  return {
      {"evaluate circuit at tau", at(rates.lagrange_row, circuit.rows()) + at(rates.transposed_term, circuit.terms)},
      {"tables", rates.tables},
      {"h", at(rates.multiple_g1, srs.h)},
      {"l", at(rates.multiple_g1, srs.l)},
      {"a", at(rates.multiple_g1, srs.a)},
      {"b_g1", at(rates.multiple_g1, srs.b_g1)},
      {"b_g2", at(rates.multiple_g2, srs.b_g2)}};
}

}  // namespace cuzk
