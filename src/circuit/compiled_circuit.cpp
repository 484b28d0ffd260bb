#include "circuit/compiled_circuit.hpp"

#include "circuit/r1cs_stream.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

// Which columns of a block occur in one of its matrices.
struct BlockDensity {
  BitVector aux, inputs, ports;
  bool one = false;
};

BlockDensity block_density(const CircuitBlock& block, const BlockRows& rows) {
  BlockDensity out{BitVector(block.num_aux), BitVector(block.num_inputs), BitVector(block.num_ports)};
  for (const Column column : rows.column) {
    switch (column.kind()) {
      case Column::Kind::kOne: out.one = true; break;
      case Column::Kind::kInput: out.inputs.set(column.index()); break;
      case Column::Kind::kAux: out.aux.set(column.index()); break;
      case Column::Kind::kPort: out.ports.set(column.index()); break;
    }
  }
  return out;
}

// to[offset + i] |= from[i]. Within `to`.
void or_at(BitVector& to, size_t offset, const BitVector& from) {
  const std::span<const uint64_t> source = from.words();
  const std::span<uint64_t> words = to.words();
  const unsigned shift = offset % 64;
  for (size_t i = 0; i < source.size(); ++i) {
    words[offset / 64 + i] |= source[i] << shift;
    const uint64_t rest = shift == 0 ? 0 : source[i] >> (64 - shift);
    if (rest != 0) words[offset / 64 + i + 1] |= rest;
  }
}

// Terms of a row in the order of the digest, by wire.
class ResolvedRow {
 public:
  std::span<const std::pair<uint32_t, uint16_t>> sorted(const BlockRows& rows, uint32_t row,
                                                        const BlockInstance& instance,
                                                        std::span<const uint32_t> ports) {
    terms_.clear();
    for (uint32_t k = rows.row_start[row]; k < rows.row_start[row + 1]; ++k) {
      terms_.push_back({Wire{instance.wire(rows.column[k], ports)}.order_key(), rows.coefficient[k]});
    }
    // Ports come last among the columns but name wires from before the instance, in any order.
    if (rows.has_port(row)) std::sort(terms_.begin(), terms_.end());
    return terms_;
  }

 private:
  std::vector<std::pair<uint32_t, uint16_t>> terms_;  // order key, coefficient
};

}  // namespace

uint64_t CompiledCircuit::bytes() const {
  uint64_t total = coefficients.size() * sizeof(Fr) + blocks.size() * sizeof(CircuitBlock) +
                   instances.size() * sizeof(BlockInstance) + ports.size_bytes();
  for (const CircuitBlock& b : blocks) {
    for (const BlockRows* m : {&b.a, &b.b, &b.c}) {
      total += m->row_start.size_bytes() + m->column.size_bytes() + m->coefficient.size_bytes();
    }
    total += b.kinds.size_bytes() + b.derived.size_bytes() + b.derived_inputs.size_bytes();
  }
  return total;
}

WireDensities wire_densities(const CompiledCircuit& circuit) {
  std::vector<BlockDensity> a(circuit.blocks.size()), b(circuit.blocks.size());
  parallel_for(2 * circuit.blocks.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const CircuitBlock& block = circuit.blocks[i / 2];
      if (i % 2 == 0) {
        a[i / 2] = block_density(block, block.a);
      } else {
        b[i / 2] = block_density(block, block.b);
      }
    }
  });
  WireDensities out{BitVector(circuit.num_aux), BitVector(circuit.num_inputs), BitVector(circuit.num_aux)};
  for (const BlockInstance& instance : circuit.instances) {
    const BlockDensity &in_a = a[instance.block], &in_b = b[instance.block];
    or_at(out.a_aux, instance.first_aux, in_a.aux);
    or_at(out.b_aux, instance.first_aux, in_b.aux);
    or_at(out.b_input, instance.first_input, in_b.inputs);
    if (in_b.one) out.b_input.set(0);
    for (uint32_t k = 0; k < circuit.block(instance).num_ports; ++k) {
      const Wire w{circuit.ports[instance.first_port + k]};
      if (!w.is_input() && in_a.ports.get(k)) out.a_aux.set(w.index());
      if (in_b.ports.get(k)) (w.is_input() ? out.b_input : out.b_aux).set(w.index());
    }
  }
  return out;
}

std::array<uint8_t, 32> r1cs_digest(const CompiledCircuit& circuit) {
  std::vector<std::array<uint8_t, 32>> bytes;
  bytes.reserve(circuit.coefficients.size());
  for (const Fr& c : circuit.coefficients) bytes.push_back(c.to_bytes_le());
  R1csStream stream;
  ResolvedRow resolved;
  for (const BlockInstance& instance : circuit.instances) {
    const CircuitBlock& block = circuit.block(instance);
    for (uint32_t row = 0; row < block.num_constraints; ++row) {
      for (const BlockRows* m : {&block.a, &block.b, &block.c}) {
        const auto terms = resolved.sorted(*m, row, instance, circuit.ports);
        stream.begin_lc(static_cast<uint32_t>(terms.size()));
        for (const auto& [key, coefficient] : terms) stream.term(Wire::from_order_key(key), bytes[coefficient]);
      }
    }
  }
  return stream.digest(circuit.num_inputs, circuit.num_aux, circuit.num_constraints);
}

}  // namespace cuzk
