// The vanilla check of PoSts: synthetic inputs pass, one case for every kind of damage, sector and position named.
#include "filecoin/post_vanilla.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <string>

#include "filecoin/free_values.hpp"
#include "filecoin/post_synthetic.hpp"
#include "hash/poseidon.hpp"

namespace cuzk {
namespace {

const PostShape& shape_named(std::string_view id) {
  const PostShape* shape = post_shape_by_circuit_id(id);
  EXPECT_NE(shape, nullptr) << id;
  return *shape;
}

PostRequest request_for(const char* id, PostApiVersion version, uint32_t partition_index = 0) {
  PostRequest request{&shape_named(id), version, {}, partition_index};
  for (size_t i = 0; i < 32; ++i) request.randomness[i] = static_cast<uint8_t>(7 * i + 1);
  request.randomness[31] &= 0x3f;
  return request;
}

TEST(MerklePath, HashesAreTheDefinition) {
  // Top, by the definition: dense matrix and raw constants, children placed by hand.
  const TreeShape tree = shape_named("window-32k").tree;
  FreeValues free(NodeBytes{9});
  std::vector<Fr> siblings(tree.siblings());
  for (Fr& x : siblings) x = free.next_fr();
  const Fr leaf = free.next_fr();
  const std::array<uint32_t, 4> indices = {3, 0, 7, 1}, arities = {8, 8, 8, 2};
  const uint64_t leaf_index = 3 + 8 * 0 + 64 * 7 + 512 * 1;
  std::vector<Fr> hashes(4);
  merkle_path_hashes(tree, {leaf, leaf, siblings, leaf_index}, hashes);
  Fr current = leaf;
  auto next = siblings.begin();
  for (size_t level = 0; level < 4; ++level) {
    std::vector<Fr> children(next, next + arities[level] - 1);
    next += arities[level] - 1;
    children.insert(children.begin() + indices[level], current);
    current = poseidon_hash_reference(children, poseidon_merkle_tag(arities[level]));
    EXPECT_EQ(hashes[level], current) << level;
  }
}

// Every opening against the definition, not by the code that made them.
void expect_openings_hash(const PostVanilla& vanilla) {
  const TreeShape& tree = vanilla.shape().tree;
  for (uint32_t i = 0; i < vanilla.sectors(); ++i) {
    const PostSector& sector = vanilla.sector(i);
    EXPECT_EQ(poseidon_hash_reference(std::array<Fr, 2>{sector.comm_c, sector.comm_r_last}, 3), sector.comm_r);
    const MerkleProofView view = vanilla.path(i, 0);
    Fr current = view.leaf;
    uint64_t index = view.leaf_index;
    size_t at = 0;
    for (uint32_t level = 0; level < tree.levels(); ++level) {
      const uint32_t arity = tree.arity(level);
      std::vector<Fr> children(view.siblings.begin() + static_cast<std::ptrdiff_t>(at),
                               view.siblings.begin() + static_cast<std::ptrdiff_t>(at + arity - 1));
      children.insert(children.begin() + static_cast<std::ptrdiff_t>(index % arity), current);
      current = poseidon_hash_reference(children, poseidon_merkle_tag(arity));
      index /= arity;
      at += arity - 1;
    }
    EXPECT_EQ(current, sector.comm_r_last);
  }
}

TEST(PostSynthetic, PassesTheCheckAtEverySize) {
  for (const PostShape& shape : post_shapes()) {
    const bool winning = shape.kind == PostKind::kWinning;
    for (const PostApiVersion version : {PostApiVersion::kV1_0_0, PostApiVersion::kV1_2_0}) {
      if (winning && version != PostApiVersion::kV1_0_0) continue;
      const PostRequest request = request_for(std::string(shape.circuit_id).c_str(), version, winning ? 0 : 3);
      const std::vector<uint64_t> ids = {5, 9};
      const PostVanilla vanilla = make_synthetic_post(request, std::span(ids).first(winning ? 1 : 2), NodeBytes{4});
      const Result<PostPathHashes> hashes = validate_post_vanilla(request, vanilla);
      ASSERT_TRUE(hashes.ok()) << shape.circuit_id << ": " << hashes.error().describe();
      EXPECT_EQ(hashes->path(0, 3).back(), vanilla.sector(0).comm_r_last);
      expect_openings_hash(vanilla);
      EXPECT_EQ(vanilla, make_synthetic_post(request, std::span(ids).first(winning ? 1 : 2), NodeBytes{4}));
    }
  }
}

// Repeated challenges (10 of 64 leaves) carry the same leaf.
TEST(PostSynthetic, RepeatedChallengesAgree) {
  const PostRequest request = request_for("winning-2k", PostApiVersion::kV1_0_0);
  const PostVanilla vanilla = make_synthetic_post(request, std::array<uint64_t, 1>{1}, NodeBytes{});
  std::map<uint64_t, Fr> leaves;
  for (uint32_t n = 0; n < 66; ++n) {
    const MerkleProofView view = vanilla.path(0, n);
    const auto [it, is_new] = leaves.emplace(view.leaf_index, view.leaf);
    EXPECT_EQ(it->second, view.leaf);
  }
  EXPECT_LT(leaves.size(), 66u);
}

class PostValidate : public testing::Test {
 protected:
  PostValidate() {
    for (uint32_t i = 0; i < 20; ++i) ids_.push_back(1000 + 3 * i);
    vanilla_ = make_synthetic_post(request_, ids_, NodeBytes{7});
  }
  void expect_refused(const std::string& field, const std::string& message, std::optional<uint64_t> sector,
                      const std::function<void(PostVanilla&)>& damage) {
    PostVanilla bad = vanilla_;
    damage(bad);
    const Result<PostPathHashes> result = validate_post_vanilla(request_, bad);
    ASSERT_FALSE(result.ok()) << field;
    EXPECT_EQ(result.error().error_class, ErrorClass::kInvalidInput);
    EXPECT_EQ(result.error().field, field);
    EXPECT_NE(result.error().message.find(message), std::string::npos) << result.error().message;
    EXPECT_EQ(result.error().sector, sector);
  }

  PostRequest request_ = request_for("window-32g", PostApiVersion::kV1_2_0);
  std::vector<uint64_t> ids_;
  PostVanilla vanilla_{shape_named("window-32g"), 0};
};

TEST_F(PostValidate, AcceptsWhatIsRight) {
  EXPECT_TRUE(validate_post_vanilla(request_, vanilla_).ok());
  request_.partition_index = 5;  // without meaning since V1_2_0
  EXPECT_TRUE(validate_post_vanilla(request_, vanilla_).ok());
}

TEST_F(PostValidate, NamesSectorAndPosition) {
  const std::string place = "vanilla_proofs[13].vanilla_proof.sectors[0].inclusion_proofs[6]";
  const uint64_t sector = ids_[13];
  expect_refused("vanilla_proofs[13].comm_r", "hash of comm_c and comm_r_last", sector,
                 [](PostVanilla& v) { v.sector(13).comm_r += Fr::one(); });
  expect_refused("vanilla_proofs[13].comm_r", "hash of comm_c and comm_r_last", sector,
                 [](PostVanilla& v) { v.sector(13).comm_c += Fr::one(); });
  expect_refused("vanilla_proofs[13].comm_r", "hash of comm_c and comm_r_last", sector,
                 [](PostVanilla& v) { v.sector(13).comm_r_last += Fr::one(); });
  expect_refused(place + ".root", "is not comm_r_last", sector,
                 [](PostVanilla& v) { v.path_values(13, 6)[0] += Fr::one(); });
  expect_refused(place, "does not hash to the root", sector,
                 [](PostVanilla& v) { v.path_values(13, 6)[1] += Fr::one(); });
  for (const size_t sibling : {0, 6, 7, 62, 63, 69}) {
    expect_refused(place, "does not hash to the root", sector,
                   [&](PostVanilla& v) { v.path_values(13, 6)[2 + sibling] += Fr::one(); });
  }
  const uint64_t challenge = vanilla_.path(13, 6).leaf_index;
  expect_refused(
      place + ".index",
      "is that of leaf " + std::to_string(challenge ^ 1) + ", but the challenge is leaf " + std::to_string(challenge),
      sector, [](PostVanilla& v) { v.leaf_index(13, 6) ^= 1; });
  // Two openings in the wrong order.
  expect_refused("vanilla_proofs[13].vanilla_proof.sectors[0].inclusion_proofs[0].index", "the challenge is leaf",
                 sector, [](PostVanilla& v) {
                   for (size_t i = 0; i < v.path_values(13, 0).size(); ++i) {
                     std::swap(v.path_values(13, 0)[i], v.path_values(13, 6)[i]);
                   }
                   std::swap(v.leaf_index(13, 0), v.leaf_index(13, 6));
                 });
}

TEST_F(PostValidate, TheFirstOfSeveralIsNamed) {
  for (int repeat = 0; repeat < 5; ++repeat) {
    expect_refused("vanilla_proofs[4].vanilla_proof.sectors[0].inclusion_proofs[9]", "does not hash", ids_[4],
                   [](PostVanilla& v) {
                     v.path_values(19, 0)[2] += Fr::one();
                     v.path_values(5, 0)[2] += Fr::one();
                     v.path_values(4, 9)[2] += Fr::one();
                   });
  }
}

TEST_F(PostValidate, AllBadSectorsAreNamed) {
  const auto name = [&](uint32_t i) {
    return "vanilla_proofs[" + std::to_string(i) + "] (sector " + std::to_string(ids_[i]) + ")";
  };
  for (int repeat = 0; repeat < 5; ++repeat) {
    expect_refused("vanilla_proofs[4].comm_r", "hash of comm_c and comm_r_last; bad too: " + name(5) + ", " + name(19),
                   ids_[4], [](PostVanilla& v) {
                     v.path_values(19, 9)[2] += Fr::one();
                     v.path_values(19, 0)[2] += Fr::one();
                     v.sector(5).comm_r += Fr::one();
                     v.sector(4).comm_r += Fr::one();
                     v.path_values(4, 9)[2] += Fr::one();
                   });
  }
  std::string eight;
  for (uint32_t i = 1; i <= 8; ++i) eight += (i == 1 ? "" : ", ") + name(i);
  request_.randomness[0] ^= 1;
  expect_refused("vanilla_proofs[0].vanilla_proof.sectors[0].inclusion_proofs[0].index",
                 "; bad too: " + eight + " and " + std::to_string(ids_.size() - 9) + " more", 1000,
                 [](PostVanilla&) {});
}

TEST_F(PostValidate, SectorNumbersAscend) {
  expect_refused("vanilla_proofs[8].sector_id", "follows sector 1021", 1000,
                 [](PostVanilla& v) { v.sector(8).sector_id = 1000; });
  expect_refused("vanilla_proofs[8].sector_id", "is given twice", 1021,
                 [](PostVanilla& v) { v.sector(8) = v.sector(7); });
  // Another number, in order: the challenges are others.
  expect_refused("vanilla_proofs[8].vanilla_proof.sectors[0].inclusion_proofs[0].index", "the challenge is", 1025,
                 [](PostVanilla& v) { v.sector(8).sector_id = 1025; });
}

TEST_F(PostValidate, RandomnessIsCanonicalAndTheRightOne) {
  request_.randomness[31] |= 0xc0;
  expect_refused("randomness", "canonical", {}, [](PostVanilla&) {});
  request_.randomness[31] &= 0x3f;
  request_.randomness[0] ^= 1;
  expect_refused("vanilla_proofs[0].vanilla_proof.sectors[0].inclusion_proofs[0].index", "the challenge is", 1000,
                 [](PostVanilla&) {});
}

TEST_F(PostValidate, NumberOfSectors) {
  EXPECT_EQ(validate_post_vanilla(request_, PostVanilla(*request_.shape, 0)).error().field, "vanilla_proofs");
  EXPECT_EQ(validate_post_vanilla(request_, PostVanilla(*request_.shape, 2350)).error().message,
            "has 2350 sectors, needs 1 to 2349");
  const PostRequest winning = request_for("winning-2k", PostApiVersion::kV1_0_0);
  EXPECT_EQ(validate_post_vanilla(winning, PostVanilla(*winning.shape, 2)).error().field, "vanilla_proofs");
}

// Before the fix, position and partition decide the challenges of a window proof.
TEST(PostValidateV1, PositionAndPartitionMatter) {
  const std::vector<uint64_t> ids = {5, 9};
  for (const uint32_t partition : {0u, 2u}) {
    const PostRequest request = request_for("window-32k", PostApiVersion::kV1_0_0, partition);
    const PostVanilla vanilla = make_synthetic_post(request, ids, NodeBytes{});
    EXPECT_TRUE(validate_post_vanilla(request, vanilla).ok());
    PostRequest other = request;
    other.partition_index = 1;
    EXPECT_EQ(validate_post_vanilla(other, vanilla).error().sector, 5u);
    other = request;
    other.api_version = PostApiVersion::kV1_2_0;
    const Result<PostPathHashes> fixed = validate_post_vanilla(other, vanilla);
    ASSERT_FALSE(fixed.ok());
    EXPECT_EQ(fixed.error().sector, partition == 0 ? 9u : 5u);
  }
}

TEST(PostValidateWinning, NamesTheOpening) {
  const PostRequest request = request_for("winning-2k", PostApiVersion::kV1_0_0);
  PostVanilla vanilla = make_synthetic_post(request, std::array<uint64_t, 1>{77}, NodeBytes{});
  vanilla.path_values(0, 65).back() += Fr::one();
  const Result<PostPathHashes> result = validate_post_vanilla(request, vanilla);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().field, "vanilla_proofs[0].vanilla_proof.sectors[0].inclusion_proofs[65]");
  EXPECT_EQ(result.error().sector, 77u);
}

}  // namespace
}  // namespace cuzk
