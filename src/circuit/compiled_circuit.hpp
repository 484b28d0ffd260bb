// CompiledCircuit: the matrices and wire kinds of one circuit shape, independent of any witness, equal blocks once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/bits.hpp"
#include "circuit/wire.hpp"
#include "field/fr.hpp"
#include "matrix/block_matrix.hpp"

namespace cuzk {

static_assert(Wire::kInputFlag == kInputWireFlag && Wire::one().raw == kOneWire);

// How the value of an aux wire reaches the prover.
enum class WireKind : uint32_t {
  kBoolean,  // one bit of PackedWitness::bits, in order of allocation
  kField,    // one element of PackedWitness::fields, in order of allocation
  kDerived,  // not stored: an inner wire or the output of a DerivedInstance
};

struct WireKindRun {
  WireKind kind;
  uint32_t count;
  friend bool operator==(const WireKindRun&, const WireKindRun&) = default;
};

// One Poseidon hash of a block: from its preimage follow all its aux wires, the last of which is the hash.
struct DerivedInstance {
  uint32_t arity;
  uint32_t first_aux;    // its first aux wire, relative to the block's
  uint32_t num_aux;      // 3 * (t * 8 + R_P - 1) + (t * 8 + R_P - arity), t = arity + 1
  uint32_t first_input;  // its preimage is derived_inputs[first_input .. first_input + arity) of the block
  uint64_t tag;          // domain tag, the plain value of state element 0
  friend bool operator==(const DerivedInstance&, const DerivedInstance&) = default;
};

// What the instances of a block share. Wires are columns, so nothing here depends on where an instance begins.
struct CircuitBlock {
  BlockRows a, b, c;                         // coefficients: CompiledCircuit::coefficients
  std::span<const WireKindRun> kinds;        // of its aux wires, in order; neighbours differ
  std::span<const DerivedInstance> derived;  // ascending first_aux
  std::span<const Column> derived_inputs;
  uint32_t num_inputs = 0;
  uint32_t num_ports = 0;
  // Counted from the above.
  uint32_t num_aux = 0, num_constraints = 0, num_bits = 0, num_fields = 0;

  uint64_t num_terms() const { return a.num_terms() + b.num_terms() + c.num_terms(); }
};

// Blocks are used by their instances one after the other; what lies between marked blocks is a block of one instance.
// So inputs, aux wires, constraints, bits and fields of the circuit are the concatenation of those of the instances,
// after the input ONE. Copies share the arrays of the blocks.
struct CompiledCircuit {
  // Distinct coefficients that a circuit can have. PoRep has 2,466.
  static constexpr size_t kMaxCoefficients = size_t{1} << 16;

  uint32_t num_inputs = 1;  // including ONE
  uint32_t num_aux = 0;
  uint32_t num_constraints = 0;  // without the input-consistency rows
  uint32_t num_bits = 0, num_fields = 0;
  std::vector<Fr> coefficients;  // Montgomery form, none zero; distinct, each used at least once
  std::vector<CircuitBlock> blocks;
  std::vector<BlockInstance> instances;
  std::span<const uint32_t> ports;      // raw Wire; those of an instance are distinct
  std::shared_ptr<const void> storage;  // keeps what the spans show

  // Views for matrix/.
  BlockMatrix a() const { return matrix(&CircuitBlock::a); }
  BlockMatrix b() const { return matrix(&CircuitBlock::b); }
  BlockMatrix c() const { return matrix(&CircuitBlock::c); }
  const CircuitBlock& block(const BlockInstance& instance) const { return blocks[instance.block]; }

  // Rows of the quadratic program: the constraints, then one row (I_i) * (0) = (0) per input.
  uint64_t rows() const { return uint64_t{num_constraints} + num_inputs; }
  // The smallest k with 2^k >= rows().
  uint32_t log2_domain() const {
    uint32_t k = 0;
    while ((uint64_t{1} << k) < rows()) ++k;
    return k;
  }
  // Nonzero entries of the three matrices.
  uint64_t num_terms() const {
    uint64_t total = 0;
    for (const BlockInstance& instance : instances) total += block(instance).num_terms();
    return total;
  }
  // Memory of the arrays.
  uint64_t bytes() const;

 private:
  BlockMatrix matrix(BlockRows CircuitBlock::*member) const {
    BlockMatrix out{{}, instances, ports, num_constraints};
    for (const CircuitBlock& b : blocks) out.blocks.push_back(b.*member);
    return out;
  }
};

// A bit per wire that occurs in some A (aux) resp. B (inputs, aux). The input-consistency rows count for no density;
// inputs in A are dense by definition.
struct WireDensities {
  BitVector a_aux, b_input, b_aux;
};

// Cost: one pass over the columns of A and B of every block, some 50 ms for a 32 GiB PoRep partition.
WireDensities wire_densities(const CompiledCircuit& circuit);

// SHA-256 of the constraints as a byte stream: per linear combination the number of terms (u32), then per term kind
// (0 input, 1 aux), index (u32) and coefficient (32 bytes, plain); at the end inputs, aux, constraints (u64). All
// little-endian. Terms ascend by wire, inputs first. It says nothing of blocks, so it is the same for every division
// into blocks. Cost: 37 bytes hashed per term; two threads.
std::array<uint8_t, 32> r1cs_digest(const CompiledCircuit& circuit);

}  // namespace cuzk
