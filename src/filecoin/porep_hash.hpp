// Labels and tree nodes of a PoRep, natively.
#pragma once

#include <cstdint>
#include <span>

#include "field/fr.hpp"
#include "filecoin/porep.hpp"

namespace cuzk {

// The label of (layer, node): trim(SHA-256(replica_id || layer || node || 20 zero bytes || parents)). `parents` are the
// distinct parent labels in order (6 in layer 1, 14 later), repeated here to 37; none for node 0.
NodeBytes porep_label(const NodeBytes& replica_id, uint32_t layer, uint64_t node, std::span<const NodeBytes> parents);

// A node of tree D: trim(SHA-256(left || right)).
NodeBytes tree_d_node(const NodeBytes& left, const NodeBytes& right);

}  // namespace cuzk
