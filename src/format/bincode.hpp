// bincode 1.3 in its default form (fixed-width little-endian integers, u64 lengths, u32 enum variants), strictly: every
// length must be the expected one, so nothing is allocated on the word of the bytes, and nothing may follow.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "field/fr.hpp"
#include "filecoin/merkle.hpp"
#include "format/field_path.hpp"

namespace cuzk {

// Functions return false once error() is set; callers return at once. Errors are kInvalidInput with the field's path
// and the offset at which its bytes begin.
class BincodeReader {
 public:
  explicit BincodeReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool u8(const FieldPath& path, uint8_t& out);
  bool u32(const FieldPath& path, uint32_t& out);
  bool u64(const FieldPath& path, uint64_t& out);
  // 32 bytes, little-endian, canonical.
  bool fr(const FieldPath& path, Fr& out);
  // The length of a Vec, which must be `expected`; `what` are its elements, for the error.
  bool length(const FieldPath& path, uint64_t expected, const char* what);
  // A string of at most max_bytes; that it is UTF-8 is not checked.
  bool text(const FieldPath& path, uint64_t max_bytes, std::string& out);
  // The number of an enum's variant, which must be `expected`.
  bool variant(const FieldPath& path, uint32_t expected);
  // No byte may be left.
  bool end(const FieldPath& path);
  // Sets the error, at `offset`. Returns false.
  bool fail(const FieldPath& path, size_t offset, std::string message);

  size_t offset() const { return offset_; }
  const Error& error() const { return error_; }

 private:
  bool take(const FieldPath& path, size_t count, std::span<const uint8_t>& out);

  std::span<const uint8_t> bytes_;
  size_t offset_ = 0;
  Error error_;
};

// A MerkleProof of a tree of this shape into flat storage: root, leaf, then the siblings from the leaf up;
// values.size() == 2 + tree.siblings(). leaf_index is put together from the indices of the path's elements, each of
// which must be below its arity. The variant (Single, Sub, Top), path lengths and arities must be the tree's.
bool read_merkle_proof(BincodeReader& reader, const FieldPath& path, const TreeShape& tree, std::span<Fr> values,
                       uint64_t& leaf_index);
// Bytes of a MerkleProof of this shape.
size_t merkle_proof_bytes(const TreeShape& tree);

// Appends.
void write_bincode_u32(std::vector<uint8_t>& out, uint32_t value);
void write_bincode_u64(std::vector<uint8_t>& out, uint64_t value);
void write_bincode_fr(std::vector<uint8_t>& out, const Fr& value);
void write_merkle_proof(std::vector<uint8_t>& out, const TreeShape& tree, const MerkleProofView& proof);

}  // namespace cuzk
