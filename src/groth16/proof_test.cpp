#include "groth16/proof.hpp"

#include <gtest/gtest.h>

#include "base/hex.hpp"
#include "curve/encoding.hpp"

namespace cuzk {
namespace {

Proof some_proof(uint64_t k) {
  const auto g1 = [](uint64_t n) {
    return G1Jacobian::from_affine(G1Curve::generator()).mul(Fr::from_u64(n)).to_affine();
  };
  const auto g2 = [](uint64_t n) {
    return G2Jacobian::from_affine(G2Curve::generator()).mul(Fr::from_u64(n)).to_affine();
  };
  return {g1(k), g2(k + 1), g1(k + 2)};
}

TEST(ProofBytes, KnownProofRoundTrips) {
  // Circuit "mul", r = s = 0, from groth16-known-answers.
  const auto bytes = *from_hex(
      "877e4f10ffa2b1e8528318c3d37fa365a7e8b35bb534e081ebd0c219a44b0405eaeb44e59d9d5c022b6b4cf5477e2f54"
      "a4888889bf2cee5b98d453eb027145e3913c5096b63627fea22c8e19bb845fb6b46fc487192d60db911b04c4d14b4fb4"
      "0402ec95270b7e7c2e58992245b4758cad5ad59421ca2846592135f70f649c0ad923f64befdb09f32df93bcdc4f3d476"
      "a42c08a09a44fba918d4659815e5146de1ee2d415a38e178da79e7ece616e3675da61c1ebd9b04a7f956de4af9a734df");
  const auto proof = decode_proof(bytes);
  ASSERT_TRUE(proof.ok()) << proof.error().describe();
  const auto again = encode(*proof);
  EXPECT_TRUE(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
}

TEST(ProofBytes, LengthsAndFlags) {
  const auto bytes = encode(some_proof(5));
  EXPECT_EQ(*decode_proof(bytes), some_proof(5));
  for (const size_t length : {0, 1, 48, 191}) {
    const auto result = decode_proof(std::span(bytes).first(length));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().error_class, ErrorClass::kInvalidInput);
  }
  struct {
    size_t offset, size;
    const char* name;
  } parts[] = {{0, 48, "a"}, {48, 96, "b"}, {144, 48, "c"}};
  for (const auto& part : parts) {
    auto identity = bytes;
    std::fill_n(identity.begin() + static_cast<std::ptrdiff_t>(part.offset), part.size, 0);
    identity[part.offset] = 0xc0;
    auto uncompressed = bytes;
    uncompressed[part.offset] &= 0x7f;
    auto too_large = bytes;
    std::fill_n(too_large.begin() + static_cast<std::ptrdiff_t>(part.offset), part.size, 0xff);
    too_large[part.offset] = 0x9f;
    for (const auto& bad : {identity, uncompressed, too_large}) {
      const auto result = decode_proof(bad);
      ASSERT_FALSE(result.ok()) << part.name;
      EXPECT_EQ(result.error().error_class, ErrorClass::kBadProof);
      EXPECT_EQ(result.error().field, part.name);
      EXPECT_EQ(result.error().offset, part.offset);
    }
  }
}

TEST(ProofBytes, PointsOutsideTheSubgroupAreRefused) {
  // The first small x on the curve; the subgroup has one in 2^125 of its points.
  auto bytes = encode(some_proof(9));
  std::fill_n(bytes.begin(), 48, 0);
  bytes[0] = 0x80;
  bool found = false;
  for (uint8_t x = 1; x < 50 && !found; ++x) {
    bytes[47] = x;
    found = decompress_g1(std::span(bytes).first(48), PointCheck::kOnCurve).ok();
  }
  ASSERT_TRUE(found);
  const auto result = decode_proof(bytes);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().field, "a");
}

TEST(ProofBytes, Concatenation) {
  std::vector<Proof> proofs;
  for (uint64_t k = 1; k <= 5; ++k) proofs.push_back(some_proof(k));
  auto bytes = encode_proofs(proofs);
  ASSERT_EQ(bytes.size(), 5 * 192u);
  EXPECT_EQ(*decode_proofs(bytes, 5), proofs);
  EXPECT_TRUE(decode_proofs({}, 0).ok());
  for (const size_t count : {size_t{0}, size_t{4}, size_t{6}, ~size_t{0}, (~size_t{0}) / 192 + 6}) {
    const auto result = decode_proofs(bytes, count);
    ASSERT_FALSE(result.ok()) << count;
    EXPECT_EQ(result.error().error_class, ErrorClass::kInvalidInput);
  }
  EXPECT_FALSE(decode_proofs(std::span(bytes).first(bytes.size() - 1), 5).ok());
  bytes[3 * 192 + 144] &= 0x7f;
  const auto result = decode_proofs(bytes, 5);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().partition, 3u);
  EXPECT_EQ(result.error().offset, 3 * 192u + 144);
  EXPECT_EQ(result.error().field, "c");
}

}  // namespace
}  // namespace cuzk
