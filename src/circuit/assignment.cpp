#include "circuit/assignment.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "circuit/packed_witness.hpp"
#include "hash/poseidon.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

Fr row_value(const CsrMatrix& m, uint64_t row, const CompiledCircuit& circuit, std::span<const Fr> inputs,
             std::span<const Fr> aux) {
  Fr sum = Fr::zero();
  for (uint64_t i = m.row_start[row]; i < m.row_start[row + 1]; ++i) {
    const Wire w{m.wire[i]};
    const Fr& value = w.is_input() ? inputs[w.index()] : aux[w.index()];
    if (value.is_zero()) continue;
    const Fr& coefficient = circuit.coefficients[m.coefficient[i]];
    sum += value.is_one() ? coefficient : coefficient.is_one() ? value : coefficient * value;
  }
  return sum;
}

// Start of every run in its own store, so that runs can be filled in any order.
struct RunStart {
  uint64_t aux, source;
};

std::vector<RunStart> run_starts(const CompiledCircuit& circuit, uint64_t& bits, uint64_t& fields, uint64_t& total) {
  std::vector<RunStart> starts;
  starts.reserve(circuit.kinds.size());
  bits = fields = total = 0;
  for (const WireKindRun& run : circuit.kinds) {
    uint64_t source = 0;
    if (run.kind == WireKind::kBoolean) source = std::exchange(bits, bits + run.count);
    if (run.kind == WireKind::kField) source = std::exchange(fields, fields + run.count);
    starts.push_back({total, source});
    total += run.count;
  }
  return starts;
}

// Instances by the length of the longest chain of instances before them: what has the same level is independent.
std::vector<std::vector<uint32_t>> derived_levels(const CompiledCircuit& circuit) {
  const auto& derived = circuit.derived;
  std::vector<uint32_t> level(derived.size(), 0);
  std::vector<std::vector<uint32_t>> out;
  for (uint32_t i = 0; i < derived.size(); ++i) {
    for (uint32_t j = 0; j < derived[i].arity; ++j) {
      const Wire w{circuit.derived_inputs[derived[i].first_input + j]};
      if (w.is_input()) continue;
      auto it = std::upper_bound(derived.begin(), derived.begin() + i, w.index(),
                                 [](uint32_t index, const DerivedInstance& d) { return index < d.first_aux; });
      if (it == derived.begin()) continue;
      --it;
      if (w.index() - it->first_aux >= it->num_aux) continue;
      level[i] = std::max(level[i], level[static_cast<size_t>(it - derived.begin())] + 1);
    }
    if (out.size() <= level[i]) out.resize(level[i] + 1);
    out[level[i]].push_back(i);
  }
  return out;
}

void compute_derived(const CompiledCircuit& circuit, const DerivedInstance& d, std::span<const Fr> inputs,
                     std::span<Fr> aux) {
  std::array<Fr, kPoseidonMaxArity> preimage;
  for (uint32_t j = 0; j < d.arity; ++j) {
    const Wire w{circuit.derived_inputs[d.first_input + j]};
    preimage[j] = w.is_input() ? inputs[w.index()] : aux[w.index()];
  }
  poseidon_trace(std::span<const Fr>(preimage.data(), d.arity), d.tag, aux.subspan(d.first_aux, d.num_aux));
}

}  // namespace

std::optional<uint32_t> first_unsatisfied(const CompiledCircuit& circuit, std::span<const Fr> inputs,
                                          std::span<const Fr> aux) {
  CUZK_ASSERT(inputs.size() == circuit.num_inputs && aux.size() == circuit.num_aux);
  std::atomic<uint64_t> first{circuit.num_constraints};
  parallel_for(circuit.num_constraints, 4096, [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end && row < first.load(std::memory_order_relaxed); ++row) {
      const Fr a = row_value(circuit.a, row, circuit, inputs, aux);
      const Fr b = row_value(circuit.b, row, circuit, inputs, aux);
      if (a * b == row_value(circuit.c, row, circuit, inputs, aux)) continue;
      uint64_t known = first.load();
      while (row < known && !first.compare_exchange_weak(known, row)) {
      }
      return;
    }
  });
  if (first == circuit.num_constraints) return std::nullopt;
  return static_cast<uint32_t>(first.load());
}

Result<std::vector<Fr>> expand_witness(const CompiledCircuit& circuit, const PackedWitness& witness) {
  uint64_t bits = 0, fields = 0, total = 0;
  const std::vector<RunStart> starts = run_starts(circuit, bits, fields, total);
  if (witness.bits.size() != bits || witness.fields.size() != fields || witness.inputs.size() != circuit.num_inputs ||
      total != circuit.num_aux) {
    return Error(ErrorClass::kInternal,
                 "the packed witness has " + std::to_string(witness.inputs.size()) + " inputs, " +
                     std::to_string(witness.bits.size()) + " bits and " + std::to_string(witness.fields.size()) +
                     " field elements, its circuit " + std::to_string(circuit.num_inputs) + ", " +
                     std::to_string(bits) + " and " + std::to_string(fields));
  }
  if (!witness.inputs[0].is_one()) return Error(ErrorClass::kInternal, "input 0 of the packed witness is not 1");
  std::vector<Fr> aux(total);
  // Chunks of the whole range and not of runs: runs are from one wire to millions long.
  parallel_for(total, 1 << 16, [&](size_t begin, size_t end) {
    auto it = std::upper_bound(starts.begin(), starts.end(), begin,
                               [](size_t index, const RunStart& s) { return index < s.aux; });
    for (size_t run = static_cast<size_t>(it - starts.begin()) - 1; run < starts.size() && starts[run].aux < end;
         ++run) {
      const size_t from = std::max<size_t>(begin, starts[run].aux);
      const size_t to = std::min<size_t>(end, starts[run].aux + circuit.kinds[run].count);
      const size_t source = starts[run].source + (from - starts[run].aux);
      if (circuit.kinds[run].kind == WireKind::kBoolean) {
        for (size_t i = from; i < to; ++i) {
          if (witness.bits.get(source + (i - from))) aux[i] = Fr::one();
        }
      } else if (circuit.kinds[run].kind == WireKind::kField) {
        std::copy_n(witness.fields.begin() + static_cast<std::ptrdiff_t>(source), to - from,
                    aux.begin() + static_cast<std::ptrdiff_t>(from));
      }
    }
  });
  for (const auto& level : derived_levels(circuit)) {
    parallel_for(level.size(), 8, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) compute_derived(circuit, circuit.derived[level[i]], witness.inputs, aux);
    });
  }
  return aux;
}

}  // namespace cuzk
