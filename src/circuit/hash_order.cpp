#include "circuit/hash_order.hpp"

#include <algorithm>

namespace cuzk {
namespace {

struct BlockOrder {
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

BlockOrder order_block(const CircuitBlock& block) {
  BlockOrder plan;
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

// Instances with hashes, by the longest chain of instances before them whose hashes' wires theirs read.
std::vector<std::vector<uint32_t>> waves(const CompiledCircuit& circuit, const std::vector<BlockOrder>& orders) {
  std::vector<std::vector<uint32_t>> out;
  std::vector<uint32_t> wave(circuit.instances.size());
  for (uint32_t i = 0; i < circuit.instances.size(); ++i) {
    const BlockInstance& instance = circuit.instances[i];
    if (circuit.block(instance).derived.empty()) continue;
    for (const uint32_t port : orders[instance.block].ports_hashed) {
      const Wire w{circuit.ports[instance.first_port + port]};
      if (w.is_input()) continue;
      const size_t owner = instance_at(circuit.instances, &BlockInstance::first_aux, w.index());
      const BlockInstance& before = circuit.instances[owner];
      if (hash_of(circuit.block(before), w.index() - before.first_aux) == nullptr) continue;
      wave[i] = std::max(wave[i], wave[owner] + 1);
    }
    if (out.size() <= wave[i]) out.resize(wave[i] + 1);
    out[wave[i]].push_back(i);
  }
  return out;
}

}  // namespace

std::vector<std::vector<HashJob>> hash_order(const CompiledCircuit& circuit) {
  std::vector<BlockOrder> orders;
  for (const CircuitBlock& block : circuit.blocks) orders.push_back(order_block(block));
  std::vector<std::vector<HashJob>> out;
  for (const std::vector<uint32_t>& wave : waves(circuit, orders)) {
    for (size_t level = 0;; ++level) {
      std::vector<HashJob> step;
      for (const uint32_t i : wave) {
        const auto& levels = orders[circuit.instances[i].block].levels;
        if (level >= levels.size()) continue;
        for (const uint32_t d : levels[level]) step.push_back({i, d});
      }
      if (step.empty()) break;
      out.push_back(std::move(step));
    }
  }
  return out;
}

}  // namespace cuzk
