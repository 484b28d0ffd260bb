// The bincode reader: each type, its limits, and Merkle proofs of the three variants against bytes written by hand.
#include "format/bincode.hpp"

#include <gtest/gtest.h>

namespace cuzk {
namespace {

const FieldPath kRoot;

TEST(Bincode, Integers) {
  const std::vector<uint8_t> bytes = {1, 2, 3, 4, 0xff, 0, 0, 0, 0, 0, 0, 0x80};
  BincodeReader reader(bytes);
  uint32_t x = 0;
  uint64_t y = 0;
  ASSERT_TRUE(reader.u32(kRoot.at("x"), x));
  EXPECT_EQ(x, 0x04030201u);
  EXPECT_FALSE(reader.end(kRoot));
  ASSERT_TRUE(reader.u64(kRoot.at("y"), y));
  EXPECT_EQ(y, 0x80000000000000ffu);
  EXPECT_TRUE(reader.end(kRoot));
  EXPECT_FALSE(reader.u32(kRoot.at("z"), x));
  EXPECT_EQ(reader.error().field, "z");
  EXPECT_EQ(reader.error().offset, 12u);
  EXPECT_EQ(reader.error().error_class, ErrorClass::kInvalidInput);
  std::vector<uint8_t> out;
  write_bincode_u32(out, 0x04030201);
  write_bincode_u64(out, 0x80000000000000ff);
  EXPECT_EQ(out, bytes);
}

TEST(Bincode, EveryTypeNeedsAllItsBytes) {
  const std::vector<uint8_t> bytes(31);
  uint32_t x;
  uint64_t y;
  Fr z;
  EXPECT_FALSE(BincodeReader({bytes.data(), 3}).u32(kRoot, x));
  EXPECT_FALSE(BincodeReader({bytes.data(), 7}).u64(kRoot, y));
  EXPECT_FALSE(BincodeReader({bytes.data(), 7}).length(kRoot, 0, "things"));
  EXPECT_FALSE(BincodeReader({bytes.data(), 3}).variant(kRoot, 0));
  EXPECT_FALSE(BincodeReader(bytes).fr(kRoot, z));
  EXPECT_FALSE(BincodeReader({}).u32(kRoot, x));
}

TEST(Bincode, FieldElementsAreCanonical) {
  std::vector<uint8_t> bytes;
  write_bincode_fr(bytes, -Fr::one());
  Fr x;
  ASSERT_TRUE(BincodeReader(bytes).fr(kRoot, x));
  EXPECT_EQ(x, -Fr::one());
  bytes[0] += 1;  // r - 1 ends with a zero byte, so this is r
  BincodeReader reader(bytes);
  EXPECT_FALSE(reader.fr(kRoot.at("list").at(3), x));
  EXPECT_EQ(reader.error().field, "list[3]");
  EXPECT_EQ(reader.error().offset, 0u);
}

TEST(Bincode, LengthsAndVariantsAreTheExpectedOnes) {
  const std::vector<uint8_t> three = {3, 0, 0, 0, 0, 0, 0, 0}, huge(8, 0xff);
  EXPECT_TRUE(BincodeReader(three).length(kRoot, 3, "things"));
  EXPECT_FALSE(BincodeReader(three).length(kRoot, 2, "things"));
  EXPECT_FALSE(BincodeReader(three).length(kRoot, 4, "things"));
  BincodeReader reader(huge);
  EXPECT_FALSE(reader.length(kRoot.at("list"), 3, "things"));
  EXPECT_EQ(reader.error().message, "has 18446744073709551615 things, needs 3");
  EXPECT_TRUE(BincodeReader(three).variant(kRoot, 3));
  EXPECT_FALSE(BincodeReader(three).variant(kRoot, 0));
}

// Node i is 32 bytes, the first of them i.
void put_node(std::vector<uint8_t>& out, uint8_t i) {
  out.push_back(i);
  out.resize(out.size() + 31);
}
void put_u64(std::vector<uint8_t>& out, uint8_t i) {
  out.push_back(i);
  out.resize(out.size() + 7);
}
void put_path(std::vector<uint8_t>& out, uint8_t levels, uint8_t arity, uint8_t first, std::vector<uint8_t> indices) {
  put_u64(out, levels);
  for (uint8_t level = 0; level < levels; ++level) {
    put_u64(out, static_cast<uint8_t>(arity - 1));
    for (uint8_t i = 0; i + 1 < arity; ++i) put_node(out, first++);
    put_u64(out, indices[level]);
  }
}

void expect_proof(const std::vector<uint8_t>& bytes, const TreeShape& tree, uint64_t leaf_index) {
  EXPECT_EQ(bytes.size(), merkle_proof_bytes(tree));
  std::vector<Fr> values(2 + tree.siblings());
  uint64_t index = 0;
  BincodeReader reader(bytes);
  ASSERT_TRUE(read_merkle_proof(reader, kRoot, tree, values, index)) << reader.error().describe();
  EXPECT_TRUE(reader.end(kRoot));
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], Fr::from_u64(i)) << i;
  EXPECT_EQ(index, leaf_index);
  std::vector<uint8_t> out;
  write_merkle_proof(out, tree, {values[0], values[1], std::span<const Fr>(values).subspan(2), index});
  EXPECT_EQ(out, bytes);
  for (size_t size = 0; size < bytes.size(); ++size) {
    BincodeReader shorter({bytes.data(), size});
    EXPECT_FALSE(read_merkle_proof(shorter, kRoot, tree, values, index)) << size;
    EXPECT_LE(shorter.error().offset.value(), size);
  }
}

TEST(Bincode, MerkleProofOfASingleTree) {
  std::vector<uint8_t> bytes = {0, 0, 0, 0};
  put_node(bytes, 0);
  put_node(bytes, 1);
  put_path(bytes, 2, 8, 2, {3, 7});
  expect_proof(bytes, {6, 8, 2, 0, 0}, 3 + 8 * 7);
  bytes = {0, 0, 0, 0};
  put_node(bytes, 0);
  put_node(bytes, 1);
  put_path(bytes, 3, 2, 2, {1, 0, 1});
  expect_proof(bytes, {3, 2, 3, 0, 0}, 5);
}

TEST(Bincode, MerkleProofOfSubTrees) {
  std::vector<uint8_t> bytes = {1, 0, 0, 0};
  put_path(bytes, 2, 8, 2, {3, 7});
  put_path(bytes, 1, 4, 16, {2});
  put_node(bytes, 0);
  put_node(bytes, 1);
  expect_proof(bytes, {8, 8, 2, 4, 0}, 3 + 8 * 7 + 64 * 2);
}

TEST(Bincode, MerkleProofOfATopTree) {
  std::vector<uint8_t> bytes = {2, 0, 0, 0};
  put_path(bytes, 2, 8, 2, {3, 7});
  put_path(bytes, 1, 8, 16, {5});
  put_path(bytes, 1, 2, 23, {1});
  put_node(bytes, 0);
  put_node(bytes, 1);
  expect_proof(bytes, {10, 8, 2, 8, 2}, 3 + 8 * 7 + 64 * 5 + 512);
}

TEST(Bincode, MerkleProofOfAnotherTreeIsRefused) {
  std::vector<uint8_t> bytes = {1, 0, 0, 0};
  put_path(bytes, 2, 8, 2, {3, 7});
  put_path(bytes, 1, 4, 16, {2});
  put_node(bytes, 0);
  put_node(bytes, 1);
  const auto field_for = [&](const TreeShape& tree) {
    std::vector<Fr> values(2 + tree.siblings());
    uint64_t index = 0;
    BincodeReader reader(bytes);
    EXPECT_FALSE(read_merkle_proof(reader, kRoot.at("proof"), tree, values, index));
    return reader.error().field;
  };
  EXPECT_EQ(field_for({6, 8, 2, 0, 0}), "proof");
  EXPECT_EQ(field_for({10, 8, 2, 8, 2}), "proof");
  EXPECT_EQ(field_for({11, 8, 3, 4, 0}), "proof.base_proof.path");
  EXPECT_EQ(field_for({9, 8, 2, 8, 0}), "proof.sub_proof.path[0].hashes");
  EXPECT_EQ(field_for({4, 2, 2, 4, 0}), "proof.base_proof.path[0].hashes");
  bytes[4 + 8 + 8 + 7 * 32] = 8;  // the first index
  EXPECT_EQ(field_for({8, 8, 2, 4, 0}), "proof.base_proof.path[0].index");
}

}  // namespace
}  // namespace cuzk
