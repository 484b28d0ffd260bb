// Memory that runs out while the journal is being written.
#include <gtest/gtest.h>

#include <set>

#include "queue/journal_test_util.hpp"
#include "support/failing_allocations.hpp"

namespace cuzk::queue_test {
namespace {

uint64_t allocations_left = 0;  // the last of these fails; 0: none
bool fails(size_t) { return allocations_left > 0 && --allocations_left == 0; }

enum class Outcome : uint8_t { kWritten, kRefused, kNoMemory };

// Does it with the k-th allocation failing.
template <class Write>
Outcome with_failure(uint64_t k, const Write& write) {
  allocations_left = k;
  test::allocation_fails = fails;
  Outcome outcome = Outcome::kNoMemory;
  try {
    outcome = write().ok() ? Outcome::kWritten : Outcome::kRefused;
  } catch (const std::bad_alloc&) {
  }
  test::allocation_fails = nullptr;
  return outcome;
}

TEST(JournalAllocations, WhatFailsIsNotWrittenAndTheNextIs) {
  const TemporaryFolder folder(true);
  const auto open = [&] { return Journal::open({.file = folder.file(), .max_bytes = 4 << 20}); };
  auto journal = open();
  ASSERT_TRUE(journal.ok()) << journal.error().describe();
  std::set<JobKey> pending, ended;
  uint64_t failures = 0;
  JobKey key = (*journal)->first_key();
  for (uint64_t k = 1;; ++k) {
    const uint64_t before = failures;
    const auto accept = [&](const KeyedJob& job) {
      const Outcome outcome = with_failure(k, [&] { return job.accept(**journal); });
      failures += outcome == Outcome::kNoMemory;
      return outcome;
    };
    const KeyedJob first(key++, 500);
    if (accept(first) == Outcome::kWritten) pending.insert(first.key);
    // One that the disk has no room for: its error is told in words, which need memory.
    KeyedJob large(key++);
    large.submission.vanilla_proof.assign(8 << 20, 'x');
    EXPECT_NE(accept(large), Outcome::kWritten);
    const KeyedJob second(key++, 500);
    const Status accepted = second.accept(**journal);
    ASSERT_TRUE(accepted.ok()) << accepted.error().describe() << " after a failure of allocation " << k;
    const Outcome outcome = with_failure(k, [&] { return second.finish(**journal); });
    failures += outcome == Outcome::kNoMemory;
    (outcome == Outcome::kWritten ? ended : pending).insert(second.key);
    const JobKey forgotten[] = {first.key, second.key};
    if (k % 2 == 0) {
      EXPECT_TRUE((*journal)->forget(forgotten).ok());
      for (const JobKey gone : forgotten) {
        pending.erase(gone);
        ended.erase(gone);
      }
    }
    if (failures == before) break;
  }
  EXPECT_GT(failures, 10u);
  journal->reset();
  journal = open();
  ASSERT_TRUE(journal.ok());
  const auto recovered = (*journal)->recover();
  ASSERT_TRUE(recovered.ok());
  EXPECT_TRUE(recovered->damaged.empty());
  std::set<JobKey> found_pending, found_ended;
  for (const auto& job : recovered->pending) found_pending.insert(job.key);
  for (const auto& job : recovered->ended) found_ended.insert(job.key);
  EXPECT_EQ(found_pending, pending);
  EXPECT_EQ(found_ended, ended);
}

TEST(JournalAllocations, ReadingThatFailsLeavesNoTransactionOpen) {
  const TemporaryFolder folder(true);
  auto journal = Journal::open({.file = folder.file()});
  ASSERT_TRUE(journal.ok());
  JobKey key = (*journal)->first_key();
  ASSERT_TRUE(KeyedJob(key++).accept(**journal).ok());
  for (uint64_t k = 1;; ++k) {
    const Outcome outcome = with_failure(k, [&] { return (*journal)->recover(); });
    EXPECT_NE(outcome, Outcome::kRefused);
    const JobKey next = key++;
    const Status accepted = KeyedJob(next).accept(**journal);
    ASSERT_TRUE(accepted.ok()) << accepted.error().describe() << " after a failure of allocation " << k;
    ASSERT_TRUE((*journal)->forget(std::span(&next, 1)).ok());
    if (outcome == Outcome::kWritten) {
      EXPECT_GT(k, 5u);
      break;
    }
  }
}

}  // namespace
}  // namespace cuzk::queue_test
