#include "groth16/verify.hpp"

#include <gtest/gtest.h>

#include "groth16/cpu_backend.hpp"
#include "groth16/groth16_test_support.hpp"
#include "groth16/prove.hpp"
#include "groth16/setup.hpp"

namespace cuzk {
namespace {

// One key with three public inputs, and as many proofs of different statements as asked for.
struct Statements {
  Srs srs;
  std::vector<Proof> proofs;
  std::vector<std::vector<Fr>> inputs;
};

// Inputs x, y, x*y, with x and y also in aux wires.
test::Instance product_instance(uint64_t x, uint64_t y) {
  test::InstanceBuilder builder;
  const Fr one = Fr::one();
  const Wire in_x = builder.input(Fr::from_u64(x)), in_y = builder.input(Fr::from_u64(y));
  const Wire in_z = builder.input(Fr::from_u64(x) * Fr::from_u64(y));
  const Wire a = builder.field(Fr::from_u64(x)), b = builder.field(Fr::from_u64(y));
  builder.row({{a, one}}, {{Wire::one(), one}}, {{in_x, one}});
  builder.row({{b, one}}, {{Wire::one(), one}}, {{in_y, one}});
  builder.row({{a, one}}, {{b, one}}, {{in_z, one}});
  return builder.finish();
}

Statements make_statements(size_t count) {
  Statements out;
  NoProgress quiet;
  CpuBackend backend;
  std::mt19937_64 rng(21);
  for (uint64_t i = 0; i < count; ++i) {
    const test::Instance instance = product_instance(100 + i, 7 * i);
    if (i == 0) out.srs = setup(instance.circuit, test::random_toxic(rng), quiet).value();
    out.proofs.push_back(prove(backend, instance.circuit, out.srs, instance.witness, quiet).value());
    out.inputs.emplace_back(instance.witness.inputs.begin() + 1, instance.witness.inputs.end());
  }
  return out;
}

TEST(Verify, AcceptsAndRefuses) {
  const Statements s = make_statements(2);
  const PreparedVerifyingKey key(s.srs.vk);
  EXPECT_EQ(key.num_inputs(), 3u);
  EXPECT_TRUE(verify(key, s.proofs[0], s.inputs[0]).ok());
  EXPECT_TRUE(verify(key, s.proofs[1], s.inputs[1]).ok());
  const auto refused = [&](const Proof& proof, std::span<const Fr> inputs) {
    const Status status = verify(key, proof, inputs);
    return !status.ok() && status.error().error_class == ErrorClass::kBadProof;
  };
  EXPECT_TRUE(refused(s.proofs[0], s.inputs[1]));
  for (size_t i = 0; i < 3; ++i) {
    auto inputs = s.inputs[0];
    inputs[i] += Fr::one();
    EXPECT_TRUE(refused(s.proofs[0], inputs)) << i;
  }
  Proof swapped = s.proofs[0];
  std::swap(swapped.a, swapped.c);
  EXPECT_TRUE(refused(swapped, s.inputs[0]));
  Proof negated = s.proofs[0];
  negated.a = -negated.a;
  EXPECT_TRUE(refused(negated, s.inputs[0]));
  negated.b = -negated.b;  // (-A, -B) is the same product: proofs are malleable, and that is accepted
  EXPECT_TRUE(verify(key, negated, s.inputs[0]).ok());
  for (int i = 0; i < 3; ++i) {
    Proof identity = s.proofs[0];
    if (i == 0) identity.a = G1Affine::infinity();
    if (i == 1) identity.b = G2Affine::infinity();
    if (i == 2) identity.c = G1Affine::infinity();
    EXPECT_TRUE(refused(identity, s.inputs[0]));
  }
  for (const size_t count : {0, 2, 4}) {
    auto inputs = s.inputs[0];
    inputs.resize(count);
    const Status status = verify(key, s.proofs[0], inputs);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().error_class, ErrorClass::kInvalidInput);
  }
}

TEST(Verify, EveryChangedByteOfAProofIsRefused) {
  const Statements s = make_statements(1);
  const PreparedVerifyingKey key(s.srs.vk);
  const auto bytes = encode(s.proofs[0]);
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const unsigned bit : {i % 8, (i + 5) % 8}) {
      auto changed = bytes;
      changed[i] ^= static_cast<uint8_t>(1u << bit);
      const auto proof = decode_proof(changed);
      ASSERT_TRUE(!proof.ok() || !verify(key, *proof, s.inputs[0]).ok()) << "byte " << i << " bit " << bit;
    }
  }
}

TEST(VerifyBatch, AcceptsAndNamesTheBad) {
  const Statements s = make_statements(5);
  const PreparedVerifyingKey key(s.srs.vk);
  for (size_t count = 1; count <= 5; ++count) {
    EXPECT_TRUE(verify_batch(key, std::span(s.proofs).first(count), std::span(s.inputs).first(count)).ok()) << count;
  }
  const auto expect_bad = [&](const std::vector<Proof>& proofs, const std::vector<std::vector<Fr>>& inputs,
                              const std::string& names, uint32_t first) {
    const Status status = verify_batch(key, proofs, inputs);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().error_class, ErrorClass::kBadProof);
    EXPECT_EQ(status.error().message, names);
    EXPECT_EQ(status.error().partition, first);
  };
  auto proofs = s.proofs;
  auto inputs = s.inputs;
  inputs[3][0] += Fr::one();
  expect_bad(proofs, inputs, "1 of 5 proofs do not verify: 3", 3);
  std::swap(proofs[0], proofs[1]);
  expect_bad(proofs, inputs, "3 of 5 proofs do not verify: 0, 1, 3", 0);
  proofs = s.proofs;
  proofs[4].c = G1Affine::infinity();
  expect_bad(proofs, s.inputs, "1 of 5 proofs do not verify: 4", 4);
  // Errors of two proofs that cancel in an unweighted product: C + P and C - P.
  proofs = s.proofs;
  proofs[1].c = (G1Jacobian::from_affine(proofs[1].c) + G1Curve::generator()).to_affine();
  proofs[2].c = (G1Jacobian::from_affine(proofs[2].c) - G1Curve::generator()).to_affine();
  expect_bad(proofs, s.inputs, "2 of 5 proofs do not verify: 1, 2", 1);
}

TEST(VerifyBatch, Refusals) {
  const Statements s = make_statements(2);
  const PreparedVerifyingKey key(s.srs.vk);
  const auto invalid = [](const Status& status) {
    return !status.ok() && status.error().error_class == ErrorClass::kInvalidInput;
  };
  EXPECT_TRUE(invalid(verify_batch(key, {}, {})));
  EXPECT_TRUE(invalid(verify_batch(key, s.proofs, std::span(s.inputs).first(1))));
  auto inputs = s.inputs;
  inputs[1].pop_back();
  const Status status = verify_batch(key, s.proofs, inputs);
  EXPECT_TRUE(invalid(status));
  EXPECT_EQ(status.error().partition, 1u);
  // A single bad proof fails the direct way.
  inputs = s.inputs;
  inputs[0][0] += Fr::one();
  const Status single = verify_batch(key, std::span(s.proofs).first(1), std::span(inputs).first(1));
  ASSERT_FALSE(single.ok());
  EXPECT_EQ(single.error().error_class, ErrorClass::kBadProof);
}

}  // namespace
}  // namespace cuzk
