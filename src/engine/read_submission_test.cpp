#include "engine/read_submission.hpp"

#include <gtest/gtest.h>

#include "engine/filecoin_test_support.hpp"

namespace cuzk::test {
namespace {

std::string error_of(const Submission& submission) {
  const auto request = read_submission(submission);
  return request.ok() ? "none" : request.error().describe();
}
bool begins(const std::string& text, const std::string& prefix) { return text.starts_with(prefix); }

TEST(ReadSubmission, AllKinds) {
  for (const Submission& s :
       {porep_submission(1000, 42), snap_submission(), post_submission(0, {7}), post_submission(10, {3, 5})}) {
    const auto request = read_submission(s);
    ASSERT_TRUE(request.ok()) << request.error().describe();
    EXPECT_EQ(request->kind(), s.kind);
    EXPECT_EQ(circuit_of_submission(s), &request->circuit());
    EXPECT_FALSE(request->witness(0).inputs.empty());
  }
  EXPECT_EQ(circuit_of_submission(porep_submission(1, 1)), circuit_spec_by_id("porep-2k"));
  Submission untold = porep_submission(1, 1);
  untold.vanilla_proof = "{}";
  EXPECT_EQ(circuit_of_submission(untold), nullptr);
}

TEST(ReadSubmission, TheReplicaIdIsOfTheSectorAndTheMiner) {
  Submission s = porep_submission(1000, 42);
  s.miner_id = 1001;
  EXPECT_TRUE(begins(error_of(s), "C1 parse failed: ")) << error_of(s);
  s.miner_id = 1000;
  s.sector_number = 43;
  EXPECT_TRUE(begins(error_of(s), "C1 parse failed: ")) << error_of(s);
  s.sector_number = 42;
  s.registered_proof = 3;  // the input decides
  s.sector_size = 1;
  EXPECT_EQ(error_of(s), "none");
  s.vanilla_proof.pop_back();
  EXPECT_TRUE(begins(error_of(s), "C1 parse failed: ")) << error_of(s);
  s.vanilla_proof = "not json";
  EXPECT_TRUE(begins(error_of(s), "C1 parse failed: ")) << error_of(s);
}

TEST(ReadSubmission, OfAWinningProofTheFirstVanillaProofCounts) {
  Submission s = post_submission(0, {7});
  s.vanilla_proofs.push_back("anything");
  EXPECT_EQ(error_of(s), "none");
  s.vanilla_proofs.clear();
  EXPECT_TRUE(begins(error_of(s), "synthesis failed: no WinningPoSt vanilla proofs")) << error_of(s);
}

TEST(ReadSubmission, WindowSectorsMayComeInAnyOrderButOnlyOnce) {
  Submission s = post_submission(10, {3, 5});
  const auto sorted = read_submission(s);
  std::swap(s.vanilla_proofs[0], s.vanilla_proofs[1]);
  const auto swapped = read_submission(s);
  ASSERT_TRUE(sorted.ok() && swapped.ok());
  EXPECT_EQ(sorted->public_inputs(0), swapped->public_inputs(0));
  s.vanilla_proofs[1] = s.vanilla_proofs[0];
  EXPECT_TRUE(begins(error_of(s), "synthesis failed: ")) << error_of(s);
}

TEST(ReadSubmission, AnyPartitionIndexIsTaken) {
  Submission s = post_submission(10, {3, 5});
  for (const uint32_t index : {0u, 1u, 7u, UINT32_MAX}) {
    s.partition_index = index;
    EXPECT_EQ(error_of(s), "none") << index;
  }
  // Before V1_2 the index decides the challenges: opened for chunk 2, or as if it were the first.
  EXPECT_EQ(error_of(post_submission(5, {3, 5}, 2)), "none");
  Submission first = post_submission(5, {3, 5}, 0);
  first.partition_index = 2;
  EXPECT_EQ(error_of(first), "none");
}

TEST(ReadSubmission, WhatFollowsAVanillaProofIsIgnored) {
  Submission window = post_submission(10, {3}), snap = snap_submission();
  window.vanilla_proofs[0] += "tail";
  snap.vanilla_proofs[0] += std::string(1000, '\0');
  EXPECT_EQ(error_of(window), "none");
  EXPECT_EQ(error_of(snap), "none");
  window.vanilla_proofs[0].resize(100);
  EXPECT_TRUE(begins(error_of(window), "synthesis failed: ")) << error_of(window);
  snap.vanilla_proofs[0].resize(100);
  EXPECT_TRUE(begins(error_of(snap), "SnapDeals parse failed: ")) << error_of(snap);
}

TEST(ReadSubmission, MalformedFields) {
  Submission window = post_submission(10, {3});
  window.randomness.pop_back();
  EXPECT_TRUE(begins(error_of(window), "synthesis failed: randomness must be exactly 32 bytes, got 31"));
  window.randomness += static_cast<char>(0xff);  // no field element
  EXPECT_TRUE(begins(error_of(window), "synthesis failed: ")) << error_of(window);
  for (const uint64_t number : {0u, 4u, 15u}) {  // winning, and none
    Submission s = post_submission(10, {3});
    s.registered_proof = number;
    EXPECT_TRUE(begins(error_of(s), "synthesis failed: unknown RegisteredPoStProof value: " + std::to_string(number)));
    EXPECT_EQ(circuit_of_submission(s), nullptr);
  }
  Submission snap = snap_submission();
  snap.comm_r_new.clear();
  EXPECT_TRUE(begins(error_of(snap), "SnapDeals parse failed: comm_r_new must be exactly 32 bytes, got 0"));
  snap = snap_submission();
  snap.registered_proof = 5;
  EXPECT_TRUE(begins(error_of(snap), "SnapDeals parse failed: unknown RegisteredUpdateProof value: 5"));
  snap = snap_submission();
  std::swap(snap.comm_r_old, snap.comm_r_new);
  EXPECT_TRUE(begins(error_of(snap), "SnapDeals parse failed: ")) << error_of(snap);
  snap.vanilla_proofs.clear();
  EXPECT_TRUE(begins(error_of(snap), "SnapDeals parse failed: ")) << error_of(snap);
}

TEST(CircuitByAnyName, OursAndTheReferences) {
  EXPECT_EQ(circuit_by_any_name("porep-32g")->id(), "porep-32g");
  EXPECT_EQ(circuit_by_any_name("wpost-32g")->id(), "window-32g");
  EXPECT_EQ(circuit_by_any_name("winning-32g")->id(), "winning-32g");
  EXPECT_EQ(circuit_by_any_name("snap-64g")->id(), "snap-64g");
  EXPECT_EQ(circuit_by_any_name("window-post")->id(), "window-32g");
  EXPECT_EQ(circuit_by_any_name(""), nullptr);
  for (const char* name :
       {"wpost-33g", "wpost-", "wpost", "wpost-window-32g", "wpost-wpost-32g", "winning-wpost-32g"}) {
    EXPECT_EQ(circuit_by_any_name(name), nullptr) << name;
  }
  for (const char* size : {"2k", "8m", "512m", "64g"}) {
    const CircuitSpec* window = circuit_spec_by_id("window-" + std::string(size));
    ASSERT_NE(window, nullptr) << size;
    EXPECT_EQ(circuit_by_any_name("wpost-" + std::string(size)), window) << size;
  }
}

}  // namespace
}  // namespace cuzk::test
