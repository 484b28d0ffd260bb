// The PoSt circuits against upstream's counts, densities and digests, and with synthetic inputs.
#include "filecoin/post_circuit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/hex.hpp"
#include "circuit/assignment.hpp"
#include "circuit/checker.hpp"
#include "circuit/digester.hpp"
#include "filecoin/compiled_test_util.hpp"
#include "filecoin/post_synthetic.hpp"
#include "hash/poseidon.hpp"

namespace cuzk {
namespace {

const PostShape& shape_named(std::string_view id) {
  const PostShape* shape = post_shape_by_circuit_id(id);
  EXPECT_NE(shape, nullptr) << id;
  return *shape;
}

void expect_counts(const CircuitSummary& summary, const CircuitCounts& counts) {
  EXPECT_EQ(summary.num_inputs, counts.inputs);
  EXPECT_EQ(summary.num_aux, counts.aux);
  EXPECT_EQ(summary.num_constraints, counts.constraints);
  EXPECT_EQ(summary.a_aux_density, counts.a_aux_density);
  EXPECT_EQ(summary.b_aux_density, counts.b_aux_density);
  EXPECT_EQ(summary.b_input_density, counts.b_input_density);
  EXPECT_EQ(summary.num_booleans, counts.bits);
  EXPECT_EQ(summary.num_fields, counts.fields);
}

// Upstream's numbers; `sectors` 0: all of the circuit. The last three are not digested here but in the slow tests.
struct CountsCase {
  const char* id;
  uint32_t sectors;
  uint64_t inputs, aux, constraints, a_aux, b_aux;
  uint32_t log2_domain;  // 0: not stated
};
const CountsCase kCounts[] = {
    {"winning-2k", 0, 133, 91674, 90750, 69300, 66792, 17},
    {"winning-4k", 0, 133, 112464, 111474, 84942, 82302, 0},
    {"winning-16k", 0, 133, 127116, 125730, 96162, 92466, 0},
    {"winning-32k", 0, 133, 147906, 146454, 111804, 107976, 0},
    {"winning-8m", 0, 133, 233442, 230670, 176748, 169488, 18},
    {"winning-16m", 0, 133, 254232, 251394, 192390, 184998, 0},
    {"winning-512m", 0, 133, 304326, 300630, 230472, 220836, 19},
    {"winning-1g", 0, 133, 325116, 321354, 246114, 236346, 0},
    {"winning-32g", 0, 133, 375210, 370590, 284196, 272184, 19},
    {"winning-64g", 0, 133, 396000, 391314, 299838, 287694, 19},
    {"window-2k", 0, 23, 22128, 21866, 16770, 16028, 15},
    {"window-4k", 0, 23, 28428, 28146, 21510, 20728, 0},
    {"window-16k", 0, 23, 32868, 32466, 24910, 23808, 0},
    {"window-32k", 0, 23, 39168, 38746, 29650, 28508, 0},
    {"window-8m", 0, 23, 65088, 64266, 49330, 47148, 16},
    {"window-16m", 0, 23, 71388, 70546, 54070, 51848, 0},
    {"window-512m", 0, 23, 86568, 85466, 65610, 62708, 17},
    {"window-1g", 0, 23, 92868, 91746, 70350, 67408, 0},
    {"window-32g", 1, 12, 54024, 53333, 40945, 39134, 0},
    {"window-64g", 1, 12, 57174, 56473, 43315, 41484, 0},
    {"window-32g", 0, 25840, 126902376, 125279217, 96179805, 91925766, 27},
    {"window-64g", 0, 25301, 131500200, 129887900, 99624500, 95413200, 27},
};

TEST(PostCounts, MatchUpstream) {
  for (const CountsCase& c : kCounts) {
    const PostShape& shape = shape_named(c.id);
    const CircuitCounts counts = post_circuit_counts(shape, c.sectors == 0 ? shape.sectors : c.sectors);
    EXPECT_EQ(counts.inputs, c.inputs) << c.id;
    EXPECT_EQ(counts.aux, c.aux) << c.id;
    EXPECT_EQ(counts.constraints, c.constraints) << c.id;
    EXPECT_EQ(counts.a_aux_density, c.a_aux) << c.id;
    EXPECT_EQ(counts.b_aux_density, c.b_aux) << c.id;
    EXPECT_EQ(counts.b_input_density, 1u);
    if (c.log2_domain != 0) {
      EXPECT_EQ(counts.log2_domain(), c.log2_domain) << c.id;
    }
  }
}

struct DigestCase {
  const char* id;
  uint32_t sectors;  // 0: all
  const char* digest;
};
class PostDigest : public testing::TestWithParam<DigestCase> {};
TEST_P(PostDigest, MatchesUpstream) {
  const PostShape& shape = shape_named(GetParam().id);
  const uint32_t sectors = GetParam().sectors == 0 ? shape.sectors : GetParam().sectors;
  const CircuitSummary summary = post_digest(shape, sectors);
  expect_counts(summary, post_circuit_counts(shape, sectors));
  EXPECT_EQ(to_hex(summary.r1cs_digest), GetParam().digest);
  test::expect_compiled(compile_post(shape, sectors), summary, 4'000'000);
}
INSTANTIATE_TEST_SUITE_P(
    Sizes, PostDigest,
    testing::Values(DigestCase{"winning-2k", 0, "be2536b53059cdab99f7325747dc6fdcbd38be25fa4295792320af8b11dcabb5"},
                    DigestCase{"winning-4k", 0, "09db3bdfb4091975c5e142c68bfadbd41fe8ca9b42d209950a4057bf79bc8852"},
                    DigestCase{"winning-16k", 0, "d82d9daae9d79aa30a6061e7a6cc13d71441abe4f065b82c878cba19803e493c"},
                    DigestCase{"winning-32k", 0, "236ed924059a1bd400b13aec5a0a11a126c8d98816807245e2dbd584ce365529"},
                    DigestCase{"winning-8m", 0, "23b9a41c09f7c7307ff7ed1ae796b86ec5f8783a873c209b566c40e44458d98e"},
                    DigestCase{"winning-16m", 0, "f5bc912b8a0a3b8349e168f6ece20d5dcf5bb6a6eee60bd28b1bfe0b4ce52b91"},
                    DigestCase{"winning-512m", 0, "ad13eab70240a779275706f122a65f21c5d638337625bad2e09f96cde1ff3672"},
                    DigestCase{"winning-1g", 0, "f2b5fdfb8d9c2d46c9fa2b1858e74afbe905229593bf8471017e5233aa0e3a52"},
                    DigestCase{"winning-32g", 0, "80a3240db5e769f3d00e1e2059717efa0d0a53c46f98f0df43bd7315ad74616d"},
                    DigestCase{"winning-64g", 0, "72a7ed448a7359914c3023554e33ca42ff68683056dc6874bb63c4ac7bb99bf4"},
                    DigestCase{"window-2k", 0, "ffa5dc2bf140c1ffabe792257baf962cfe208844b7a00e8b84851d1ecb788293"},
                    DigestCase{"window-4k", 0, "fac955bdd173e3d7d5b44c2cb557201a193825a303d226124d1f41a1af77c7ec"},
                    DigestCase{"window-16k", 0, "961fece7b5f0b83958fd147aa1e8a076666a3d4f0ec95197da2335272088db46"},
                    DigestCase{"window-32k", 0, "239ca15e663c939b454c29f79b12367af7d6bfe7723e5ef17fcaf9a1831a0b4f"},
                    DigestCase{"window-8m", 0, "02e6839fb3e1a4d35ca119d02bdf1f2ac8d8547b18d8e86ae9f285b3aaecf18b"},
                    DigestCase{"window-16m", 0, "20248e4b2fbbe37039b74c9cf120aeed5f65e9f52cfb004aa31d3d4a91bbe65b"},
                    DigestCase{"window-512m", 0, "35996ab5e2bc6e2371e1c18d814ed5683039c180f2d73342e0e50622d6c64453"},
                    DigestCase{"window-1g", 0, "9840cf55d91ca0875df3abb68d6813ea8884c6cb1ab4e1cdd12a4eaf659b7e79"},
                    DigestCase{"window-32g", 1, "55d0434bddca9224f27036eee4b02abb158ab8aefef088bcab203379b1d86aa2"},
                    DigestCase{"window-32g", 3, "02bc5cd25808aa7c0fb3aa028d0607a2ded79abccbd9503a868c7165f3e763a0"},
                    DigestCase{"window-64g", 1, "32472941c34ae156a50210f22518e02e4f93f80ddde310505cd6253be57786b2"}),
    [](const auto& test) {
      std::string name = test.param.id;
      name[name.find('-')] = '_';
      return test.param.sectors == 0 ? name : name + "_s" + std::to_string(test.param.sectors);
    });

TEST(PostCounts, TermsMatchUpstream) {
  struct Case {
    const char* id;
    uint32_t sectors;
    uint64_t a, b, c;
  };
  for (const Case& c : {Case{"winning-32g", 66, 2549052, 376662, 465300}, Case{"window-32g", 1, 367131, 54235, 67008},
                        Case{"window-2k", 2, 150262, 22230, 27456}}) {
    const CircuitSummary summary = post_digest(shape_named(c.id), c.sectors);
    EXPECT_EQ(summary.a_terms, c.a) << c.id;
    EXPECT_EQ(summary.b_terms, c.b) << c.id;
    EXPECT_EQ(summary.c_terms, c.c) << c.id;
  }
}

PostShape test_shape(const TreeShape& tree, uint32_t sectors, uint32_t challenges) {
  return {PostKind::kWindow, "test", "test", tree, sectors, challenges, false};
}
const TreeShape kTree800 = {6, 8, 2, 0, 0}, kTree840 = {8, 8, 2, 4, 0}, kTree842 = {9, 8, 2, 4, 2};

// Shapes and numbers of upstream's unit tests.
TEST(PostCircuit, TestShapesMatchUpstream) {
  struct Case {
    PostShape shape;
    uint64_t inputs, constraints;
    const char* digest;
  };
  const Case kCases[] = {
      {test_shape(kTree800, 3, 5), 19, 16869, "caa0fdb98c41dce72d8d36ecf2efb652e3e5b518dbc1d4d437d116dde04ea38e"},
      {test_shape(kTree840, 3, 5), 19, 22674, "a6adf5a2e30c93e9cf6927f05dcef13c5ebd353d324530a03dc295741a690eb1"},
      {test_shape(kTree842, 3, 5), 19, 27384, "ad278416dfef5db98fc6f1a7f7a416b10e95f22958509e6a04fb1ccc0eac0a6f"},
      {test_shape(kTree800, 2, 5), 13, 11246, ""},
      {test_shape({30, 8, 10, 0, 0}, 5, 10), 56, 266665, ""},
  };
  for (const Case& c : kCases) {
    const CircuitSummary summary = post_digest(c.shape, c.shape.sectors);
    EXPECT_EQ(summary.num_inputs, c.inputs);
    EXPECT_EQ(summary.num_constraints, c.constraints);
    if (*c.digest != 0) {
      EXPECT_EQ(to_hex(summary.r1cs_digest), c.digest);
    }
    expect_counts(summary, post_circuit_counts(c.shape, c.shape.sectors));
  }
}

// One row in place of every hash, so that the order of everything else is checked alone.
struct StubPoseidon {
  template <class CS>
  static Num<CS> hash_multi_leaf(CS& cs, std::span<const Num<CS>> leaves) {
    const Num<CS> out = gadget::alloc_num(cs, Fr::zero());
    cs.enforce(
        [&](auto& lc) {
          lc.add_shifted_integer(Wire::one(), poseidon_merkle_tag(static_cast<unsigned>(leaves.size())), 0);
          for (size_t i = 0; i < leaves.size(); ++i) lc.add_shifted_integer(leaves[i].wire, i + 1, 0);
        },
        [](auto& lc) { lc.add(Wire::one()); }, [&](auto& lc) { lc.add(out.wire); });
    return out;
  }
  template <class CS>
  static Num<CS> hash2(CS& cs, const Num<CS>& x, const Num<CS>& y) {
    return hash_multi_leaf<CS>(cs, std::array<Num<CS>, 2>{x, y});
  }
};

void expect_skeleton(const PostShape& shape, uint32_t sectors, uint64_t aux, uint64_t constraints, const char* digest) {
  Digester digester;
  PostSynthesizer<Digester, StubPoseidon>(digester, shape, nullptr).run(0, sectors);
  const CircuitSummary summary = digester.summary();
  EXPECT_EQ(summary.num_aux, aux) << shape.circuit_id;
  EXPECT_EQ(summary.num_constraints, constraints) << shape.circuit_id;
  EXPECT_EQ(to_hex(summary.r1cs_digest), digest) << shape.circuit_id;
}

TEST(PostSkeleton, MatchesUpstream) {
  expect_skeleton(test_shape(kTree800, 3, 5), 3, 1017, 819,
                  "b5f34a4d2451ee5dbfa8928033627a875a8475f880480725d557f57021fffe5f");
  expect_skeleton(test_shape(kTree840, 3, 5), 3, 1227, 984,
                  "8ac0e62736e273cc9fa03d4d74a5e5b8ec98d24a547b3bf958627f8193944348");
  expect_skeleton(test_shape(kTree842, 3, 5), 3, 1302, 1044,
                  "ba42e081c0e982250c412cff2ce11e8ff3889f7d09d7cdb91f789c08ee2eb6d9");
  expect_skeleton(test_shape(kTree800, 2, 5), 2, 678, 546,
                  "4665a2c8e4af2f6eb0add3b49a2be2cd23e333e93010f60615ea34dceb2e5e32");
  struct Case {
    const char* id;
    uint32_t sectors;
    uint64_t aux, constraints;
    const char* digest;
  };
  const Case kCases[] = {
      {"winning-2k", 66, 4686, 3762, "90edd0bcec1e3af4685b11fe786ba5576d177a5e59c8028267f781f1b2a202d3"},
      {"winning-32k", 66, 7194, 5742, "34251263d42966d6c2a7fc4c27b79b439c56bcfe38d0e1bc48c1dfc0cb512947"},
      {"winning-32g", 66, 22110, 17490, "f3d9d0c662699496f3a5986f93549b99a98af14a2b4fc0efca5fed49facc2e74"},
      {"winning-64g", 66, 22440, 17754, "2ec7751557c180e275a35134b9befaf13357dabcd82b5e0016cd2d938b9046bb"},
      {"window-2k", 2, 1348, 1086, "9bec6ad99348a243ed7c3f0b3608d2ac62052f9076e3d1d13c0e5e7bff5e39c4"},
      {"window-32k", 2, 2108, 1686, "279a082834a979776c599f692b1e5a7b7a8c7b0e2bc9d5b64e45e09897c47958"},
      {"window-512m", 2, 5308, 4206, "b6a01f38def766318730123d40e141055ec3dc8444f3ec8532f358b8f71ad4ba"},
      {"window-32g", 1, 3314, 2623, "b97b69fca103e27f74f350a111ef110dd927b97a9d8bfc3f989440ac0a9208a2"},
      {"window-64g", 1, 3364, 2663, "47df92f55327684711c5a6b04ac5ea45a794e3c29ede3e7954da4f3224b2696e"},
  };
  for (const Case& c : kCases) expect_skeleton(shape_named(c.id), c.sectors, c.aux, c.constraints, c.digest);
}

PostRequest request_for(const PostShape& shape) {
  PostRequest request{&shape, PostApiVersion::kV1_2_0, {}, 0};
  if (shape.kind == PostKind::kWinning) request.api_version = PostApiVersion::kV1_0_0;
  request.randomness.fill(0x11);
  return request;
}

PostVanilla synthetic(const PostRequest& request, uint32_t sectors) {
  std::vector<uint64_t> ids;
  for (uint32_t i = 0; i < sectors; ++i) ids.push_back(100 + 7 * i);
  return make_synthetic_post(request, ids, NodeBytes{1});
}

// Recorder, packed witness and checker agree wire by wire, and public inputs are what a verifier computes.
void expect_all_agree(const PostShape& shape, uint32_t sectors) {
  const PostRequest request = request_for(shape);
  const PostVanilla vanilla = synthetic(request, sectors);
  const Result<PostPathHashes> hashes = validate_post_vanilla(request, vanilla);
  ASSERT_TRUE(hashes.ok()) << hashes.error().describe();
  EXPECT_TRUE(post_check(vanilla).ok());
  Checker checker;
  PostSynthesizer<Checker>(checker, shape, &vanilla).run(0, shape.sectors);
  EXPECT_TRUE(checker.satisfied()) << checker.first_violation()->path;
  EXPECT_EQ(post_public_inputs(request, vanilla.public_sectors()),
            std::vector<Fr>(checker.inputs().begin() + 1, checker.inputs().end()));
  const PackedWitness witness = post_witness(vanilla);
  EXPECT_EQ(witness.inputs, checker.inputs());
  EXPECT_TRUE(post_witness(vanilla, *hashes) == witness);
  const CompiledCircuit circuit = compile_post(shape, shape.sectors);
  const Result<std::vector<Fr>> aux = expand_witness(circuit, witness);
  ASSERT_TRUE(aux.ok()) << aux.error().describe();
  EXPECT_TRUE(*aux == checker.aux()) << shape.circuit_id;
  EXPECT_FALSE(first_unsatisfied(circuit, witness.inputs, *aux).has_value());
}

TEST(PostCircuit, AllUsesAgree) {
  for (const char* id : {"winning-2k", "winning-4k", "winning-16k", "winning-32k", "winning-64g"}) {
    expect_all_agree(shape_named(id), 1);
  }
  for (const char* id : {"window-2k", "window-16k", "window-32k", "window-1g"}) {
    expect_all_agree(shape_named(id), 1);
    expect_all_agree(shape_named(id), 2);
  }
  expect_all_agree(test_shape(kTree840, 5, 3), 2);  // padded, with three more
  expect_all_agree(test_shape(kTree842, 5, 3), 5);
}

// The compiled circuit is the digest's.
TEST(PostCircuit, CompiledFormHasTheDigest) {
  const PostShape& shape = shape_named("winning-32g");
  const CompiledCircuit circuit = compile_post(shape, shape.sectors);
  EXPECT_EQ(to_hex(r1cs_digest(circuit)), "80a3240db5e769f3d00e1e2059717efa0d0a53c46f98f0df43bd7315ad74616d");
  const WireDensities densities = wire_densities(circuit);
  EXPECT_EQ(densities.a_aux.count(), 284196u);
  EXPECT_EQ(densities.b_aux.count(), 272184u);
  EXPECT_EQ(circuit.log2_domain(), 19u);
}

// One wrong value of each kind is refused, in the part of the circuit that it belongs to.
TEST(PostCircuit, NamesWhatIsNotSatisfied) {
  const PostShape& shape = shape_named("window-32k");
  const PostVanilla good = synthetic(request_for(shape), 2);
  const auto refused = [&](const char* what, const std::string& scope, auto&& damage) {
    PostVanilla bad = good;
    damage(bad);
    const Status status = post_check(bad);
    ASSERT_FALSE(status.ok()) << what;
    EXPECT_EQ(status.error().error_class, ErrorClass::kUnsatisfied);
    EXPECT_TRUE(status.error().field.starts_with(scope)) << what << ": " << status.error().field;
    EXPECT_EQ(status.error().sector, 107u) << what;
  };
  refused("comm_r", "sector 1/comm_r", [](PostVanilla& v) { v.sector(1).comm_r += Fr::one(); });
  refused("comm_c", "sector 1/comm_r", [](PostVanilla& v) { v.sector(1).comm_c += Fr::one(); });
  refused("leaf", "sector 1/challenge 3/root", [](PostVanilla& v) { v.path_values(1, 3)[1] += Fr::one(); });
  refused("first sibling", "sector 1/challenge 9/root", [](PostVanilla& v) { v.path_values(1, 9)[2] += Fr::one(); });
  refused("last sibling", "sector 1/challenge 0/root", [](PostVanilla& v) { v.path_values(1, 0).back() += Fr::one(); });
  refused("index", "sector 1/challenge 5/root", [](PostVanilla& v) { v.leaf_index(1, 5) ^= 8; });
  // The circuit does not look at the openings' own roots.
  PostVanilla other_root = good;
  other_root.path_values(0, 0)[0] += Fr::one();
  EXPECT_TRUE(post_check(other_root).ok());

  // Winning: the 66 sectors of the circuit are one sector.
  PostVanilla winning = synthetic(request_for(shape_named("winning-2k")), 1);
  winning.path_values(0, 65)[3] += Fr::one();
  const Status status = post_check(winning);
  ASSERT_FALSE(status.ok());
  EXPECT_TRUE(status.error().field.starts_with("sector 65/challenge 0")) << status.error().field;
  EXPECT_EQ(status.error().sector, 100u);
}

// Padding copies; it must be the witness that synthesis of every repetition gives.
TEST(PostWitness, PaddingIsWhatSynthesisGives) {
  const PostShape shape = test_shape(kTree800, 150, 2);  // more repetitions than one chunk of the copy
  expect_all_agree(shape, 1);
  expect_all_agree(shape, 3);
  expect_all_agree(shape, 149);
}

}  // namespace
}  // namespace cuzk
