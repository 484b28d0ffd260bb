// CompiledCircuit: the matrices, densities and wire kinds of one circuit shape, independent of any witness.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bits.hpp"
#include "circuit/wire.hpp"
#include "field/fr.hpp"

namespace cuzk {

// Rows of linear combinations. Row i owns entries row_start[i] .. row_start[i+1]. In a row the wires ascend, inputs
// first (Wire::order_key), no wire occurs twice, and no coefficient is zero.
struct CsrMatrix {
  std::vector<uint64_t> row_start;    // num_constraints + 1
  std::vector<uint32_t> wire;         // raw Wire
  std::vector<uint32_t> coefficient;  // index into CompiledCircuit::coefficients

  uint64_t num_terms() const { return wire.size(); }
  uint64_t num_rows() const { return row_start.empty() ? 0 : row_start.size() - 1; }
};

// How the value of an aux wire reaches the prover.
enum class WireKind : uint8_t {
  kBoolean,  // one bit of PackedWitness::bits, in order of allocation
  kField,    // one element of PackedWitness::fields, in order of allocation
  kDerived,  // not stored: an inner wire or the output of a DerivedInstance
};

struct WireKindRun {
  WireKind kind;
  uint32_t count;
  friend bool operator==(const WireKindRun&, const WireKindRun&) = default;
};

// One Poseidon hash of the circuit: from its preimage follow all its aux wires, the last of which is the hash.
struct DerivedInstance {
  uint32_t arity;
  uint32_t first_aux;    // index of its first aux wire
  uint32_t num_aux;      // 3 * (t * 8 + R_P - 1) + (t * 8 + R_P - arity), t = arity + 1
  uint32_t first_input;  // its preimage is derived_inputs[first_input .. first_input + arity)
  uint64_t tag;          // domain tag, the plain value of state element 0
  friend bool operator==(const DerivedInstance&, const DerivedInstance&) = default;
};

struct CompiledCircuit {
  uint32_t num_inputs = 0;       // including ONE
  uint32_t num_aux = 0;
  uint32_t num_constraints = 0;  // without the input-consistency rows
  CsrMatrix a, b, c;
  std::vector<Fr> coefficients;  // Montgomery form; distinct, each used at least once
  std::vector<WireKindRun> kinds;  // of the aux wires, in order; neighbours differ; counts sum to num_aux
  std::vector<DerivedInstance> derived;  // ascending first_aux
  std::vector<uint32_t> derived_inputs;  // raw Wire
  // A bit per wire that occurs with a nonzero coefficient in some A (aux) resp. B (inputs, aux). The
  // input-consistency rows count for no density; inputs in A are dense by definition.
  BitVector a_aux_density, b_input_density, b_aux_density;

  // Rows of the quadratic program: the constraints, then one row (I_i) * (0) = (0) per input.
  uint64_t rows() const { return uint64_t{num_constraints} + num_inputs; }
  // The smallest k with 2^k >= rows().
  uint32_t log2_domain() const {
    uint32_t k = 0;
    while ((uint64_t{1} << k) < rows()) ++k;
    return k;
  }
};

// SHA-256 of the constraints as a byte stream: per linear combination the number of terms (u32), then per term kind
// (0 input, 1 aux), index (u32) and coefficient (32 bytes, plain); at the end inputs, aux, constraints (u64). All
// little-endian. Cost: 37 bytes hashed per term.
std::array<uint8_t, 32> r1cs_digest(const CompiledCircuit& circuit);

}  // namespace cuzk
