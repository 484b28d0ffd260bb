#include "format/bincode.hpp"

#include <string>
#include <utility>

#include "base/assert.hpp"

namespace cuzk {
namespace {

constexpr size_t kFrBytes = 32;

// Single (base levels alone), Sub or Top.
uint32_t variant_of(const TreeShape& tree) { return tree.top_arity != 0 ? 2 : tree.sub_arity != 0 ? 1 : 0; }

uint64_t little_endian(std::span<const uint8_t> bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value |= uint64_t{bytes[i]} << (8 * i);
  return value;
}

// The path elements of one InclusionPath, into the siblings and indices of a whole path.
struct PathTarget {
  std::span<Fr> siblings;  // what is still to be filled
  uint64_t leaf_index = 0;
  uint32_t shift = 0;
};

bool read_inclusion_path(BincodeReader& reader, const FieldPath& path, uint32_t levels, uint32_t arity,
                         PathTarget& target) {
  const FieldPath list = path.at("path");
  if (!reader.length(list, levels, "elements")) return false;
  for (uint32_t level = 0; level < levels; ++level) {
    const FieldPath element = list.at(level), hashes = element.at("hashes");
    if (!reader.length(hashes, arity - 1, "nodes")) return false;
    for (uint32_t i = 0; i + 1 < arity; ++i) {
      if (!reader.fr(hashes.at(i), target.siblings[i])) return false;
    }
    target.siblings = target.siblings.subspan(arity - 1);
    const FieldPath index_path = element.at("index");
    const size_t at = reader.offset();
    uint64_t index = 0;
    if (!reader.u64(index_path, index)) return false;
    if (index >= arity) {
      return reader.fail(index_path, at, "is " + std::to_string(index) + ", must be below " + std::to_string(arity));
    }
    target.leaf_index |= index << target.shift;
    target.shift += static_cast<uint32_t>(std::countr_zero(arity));
  }
  return true;
}

void write_inclusion_path(std::vector<uint8_t>& out, uint32_t levels, uint32_t arity, std::span<const Fr>& siblings,
                          uint64_t& index) {
  write_bincode_u64(out, levels);
  for (uint32_t level = 0; level < levels; ++level) {
    write_bincode_u64(out, arity - 1);
    for (uint32_t i = 0; i + 1 < arity; ++i) write_bincode_fr(out, siblings[i]);
    siblings = siblings.subspan(arity - 1);
    write_bincode_u64(out, index & (arity - 1));
    index >>= std::countr_zero(arity);
  }
}

}  // namespace

bool BincodeReader::fail(const FieldPath& path, size_t offset, std::string message) {
  error_ = Error(ErrorClass::kInvalidInput, std::move(message)).at_field(path.text()).at_offset(offset);
  return false;
}

bool BincodeReader::take(const FieldPath& path, size_t count, std::span<const uint8_t>& out) {
  const size_t left = bytes_.size() - offset_;
  if (left < count) {
    return fail(path, offset_,
                "the bytes end here: " + std::to_string(count) + " are needed, " + std::to_string(left) + " are left");
  }
  out = bytes_.subspan(offset_, count);
  offset_ += count;
  return true;
}

bool BincodeReader::u8(const FieldPath& path, uint8_t& out) {
  std::span<const uint8_t> bytes;
  if (!take(path, 1, bytes)) return false;
  out = bytes[0];
  return true;
}

bool BincodeReader::u32(const FieldPath& path, uint32_t& out) {
  std::span<const uint8_t> bytes;
  if (!take(path, 4, bytes)) return false;
  out = static_cast<uint32_t>(little_endian(bytes));
  return true;
}

bool BincodeReader::u64(const FieldPath& path, uint64_t& out) {
  std::span<const uint8_t> bytes;
  if (!take(path, 8, bytes)) return false;
  out = little_endian(bytes);
  return true;
}

bool BincodeReader::fr(const FieldPath& path, Fr& out) {
  const size_t at = offset_;
  std::span<const uint8_t> bytes;
  if (!take(path, kFrBytes, bytes)) return false;
  const std::optional<Fr> element = Fr::from_bytes_le(bytes);
  if (!element) return fail(path, at, "is not a canonical field element");
  out = *element;
  return true;
}

bool BincodeReader::length(const FieldPath& path, uint64_t expected, const char* what) {
  const size_t at = offset_;
  uint64_t length = 0;
  if (!u64(path, length)) return false;
  if (length == expected) return true;
  return fail(path, at, "has " + std::to_string(length) + " " + what + ", needs " + std::to_string(expected));
}

bool BincodeReader::text(const FieldPath& path, uint64_t max_bytes, std::string& out) {
  const size_t at = offset_;
  uint64_t length = 0;
  if (!u64(path, length)) return false;
  if (length > max_bytes) {
    return fail(path, at,
                "has " + std::to_string(length) + " bytes, at most " + std::to_string(max_bytes) + " are read");
  }
  std::span<const uint8_t> bytes;
  if (!take(path, length, bytes)) return false;
  out.assign(bytes.begin(), bytes.end());
  return true;
}

bool BincodeReader::variant(const FieldPath& path, uint32_t expected) {
  const size_t at = offset_;
  uint32_t variant = 0;
  if (!u32(path, variant)) return false;
  if (variant == expected) return true;
  return fail(path, at, "is variant " + std::to_string(variant) + ", needs " + std::to_string(expected));
}

bool BincodeReader::end(const FieldPath& path) {
  if (offset_ == bytes_.size()) return true;
  return fail(path, offset_, std::to_string(bytes_.size() - offset_) + " bytes follow its end");
}

bool read_merkle_proof(BincodeReader& reader, const FieldPath& path, const TreeShape& tree, std::span<Fr> values,
                       uint64_t& leaf_index) {
  CUZK_ASSERT(values.size() == 2 + tree.siblings());
  const uint32_t variant = variant_of(tree);
  if (!reader.variant(path, variant)) return false;
  const auto root_and_leaf = [&] {
    return reader.fr(path.at("root"), values[0]) && reader.fr(path.at("leaf"), values[1]);
  };
  PathTarget target{values.subspan(2)};
  // Single has root and leaf first and its only path without a name; Sub and Top have them last.
  if (variant == 0) {
    if (!root_and_leaf() || !read_inclusion_path(reader, path, tree.base_levels, tree.base_arity, target)) return false;
  } else {
    if (!read_inclusion_path(reader, path.at("base_proof"), tree.base_levels, tree.base_arity, target) ||
        !read_inclusion_path(reader, path.at("sub_proof"), 1, tree.sub_arity, target)) {
      return false;
    }
    if (variant == 2 && !read_inclusion_path(reader, path.at("top_proof"), 1, tree.top_arity, target)) return false;
    if (!root_and_leaf()) return false;
  }
  leaf_index = target.leaf_index;
  return true;
}

size_t merkle_proof_bytes(const TreeShape& tree) {
  const size_t paths = 1 + variant_of(tree);
  return 4 + paths * 8 + size_t{tree.levels()} * 16 + (2 + size_t{tree.siblings()}) * kFrBytes;
}

void write_bincode_u32(std::vector<uint8_t>& out, uint32_t value) {
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void write_bincode_u64(std::vector<uint8_t>& out, uint64_t value) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void write_bincode_fr(std::vector<uint8_t>& out, const Fr& value) {
  const auto bytes = value.to_bytes_le();
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void write_merkle_proof(std::vector<uint8_t>& out, const TreeShape& tree, const MerkleProofView& proof) {
  CUZK_ASSERT(proof.siblings.size() == tree.siblings());
  const uint32_t variant = variant_of(tree);
  std::span<const Fr> siblings = proof.siblings;
  uint64_t index = proof.leaf_index;
  write_bincode_u32(out, variant);
  const auto root_and_leaf = [&] {
    write_bincode_fr(out, proof.root);
    write_bincode_fr(out, proof.leaf);
  };
  if (variant == 0) root_and_leaf();
  write_inclusion_path(out, tree.base_levels, tree.base_arity, siblings, index);
  if (variant >= 1) write_inclusion_path(out, 1, tree.sub_arity, siblings, index);
  if (variant == 2) write_inclusion_path(out, 1, tree.top_arity, siblings, index);
  if (variant != 0) root_and_leaf();
}

}  // namespace cuzk
