#include "filecoin/porep_hash.hpp"

#include "hash/sha256.hpp"

namespace cuzk {

NodeBytes porep_label(const NodeBytes& replica_id, uint32_t layer, uint64_t node, std::span<const NodeBytes> parents) {
  NodeBytes header{};
  for (size_t i = 0; i < 4; ++i) header[i] = static_cast<uint8_t>(layer >> (24 - 8 * i));
  for (size_t i = 0; i < 8; ++i) header[4 + i] = static_cast<uint8_t>(node >> (56 - 8 * i));
  Sha256 hash;
  hash.update(replica_id);
  hash.update(header);
  if (!parents.empty()) {
    for (size_t i = 0; i < kPorepHashedParents; ++i) hash.update(parents[i % parents.size()]);
  }
  NodeBytes out = hash.finish();
  trim_to_fr(out);
  return out;
}

NodeBytes tree_d_node(const NodeBytes& left, const NodeBytes& right) {
  Sha256 hash;
  hash.update(left);
  hash.update(right);
  NodeBytes out = hash.finish();
  trim_to_fr(out);
  return out;
}

}  // namespace cuzk
