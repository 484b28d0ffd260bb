#include "filecoin/porep_vanilla.hpp"

namespace cuzk {

PorepChallengeLayout::PorepChallengeLayout(const PorepShape& shape)
    : layers(shape.layers),
      tree_d_values(2 + shape.log2_nodes),
      tree_values(2 + shape.path_siblings()),
      column_values(shape.layers + tree_values),
      total_values(tree_d_values + tree_values + kColumns * column_values) {}

PorepPartition::PorepPartition(const PorepShape& shape, uint32_t challenges)
    : layout_(shape),
      challenges_(challenges),
      values_(size_t{challenges} * layout_.total_values),
      indices_(size_t{challenges} * PorepChallengeLayout::kTotalIndices),
      parents_(size_t{challenges} * layout_.total_parents()) {}

}  // namespace cuzk
