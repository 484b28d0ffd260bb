#include "circuit/packed_form.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "circuit/hash_order.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

// Columns a task translates.
constexpr size_t kColumnGrain = size_t{1} << 16;

// The packed columns of a block's aux wires.
std::vector<PackedColumn> packed_aux(const CircuitBlock& block) {
  std::vector<PackedColumn> out;
  out.reserve(block.num_aux);
  uint32_t bits = 0, values = 0;
  for (const WireKindRun& run : block.kinds) {
    const bool boolean = run.kind == WireKind::kBoolean;
    uint32_t& next = boolean ? bits : values;
    const auto kind = boolean ? PackedColumn::Kind::kBit : PackedColumn::Kind::kValue;
    for (uint32_t i = 0; i < run.count; ++i) out.push_back(PackedColumn::of(kind, next++));
  }
  return out;
}

PackedColumn translate(Column column, const std::vector<PackedColumn>& aux) {
  switch (column.kind()) {
    case Column::Kind::kOne: return PackedColumn::one();
    case Column::Kind::kInput: return PackedColumn::of(PackedColumn::Kind::kInput, column.index() + 1);
    case Column::Kind::kAux: return aux[column.index()];
    case Column::Kind::kPort: break;
  }
  return PackedColumn::of(PackedColumn::Kind::kPort, column.index());
}

PackedBlock pack_block(const CircuitBlock& block, const std::vector<PackedColumn>& aux) {
  PackedBlock out;
  out.num_rows = block.num_constraints;
  const BlockRows* matrices[] = {&block.a, &block.b, &block.c};
  for (size_t i = 0; i < out.matrices.size(); ++i) {
    const BlockRows& from = *matrices[i];
    PackedRows& to = out.matrices[i];
    to.row_start = from.row_start;
    to.coefficient = from.coefficient;
    to.column.resize(from.column.size());
    parallel_for(from.column.size(), kColumnGrain, [&](size_t begin, size_t end) {
      for (size_t k = begin; k < end; ++k) to.column[k] = translate(from.column[k], aux);
    });
  }
  uint32_t fields = 0, values = 0;
  for (const WireKindRun& run : block.kinds) {
    if (run.kind == WireKind::kBoolean) continue;
    if (run.kind == WireKind::kField) {
      out.field_runs.push_back({fields, values, run.count});
      fields += run.count;
    }
    values += run.count;
  }
  return out;
}

// Batches of equal form, in an order in which every hash comes after those it reads.
void add_batches(const CompiledCircuit& circuit, const std::vector<std::vector<PackedColumn>>& aux, PackedSystem& out) {
  std::vector<uint32_t> first_input;
  for (size_t b = 0; b < circuit.blocks.size(); ++b) {
    first_input.push_back(static_cast<uint32_t>(out.hash_inputs.size()));
    for (const Column column : circuit.blocks[b].derived_inputs) {
      out.hash_inputs.push_back(translate(column, aux[b]));
    }
  }
  for (const std::vector<HashJob>& step : hash_order(circuit)) {
    std::map<std::pair<uint32_t, uint64_t>, std::vector<PackedHashJob>> by_form;
    for (const HashJob& job : step) {
      const PackedInstance& instance = out.instances[job.instance];
      const DerivedInstance& d = circuit.blocks[instance.block].derived[job.derived];
      by_form[{d.arity, d.tag}].push_back({instance.first_value + aux[instance.block][d.first_aux].index(),
                                           job.instance, first_input[instance.block] + d.first_input});
    }
    for (const auto& [form, jobs] : by_form) {
      out.batches.push_back(
          {form.first, form.second, static_cast<uint32_t>(out.jobs.size()), static_cast<uint32_t>(jobs.size())});
      out.jobs.insert(out.jobs.end(), jobs.begin(), jobs.end());
    }
  }
}

}  // namespace

PackedSystem packed_form(const CompiledCircuit& circuit) {
  PackedSystem out;
  out.num_inputs = circuit.num_inputs;
  out.num_bits = circuit.num_bits;
  out.num_fields = circuit.num_fields;
  out.num_constraints = circuit.num_constraints;
  out.coefficients = circuit.coefficients;
  std::vector<std::vector<PackedColumn>> aux;
  for (const CircuitBlock& block : circuit.blocks) {
    aux.push_back(packed_aux(block));
    out.blocks.push_back(pack_block(block, aux.back()));
  }
  uint32_t next_value = circuit.num_inputs;
  for (const BlockInstance& i : circuit.instances) {
    out.instances.push_back(
        {i.block, i.first_row, i.first_input, i.first_bit, i.first_field, next_value, i.first_port});
    const CircuitBlock& block = circuit.block(i);
    next_value += block.num_aux - block.num_bits;
  }
  out.num_values = next_value;
  for (const uint32_t raw : circuit.ports) {
    const Wire wire{raw};
    if (wire.is_input()) {
      out.ports.push_back(PackedPlace::value(wire.index()));
      continue;
    }
    const size_t owner = instance_at(circuit.instances, &BlockInstance::first_aux, wire.index());
    const uint32_t relative = wire.index() - circuit.instances[owner].first_aux;
    out.ports.push_back(out.instances[owner].place(aux[circuit.instances[owner].block][relative], out.ports.data()));
  }
  add_batches(circuit, aux, out);
  return out;
}

}  // namespace cuzk
