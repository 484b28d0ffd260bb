#include "filecoin/porep_graph.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "base/assert.hpp"
#include "hash/blake2b.hpp"
#include "hash/chacha.hpp"
#include "hash/sha256.hpp"

namespace cuzk {
namespace {

NodeBytes derive(std::string_view domain, const NodeBytes& porep_id) {
  Sha256 hash;
  hash.update({reinterpret_cast<const uint8_t*>(domain.data()), domain.size()});
  hash.update(porep_id);
  return hash.finish();
}

uint64_t load_le64(const uint8_t* bytes) {
  uint64_t out = 0;
  for (int i = 7; i >= 0; --i) out = out << 8 | bytes[i];
  return out;
}

uint64_t load_be64(const uint8_t* bytes) {
  uint64_t out = 0;
  for (int i = 0; i < 8; ++i) out = out << 8 | bytes[i];
  return out;
}

void store_be64(uint64_t x, uint8_t* bytes) {
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(x >> (56 - 8 * i));
}

}  // namespace

PorepGraph::PorepGraph(const NodeBytes& porep_id, PorepApiVersion version, uint64_t nodes)
    : nodes_(nodes), version_(version) {
  CUZK_ASSERT(std::has_single_bit(nodes) && nodes >= 8 && nodes <= uint64_t{1} << 32);
  const NodeBytes drg = derive("Filecoin_DRSample", porep_id);
  std::copy_n(drg.begin(), drg_seed_.size(), drg_seed_.begin());
  const NodeBytes feistel = derive("Filecoin_Feistel", porep_id);
  for (size_t i = 0; i < feistel_keys_.size(); ++i) feistel_keys_[i] = load_le64(&feistel[8 * i]);
  while (half_bits_ < 32 && uint64_t{1} << (2 * half_bits_) < kPorepExpanderParents * nodes_) ++half_bits_;
}

std::array<uint32_t, kPorepBaseParents> PorepGraph::base_parents(uint64_t node) const {
  CUZK_ASSERT(node < nodes_);
  std::array<uint32_t, kPorepBaseParents> parents{};
  if (node < 2) return parents;
  std::array<uint8_t, 32> key{};
  std::copy(drg_seed_.begin(), drg_seed_.end(), key.begin());
  for (size_t i = 0; i < 4; ++i) key[28 + i] = static_cast<uint8_t>(node >> (8 * i));
  ChaCha8Rng rng(key);
  constexpr uint64_t kSampled = kPorepBaseParents - 1;
  const uint64_t meta_node = node * kSampled;
  const uint64_t buckets = static_cast<uint64_t>(std::bit_width(meta_node - 1));  // ceil(log2)
  // Version 1.0.0 puts the direct predecessor last, later ones first.
  const bool predecessor_last = version_ == PorepApiVersion::kV1_0_0;
  for (size_t i = 0; i < kSampled; ++i) {
    const uint64_t bucket = rng.next_u64() % buckets + 1;
    const uint64_t largest = std::min(meta_node, uint64_t{1} << bucket);
    const uint64_t smallest = std::max(uint64_t{2}, largest / 2);
    const uint64_t distance = smallest + rng.next_u64() % (largest - smallest + 1);
    const uint64_t parent = (meta_node - distance) / kSampled;
    parents[predecessor_last ? i : i + 1] = static_cast<uint32_t>(parent == node ? node - 1 : parent);
  }
  parents[predecessor_last ? kSampled : 0] = static_cast<uint32_t>(node - 1);
  return parents;
}

uint64_t PorepGraph::feistel_round(uint64_t right, uint64_t key) const {
  std::array<uint8_t, 16> message;
  store_be64(right, &message[0]);
  store_be64(key, &message[8]);
  return load_be64(blake2b(64, {}, message).data()) & ((uint64_t{1} << half_bits_) - 1);
}

// One to one on [0, 8 nodes): the Feistel network permutes a power of four, and is repeated until the value is inside.
uint64_t PorepGraph::permute(uint64_t x) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  do {
    uint64_t left = x >> half_bits_ & mask;
    uint64_t right = x & mask;
    for (const uint64_t key : feistel_keys_) {
      const uint64_t mixed = left ^ feistel_round(right, key);
      left = right;
      right = mixed;
    }
    x = left << half_bits_ | right;
  } while (x >= kPorepExpanderParents * nodes_);
  return x;
}

std::array<uint32_t, kPorepExpanderParents> PorepGraph::expander_parents(uint64_t node) const {
  CUZK_ASSERT(node < nodes_);
  std::array<uint32_t, kPorepExpanderParents> parents;
  for (size_t i = 0; i < parents.size(); ++i) {
    uint64_t target = permute(node * kPorepExpanderParents + i);
    // Version 1.0.0 truncates before it divides, which matters for 32 and 64 GiB.
    if (version_ == PorepApiVersion::kV1_0_0) target = static_cast<uint32_t>(target);
    parents[i] = static_cast<uint32_t>(target / kPorepExpanderParents);
  }
  return parents;
}

}  // namespace cuzk
