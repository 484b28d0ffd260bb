#include "circuit/assignment.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "circuit/hash_order.hpp"
#include "circuit/packed_witness.hpp"
#include "hash/poseidon.hpp"
#include "matrix/matrix.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

// What expansion needs to know of a block beforehand.
struct BlockPlan {
  // Start of every run of kinds, and of what fills it in the block's own bits or fields.
  struct RunStart {
    uint32_t aux, source;
  };
  std::vector<RunStart> runs;
};

BlockPlan plan_block(const CircuitBlock& block) {
  BlockPlan plan;
  uint32_t aux = 0, bits = 0, fields = 0;
  for (const WireKindRun& run : block.kinds) {
    uint32_t source = 0;
    if (run.kind == WireKind::kBoolean) source = std::exchange(bits, bits + run.count);
    if (run.kind == WireKind::kField) source = std::exchange(fields, fields + run.count);
    plan.runs.push_back({aux, source});
    aux += run.count;
  }
  return plan;
}

class Expansion {
 public:
  Expansion(const CompiledCircuit& circuit, const PackedWitness& witness)
      : circuit_(circuit), witness_(witness), aux_(circuit.num_aux) {
    for (const CircuitBlock& block : circuit.blocks) plans_.push_back(plan_block(block));
  }

  std::vector<Fr> run() {
    // Chunks of the whole range and not of runs: runs are from one wire to millions long.
    parallel_for(aux_.size(), 1 << 16, [&](size_t begin, size_t end) {
      for_each_part(circuit_.instances, &BlockInstance::first_aux, aux_.size(), begin, end,
                    [&](const BlockInstance& i, uint32_t from, uint32_t to) { copy_stored(i, from, to); });
    });
    for (const std::vector<HashJob>& step : hash_order(circuit_)) hash_step(step);
    return std::move(aux_);
  }

 private:
  void copy_stored(const BlockInstance& instance, uint32_t begin, uint32_t end) {
    const CircuitBlock& block = circuit_.block(instance);
    const auto& runs = plans_[instance.block].runs;
    const auto it = std::upper_bound(runs.begin(), runs.end(), begin,
                                     [](uint32_t index, const BlockPlan::RunStart& s) { return index < s.aux; });
    for (size_t run = static_cast<size_t>(it - runs.begin()) - 1; run < runs.size() && runs[run].aux < end; ++run) {
      const uint32_t from = std::max(begin, runs[run].aux);
      const uint32_t to = std::min(end, runs[run].aux + block.kinds[run].count);
      const size_t source = size_t{runs[run].source} + (from - runs[run].aux);
      Fr* const out = aux_.data() + instance.first_aux + from;
      if (block.kinds[run].kind == WireKind::kBoolean) {
        for (size_t i = 0; i < to - from; ++i) {
          if (witness_.bits.get(instance.first_bit + source + i)) out[i] = Fr::one();
        }
      } else if (block.kinds[run].kind == WireKind::kField) {
        std::copy_n(witness_.fields.data() + instance.first_field + source, to - from, out);
      }
    }
  }

  void hash_step(const std::vector<HashJob>& jobs) {
    parallel_for(jobs.size(), 8, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const BlockInstance& instance = circuit_.instances[jobs[i].instance];
        hash(instance, circuit_.block(instance), circuit_.block(instance).derived[jobs[i].derived]);
      }
    });
  }

  void hash(const BlockInstance& instance, const CircuitBlock& block, const DerivedInstance& d) {
    const InstanceValues values(instance, circuit_.ports, witness_.inputs, aux_);
    std::array<Fr, kPoseidonMaxArity> preimage;
    for (uint32_t j = 0; j < d.arity; ++j) preimage[j] = values[block.derived_inputs[d.first_input + j]];
    poseidon_trace(std::span<const Fr>(preimage.data(), d.arity), d.tag,
                   std::span(aux_).subspan(size_t{instance.first_aux} + d.first_aux, d.num_aux));
  }

  const CompiledCircuit& circuit_;
  const PackedWitness& witness_;
  std::vector<Fr> aux_;
  std::vector<BlockPlan> plans_;
};

}  // namespace

std::optional<uint32_t> first_unsatisfied(const CompiledCircuit& circuit, std::span<const Fr> inputs,
                                          std::span<const Fr> aux) {
  CUZK_ASSERT(inputs.size() == circuit.num_inputs && aux.size() == circuit.num_aux);
  const Coefficients coefficients(circuit.coefficients);
  std::atomic<uint64_t> first{circuit.num_constraints};
  const auto check = [&](const BlockInstance& instance, uint32_t from, uint32_t to) {
    const InstanceValues values(instance, circuit.ports, inputs, aux);
    const CircuitBlock& block = circuit.block(instance);
    for (uint32_t i = from; i < to; ++i) {
      const uint64_t row = uint64_t{instance.first_row} + i;
      if (row >= first.load(std::memory_order_relaxed)) return;
      const Fr a = row_value(block.a, i, coefficients, values), b = row_value(block.b, i, coefficients, values);
      if (a * b == row_value(block.c, i, coefficients, values)) continue;
      uint64_t known = first.load();
      while (row < known && !first.compare_exchange_weak(known, row)) {
      }
      return;
    }
  };
  parallel_for(circuit.num_constraints, 4096, [&](size_t begin, size_t end) {
    for_each_part(circuit.instances, &BlockInstance::first_row, circuit.num_constraints, begin, end, check);
  });
  if (first == circuit.num_constraints) return std::nullopt;
  return static_cast<uint32_t>(first.load());
}

Status check_packed_witness(const CompiledCircuit& circuit, const PackedWitness& witness) {
  if (witness.bits.size() != circuit.num_bits || witness.fields.size() != circuit.num_fields ||
      witness.inputs.size() != circuit.num_inputs) {
    return Error(ErrorClass::kInternal,
                 "the packed witness has " + std::to_string(witness.inputs.size()) + " inputs, " +
                     std::to_string(witness.bits.size()) + " bits and " + std::to_string(witness.fields.size()) +
                     " field elements, its circuit " + std::to_string(circuit.num_inputs) + ", " +
                     std::to_string(circuit.num_bits) + " and " + std::to_string(circuit.num_fields));
  }
  if (!witness.inputs[0].is_one()) return Error(ErrorClass::kInternal, "input 0 of the packed witness is not 1");
  return {};
}

Result<std::vector<Fr>> expand_witness(const CompiledCircuit& circuit, const PackedWitness& witness) {
  CUZK_TRY(check_packed_witness(circuit, witness));
  return Expansion(circuit, witness).run();
}

}  // namespace cuzk
