#include "hash/poseidon.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/hex.hpp"
#include "field/cpu_features.hpp"
#include "hash/sha256.hpp"

namespace cuzk {
namespace {

std::string hex(const Fr& x) { return to_hex(x.to_bytes_be()); }

std::string digest(const std::vector<Fr>& elements) {
  Sha256 hash;
  for (const Fr& x : elements) hash.update(x.to_bytes_le());
  return to_hex(hash.finish());
}

std::vector<Fr> numbers(unsigned first, size_t count) {
  std::vector<Fr> out;
  for (size_t i = 0; i < count; ++i) out.push_back(Fr::from_u64(first + i));
  return out;
}

const std::vector<unsigned> kArities = {2, 4, 8, 11, 16, 24, 36};

std::map<unsigned, std::map<std::string, std::string>> golden() {
  std::ifstream file(std::string(CUZK_GOLDEN_DIR) + "/poseidon/constants.txt");
  EXPECT_TRUE(file.good());
  std::map<unsigned, std::map<std::string, std::string>> out;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream in(line);
    unsigned arity = 0;
    std::string name, value;
    in >> arity >> name >> value;
    out[arity][name] = value;
  }
  return out;
}

TEST(Poseidon, ConstantsAndHashesAgreeWithUpstream) {
  auto all = golden();
  ASSERT_EQ(all.size(), kArities.size());
  for (const unsigned arity : kArities) {
    SCOPED_TRACE(arity);
    auto& expected = all[arity];
    const PoseidonConstants& k = poseidon_constants(arity);
    const size_t t = k.width;
    std::map<std::string, std::string> actual = {
        {"raw_count", std::to_string(k.raw.size())},
        {"raw_0", hex(k.raw[0])},
        {"raw_1", hex(k.raw[1])},
        {"raw_last", hex(k.raw.back())},
        {"raw_sha256", digest(k.raw)},
        {"compressed_count", std::to_string(k.compressed.size())},
        {"compressed_0", hex(k.compressed[0])},
        {"compressed_t", hex(k.compressed[t])},
        {"compressed_4t", hex(k.compressed[4 * t])},
        {"compressed_last", hex(k.compressed.back())},
        {"compressed_sha256", digest(k.compressed)},
        {"mds_00", hex(k.mds[0])},
        {"mds_sha256", digest(k.mds)},
        {"pre_sparse_00", hex(k.pre_sparse[0])},
        {"pre_sparse_01", hex(k.pre_sparse[1])},
        {"pre_sparse_10", hex(k.pre_sparse[t])},
        {"pre_sparse_11", hex(k.pre_sparse[t + 1])},
        {"pre_sparse_sha256", digest(k.pre_sparse)},
        {"sparse_first_w1", hex(k.sparse[1])},
        {"sparse_first_v0", hex(k.sparse[t])},
        {"sparse_last_w1", hex(k.sparse[(k.partial_rounds - 1) * (2 * t - 1) + 1])},
        {"sparse_last_v0", hex(k.sparse[(k.partial_rounds - 1) * (2 * t - 1) + t])},
        {"sparse_count", std::to_string(k.sparse.size())},
        {"sparse_sha256", digest(k.sparse)},
        {"hash_zeros", hex(poseidon_hash(std::vector<Fr>(arity)))},
        {"hash_from_0", hex(poseidon_hash(numbers(0, arity)))},
        {"hash_from_1", hex(poseidon_hash(numbers(1, arity)))},
    };
    EXPECT_EQ(actual, expected);
  }
}

TEST(Poseidon, FastEqualsDefinition) {
  for (const unsigned arity : kArities) {
    std::vector<Fr> preimage = numbers(17, arity);
    for (Fr& x : preimage) x = (x * Fr::from_u64(0x123456789abcdef)).inverse();
    const uint64_t tag = poseidon_merkle_tag(arity);
    EXPECT_EQ(poseidon_hash(preimage), poseidon_hash_reference(preimage, tag)) << arity;
    // The largest element everywhere, and a foreign tag.
    const std::vector<Fr> top(arity, -Fr::one());
    EXPECT_EQ(poseidon_hash(top, ~uint64_t{0}), poseidon_hash_reference(top, ~uint64_t{0})) << arity;
  }
}

TEST(Poseidon, EveryElementAndTheTagMatter) {
  for (const unsigned arity : {2u, 8u, 11u}) {
    const std::vector<Fr> base = numbers(1, arity);
    const Fr hash = poseidon_hash(base);
    for (size_t i = 0; i < arity; ++i) {
      std::vector<Fr> changed = base;
      changed[i] += Fr::one();
      EXPECT_NE(hex(poseidon_hash(changed)), hex(hash)) << i;
    }
    EXPECT_NE(hex(poseidon_hash(base, poseidon_merkle_tag(arity) + 1)), hex(hash));
  }
}

TEST(Poseidon, UpstreamTestValues) {
  const Fr zero = Fr::zero(), one = Fr::one();
  const Fr left = poseidon_hash(std::vector<Fr>{one, zero}), right = poseidon_hash(std::vector<Fr>{zero, one});
  EXPECT_EQ(hex(left), "042f94ffbe786bc393c003cc74a24f26ec5907b3dc3094afb339ff6079800b5e");
  EXPECT_EQ(hex(poseidon_hash(std::vector<Fr>{left, right})),
            "1effebb7b26ad9eb30eb6385ae6b74ae77cc72b8cb2b5ad2efbb8be3e291e671");
  EXPECT_EQ(hex(poseidon_hash_md(numbers(1, 71))), "0f9ea17d3605998b30215e4c4b4eb5625b354210aa0efd107075bc864f80ff27");
  EXPECT_EQ(hex(poseidon_hash_md(std::vector<Fr>(71, one))),
            "59f42220e09ff6f75fd9623643ed9622c26f6d625f4e8195351c54133b332c90");
  EXPECT_EQ(poseidon_hash_md(numbers(5, 1)), Fr::from_u64(5));
  const uint64_t tag = poseidon_custom_tag(1);
  EXPECT_EQ(hex(poseidon_hash(std::vector<Fr>(2), tag)),
            "2378125c8da03c26753fb1b88e0e51952e811cc365e44bc06c4fc1b9a38df1b3");
  EXPECT_EQ(hex(poseidon_hash(numbers(1, 2), tag)), "702c879bafdb05ab3018f4fbc1d4c74854af845cdbb6bb53e40d5f9cb5e92f3c");
}

TEST(Poseidon, TraceSizesAndLastValue) {
  const std::map<unsigned, uint32_t> sizes = {{2, 311},  {4, 377},   {8, 505},  {11, 598},
                                              {16, 761}, {24, 1009}, {36, 1385}};
  for (const unsigned arity : kArities) {
    EXPECT_EQ(poseidon_trace_size(arity), sizes.at(arity));
    std::vector<Fr> trace(poseidon_trace_size(arity), Fr::zero());
    const std::vector<Fr> preimage = numbers(1, arity);
    poseidon_trace(preimage, poseidon_merkle_tag(arity), trace);
    EXPECT_EQ(trace.back(), poseidon_hash(preimage));
    // The first values are (x_1 + c_1)^2 and its square.
    const Fr x = preimage[0] + poseidon_constants(arity).compressed[1];
    EXPECT_EQ(trace[0], x.square());
    EXPECT_EQ(trace[1], x.square().square());
  }
}

TEST(Poseidon, OnlySomeArities) {
  for (unsigned arity = 0; arity < 50; ++arity) {
    const bool expected = std::find(kArities.begin(), kArities.end(), arity) != kArities.end();
    EXPECT_EQ(is_poseidon_arity(arity), expected) << arity;
  }
}

// Every arity, every remainder of eight, and elements at the ends of the field, in both forms.
TEST(Poseidon, ManyAtOnceAreEachOne) {
  for (const bool lanes : {true, false}) {
    SCOPED_TRACE(lanes);
    const CpuFeatures before = restrict_cpu_features({.adx = true, .avx512_ifma = lanes});
    for (const unsigned arity : kArities) {
      SCOPED_TRACE(arity);
      Fr x = Fr::from_u64(arity) + Fr::from_u64(3).inverse();
      for (size_t count = 0; count <= 19; ++count) {
        std::vector<Fr> preimages;
        for (size_t i = 0; i < count * arity; ++i) {
          x = x.square() + Fr::one();
          preimages.push_back(i % 11 == 3 ? Fr::zero() : i % 11 == 7 ? -Fr::one() : x);
        }
        std::vector<Fr> out(count + 1, x);
        poseidon_hashes(arity, preimages, std::span(out).first(count));
        for (size_t i = 0; i < count; ++i) {
          ASSERT_EQ(out[i], poseidon_hash(std::span<const Fr>(preimages).subspan(i * arity, arity)))
              << i << " of " << count;
        }
        ASSERT_EQ(out[count], x);
      }
    }
    restrict_cpu_features(before);
  }
}

// All elements r - 1 make the largest sums.
TEST(Poseidon, ManyAtOnceOfLargestElements) {
  for (const unsigned arity : kArities) {
    const std::vector<Fr> preimages(8 * arity, -Fr::one());
    std::vector<Fr> out(8);
    poseidon_hashes(arity, preimages, out);
    const uint64_t tag = poseidon_merkle_tag(arity);
    const Fr expected = poseidon_hash_reference(std::span<const Fr>(preimages).first(arity), tag);
    for (const Fr& hash : out) EXPECT_EQ(hash, expected) << arity;
  }
}

}  // namespace
}  // namespace cuzk
