// Shapes, registered proofs, file names, challenges and public inputs of PoSts, against upstream's values.
#include "filecoin/post.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>

#include "base/hex.hpp"
#include "hash/sha256.hpp"

namespace cuzk {
namespace {

const PostShape& shape_named(std::string_view id) {
  const PostShape* shape = post_shape_by_circuit_id(id);
  EXPECT_NE(shape, nullptr) << id;
  return *shape;
}

NodeBytes counting() {
  NodeBytes out;
  std::iota(out.begin(), out.end(), uint8_t{0});
  return out;
}

TEST(PostShapes, AreConsistent) {
  ASSERT_EQ(post_shapes().size(), 20u);
  std::set<std::string_view> ids;
  for (const PostShape& shape : post_shapes()) {
    uint32_t bits = 0;
    for (uint32_t level = 0; level < shape.tree.levels(); ++level) bits += shape.tree.index_bits(level);
    EXPECT_EQ(bits, shape.tree.log2_leaves) << shape.circuit_id;
    EXPECT_EQ(post_shape_by_circuit_id(shape.circuit_id), &shape);
    EXPECT_EQ(post_shape_by_sector_bytes(shape.kind, shape.sector_bytes()), &shape);
    ids.insert(shape.circuit_id);
    // The trees of the same sector's PoRep.
    const PorepShape* porep = porep_shape_by_sector_bytes(shape.sector_bytes());
    ASSERT_NE(porep, nullptr);
    EXPECT_EQ(porep->tree(), shape.tree);
    EXPECT_EQ(porep->name, shape.name);
    EXPECT_EQ(porep->published, shape.published);
    const bool winning = shape.kind == PostKind::kWinning;
    EXPECT_EQ(shape.circuit_id.starts_with("winning-"), winning);
    EXPECT_EQ(shape.paths_per_sector(), winning ? 66u : 10u);
    EXPECT_EQ(shape.max_real_sectors(), winning ? 1u : shape.sectors);
    EXPECT_EQ(shape.challenges, winning ? 1u : 10u);
  }
  EXPECT_EQ(ids.size(), 20u);
  EXPECT_EQ(shape_named("winning-64g").sectors, 66u);
  EXPECT_EQ(shape_named("window-32g").sectors, 2349u);
  EXPECT_EQ(shape_named("window-64g").sectors, 2300u);
  EXPECT_EQ(shape_named("window-512m").sectors, 2u);
  EXPECT_EQ(post_shape_by_circuit_id("window"), nullptr);
  EXPECT_EQ(post_shape_by_circuit_id("porep-32g"), nullptr);
  EXPECT_EQ(post_shape_by_sector_bytes(PostKind::kWindow, 2047), nullptr);
}

TEST(PostShapes, PathLengthsMatchUpstream) {
  const std::pair<const char*, uint32_t> kLevels[] = {{"2k", 2},  {"4k", 3},   {"16k", 3}, {"32k", 4},  {"8m", 6},
                                                      {"16m", 7}, {"512m", 8}, {"1g", 9},  {"32g", 10}, {"64g", 11}};
  for (const auto& [size, levels] : kLevels) {
    EXPECT_EQ(shape_named(std::string("winning-") + size).tree.levels(), levels) << size;
    EXPECT_EQ(shape_named(std::string("window-") + size).tree.levels(), levels) << size;
  }
}

TEST(RegisteredPostProofs, NumbersMatchUpstream) {
  const auto proofs = registered_post_proofs();
  ASSERT_EQ(proofs.size(), 15u);
  const char* kIds[15] = {"winning-2k", "winning-8m", "winning-512m", "winning-32g", "winning-64g",
                          "window-2k",  "window-8m",  "window-512m",  "window-32g",  "window-64g",
                          "window-2k",  "window-8m",  "window-512m",  "window-32g",  "window-64g"};
  const char* kSizes[5] = {"2KiB", "8MiB", "512MiB", "32GiB", "64GiB"};
  for (uint32_t i = 0; i < 15; ++i) {
    EXPECT_EQ(proofs[i].number, i);
    EXPECT_EQ(proofs[i].shape->circuit_id, kIds[i]);
    EXPECT_EQ(proofs[i].api_version, i < 10 ? PostApiVersion::kV1_0_0 : PostApiVersion::kV1_2_0);
    EXPECT_EQ(proofs[i].name,
              std::string(i < 5 ? "StackedDrgWinning" : "StackedDrgWindow") + kSizes[i % 5] + (i < 10 ? "V1" : "V1_1"));
    EXPECT_EQ(registered_post_proof_by_name(proofs[i].name), &proofs[i]);
  }
  EXPECT_EQ(registered_post_proof_by_name("StackedDrgWindow32GiBV1_2"), &proofs[13]);
  EXPECT_EQ(registered_post_proof_by_name("StackedDrgWinning32GiBV1_2"), nullptr);
  EXPECT_EQ(registered_post_proof_by_name("StackedDrgWindow4KiBV1"), nullptr);
  EXPECT_EQ(registered_post_proof_by_name(""), nullptr);
}

TEST(PostParameters, FileNamesMatchUpstream) {
  EXPECT_EQ(post_parameter_identifier(shape_named("winning-2k")),
            "FallbackPoSt::PublicParams{sector_size: 2048, challenge_count: 1, sector_count: 66}");
  EXPECT_EQ(post_parameter_identifier(shape_named("window-32g")),
            "FallbackPoSt::PublicParams{sector_size: 34359738368, challenge_count: 10, sector_count: 2349}");
  EXPECT_EQ(post_parameter_identifier(shape_named("window-64g")),
            "FallbackPoSt::PublicParams{sector_size: 68719476736, challenge_count: 10, sector_count: 2300}");
  struct Case {
    const char *id, *tree, *hash;
  };
  const Case kCases[] = {
      {"winning-2k", "8-0-0", "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e"},
      {"winning-8m", "8-0-0", "50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331"},
      {"winning-512m", "8-0-0", "7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781"},
      {"winning-32g", "8-8-0", "559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e"},
      {"winning-64g", "8-8-2", "b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c"},
      {"window-2k", "8-0-0", "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0"},
      {"window-8m", "8-0-0", "5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9"},
      {"window-512m", "8-0-0", "0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9"},
      {"window-32g", "8-8-0", "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc"},
      {"window-64g", "8-8-2", "2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(post_parameter_file_stem(shape_named(c.id)),
              std::string("v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-") + c.tree + "-" + c.hash);
  }
}

struct ChallengeCase {
  const char* id;
  uint64_t sector;
  std::vector<uint64_t> challenges;
};
const ChallengeCase kChallenges[] = {
    {"window-2k", 0, {47, 46, 7, 37, 9, 39, 49, 59, 61, 63}},
    {"window-2k", 1, {46, 10, 14, 42, 22, 8, 31, 41, 43, 30}},
    {"window-2k", 12345, {59, 29, 24, 10, 20, 35, 38, 16, 56, 28}},
    {"window-512m",
     0,
     {3191023, 16124142, 8239559, 13368613, 11668041, 15725415, 14152689, 14603067, 15565309, 10622719}},
    {"window-32g",
     0,
     {993046767, 133564654, 897432007, 265026853, 263326281, 972026727, 853013489, 232706875, 1022198269, 614602495}},
    {"window-32g",
     1,
     {1071472686, 661541706, 494656078, 967677674, 435751446, 698344328, 601487711, 90329769, 608396139, 509065054}},
    {"window-32g",
     12345,
     {963723835, 878341469, 191361816, 15057930, 202413972, 765721251, 837511078, 939068944, 194482040, 223030108}},
    {"window-64g",
     0,
     {2066788591, 133564654, 1971173831, 1338768677, 1337068105, 2045768551, 853013489, 1306448699, 1022198269,
      614602495}},
};

TEST(PostChallenges, MatchUpstream) {
  for (const ChallengeCase& c : kChallenges) {
    PostRequest request{&shape_named(c.id), PostApiVersion::kV1_2_0, counting(), 0};
    EXPECT_EQ(post_challenges(request, c.sector, 0), c.challenges) << c.id << " " << c.sector;
    // With the grindability fix neither position nor partition matter.
    request.partition_index = 7;
    EXPECT_EQ(post_challenges(request, c.sector, 1), c.challenges);
    // Before it, the first sector of the first partition has the same.
    request.partition_index = 0;
    for (const PostApiVersion version : {PostApiVersion::kV1_0_0, PostApiVersion::kV1_1_0}) {
      request.api_version = version;
      EXPECT_EQ(post_challenges(request, c.sector, 0), c.challenges);
      EXPECT_NE(post_challenges(request, c.sector, 1), c.challenges);
    }
  }
}

TEST(PostChallenges, IndexBeforeTheFix) {
  EXPECT_EQ(post_challenge_index(PostApiVersion::kV1_0_0, 0, 10, 9), 9u);
  EXPECT_EQ(post_challenge_index(PostApiVersion::kV1_0_0, 3, 10, 4), 34u);
  EXPECT_EQ(post_challenge_index(PostApiVersion::kV1_1_0, 3, 10, 4), 34u);
  EXPECT_EQ(post_challenge_index(PostApiVersion::kV1_2_0, 3, 10, 4), 4u);
  EXPECT_EQ(post_challenge_index(PostApiVersion::kV1_0_0, uint64_t{0xffffffff} * 2349, 10, 0),
            uint64_t{0xffffffff} * 23490);
  // Sector i of partition p counts as p * (sectors a partition) + i.
  PostRequest request{&shape_named("window-32g"), PostApiVersion::kV1_0_0, counting(), 3};
  const std::vector<uint64_t> challenges = post_challenges(request, 99, 5);
  for (uint32_t n = 0; n < 10; ++n) {
    EXPECT_EQ(challenges[n], post_leaf_challenge(counting(), 99, (3 * 2349 + 5) * 10 + n, uint64_t{1} << 30)) << n;
  }
  // One circuit challenge a sector, 66 sectors, is the same list as 66 challenges of one sector.
  request = {&shape_named("winning-32g"), PostApiVersion::kV1_0_0, counting(), 0};
  const std::vector<uint64_t> winning = post_challenges(request, 99, 0);
  ASSERT_EQ(winning.size(), 66u);
  for (uint32_t i = 0; i < 66; ++i) {
    EXPECT_EQ(winning[i], post_leaf_challenge(counting(), 99, post_challenge_index(PostApiVersion::kV1_0_0, i, 1, 0),
                                              uint64_t{1} << 30));
  }
  request.partition_index = 1;  // has no meaning there
  EXPECT_EQ(post_challenges(request, 99, 0), winning);
}

TEST(PostChallenges, WinningSectorsMatchUpstream) {
  EXPECT_EQ(winning_post_sectors(prover_id_of_miner(1000), counting(), 1000, 5),
            (std::vector<uint64_t>{6, 908, 394, 635, 366}));
  EXPECT_EQ(winning_post_sectors(prover_id_of_miner(1000), counting(), 1, 3), (std::vector<uint64_t>{0, 0, 0}));
  EXPECT_TRUE(winning_post_sectors(prover_id_of_miner(1000), counting(), 1, 0).empty());
}

TEST(PostPartitions, AreTheCeiling) {
  const PostShape& shape = shape_named("window-32g");
  EXPECT_EQ(post_partitions(shape, 0), 1u);
  EXPECT_EQ(post_partitions(shape, 1), 1u);
  EXPECT_EQ(post_partitions(shape, 2349), 1u);
  EXPECT_EQ(post_partitions(shape, 2350), 2u);
  EXPECT_EQ(post_partitions(shape, 2349 * 7), 7u);
  EXPECT_EQ(post_partitions(shape, UINT64_MAX), (UINT64_MAX - 1) / 2349 + 1);
  EXPECT_EQ(post_partitions(shape_named("winning-32g"), 5), 1u);
}

TEST(PostRequest, IsChecked) {
  NodeBytes randomness = counting();
  const Result<PostRequest> request = make_post_request(13, randomness, 4);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->shape->circuit_id, "window-32g");
  EXPECT_EQ(request->api_version, PostApiVersion::kV1_2_0);
  EXPECT_EQ(request->randomness, randomness);
  EXPECT_EQ(request->partition_index, 4u);
  for (const uint64_t number : {uint64_t{15}, uint64_t{1} << 32, UINT64_MAX}) {
    EXPECT_EQ(make_post_request(number, randomness, 0).error().field, "registered_proof");
  }
  for (const size_t size : {size_t{0}, size_t{31}, size_t{33}}) {
    const Result<PostRequest> bad = make_post_request(3, std::vector<uint8_t>(size), 0);
    EXPECT_EQ(bad.error().field, "randomness");
    EXPECT_EQ(bad.error().error_class, ErrorClass::kInvalidInput);
  }
  randomness.fill(0xff);
  EXPECT_EQ(make_post_request(3, randomness, 0).error().field, "randomness");
  randomness[31] = 0x3f;  // as clients mask it
  EXPECT_TRUE(make_post_request(3, randomness, 0).ok());
  // The modulus is refused, one less is not.
  for (size_t i = 0; i < 32; ++i) randomness[i] = static_cast<uint8_t>(Fr::kModulus[i / 8] >> (8 * (i % 8)));
  EXPECT_FALSE(check_post_randomness(randomness).ok());
  randomness[0] -= 1;
  EXPECT_TRUE(check_post_randomness(randomness).ok());
}

TEST(PostPublicInputs, OfWindowsArePaddedWithTheLastSector) {
  const PostRequest request{&shape_named("window-32g"), PostApiVersion::kV1_2_0, counting(), 0};
  const std::vector<PostPublicSector> sectors = {{0, Fr::from_u64(100)}, {1, Fr::from_u64(101)}};
  const std::vector<Fr> inputs = post_public_inputs(request, sectors);
  ASSERT_EQ(inputs.size(), 2349u * 11);
  EXPECT_EQ(inputs.size() + 1, post_circuit_counts(*request.shape, 2349).inputs);
  for (uint32_t i = 0; i < 2349; ++i) {
    const uint32_t real = std::min(i, 1u);
    ASSERT_EQ(inputs[i * 11], sectors[real].comm_r) << i;
    for (uint32_t n = 0; n < 10; ++n) {
      ASSERT_EQ(inputs[i * 11 + 1 + n], Fr::from_u64(kChallenges[4 + real].challenges[n])) << i << " " << n;
    }
  }
}

// No challenge of its own is drawn for a padded position, nor before the fix.
TEST(PostPublicInputs, PaddingRepeatsChallengesInEveryVersion) {
  const PostRequest request{&shape_named("window-2k"), PostApiVersion::kV1_0_0, counting(), 0};
  const std::vector<Fr> inputs = post_public_inputs(request, std::vector<PostPublicSector>{{1, Fr::from_u64(5)}});
  ASSERT_EQ(inputs.size(), 22u);
  EXPECT_TRUE(std::equal(inputs.begin(), inputs.begin() + 11, inputs.begin() + 11));
}

TEST(PostPublicInputs, OfWinningRepeatCommR) {
  const PostRequest request{&shape_named("winning-32g"), PostApiVersion::kV1_0_0, counting(), 0};
  const std::vector<Fr> inputs = post_public_inputs(request, std::vector<PostPublicSector>{{1, Fr::from_u64(9)}});
  ASSERT_EQ(inputs.size(), 132u);
  const std::vector<uint64_t> challenges = post_challenges(request, 1, 0);
  for (size_t i = 0; i < 66; ++i) {
    EXPECT_EQ(inputs[2 * i], Fr::from_u64(9));
    EXPECT_EQ(inputs[2 * i + 1], Fr::from_u64(challenges[i]));
  }
}

}  // namespace
}  // namespace cuzk
