#include "groth16/cpu_backend.hpp"

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/release_memory.hpp"
#include "groth16/query_selection.hpp"
#include "matrix/matrix.hpp"
#include "msm/msm.hpp"
#include "ntt/quotient.hpp"

namespace cuzk {
namespace {

// The values of a, b, c on the domain.
struct Rows {
  std::vector<Fr> a, b, c;
};

Rows evaluate_rows(const CompiledCircuit& circuit, std::span<const Fr> inputs, std::span<const Fr> aux) {
  const size_t m = size_t{1} << circuit.log2_domain();
  const Coefficients coefficients(circuit.coefficients);
  Rows rows{std::vector<Fr>(m), std::vector<Fr>(m), std::vector<Fr>(m)};
  multiply(circuit.a(), coefficients, inputs, aux, rows.a);
  multiply(circuit.b(), coefficients, inputs, aux, rows.b);
  multiply(circuit.c(), coefficients, inputs, aux, rows.c);
  put_input_rows(inputs, circuit.num_constraints, rows.a);
  return rows;
}

Status check_satisfied(const Rows& rows) {
  const auto row = first_unsatisfied_row(rows.a, rows.b, rows.c);
  if (!row) return {};
  const std::string name = "constraint " + std::to_string(*row);
  return Error(ErrorClass::kUnsatisfied, "the witness violates " + name).at_field(name);
}

}  // namespace

Result<ProofSums> CpuBackend::evaluate(const CompiledCircuit& circuit, const Srs& srs, const PackedWitness& witness,
                                       Progress& progress, ProveReport& report) {
  const auto step = [&](std::string_view name, uint64_t units, std::string_view unit) {
    return StepTimer(report, progress, name, units, unit);
  };
  ProofSums sums;
  std::vector<Fr> aux;
  {
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("expand witness", circuit.num_aux, "wires");
    CUZK_ASSIGN(aux, expand_witness(circuit, witness));
  }
  Rows rows;
  {
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("matrices", circuit.num_terms(), "terms");
    rows = evaluate_rows(circuit, witness.inputs, aux);
    CUZK_TRY(check_satisfied(rows));
  }
  {
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("quotient", rows.a.size(), "rows");
    compute_h(Domain(circuit.log2_domain()), rows.a, rows.b, rows.c);
    release_memory(rows.b);
    release_memory(rows.c);
  }
  {
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("sum h", srs.h.size(), "points");
    sums.h = msm<G1Curve>(srs.h, std::span<const Fr>(rows.a).first(srs.h.size()));
    release_memory(rows.a);
  }
  std::optional<WitnessQueries> queries;
  {
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("classify wires", circuit.num_aux, "wires");
    queries.emplace(circuit, witness.inputs, aux);
  }
  {
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("sum l", srs.l.size(), "points");
    sums.l = queries->l.sum<G1Curve>(srs.l);
  }
  {
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("sum a", srs.a.size(), "points");
    sums.a = queries->a.sum<G1Curve>(srs.a);
  }
  {
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("sum b_g1", srs.b_g1.size(), "points");
    sums.b_g1 = queries->b.sum<G1Curve>(srs.b_g1);
  }
  {
    CUZK_TRY(check_wanted(progress));
    const auto timer = step("sum b_g2", srs.b_g2.size(), "points");
    sums.b_g2 = queries->b.sum<G2Curve>(srs.b_g2);
  }
  return sums;
}

std::vector<StepMemory> CpuBackend::memory(const CircuitSizes& circuit, size_t threads) {
  const SrsShape srs = circuit.srs_shape();
  const uint64_t aux = circuit.aux * sizeof(Fr), row = circuit.domain() * sizeof(Fr);
  // Densities (two of aux wires), classes (two of aux wires) and the ones of the three queries, a bit each.
  const uint64_t bits = (4 * circuit.aux + srs.l + srs.a + srs.b_g1 + 3 * circuit.inputs) / 8;
  const auto sum = [&]<class Curve>(std::type_identity<Curve>, uint64_t points, uint64_t others) {
    return aux + bits + QuerySelection::sum_scratch_bytes<Curve>(points, others, threads);
  };
  constexpr std::type_identity<G1Curve> kG1;
  constexpr std::type_identity<G2Curve> kG2;
  return {{"expand witness", aux},
          {"matrices", aux + 3 * row},
          {"quotient", aux + 3 * row + compute_h_scratch_bytes(circuit.log2_domain(), threads)},
          {"sum h", aux + row + msm_scratch_bytes<G1Curve>(srs.h, threads)},
          {"classify wires", aux + bits},
          {"sum l", sum(kG1, srs.l, circuit.l_others())},
          {"sum a", sum(kG1, srs.a, circuit.a_others())},
          {"sum b_g1", sum(kG1, srs.b_g1, circuit.b_others())},
          {"sum b_g2", sum(kG2, srs.b_g2, circuit.b_others())}};
}

}  // namespace cuzk
