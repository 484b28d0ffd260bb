#include "filecoin/proof_request.hpp"

#include <gtest/gtest.h>

#include <string>

#include "filecoin/porep_dev_sealer.hpp"
#include "filecoin/porep_prove.hpp"
#include "filecoin/porep_synthetic_input.hpp"
#include "filecoin/post_circuit.hpp"
#include "filecoin/post_synthetic.hpp"
#include "filecoin/snap_prove.hpp"
#include "filecoin/snap_synthetic.hpp"

namespace cuzk {
namespace {

PorepC1 porep(uint32_t number) {
  PorepSyntheticInput input;
  input.proof = &registered_seal_proofs()[number];
  input.ticket.fill(3);
  input.seed.fill(5);
  return std::move(make_synthetic_porep(input)).value();
}

SnapInput snap(const char* id) {
  SnapSyntheticInput input;
  input.shape = snap_shape_by_circuit_id(id);
  input.sector_number = 77;
  return make_synthetic_snap(input);
}

PostInput post(uint32_t number, std::vector<uint64_t> sectors) {
  const RegisteredPostProof& proof = registered_post_proofs()[number];
  PostRequest request{proof.shape, proof.api_version, {}, 0};
  request.randomness.fill(9);
  return {request, make_synthetic_post(request, sectors, NodeBytes{})};
}

// What a request of each kind must do, whatever the kind.
void expect_sound(ProofRequest& request) {
  const Status status = request.validate();
  ASSERT_TRUE(status.ok()) << status.error().describe();
  for (uint32_t k = 0; k < request.partitions(); ++k) {
    const PackedWitness witness = request.witness(k);
    const std::vector<Fr> inputs = request.public_inputs(k);
    EXPECT_EQ(inputs, std::vector<Fr>(witness.inputs.begin() + 1, witness.inputs.end()));
    const CircuitCounts counts = request.circuit().counts();
    EXPECT_EQ(witness.inputs.size(), counts.inputs);
    EXPECT_EQ(witness.bits.size(), counts.bits);
    EXPECT_EQ(witness.fields.size(), counts.fields);
  }
  const uint32_t last = request.partitions() - 1;
  EXPECT_TRUE(request.check(last).ok()) << request.check(last).error().describe();
}

TEST(ProofRequest, Porep) {
  ProofRequest request(porep(5));
  EXPECT_EQ(request.kind(), ProofKind::kPorep);
  EXPECT_EQ(request.circuit().id(), "porep-2k");
  EXPECT_EQ(request.registered_proof(), "StackedDrg2KiBV1_1");
  EXPECT_EQ(request.partitions(), 1u);
  EXPECT_NE(request.porep(), nullptr);
  EXPECT_EQ(request.post(), nullptr);
  expect_sound(request);
}

// The same circuit, other challenges: drawn from comm_r, and, non-interactive, for 13 partitions.
TEST(ProofRequest, PorepSyntheticAndNonInteractive) {
  for (const uint32_t number : {10u, 15u}) {
    PorepSealInput input;
    input.proof = &registered_seal_proofs()[number];
    input.seed.fill(3);
    const std::vector<NodeBytes> data(input.proof->shape->nodes(), Fr::from_u64(77).to_bytes_le());
    input.data = data;
    Result<PorepSealed> sealed = seal_porep(input);
    ASSERT_TRUE(sealed.ok());
    PorepC1 other = sealed->c1;
    ProofRequest request(std::move(sealed->c1));
    EXPECT_EQ(request.circuit().id(), "porep-2k");
    EXPECT_EQ(request.registered_proof(), input.proof->name);
    EXPECT_EQ(request.partitions(), number == 15 ? 13u : 1u);
    expect_sound(request);
    // Under the interactive proof's name the challenges are others.
    other.proof = &registered_seal_proofs()[5];
    other.partitions.erase(other.partitions.begin() + 1, other.partitions.end());
    const Status status = ProofRequest(other).validate();
    ASSERT_FALSE(status.ok()) << number;
    EXPECT_EQ(status.error().error_class, ErrorClass::kInvalidInput);
    EXPECT_EQ(status.error().partition, 0u);
  }
}

TEST(ProofRequest, Snap) {
  ProofRequest request(snap("snap-8m"));
  EXPECT_EQ(request.kind(), ProofKind::kSnap);
  EXPECT_EQ(request.circuit().id(), "snap-8m");
  EXPECT_EQ(request.registered_proof(), "StackedDrg8MiBV1");
  EXPECT_EQ(request.partitions(), 4u);
  EXPECT_EQ(request.sector(), 77u);
  expect_sound(request);
  EXPECT_EQ(ProofRequest(snap("snap-4k")).registered_proof(), "");
}

TEST(ProofRequest, Winning) {
  ProofRequest request(post(0, {5}));
  EXPECT_EQ(request.kind(), ProofKind::kWinning);
  EXPECT_EQ(request.circuit().id(), "winning-2k");
  EXPECT_EQ(request.registered_proof(), "StackedDrgWinning2KiBV1");
  EXPECT_EQ(request.sector(), 5u);
  const PackedWitness before = request.witness(0);
  expect_sound(request);
  EXPECT_EQ(request.witness(0), before) << "hashes kept from the check change the witness";
}

TEST(ProofRequest, Window) {
  for (const uint32_t number : {5u, 10u}) {
    for (const std::vector<uint64_t>& sectors : {std::vector<uint64_t>{5}, std::vector<uint64_t>{5, 9}}) {
      ProofRequest request(post(number, sectors));
      EXPECT_EQ(request.kind(), ProofKind::kWindow);
      EXPECT_EQ(request.circuit().id(), "window-2k");
      EXPECT_EQ(request.registered_proof(), number == 5 ? "StackedDrgWindow2KiBV1" : "StackedDrgWindow2KiBV1_1");
      EXPECT_EQ(request.sector().has_value(), sectors.size() == 1);
      const PackedWitness before = request.witness(0);
      expect_sound(request);
      EXPECT_EQ(request.witness(0), before);
    }
  }
}

// Damage is found before proving, and the circuit finds it too.
TEST(ProofRequest, NamesWhatIsWrong) {
  PostInput window = post(10, {5, 9});
  window.vanilla.path_values(1, 3)[2] += Fr::one();
  ProofRequest bad_window(std::move(window));
  EXPECT_EQ(bad_window.validate().error().sector, 9u);
  EXPECT_EQ(bad_window.check(0).error().error_class, ErrorClass::kUnsatisfied);

  SnapInput update = snap("snap-8m");
  update.partitions[2].apex_leaves[0] += Fr::one();
  ProofRequest bad_update(std::move(update));
  EXPECT_EQ(bad_update.validate().error().partition, 2u);
  EXPECT_EQ(bad_update.validate().error().sector, 77u);
  EXPECT_TRUE(bad_update.check(0).ok());
  EXPECT_EQ(bad_update.check(2).error().partition, 2u);

  PorepC1 c1 = porep(5);
  c1.partitions[0].values(1)[1] += Fr::one();
  ProofRequest bad_c1(std::move(c1));
  EXPECT_EQ(bad_c1.validate().error().partition, 0u);
  EXPECT_EQ(bad_c1.check(0).error().error_class, ErrorClass::kUnsatisfied);
}

}  // namespace
}  // namespace cuzk
