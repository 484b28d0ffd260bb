#include "queue/journal.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <thread>

#include "queue/journal_test_util.hpp"

namespace cuzk {
namespace {

using queue_test::below;
using queue_test::KeyedJob;
using queue_test::Rng;
using queue_test::TemporaryFolder;

std::unique_ptr<Journal> opened(const std::string& file, uint64_t max_bytes = 0) {
  Result<std::unique_ptr<Journal>> journal = Journal::open({file, max_bytes});
  EXPECT_TRUE(journal.ok()) << journal.error().describe();
  return journal.ok() ? std::move(*journal) : nullptr;
}

Journal::Recovered recovered(Journal& journal) {
  Result<Journal::Recovered> all = journal.recover();
  EXPECT_TRUE(all.ok()) << all.error().describe();
  return all.ok() ? std::move(*all) : Journal::Recovered{};
}

enum class Is { kPending, kEnded };

// That all of `expected` are there, as they were given, and nothing else.
void expect_holds(Journal& journal, const std::map<JobKey, Is>& expected) {
  const Journal::Recovered all = recovered(journal);
  std::vector<JobKey> pending, ended, expected_pending, expected_ended;
  for (const auto& [key, is] : expected) (is == Is::kPending ? expected_pending : expected_ended).push_back(key);
  for (const auto& job : all.pending) {
    EXPECT_TRUE(KeyedJob(job.key).is(job)) << job.key;
    pending.push_back(job.key);
  }
  for (const auto& job : all.ended) {
    EXPECT_TRUE(KeyedJob(job.key).is(job)) << job.key;
    ended.push_back(job.key);
  }
  EXPECT_EQ(pending, expected_pending);
  EXPECT_EQ(ended, expected_ended);
  EXPECT_TRUE(all.damaged.empty());
}

void expect_error(const Result<std::unique_ptr<Journal>>& journal, ErrorClass error_class, const std::string& file) {
  ASSERT_FALSE(journal.ok());
  EXPECT_EQ(journal.error().error_class, error_class) << journal.error().describe();
  EXPECT_EQ(journal.error().file, file);
  EXPECT_FALSE(journal.error().message.empty());
}

TEST(Journal, ANewOneIsEmptyAndCountsFromOne) {
  TemporaryFolder folder;
  auto journal = opened(folder.file());
  EXPECT_EQ(journal->first_key(), 1u);
  expect_holds(*journal, {});
  struct stat status {};
  ASSERT_EQ(::stat(folder.file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat((folder.file() + "-wal").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(Journal, KeepsWhatItWasGivenOverARestart) {
  TemporaryFolder folder;
  auto journal = opened(folder.file());
  for (JobKey key = 1; key <= 6; ++key) ASSERT_TRUE(KeyedJob(key).accept(*journal).ok());
  ASSERT_TRUE(KeyedJob(2).finish(*journal).ok());
  ASSERT_TRUE(KeyedJob(4).finish(*journal).ok());
  ASSERT_TRUE(KeyedJob(7).finish(*journal).ok());  // was only awaited before it ended
  ASSERT_TRUE(journal->forget(std::vector<JobKey>{2, 5, 99}).ok());
  const std::map<JobKey, Is> expected = {
      {1, Is::kPending}, {3, Is::kPending}, {4, Is::kEnded}, {6, Is::kPending}, {7, Is::kEnded}};
  expect_holds(*journal, expected);
  ASSERT_TRUE(journal->close(11).ok());
  EXPECT_FALSE(std::filesystem::exists(folder.file() + "-wal"));
  journal.reset();

  journal = opened(folder.file());
  EXPECT_EQ(journal->first_key(), 11u);
  expect_holds(*journal, expected);
}

TEST(Journal, WithoutCloseKeysAreLeftOutAndNothingElse) {
  TemporaryFolder folder;
  JobKey last_first = 0;
  for (JobKey round = 0; round < 3; ++round) {
    auto journal = opened(folder.file());
    EXPECT_GT(journal->first_key(), last_first + round);
    last_first = journal->first_key();
    ASSERT_TRUE(KeyedJob(last_first + round).accept(*journal).ok());
    EXPECT_EQ(recovered(*journal).pending.size(), round + 1);
  }
}

// A process that gives away very many keys must not run into those of the next.
TEST(Journal, KeysFarAheadAreReserved) {
  TemporaryFolder folder;
  const JobKey far = (JobKey{1} << 36) - 5;
  {
    auto journal = opened(folder.file());
    ASSERT_TRUE(KeyedJob(far).accept(*journal).ok());
  }
  EXPECT_GT(opened(folder.file())->first_key(), far + (JobKey{1} << 35));
}

TEST(Journal, TheSameJobTwiceIsOne) {
  TemporaryFolder folder;
  auto journal = opened(folder.file());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(KeyedJob(1).accept(*journal).ok());
  expect_holds(*journal, {{1, Is::kPending}});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(KeyedJob(1).finish(*journal).ok());
  // Late, when it has ended already: it must not be done again.
  ASSERT_TRUE(KeyedJob(1).accept(*journal).ok());
  expect_holds(*journal, {{1, Is::kEnded}});
}

TEST(Journal, EmptyAndExtremeValuesComeBack) {
  TemporaryFolder folder;
  auto journal = opened(folder.file());
  const JobKey key = (JobKey{1} << 40) + 3;
  const Submission empty;
  ASSERT_TRUE(journal->accept(key, std::string("\0\n'\";--", 7), empty, {}, {}).ok());
  JobResult result;
  result.state = JobState::kCancelled;
  ASSERT_TRUE(journal->finish(key + 1, ProofKind::kPorep, Priority::kLow, {}, result, {}).ok());
  const Journal::Recovered all = recovered(*journal);
  ASSERT_EQ(all.pending.size(), 1u);
  EXPECT_EQ(all.pending[0].job_id, std::string("\0\n'\";--", 7));
  EXPECT_EQ(*all.pending[0].submission, empty);
  ASSERT_EQ(all.ended.size(), 1u);
  EXPECT_TRUE(queue_test::same(all.ended[0].result, result));
}

TEST(Journal, AnyOrderOfCallsLeavesWhatAListSays) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Rng rng(seed);
    TemporaryFolder folder;
    std::map<JobKey, Is> expected;
    auto journal = opened(folder.file());
    JobKey next = journal->first_key();
    for (int step = 0; step < 60; ++step) {
      const JobKey key = next > 1 ? next - 1 - below(rng, std::min<JobKey>(8, next - 1)) : 1;
      switch (below(rng, 10)) {
        case 0:
        case 1:
        case 2:
        case 3:
          ASSERT_TRUE(KeyedJob(next).accept(*journal).ok());
          expected[next++] = Is::kPending;
          break;
        case 4:
        case 5:
        case 6:
          ASSERT_TRUE(KeyedJob(key).finish(*journal).ok());
          expected[key] = Is::kEnded;
          next = std::max(next, key + 1);
          break;
        case 7:
          ASSERT_TRUE(journal->forget(std::vector<JobKey>{key, key + 1}).ok());
          expected.erase(key);
          expected.erase(key + 1);
          break;
        case 8: expect_holds(*journal, expected); break;
        default:
          ASSERT_TRUE(below(rng, 2) == 0 || journal->close(std::max(next, journal->first_key())).ok());
          journal.reset();
          journal = opened(folder.file());
          next = journal->first_key();
      }
    }
    expect_holds(*journal, expected);
  }
}

TEST(Journal, ThreadsDoNotDisturbEachOther) {
  TemporaryFolder folder;
  auto journal = opened(folder.file());
  std::map<JobKey, Is> expected;
  std::vector<std::thread> threads;
  for (JobKey thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (JobKey key = 1 + thread; key <= 40; key += 4) {
        EXPECT_TRUE(KeyedJob(key).accept(*journal).ok());
        EXPECT_TRUE(key % 3 != 0 || KeyedJob(key).finish(*journal).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (JobKey key = 1; key <= 40; ++key) expected[key] = key % 3 == 0 ? Is::kEnded : Is::kPending;
  expect_holds(*journal, expected);
}

TEST(Journal, SpaceOfFinishedJobsIsGivenBack) {
  TemporaryFolder folder;
  auto journal = opened(folder.file());
  Submission large;
  large.vanilla_proof.assign(30 << 20, 'x');
  for (JobKey key = 1; key <= 4; ++key) ASSERT_TRUE(journal->accept(key, "id", large, large.digest(), {}).ok());
  ASSERT_TRUE(KeyedJob(100).accept(*journal).ok());
  for (JobKey key = 1; key <= 4; ++key) ASSERT_TRUE(KeyedJob(key).finish(*journal).ok());
  ASSERT_TRUE(journal->close(200).ok());
  EXPECT_LT(std::filesystem::file_size(folder.file()), uint64_t{80} << 20);
  journal = opened(folder.file());
  EXPECT_EQ(recovered(*journal).ended.size(), 4u);
}

// Refusals

TEST(Journal, ASecondOneOnTheSameFileIsRefused) {
  TemporaryFolder folder;
  auto journal = opened(folder.file());
  expect_error(Journal::open({folder.file()}), ErrorClass::kUsage, folder.file());
  ASSERT_TRUE(KeyedJob(1).accept(*journal).ok());
  journal.reset();
  expect_holds(*opened(folder.file()), {{1, Is::kPending}});
}

TEST(Journal, NothingIsWrittenAfterClose) {
  TemporaryFolder folder;
  auto journal = opened(folder.file());
  ASSERT_TRUE(journal->close(1).ok());
  for (const Status& status : {KeyedJob(1).accept(*journal), KeyedJob(1).finish(*journal), journal->close(1),
                               journal->forget(std::vector<JobKey>{1})}) {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().error_class, ErrorClass::kUsage);
  }
  EXPECT_FALSE(journal->recover().ok());
}

TEST(Journal, PlacesWhereNoneCanBeAreRefusedByName) {
  TemporaryFolder folder;
  const std::string nowhere = folder.file("none/journal");
  expect_error(Journal::open({nowhere}), ErrorClass::kNotFound, nowhere);
  std::filesystem::create_directory(folder.file("folder"));
  expect_error(Journal::open({folder.file("folder")}), ErrorClass::kIo, folder.file("folder"));
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  expect_error(Journal::open({folder.file("pipe")}), ErrorClass::kIo, folder.file("pipe"));
  expect_error(Journal::open({"/sys/kernel/journal"}), ErrorClass::kIo, "/sys/kernel/journal");
}

void write_file(const std::string& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

TEST(Journal, FilesThatAreNoJournalAreRefusedByName) {
  TemporaryFolder folder;
  write_file(folder.file("page"), "<html>" + std::string(5000, 'x') + "</html>");
  expect_error(Journal::open({folder.file("page")}), ErrorClass::kCorrupt, folder.file("page"));
  write_file(folder.file("short"), "SQLite format 3");
  expect_error(Journal::open({folder.file("short")}), ErrorClass::kCorrupt, folder.file("short"));
  write_file(folder.file("zeros"), std::string(100'000, '\0'));
  expect_error(Journal::open({folder.file("zeros")}), ErrorClass::kCorrupt, folder.file("zeros"));
}

TEST(Journal, AnEmptyFileBesideALogIsNoNewJournal) {
  TemporaryFolder folder;
  write_file(folder.file(), "");
  write_file(folder.file() + "-wal", std::string(4096, 'x'));
  expect_error(Journal::open({folder.file()}), ErrorClass::kCorrupt, folder.file());
  std::filesystem::remove(folder.file() + "-wal");
  expect_holds(*opened(folder.file()), {});
}

}  // namespace
}  // namespace cuzk
