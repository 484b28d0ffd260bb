// The update circuit against upstream's counts and digests, and with synthetic inputs.
#include "filecoin/snap_circuit.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/hex.hpp"
#include "circuit/assignment.hpp"
#include "circuit/checker.hpp"
#include "circuit/digester.hpp"
#include "filecoin/compiled_test_util.hpp"
#include "filecoin/snap_prove.hpp"
#include "filecoin/snap_synthetic.hpp"

namespace cuzk {
namespace {

const SnapShape& shape_named(std::string_view id) {
  const SnapShape* shape = snap_shape_by_circuit_id(id);
  EXPECT_NE(shape, nullptr) << id;
  return *shape;
}

struct DigestCase {
  const char* id;
  const char* digest;
};
class SnapDigest : public testing::TestWithParam<DigestCase> {};
TEST_P(SnapDigest, MatchesUpstream) {
  const SnapShape& shape = shape_named(GetParam().id);
  const CircuitSummary summary = snap_digest(shape);
  const CircuitCounts counts = snap_circuit_counts(shape);
  EXPECT_EQ(summary.num_inputs, counts.inputs);
  EXPECT_EQ(summary.num_aux, counts.aux);
  EXPECT_EQ(summary.num_constraints, counts.constraints);
  EXPECT_EQ(summary.a_aux_density, counts.a_aux_density);
  EXPECT_EQ(summary.b_aux_density, counts.b_aux_density);
  EXPECT_EQ(summary.b_input_density, counts.b_input_density);
  EXPECT_EQ(summary.num_booleans, counts.bits);
  EXPECT_EQ(summary.num_fields, counts.fields);
  EXPECT_EQ(to_hex(summary.r1cs_digest), GetParam().digest);
  test::expect_compiled(compile_snap(shape), summary, 60'000'000);
}
INSTANTIATE_TEST_SUITE_P(
    Sizes, SnapDigest,
    testing::Values(DigestCase{"snap-1k", "8e083067d706b67a715f61def8aab3581e296525ce05c776913a041f21069892"},
                    DigestCase{"snap-2k", "a7ad8f624ccb52cf15f8d744b1424c8ba4392a7720b0f1dccd2941633921ac57"},
                    DigestCase{"snap-4k", "ce535246a6aad2e321176a935280e94491d7b19209237c5ca0d8ff6fd5415eb0"},
                    DigestCase{"snap-8k", "edd025fefb4624f46e246bf73d8270c95b5043e946902b03edac86ddada7aa6c"},
                    DigestCase{"snap-16k", "deef15db7ac29102957860c9a371f65ac4db0fd89d1c1ebf1ddd652ce7ef15b0"},
                    DigestCase{"snap-32k", "15c188ae8c6104f7681f9e61b3898b12e9f8a5c95399c754e9e3379234cb9708"},
                    DigestCase{"snap-8m", "bfdb4c4342220e31ca0497f133f1cc753af92d701eebca1952f68b32d3a41d3e"},
                    DigestCase{"snap-16m", "3589e76755336d4481fdc841a2611428510c6eee01740b62be948faad6a2a286"}),
    [](const auto& test) { return std::string(test.param.id + 5); });

// One row in place of every hash, so that the order of everything else is checked at full size too.
Num<Digester> stub(Digester& cs, std::span<const Num<Digester>> inputs, std::span<const uint64_t> factors,
                   uint64_t constant) {
  const Num<Digester> out = gadget::alloc_num(cs, Fr::zero());
  cs.enforce(
      [&](auto& lc) {
        lc.add_shifted_integer(Wire::one(), constant, 0);
        for (size_t i = 0; i < inputs.size(); ++i) lc.add_shifted_integer(inputs[i].wire, factors[i], 0);
      },
      [](auto& lc) { lc.add(Wire::one()); }, [&](auto& lc) { lc.add(out.wire); });
  return out;
}
struct StubPoseidon {
  static constexpr std::array<uint64_t, 8> kFactors = {1, 2, 3, 4, 5, 6, 7, 8};
  template <class CS>
  static Num<CS> hash_multi_leaf(CS& cs, std::span<const Num<CS>> leaves) {
    return stub(cs, leaves, kFactors, poseidon_merkle_tag(static_cast<unsigned>(leaves.size())));
  }
  template <class CS>
  static Num<CS> hash2(CS& cs, const Num<CS>& x, const Num<CS>& y) {
    return hash_multi_leaf<CS>(cs, std::array<Num<CS>, 2>{x, y});
  }
};
struct StubSha {
  static constexpr std::array<uint64_t, 2> kFactors = {7, 11};
  template <class CS>
  static Num<CS> hash_multi_leaf(CS& cs, std::span<const Num<CS>> leaves) {
    return stub(cs, leaves, kFactors, 0);
  }
  template <class CS>
  static Num<CS> hash2(CS& cs, const Num<CS>& x, const Num<CS>& y) {
    return hash_multi_leaf<CS>(cs, std::array<Num<CS>, 2>{x, y});
  }
};
struct StubHashers {
  using TreeR = StubPoseidon;
  using TreeD = StubSha;
  template <class CS>
  static Num<CS> randomness(CS& cs, const Num<CS>& x, const Num<CS>& y) {
    return stub(cs, std::array<Num<CS>, 2>{x, y}, StubPoseidon::kFactors, uint64_t{1} << 40);
  }
};

TEST(SnapSkeleton, MatchesUpstreamAtEverySize) {
  struct Case {
    const char* id;
    uint64_t aux, constraints;
    const char* digest;
  };
  const Case kCases[] = {
      {"snap-1k", 1459, 1243, "d3f52e600cbdc3ec4bf57f18a83681288fad2911d58c51ab665fe130282dd2cd"},
      {"snap-2k", 1859, 1553, "4da05dc11585cc35e2b9b7cd1dad1cca0204e778efedd7f6e7851fe1bcf390ba"},
      {"snap-4k", 1979, 1643, "f2ad2ab76359296fb2617034760770eff87498005d8c879005914ac79e4ff400"},
      {"snap-8k", 2179, 1793, "009fd271144570121325c8fc8beac1d93876a267e9f8f6287efa3aa407931de5"},
      {"snap-16k", 3824, 3277, "708c2412df8add0fe78e49e67476e0fee2358a9c1f83f2023e4b39e16e188720"},
      {"snap-32k", 3944, 3367, "d9a6d5383e2d2cd9ddb0676a55a2fb17879edb9fdd84922009e407a78dee74d8"},
      {"snap-8m", 5949, 4901, "a013123bd49acdc42407b538e1bb4f7c1d13e5a0ac5016472c8b5cf8bb98b131"},
      {"snap-16m", 6069, 4991, "9a4dca19783eb9989173282879588807f60f8dee29630bbd35909833ef301c29"},
      {"snap-512m", 60570, 49783, "39aa6defc7f7dcc040ce44f82117f18eddf84669325515b2f56f5e2ec95b2862"},
      {"snap-32g", 73468, 59759, "2eea24a51daac451782f48defe8f6d767b3d053071ffb03a2735d23a90f59775"},
      {"snap-64g", 74500, 60533, "6f32116860cc81f66441bf388b25405c4c132c9b65108ddf00bfbd8bc1a0c3e7"},
  };
  for (const Case& c : kCases) {
    const SnapShape& shape = shape_named(c.id);
    Digester digester;
    SnapSynthesizer<Digester, StubHashers>(digester, {&shape, nullptr, 0, shape.default_h(), {}}).run();
    const CircuitSummary summary = digester.summary();
    EXPECT_EQ(summary.num_inputs, 5u);
    EXPECT_EQ(summary.num_aux, c.aux) << c.id;
    EXPECT_EQ(summary.num_constraints, c.constraints) << c.id;
    EXPECT_EQ(to_hex(summary.r1cs_digest), c.digest) << c.id;
  }
}

// The numbers of upstream's gadget tests.
TEST(SnapGadgets, SizesMatchUpstream) {
  for (const auto& [id, constraints] : std::map<std::string, uint64_t>{
           {"snap-1k", 568}, {"snap-16m", 568}, {"snap-512m", 4544}, {"snap-32g", 5680}, {"snap-64g", 5680}}) {
    const SnapShape& shape = shape_named(id);
    Digester digester;
    const Num<Digester> comm_r_new = gadget::alloc_num(digester, Fr::zero());
    const Num<Digester> partition = gadget::alloc_num(digester, Fr::zero());
    const auto bits = gadget::snap_challenge_bits<SnapHashers>(digester, shape, comm_r_new, partition);
    EXPECT_EQ(digester.summary().num_constraints, constraints) << id;
    EXPECT_EQ(bits.size(), shape.challenges);
    for (const auto& of_challenge : bits) EXPECT_EQ(of_challenge.size(), shape.challenge_bits());
  }
  struct Apex {
    size_t leaves, p;
    uint64_t constraints;
  };
  for (const Apex& a : {Apex{8, 0, 317654}, Apex{128, 1, 5808515}, Apex{16, 2, 771448}, Apex{8, 3, 453797}}) {
    Digester digester;
    std::vector<Num<Digester>> leaves(a.leaves), path(a.p);
    std::vector<Boolean<Digester>> bits;
    for (auto& x : leaves) x = gadget::alloc_num(digester, Fr::zero());
    for (auto& x : path) x = gadget::alloc_num(digester, Fr::zero());
    for (size_t i = 0; i < a.p; ++i) bits.push_back(Boolean<Digester>::is(digester.alloc_boolean(false), false));
    const Num<Digester> comm_d = gadget::alloc_num(digester, Fr::zero());
    gadget::snap_apex<SnapHashers, Digester>(digester, leaves, bits, path, comm_d);
    EXPECT_EQ(digester.summary().num_constraints, a.constraints);
  }
}

// First wires and constraints of the 2 KiB circuit's parts.
TEST(SnapCircuit, PartsBeginWhereUpstreamsDo) {
  struct Place {
    SnapStep step;
    uint64_t aux, constraints;
  };
  std::vector<Place> places;
  Digester digester;
  const auto probe = [&](SnapStep step, uint32_t number) {
    if (number > 0) return;
    const CircuitSummary s = digester.summary();
    places.push_back({step, s.num_aux, s.num_constraints});
  };
  const SnapShape& shape = shape_named("snap-2k");
  const SnapCircuitInput blank{&shape, nullptr, 0, 1, {}};
  SnapSynthesizer<Digester, SnapHashers, decltype(probe)>(digester, blank, probe).run();
  const Place kPlaces[] = {{SnapStep::kPartition, 8, 9},
                           {SnapStep::kCommitments, 11, 12},
                           {SnapStep::kPhi, 322, 323},
                           {SnapStep::kCommR, 955, 947},
                           {SnapStep::kApex, 318272, 318601},
                           {SnapStep::kChallengeBits, 318839, 319169},
                           {SnapStep::kChallenge, 318839 + (1703569 - 318839) / 10, 319169 + (1705039 - 319169) / 10}};
  ASSERT_EQ(places.size(), std::size(kPlaces));
  for (size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(places[i].step, kPlaces[i].step);
    EXPECT_EQ(places[i].aux, kPlaces[i].aux) << i;
    EXPECT_EQ(places[i].constraints, kPlaces[i].constraints) << i;
  }
}

SnapInput synthetic(const char* id, uint8_t seed, uint32_t partitions = 0) {
  SnapSyntheticInput input;
  input.shape = &shape_named(id);
  input.randomness.fill(seed);
  input.partitions = partitions;
  return make_synthetic_snap(input);
}

TEST(SnapCircuit, SyntheticInputsSatisfyIt) {
  for (const char* id : {"snap-1k", "snap-4k"}) {
    const SnapInput input = synthetic(id, 3);
    const Status status = snap_check(input, 0);
    EXPECT_TRUE(status.ok()) << id << ": " << status.error().describe();
  }
}

TEST(SnapCircuit, PackedWitnessIsTheCheckersOfAnyPartition) {
  const SnapInput input = synthetic("snap-16k", 4);
  const SnapShape& shape = *input.shape;
  const PackedWitness witness = snap_witness(input, 1);
  const CircuitCounts counts = snap_circuit_counts(shape);
  EXPECT_EQ(witness.bits.size(), counts.bits);
  EXPECT_EQ(witness.fields.size(), counts.fields);
  const std::vector<Fr> inputs = snap_public_inputs(shape, input.h, input.commitments, 1);
  EXPECT_EQ(std::vector<Fr>(witness.inputs.begin() + 1, witness.inputs.end()), inputs);
  const CompiledCircuit circuit = compile_snap(shape);
  EXPECT_EQ(circuit.num_constraints, counts.constraints);
  Result<std::vector<Fr>> aux = expand_witness(circuit, witness);
  ASSERT_TRUE(aux.ok()) << aux.error().describe();
  EXPECT_FALSE(first_unsatisfied(circuit, witness.inputs, *aux).has_value());
  // Any one wrong input is noticed.
  for (size_t i = 1; i < 5; ++i) {
    std::vector<Fr> wrong = witness.inputs;
    wrong[i] += Fr::one();
    EXPECT_TRUE(first_unsatisfied(circuit, wrong, *aux).has_value()) << i;
  }
}

// Each kind of damage is found by the circuit, at the place where it is.
TEST(SnapCircuit, DamageIsNamed) {
  const SnapInput good = synthetic("snap-1k", 5);
  const auto expect = [&](auto damage, const std::string& path) {
    SnapInput bad = good;
    damage(bad);
    const Status status = snap_check(bad, 0);
    ASSERT_FALSE(status.ok()) << path;
    EXPECT_EQ(status.error().error_class, ErrorClass::kUnsatisfied);
    EXPECT_TRUE(status.error().field.starts_with(path)) << status.error().describe();
    EXPECT_EQ(status.error().partition, 0u);
    EXPECT_EQ(status.error().sector, 42u);
  };
  expect([](SnapInput& in) { in.commitments.comm_r_old += Fr::one(); }, "comm_r_old");
  expect([](SnapInput& in) { in.commitments.comm_r_new += Fr::one(); }, "comm_r_new");
  expect([](SnapInput& in) { in.commitments.comm_d_new += Fr::one(); }, "apex");
  expect([](SnapInput& in) { in.partitions[0].comm_c += Fr::one(); }, "comm_r_old");
  expect([](SnapInput& in) { in.partitions[0].values(0, SnapProof::kRNew)[0] += Fr::one(); }, "comm_r_new");
  expect([](SnapInput& in) { in.partitions[0].apex_leaves[7] += Fr::one(); }, "apex");
  expect([](SnapInput& in) { in.partitions[0].values(2, SnapProof::kROld)[1] += Fr::one(); }, "challenge 2/tree r old");
  expect([](SnapInput& in) { in.partitions[0].values(2, SnapProof::kROld)[5] += Fr::one(); }, "challenge 2/tree r old");
  expect([](SnapInput& in) { in.partitions[0].values(2, SnapProof::kRNew)[5] += Fr::one(); }, "challenge 2/tree r new");
  // A wrong data leaf is a wrong new label first.
  expect([](SnapInput& in) { in.partitions[0].values(9, SnapProof::kDNew)[1] += Fr::one(); }, "challenge 9/tree r new");
  expect([](SnapInput& in) { in.partitions[0].values(9, SnapProof::kDNew)[2] += Fr::one(); }, "challenge 9/tree d new");
}

}  // namespace
}  // namespace cuzk
