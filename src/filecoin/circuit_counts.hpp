// Sizes of a circuit, which every kind of proof knows in closed form: nothing is synthesised to plan with them.
#pragma once

#include <bit>
#include <cstdint>

#include "srs/layout.hpp"

namespace cuzk {

struct CircuitCounts {
  uint64_t inputs = 0;  // with ONE
  uint64_t aux = 0;
  uint64_t constraints = 0;       // without the input-consistency rows
  uint64_t a_aux_density = 0;     // aux wires that occur in A: the a query has inputs + these points
  uint64_t b_aux_density = 0;     // aux wires that occur in B: the b queries have b_input_density + these
  uint64_t b_input_density = 1;   // ONE alone
  uint64_t bits = 0, fields = 0;  // of the packed witness

  // Rows of the QAP: constraints + inputs.
  constexpr uint64_t rows() const { return constraints + inputs; }
  constexpr uint32_t log2_domain() const { return static_cast<uint32_t>(std::bit_width(rows() - 1)); }
  // The number of points in each vector of the parameters.
  constexpr SrsShape srs_shape() const {
    const uint64_t b = b_input_density + b_aux_density;
    return {inputs, (uint64_t{1} << log2_domain()) - 1, aux, inputs + a_aux_density, b, b};
  }
  friend constexpr bool operator==(const CircuitCounts&, const CircuitCounts&) = default;
};

// The sizes of a part of a circuit, to be added up.
struct PartCounts {
  uint64_t aux = 0, constraints = 0, a_aux = 0, b_aux = 0, bits = 0, fields = 0;

  constexpr PartCounts& operator+=(const PartCounts& o) {
    aux += o.aux;
    constraints += o.constraints;
    a_aux += o.a_aux;
    b_aux += o.b_aux;
    bits += o.bits;
    fields += o.fields;
    return *this;
  }
  friend constexpr PartCounts operator+(PartCounts x, const PartCounts& y) { return x += y; }
  friend constexpr PartCounts operator*(const PartCounts& x, uint64_t k) {
    return {x.aux * k, x.constraints * k, x.a_aux * k, x.b_aux * k, x.bits * k, x.fields * k};
  }
  // Of a circuit that is this part, with `inputs` inputs, of which B has ONE alone.
  constexpr CircuitCounts with_inputs(uint64_t inputs) const {
    return {inputs, aux, constraints, a_aux, b_aux, 1, bits, fields};
  }
};

// A level of an opening of a Poseidon tree with an index of its own (PoRep, PoSt): index bits, siblings, insertion,
// hash.
constexpr PartCounts tree_level_counts(uint32_t arity) {
  switch (arity) {
    case 2: return {315, 314, 237, 235, 1, 3};
    case 4: return {390, 387, 295, 287, 2, 11};
    default: return {537, 530, 407, 389, 5, 27};
  }
}

}  // namespace cuzk
