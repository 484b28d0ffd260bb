// The circuit against upstream's: digests, counts and densities of blank circuits, and the complete 2 KiB example.
#include "filecoin/porep_circuit.hpp"

#include <gtest/gtest.h>

#include "base/hex.hpp"
#include "circuit/assignment.hpp"
#include "circuit/checker.hpp"
#include "circuit/digester.hpp"
#include "circuit/packed_writer.hpp"
#include "circuit/recorder.hpp"
#include "filecoin/compiled_test_util.hpp"
#include "filecoin/porep_dev_sealer.hpp"
#include "filecoin/porep_prove.hpp"

namespace cuzk {
namespace {

const PorepShape& shape_named(std::string_view id) { return *porep_shape_by_circuit_id(id); }

// Upstream's example: StackedDrg2KiBV1_1, prover id 32 x 9, sector 7, ticket 32 x 1, seed 32 x 2.
const PorepSealed& example() {
  static const PorepSealed sealed = [] {
    std::vector<NodeBytes> data;
    for (uint64_t i = 0; i < 64; ++i) data.push_back(Fr::from_u64(i * 0x010203040506 + 1).to_bytes_le());
    PorepSealInput input;
    input.proof = &registered_seal_proofs()[5];
    input.prover_id.fill(9);
    input.sector_number = 7;
    input.ticket.fill(1);
    input.seed.fill(2);
    input.data = data;
    return std::move(seal_porep(input)).value();
  }();
  return sealed;
}

PorepCircuitInput input_of(const PorepC1& c1, uint32_t k = 0) {
  return {&c1.shape(), c1.partitions[k].challenges(), &c1.partitions[k], c1.replica_id, c1.comm_d, c1.comm_r};
}

struct DigestCase {
  const char* id;
  uint32_t challenges;
  uint64_t inputs, aux, constraints;
  const char* digest;
};

const DigestCase kDigests[] = {
    {"porep-2k", 1, 22, 1343122, 1344246, "d07b46233c6489922e1f88c653f442a9ce19664ba5d6b5afa711f6ed80ae74d7"},
    {"porep-2k", 2, 40, 2685673, 2687921, "55243c3d8800ddf0ccd7e8f75dbab05392ef83f1bdc098bb27c294766781cfeb"},
    {"porep-8m", 1, 22, 1921510, 1922750, "720b845d27fea1fb84a5da36a5afa1cea52afe5de04e566e9a079ae31ed860d6"},
    {"porep-8m", 2, 40, 3842449, 3844929, "09f7e69e099b2a795279c3f2d110bb40eca93cf6a98f8f2222c0da5ae178b62b"},
    {"porep-512m", 1, 22, 2210704, 2212002, "6b6b3ddae847d9183aaf5b07c78a506cb7b9ece3c22b3f9b19c9d4885fbfffcf"},
    {"porep-512m", 2, 40, 4420837, 4423433, "695e8084e10c7e2d41a731b431aeaab2630ed8aeed17c63af4f82c22de0edcb8"},
    {"porep-32g", 1, 22, 7232200, 7238236, "49d12ce825867781ddd4e8b7ea5bb0913b8a871d45cfa690804716bf51c0184d"},
    {"porep-32g", 2, 40, 14463829, 14475901, "f55d3d1b1975347b4c4812933a419c104a1bdd7ec4eeb3f804d2ee403b3bf00e"},
    {"porep-64g", 1, 22, 7282575, 7288642, "a1ef2d6e44fc5ab5548642f6845b568a380d055502b5609e176ecae5bf85cd10"},
    {"porep-64g", 2, 40, 14564579, 14576713, "973660476abc213fa5ecced89768398f0db03c3040ef5448b83033a685f4f0e0"},
    {"porep-4k", 2, 40, 2786423, 2788733, "cb7e5976985eeeb8e301c536b899196176e3009e474e498c41f79ca8a60ac7d6"},
    {"porep-16k", 2, 40, 2974867, 2977173, "4134dc886c77b3ecca4b80666a03ed6ce459cbb97042795b18645bd38ae10e0d"},
    {"porep-32k", 2, 40, 3075617, 3077985, "1be12fdb08314344c83392bc25a131d70c7f58883807640e90c804627c805324"},
};

// Of two challenges; terms (0: not known) are those with nonzero coefficient.
struct Densities2 {
  const char* id;
  uint64_t a_aux, b_aux, a_terms, b_terms, c_terms;
};
const Densities2 kDensities[] = {
    {"porep-2k", 2674908, 685521, 6420965, 2689006, 5824682},
    {"porep-8m", 3814996, 1011289, 0, 0, 0},
    {"porep-512m", 4385040, 1174173, 0, 0, 0},
};

class PorepDigest : public testing::TestWithParam<DigestCase> {};

TEST_P(PorepDigest, MatchesUpstream) {
  const DigestCase& c = GetParam();
  const CircuitSummary summary = porep_digest(shape_named(c.id), c.challenges);
  EXPECT_EQ(summary.num_inputs, c.inputs);
  EXPECT_EQ(summary.num_aux, c.aux);
  EXPECT_EQ(summary.num_constraints, c.constraints);
  EXPECT_EQ(to_hex(summary.r1cs_digest), c.digest);
  if (c.challenges > 1) test::expect_compiled(compile_porep(shape_named(c.id), c.challenges), summary, 350'000'000);
  const CircuitCounts counts = porep_circuit_counts(shape_named(c.id), c.challenges);
  EXPECT_EQ(counts.inputs, summary.num_inputs);
  EXPECT_EQ(counts.aux, summary.num_aux);
  EXPECT_EQ(counts.constraints, summary.num_constraints);
  EXPECT_EQ(counts.a_aux_density, summary.a_aux_density);
  EXPECT_EQ(counts.b_aux_density, summary.b_aux_density);
  EXPECT_EQ(counts.b_input_density, summary.b_input_density);
  EXPECT_EQ(counts.bits, summary.num_booleans);
  EXPECT_EQ(counts.fields, summary.num_fields);
  for (const Densities2& d : kDensities) {
    if (std::string_view(d.id) != c.id || c.challenges != 2) continue;
    EXPECT_EQ(summary.a_aux_density, d.a_aux);
    EXPECT_EQ(summary.b_aux_density, d.b_aux);
    EXPECT_EQ(summary.b_input_density, 1u);
    if (d.a_terms == 0) continue;
    EXPECT_EQ(summary.a_terms, d.a_terms);
    EXPECT_EQ(summary.b_terms, d.b_terms);
    EXPECT_EQ(summary.c_terms, d.c_terms);
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, PorepDigest, testing::ValuesIn(kDigests), [](const auto& test) {
  std::string name = test.param.id + std::string("_c") + std::to_string(test.param.challenges);
  name[name.find('-')] = '_';
  return name;
});

// Shapes of upstream's unit tests.
TEST(PorepCircuit, TestShapesMatchUpstream) {
  struct Case {
    PorepShape shape;
    uint64_t aux, constraints;
    const char* digest;
  };
  const Case kCases[] = {
      {{"test", "test-2-0-0", 3, 2, 2, 3, 0, 0, 1, 13, 1, false},
       1205053,
       1206212,
       "369a4dbeafa66400792d355b421a83380ff338b1eb88762c4a629c1d9eaba37c"},
      {{"test", "test-8-0-0", 3, 2, 8, 1, 0, 0, 1, 13, 1, false},
       1198525,
       1199620,
       "0b4c59c6ca37a9a44abe35ade5d63242554249445a602d9860334a2e526b9adb"},
      {{"test", "test-8-4-0", 5, 2, 8, 1, 4, 0, 1, 13, 1, false},
       1295435,
       1296576,
       "fbb6cf859cd631befbb3c8e73b62aea1024bd3171bf71516078fff265aed9596"},
      {{"test", "test-8-4-2", 6, 2, 8, 1, 4, 2, 1, 13, 1, false},
       1345810,
       1346982,
       "3f4c0946b02db831334c58264b21e8be538eab7c8bc44f0459dd99e492efcb54"},
  };
  for (const Case& c : kCases) {
    const CircuitSummary summary = porep_digest(c.shape, 1);
    EXPECT_EQ(summary.num_inputs, 22u);
    EXPECT_EQ(summary.num_aux, c.aux) << c.shape.circuit_id;
    EXPECT_EQ(summary.num_constraints, c.constraints) << c.shape.circuit_id;
    EXPECT_EQ(to_hex(summary.r1cs_digest), c.digest) << c.shape.circuit_id;
  }
}

// create_label alone, with constant layer and node, and the setup of upstream's test.
TEST(PorepCircuit, CreateLabelMatchesUpstream) {
  const auto circuit = [](auto& cs) {
    using CS = std::remove_reference_t<decltype(cs)>;
    const auto fresh = [&] {
      std::vector<Boolean<CS>> bits;
      for (size_t i = 0; i < 256; ++i) bits.push_back(gadget::alloc_bit(cs, (i * i + i / 3) % 2 == 1));
      return bits;
    };
    const std::vector<Boolean<CS>> rid = fresh();
    std::vector<std::vector<Boolean<CS>>> parents;
    for (int i = 0; i < 37; ++i) parents.push_back(fresh());
    std::vector<const std::vector<Boolean<CS>>*> views;
    for (const auto& parent : parents) views.push_back(&parent);
    gadget::create_label<CS>(cs, rid, views, 3, UInt64<CS>::constant(22));
  };
  Digester digester;
  circuit(digester);
  const CircuitSummary summary = digester.summary();
  EXPECT_EQ(summary.num_aux, 531505u);
  EXPECT_EQ(summary.num_constraints, 532025u);
  EXPECT_EQ(to_hex(summary.r1cs_digest), "994bd382b5e6d6f9b268dfc8d045f1ea8f044cc9709b6e974716a60228c06ab6");
  Checker checker;
  circuit(checker);
  EXPECT_TRUE(checker.satisfied());
  EXPECT_EQ(to_hex(checker.aux_digest()), "f0334e3d4eda75bc651f8d2fcc8f3c19d9fd5f6a05a13be83c58339dbbfe0e2d");
}

struct RunningState {
  uint32_t challenge;
  PorepStep step;
  uint32_t number;
  uint64_t inputs, aux, constraints;
  const char* digest;
};

const RunningState kRunningStates[] = {
    {0, PorepStep::kReplicaId, 0, 2, 256, 257, "9eefd0fadcda063519426407e304bd35022a6bfb9e97a00849982a5f68286a79"},
    {0, PorepStep::kCommitments, 0, 4, 258, 259, "aaaf3e81566633ecf2104266e744c1f03a70a38a3e2bd58be45c85d24a2e4497"},
    {0, PorepStep::kCommRHash, 0, 4, 571, 571, "af131ac810f06d6f8a566199671ea297fc7abee3b46efde75b1031a2f30aca15"},
    {0, PorepStep::kDataInclusion, 0, 5, 272582, 272865,
     "2e89db0997e743ed84c0a8a879f6198244dcdd00c472ed27b9b118b7d35b0dc4"},
    {0, PorepStep::kBaseParent, 0, 6, 273969, 274238,
     "8d9aec777f67ca235e5f0c8ad1ec5c59c374632d841851cd7a533bcde9329dbf"},
    {0, PorepStep::kBaseParent, 5, 11, 280904, 281103,
     "8cae3d4262cd249da89ae06d35e6a819fd030478245e3f91b678c2f44a107ce4"},
    {0, PorepStep::kExpanderParent, 0, 12, 282291, 282476,
     "6900df0f12d4a48140f6958caf359fad00046c8f65aeca074b85a29f97cc8c5c"},
    {0, PorepStep::kExpanderParent, 7, 19, 292000, 292087,
     "94a6ca2bc08383c20396cdba81bf8ceb8f9b8263de7b7ff2f8aacd22f39236d4"},
    {0, PorepStep::kChallenge, 0, 20, 292064, 292152,
     "b5e111225e5a2984cfb31accc31c3fc6c380f954845131897bd24cb60e3c13d1"},
    {0, PorepStep::kParentBits, 1, 20, 293594, 293688,
     "eb5e5c1ce7dff008057976c4d653c3d66a98627bd9a747ab06538c928dffd9de"},
    {0, PorepStep::kLabel, 1, 20, 815343, 815957, "8edef6bc79de9aacf78c58425deb0b1323e7ad3ec2b3ea39cb0dd49edf42b318"},
    {0, PorepStep::kParentBits, 2, 20, 818913, 819541,
     "8e4cfed1903587bcf1bcf00612601bf186c67c6d55851901edd4817127385d55"},
    {0, PorepStep::kLabel, 2, 20, 1340662, 1341810, "a8701bf6678f7dc1597c5a202d2d2adbd718b60d664d18c5dc44c2b94fd5c720"},
    {0, PorepStep::kEncoding, 0, 21, 1341737, 1342873,
     "70c41c9a50ac0eb0f5687b620209d2cf088814bffec4946f52e48af41d3cca23"},
    {0, PorepStep::kColumn, 0, 22, 1343122, 1344246,
     "d07b46233c6489922e1f88c653f442a9ce19664ba5d6b5afa711f6ed80ae74d7"},
    {1, PorepStep::kDataInclusion, 0, 23, 1615133, 1616540,
     "47746be9e12f58e2b79960ea95d32fb18e4e5702621cbbfbbbc0317b04b3ccc6"},
    {1, PorepStep::kBaseParent, 0, 24, 1616520, 1617913,
     "2026043a0c7dd6db458b7cc0563fd34c8e6deaae27459143f400634b58b8865f"},
    {1, PorepStep::kBaseParent, 5, 29, 1623455, 1624778,
     "768a0371b5e70c574a56fbff4f53038162b6d9c30e000e69f437dca811c0444a"},
    {1, PorepStep::kExpanderParent, 0, 30, 1624842, 1626151,
     "be78dc3018bf98167213930e35f8191f5ba69c9217c5a03ad4cbffd5ff46c93b"},
    {1, PorepStep::kExpanderParent, 7, 37, 1634551, 1635762,
     "0c85b01665920246e9ab4e117b4cc594710909d1aa4d1332d7edd90a623b5031"},
    {1, PorepStep::kChallenge, 0, 38, 1634615, 1635827,
     "a7f592f8bd23a293c95b20e85dfae5f77a355001454f5a868607a8a0f1f6456e"},
    {1, PorepStep::kParentBits, 1, 38, 1636145, 1637363,
     "5aee690474b1698c55c888d49b53d6b9339c6de5852947f2386dcf7981d23470"},
    {1, PorepStep::kLabel, 1, 38, 2157894, 2159632, "c0ce73100b6391d8d7cb702f78210d51f4ec152d30dd26ed3165a3da17a52ee7"},
    {1, PorepStep::kParentBits, 2, 38, 2161464, 2163216,
     "3a63a00f5b87d95bc0f5ba1cb660f3c58a303596c22a5b880cf13aba459a3d9a"},
    {1, PorepStep::kLabel, 2, 38, 2683213, 2685485, "f13599b1ae1b98abdd50de4f546d78f23c02931f63be23c1facd32e581de541e"},
    {1, PorepStep::kEncoding, 0, 39, 2684288, 2686548,
     "53d95081f2fff81e12b6397b6b659d7dba79331e18aa276253b0bcf93e7303be"},
    {1, PorepStep::kColumn, 0, 40, 2685673, 2687921,
     "55243c3d8800ddf0ccd7e8f75dbab05392ef83f1bdc098bb27c294766781cfeb"},
};

// Names the first gadget that deviates: the digest after every part of the 2 KiB circuit.
TEST(PorepCircuit, RunningStateMatchesUpstream) {
  Digester digester;
  size_t at = 0;
  uint32_t challenge = 0;
  const auto probe = [&](PorepStep step, uint32_t number) {
    const RunningState& next = kRunningStates[std::min(at, std::size(kRunningStates) - 1)];
    if (next.challenge == challenge && next.step == step && next.number == number) {
      const CircuitSummary so_far = digester.summary();
      EXPECT_EQ(so_far.num_inputs, next.inputs) << "state " << at;
      EXPECT_EQ(so_far.num_aux, next.aux) << "state " << at;
      EXPECT_EQ(so_far.num_constraints, next.constraints) << "state " << at;
      EXPECT_EQ(to_hex(so_far.r1cs_digest), next.digest) << "state " << at;
      ++at;
    }
    if (step == PorepStep::kColumn) ++challenge;
  };
  const PorepCircuitInput blank{&shape_named("porep-2k"), 2, nullptr, {}, {}, {}};
  PorepSynthesizer<Digester, decltype(probe)>(digester, blank, probe).run();
  EXPECT_EQ(at, std::size(kRunningStates));
}

TEST(PorepCircuit, ExampleMatchesUpstream) {
  const PorepC1& c1 = example().c1;
  Checker checker;
  synthesize_porep(checker, input_of(c1));
  EXPECT_TRUE(checker.satisfied());
  EXPECT_EQ(checker.num_constraints(), 2687921u);
  EXPECT_EQ(to_hex(checker.inputs_digest()), "fdd35d368ed1c09a29052ea51f6cff32a3bb7bb1f9e004540aeeca0b6d67bc1c");
  EXPECT_EQ(to_hex(checker.aux_digest()), "90c60a4341baa34beb21bbbb712cd64b6e6a9615a1f21a016222d7fcc37cd457");
  // The inputs that a verifier computes are those of the circuit.
  const std::vector<Fr> inputs = porep_public_inputs(c1, 0);
  EXPECT_EQ(inputs, std::vector<Fr>(checker.inputs().begin() + 1, checker.inputs().end()));
  const uint64_t kNodes[] = {18, 17, 16, 17, 17, 16, 0, 53, 41, 53, 47, 32, 31, 4,  38, 18, 18, 18,
                             2,  1,  1,  1,  0,  1,  0, 30, 28, 55, 63, 63, 36, 37, 36, 2,  2,  2};
  ASSERT_EQ(inputs.size(), 3 + std::size(kNodes));
  for (size_t i = 0; i < std::size(kNodes); ++i) EXPECT_EQ(inputs[3 + i], Fr::from_u64(kNodes[i])) << i;
  EXPECT_TRUE(porep_check(c1, 0).ok());
}

// Recorder, packed witness and checker agree wire by wire, and the matrices are the digest's.
TEST(PorepCircuit, PackedWitnessExpandsToTheSameWires) {
  const PorepC1& c1 = example().c1;
  const CompiledCircuit circuit = compile_porep(c1.shape(), 2);
  EXPECT_EQ(circuit.num_inputs, 40u);
  EXPECT_EQ(circuit.num_aux, 2685673u);
  EXPECT_EQ(circuit.num_constraints, 2687921u);
  EXPECT_EQ(circuit.log2_domain(), 22u);
  EXPECT_EQ(to_hex(r1cs_digest(circuit)), "55243c3d8800ddf0ccd7e8f75dbab05392ef83f1bdc098bb27c294766781cfeb");
  const PackedWitness witness = porep_witness(c1, 0);
  const Result<std::vector<Fr>> aux = expand_witness(circuit, witness);
  ASSERT_TRUE(aux.ok()) << aux.error().describe();
  EXPECT_EQ(to_hex(digest_of_values(*aux)), "90c60a4341baa34beb21bbbb712cd64b6e6a9615a1f21a016222d7fcc37cd457");
  EXPECT_EQ(to_hex(digest_of_values(witness.inputs)),
            "fdd35d368ed1c09a29052ea51f6cff32a3bb7bb1f9e004540aeeca0b6d67bc1c");
}

// Sub and Top openings with real values: sealed sectors of the test sizes satisfy their circuits.
TEST(PorepCircuit, OtherTreeShapesAreSatisfied) {
  for (const char* id : {"porep-4k", "porep-32k"}) {
    RegisteredSealProof proof = registered_seal_proofs()[10];
    proof.shape = &shape_named(id);
    const std::vector<NodeBytes> data(proof.shape->nodes(), Fr::from_u64(77).to_bytes_le());
    PorepSealInput input;
    input.proof = &proof;
    input.seed.fill(3);
    input.data = data;
    const Result<PorepSealed> sealed = seal_porep(input);
    ASSERT_TRUE(sealed.ok());
    ASSERT_TRUE(validate_porep_vanilla(sealed->c1).ok()) << validate_porep_vanilla(sealed->c1).error().describe();
    Checker checker;
    synthesize_porep(checker, input_of(sealed->c1));
    EXPECT_TRUE(checker.satisfied()) << checker.first_violation()->path;
    EXPECT_EQ(porep_public_inputs(sealed->c1, 0),
              std::vector<Fr>(checker.inputs().begin() + 1, checker.inputs().end()));
  }
}

// One wrong value of each kind is refused, in the part of the circuit that it belongs to.
TEST(PorepCircuit, NamesWhatIsNotSatisfied) {
  const PorepChallengeLayout layout(shape_named("porep-2k"));
  struct Case {
    const char* what;
    uint32_t value;  // index in the challenge's flat values
    const char* scope;
  };
  const Case kCases[] = {
      {"data leaf", layout.comm_d() + 1, "challenge 1/comm_d inclusion"},
      {"data sibling", layout.comm_d() + 4, "challenge 1/comm_d inclusion"},
      {"replica sibling", layout.comm_r_last() + 5, "challenge 1/comm_r_last inclusion"},
      {"row of a base parent", layout.column(3), "challenge 1/drg parent 2"},
      {"row of an expander parent", layout.column(14) + 1, "challenge 1/exp parent 7"},
      {"sibling of c_x", layout.column(0) + layout.layers + 2, "challenge 1/c_x"},
  };
  for (const Case& c : kCases) {
    PorepC1 c1 = example().c1;
    c1.partitions[0].values(1)[c.value] += Fr::one();
    const Status status = porep_check(c1, 0);
    ASSERT_FALSE(status.ok()) << c.what;
    EXPECT_EQ(status.error().error_class, ErrorClass::kUnsatisfied);
    EXPECT_TRUE(status.error().field.starts_with(c.scope)) << c.what << ": " << status.error().field;
    EXPECT_EQ(status.error().partition, 0u);
  }
  PorepC1 c1 = example().c1;
  c1.comm_r += Fr::one();
  EXPECT_TRUE(porep_check(c1, 0).error().field.starts_with("comm_r")) << porep_check(c1, 0).error().field;
  c1 = example().c1;
  c1.replica_id += Fr::one();
  EXPECT_TRUE(porep_check(c1, 0).error().field.starts_with("challenge 0/comm_r_last"))
      << porep_check(c1, 0).error().field;
}

}  // namespace
}  // namespace cuzk
