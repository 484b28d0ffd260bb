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
  // Hashes by the length of the longest chain of hashes before them in the block: of equal level, of all instances,
  // are independent.
  std::vector<std::vector<uint32_t>> levels;
  std::vector<uint32_t> ports_hashed;  // ports that a hash reads
};

// The hash of the block that has aux wire `aux` among its own.
const DerivedInstance* hash_of(const CircuitBlock& block, uint32_t aux) {
  auto it = std::upper_bound(block.derived.begin(), block.derived.end(), aux,
                             [](uint32_t index, const DerivedInstance& d) { return index < d.first_aux; });
  if (it == block.derived.begin()) return nullptr;
  --it;
  return aux - it->first_aux < it->num_aux ? &*it : nullptr;
}

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
  std::vector<uint32_t> level(block.derived.size());
  for (uint32_t i = 0; i < block.derived.size(); ++i) {
    const DerivedInstance& d = block.derived[i];
    for (const Column column : block.derived_inputs.subspan(d.first_input, d.arity)) {
      if (column.kind() == Column::Kind::kPort) plan.ports_hashed.push_back(column.index());
      if (column.kind() != Column::Kind::kAux) continue;
      const DerivedInstance* before = hash_of(block, column.index());
      if (before == nullptr) continue;
      level[i] = std::max(level[i], level[static_cast<size_t>(before - block.derived.data())] + 1);
    }
    if (plan.levels.size() <= level[i]) plan.levels.resize(level[i] + 1);
    plan.levels[level[i]].push_back(i);
  }
  std::sort(plan.ports_hashed.begin(), plan.ports_hashed.end());
  plan.ports_hashed.erase(std::unique(plan.ports_hashed.begin(), plan.ports_hashed.end()), plan.ports_hashed.end());
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
    for (const std::vector<uint32_t>& wave : waves()) hash_wave(wave);
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

  // Instances with hashes, by the longest chain of instances before them whose hashes' wires theirs read.
  std::vector<std::vector<uint32_t>> waves() const {
    std::vector<std::vector<uint32_t>> out;
    std::vector<uint32_t> wave(circuit_.instances.size());
    for (uint32_t i = 0; i < circuit_.instances.size(); ++i) {
      const BlockInstance& instance = circuit_.instances[i];
      if (circuit_.block(instance).derived.empty()) continue;
      for (const uint32_t port : plans_[instance.block].ports_hashed) {
        const Wire w{circuit_.ports[instance.first_port + port]};
        if (w.is_input()) continue;
        const size_t owner = instance_at(circuit_.instances, &BlockInstance::first_aux, w.index());
        const BlockInstance& before = circuit_.instances[owner];
        if (hash_of(circuit_.block(before), w.index() - before.first_aux) == nullptr) continue;
        wave[i] = std::max(wave[i], wave[owner] + 1);
      }
      if (out.size() <= wave[i]) out.resize(wave[i] + 1);
      out[wave[i]].push_back(i);
    }
    return out;
  }

  void hash_wave(const std::vector<uint32_t>& instances) {
    struct Job {
      uint32_t instance, derived;
    };
    std::vector<Job> jobs;
    for (size_t level = 0;; ++level) {
      jobs.clear();
      for (const uint32_t i : instances) {
        const auto& levels = plans_[circuit_.instances[i].block].levels;
        if (level >= levels.size()) continue;
        for (const uint32_t d : levels[level]) jobs.push_back({i, d});
      }
      if (jobs.empty()) return;
      parallel_for(jobs.size(), 8, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
          const BlockInstance& instance = circuit_.instances[jobs[i].instance];
          hash(instance, circuit_.block(instance), circuit_.block(instance).derived[jobs[i].derived]);
        }
      });
    }
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

Result<std::vector<Fr>> expand_witness(const CompiledCircuit& circuit, const PackedWitness& witness) {
  if (witness.bits.size() != circuit.num_bits || witness.fields.size() != circuit.num_fields ||
      witness.inputs.size() != circuit.num_inputs) {
    return Error(ErrorClass::kInternal,
                 "the packed witness has " + std::to_string(witness.inputs.size()) + " inputs, " +
                     std::to_string(witness.bits.size()) + " bits and " + std::to_string(witness.fields.size()) +
                     " field elements, its circuit " + std::to_string(circuit.num_inputs) + ", " +
                     std::to_string(circuit.num_bits) + " and " + std::to_string(circuit.num_fields));
  }
  if (!witness.inputs[0].is_one()) return Error(ErrorClass::kInternal, "input 0 of the packed witness is not 1");
  return Expansion(circuit, witness).run();
}

}  // namespace cuzk
