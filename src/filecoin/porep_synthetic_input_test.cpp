#include "filecoin/porep_synthetic_input.hpp"

#include <gtest/gtest.h>

#include "base/hex.hpp"
#include "circuit/checker.hpp"
#include "filecoin/porep_circuit.hpp"
#include "filecoin/porep_graph.hpp"
#include "filecoin/porep_prove.hpp"

namespace cuzk {
namespace {

PorepC1 make(uint32_t number) {
  PorepSyntheticInput input;
  input.proof = &registered_seal_proofs()[number];
  input.ticket.fill(3);
  input.seed.fill(5);
  Result<PorepC1> c1 = make_synthetic_porep(input);
  EXPECT_TRUE(c1.ok());
  return std::move(c1).value();
}

std::vector<uint64_t> challenges_of(const PorepC1& c1, uint32_t k) {
  std::vector<uint64_t> out;
  for (uint32_t i = 0; i < c1.partitions[k].challenges(); ++i) out.push_back(c1.partitions[k].challenge(i).node());
  return out;
}

// The first challenge alone, as a partition of its own.
PorepPartition first_challenge(const PorepC1& c1) {
  PorepPartition from = c1.partitions[0];
  PorepPartition out(c1.shape(), 1);
  std::copy(from.values(0).begin(), from.values(0).end(), out.values(0).begin());
  std::copy(from.indices(0).begin(), from.indices(0).end(), out.indices(0).begin());
  return out;
}

// Values that upstream's prover and vanilla verifier gave for miner 1000, sector 42, ticket 32 x 3, seed 32 x 5, zeros.
TEST(PorepSyntheticInput, ChallengesMatchUpstream) {
  const PorepC1 small = make(5);
  EXPECT_EQ(to_hex(small.replica_id.to_bytes_le()), "9589a95b0cfd158de92ed0e6d2821ca6b22a538dcf4662999bd0d9c2fccf2e09");
  EXPECT_EQ(challenges_of(small, 0), (std::vector<uint64_t>{3, 36}));
  const PorepGraph graph(registered_seal_proofs()[5]);
  EXPECT_EQ(graph.base_parents(3), (std::array<uint32_t, 6>{2, 1, 1, 2, 2, 2}));
  EXPECT_EQ(graph.expander_parents(3), (std::array<uint32_t, 8>{10, 46, 59, 7, 43, 29, 9, 16}));
  const PorepC1 large = make(8);
  EXPECT_EQ(to_hex(large.replica_id.to_bytes_le()), "b39b155cadd50bfec5e25e735231f7dfb8379bd66c550976fd0c643878d8283c");
  EXPECT_EQ(challenges_of(large, 0),
            (std::vector<uint64_t>{999107171, 177540748, 399633391, 508140623, 690603392, 670798217, 251439452,
                                   192505362, 178745150, 893964249, 232511221, 109760999, 649475530, 823428553,
                                   251693559, 810336230, 17210750, 1053398472}));
  EXPECT_EQ(large.partitions.size(), 10u);
}

TEST(PorepSyntheticInput, EverySizeIsValid) {
  for (const uint32_t number : {0u, 5u, 6u, 7u, 3u, 8u, 9u}) {
    const PorepC1 c1 = make(number);
    const Status status = validate_porep_vanilla(c1);
    EXPECT_TRUE(status.ok()) << number << ": " << status.error().describe();
    EXPECT_TRUE(check_porep_replica_id(c1, 1000, 42).ok());
  }
}

// One challenge of each large size; the whole partition differs from it only in the number of challenges.
TEST(PorepSyntheticInput, LargeCircuitsAreSatisfied) {
  for (const uint32_t number : {6u, 8u, 9u}) {
    const PorepC1 c1 = make(number);
    const PorepPartition partition = first_challenge(c1);
    Checker checker;
    synthesize_porep(checker, {&c1.shape(), 1, &partition, c1.replica_id, c1.comm_d, c1.comm_r});
    EXPECT_TRUE(checker.satisfied()) << number << ": " << checker.first_violation()->path;
    std::vector<Fr> inputs = porep_public_inputs(c1, 0);
    inputs.resize(21);
    EXPECT_EQ(inputs, std::vector<Fr>(checker.inputs().begin() + 1, checker.inputs().end())) << number;
  }
}

TEST(PorepSyntheticInput, DependsOnItsRandomness) {
  PorepSyntheticInput input;
  input.proof = &registered_seal_proofs()[5];
  const PorepC1 a = std::move(make_synthetic_porep(input)).value();
  EXPECT_EQ(std::move(make_synthetic_porep(input)).value().comm_r, a.comm_r);
  input.randomness[0] = 1;
  EXPECT_NE(std::move(make_synthetic_porep(input)).value().comm_r, a.comm_r);
}

TEST(PorepSyntheticInput, RefusesChallengesThatDependOnCommR) {
  for (const uint32_t number : {10u, 15u, 13u, 18u}) {
    PorepSyntheticInput input;
    input.proof = &registered_seal_proofs()[number];
    EXPECT_EQ(make_synthetic_porep(input).error().error_class, ErrorClass::kUnsupported);
  }
}

}  // namespace
}  // namespace cuzk
