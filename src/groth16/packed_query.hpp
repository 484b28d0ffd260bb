// The queries of the parameters in the order of packed values: the points of boolean wires, of which a proof needs a
// sum, apart from those of other wires.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "circuit/compiled_circuit.hpp"

namespace cuzk {

// A query's points in two groups. Point `position` of the query belongs to bit `index` of the packed bits, or to value
// `index` of the packed values (matrix/packed_system.hpp); both lists are in query order.
struct PackedQuery {
  struct Group {
    std::vector<uint32_t> index;
    std::vector<uint32_t> position;
    size_t size() const { return index.size(); }
  };
  Group bits, values;
};

// A query is the inputs, then the aux wires, each where its density (null: all) has a bit. `with_inputs`: whether
// inputs are in it at all. Memory: 8 bytes a point.
PackedQuery packed_query(const CompiledCircuit& circuit, bool with_inputs, const BitVector* input_density,
                         const BitVector* aux_density);

struct PackedQueries {
  PackedQuery l, a, b;  // b: of b_g1 and b_g2
};
PackedQueries packed_queries(const CompiledCircuit& circuit);

}  // namespace cuzk
