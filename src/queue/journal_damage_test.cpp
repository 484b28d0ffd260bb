// Damaged files and full disks: a typed error that names the file, or all that is intact; never a wrong record, and
// afterwards a journal that works.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>

#include "queue/journal_test_util.hpp"

namespace cuzk {
namespace {

using queue_test::below;
using queue_test::KeyedJob;
using queue_test::Rng;
using queue_test::TemporaryFolder;

constexpr JobKey kPending[] = {1, 3, 4, 6, 7, 8}, kEnded[] = {2, 5, 9};

std::string read_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

// In a child process, which may not end by a signal: what `work` says, as its exit status.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A journal with the jobs above. `closed`: all in the database; else as a killed process leaves it, most in the log.
void make_journal(const std::string& file, bool closed) {
  ASSERT_EQ(in_child([&] {
              auto journal = Journal::open({file});
              if (!journal.ok()) return 1;
              for (JobKey key = 1; key <= 9; ++key) {
                if (!KeyedJob(key, 3000).accept(**journal).ok()) return 2;
              }
              for (const JobKey key : kEnded) {
                if (!KeyedJob(key, 3000).finish(**journal).ok()) return 3;
              }
              if (!closed) ::_exit(0);  // no destructor
              return (*journal)->close(10).ok() ? 0 : 4;
            }),
            0);
}

struct Outcome {
  bool refused = false;
  size_t intact = 0, damaged = 0;
};

// Opens and reads it; whatever comes must be right.
Outcome look(const std::string& file) {
  Outcome outcome;
  const auto expect_typed = [&](const Error& error) {
    EXPECT_TRUE(error.error_class == ErrorClass::kCorrupt || error.error_class == ErrorClass::kUnsupported ||
                error.error_class == ErrorClass::kIo)
        << error.describe();
    EXPECT_EQ(error.file, file);
    EXPECT_FALSE(error.message.empty());
  };
  auto journal = Journal::open({file});
  if (!journal.ok()) {
    expect_typed(journal.error());
    return {.refused = true};
  }
  const auto all = (*journal)->recover();
  if (!all.ok()) {
    expect_typed(all.error());
    return {.refused = true};
  }
  for (const auto& job : all->pending) EXPECT_TRUE(KeyedJob(job.key, 3000).is(job)) << job.key;
  for (const auto& job : all->ended) EXPECT_TRUE(KeyedJob(job.key, 3000).is(job)) << job.key;
  for (const auto& [key, error] : all->damaged) expect_typed(error);
  outcome.intact = all->pending.size() + all->ended.size();
  outcome.damaged = all->damaged.size();
  return outcome;
}

class JournalDamage : public testing::Test {
 protected:
  // Looks at a copy of the journal after `change`.
  Outcome look_after(const std::function<void(std::string& database, std::string& log)>& change) {
    std::string database = database_, log = log_;
    change(database, log);
    std::filesystem::remove(folder_.file("copy-wal"));
    write_file(folder_.file("copy"), database);
    if (!log.empty()) write_file(folder_.file("copy-wal"), log);
    return look(folder_.file("copy"));
  }
  void make(bool closed) {
    make_journal(folder_.file(), closed);
    database_ = read_file(folder_.file());
    log_ = closed ? "" : read_file(folder_.file() + "-wal");
    const Outcome unchanged = look_after([](std::string&, std::string&) {});
    ASSERT_FALSE(unchanged.refused);
    ASSERT_EQ(unchanged.intact, std::size(kPending) + std::size(kEnded));
    ASSERT_EQ(unchanged.damaged, 0u);
  }
  TemporaryFolder folder_{true};
  std::string database_, log_;
};

TEST_F(JournalDamage, FlippedBitsOfTheDatabaseLoseNoJobUnseen) {
  make(true);
  Rng rng(1);
  int refused = 0, damaged = 0, harmless = 0;
  for (int i = 0; i < 300; ++i) {
    size_t at = 0;
    const Outcome outcome = look_after([&](std::string& database, std::string&) {
      // Half of them where the structure is: the first page, and the beginnings of the others.
      at = i % 4 == 0   ? below(rng, 200)
           : i % 4 == 1 ? below(rng, database.size() / 16384) * 16384 + below(rng, 64)
                        : below(rng, database.size());
      database[at] = static_cast<char>(database[at] ^ (1 << below(rng, 8)));
    });
    EXPECT_TRUE(outcome.refused || outcome.intact + outcome.damaged == 9)
        << "after a flip at " << at << " only " << outcome.intact << " and " << outcome.damaged << " jobs";
    ++(outcome.refused ? refused : outcome.damaged != 0 ? damaged : harmless);
  }
  // That the test has met all of it.
  EXPECT_GT(refused, 10);
  EXPECT_GT(damaged, 10);
  EXPECT_GT(harmless, 10);
}

TEST_F(JournalDamage, CutDatabasesAreRefusedOrWhole) {
  make(true);
  Rng rng(2);
  for (int i = 0; i < 100; ++i) {
    size_t size = 0;
    const Outcome outcome = look_after([&](std::string& database, std::string&) {
      size = i < 4 ? i * 16384 + 1 : below(rng, database.size());
      database.resize(size);
    });
    EXPECT_TRUE(outcome.refused || outcome.intact + outcome.damaged == 9) << "cut to " << size;
  }
}

TEST_F(JournalDamage, OverwrittenPagesAreRefusedOrToldByJob) {
  make(true);
  Rng rng(3);
  const size_t pages = database_.size() / 16384;
  for (size_t page = 0; page < pages; ++page) {
    for (const bool zeros : {true, false}) {
      const Outcome outcome = look_after([&](std::string& database, std::string&) {
        const std::string over = zeros ? std::string(16384, '\0') : queue_test::random_bytes(rng, 16384);
        database.replace(page * 16384, 16384, over);
      });
      EXPECT_TRUE(outcome.refused || outcome.intact + outcome.damaged == 9) << page;
    }
  }
}

// SQLite ends the log at its first damage: a torn log is what a crash leaves, and its end was never acknowledged. So
// here jobs may be missing, but none may be wrong, and the next process must be able to work.
TEST_F(JournalDamage, TornLogsEndEarlierAndAreNeverWrong) {
  make(false);
  ASSERT_GT(log_.size(), 100'000u);
  Rng rng(4);
  size_t fewer = 0;
  for (int i = 0; i < 150; ++i) {
    const Outcome outcome = look_after([&](std::string&, std::string& log) {
      if (i % 2 == 0) {
        log.resize(below(rng, log.size()));
      } else {
        const size_t at = below(rng, log.size());
        log[at] = static_cast<char>(log[at] ^ (1 << below(rng, 8)));
      }
    });
    EXPECT_EQ(outcome.damaged, 0u);
    if (outcome.intact < 9) ++fewer;
  }
  EXPECT_GT(fewer, 50u);
  const auto journal = Journal::open({folder_.file("copy")});
  ASSERT_TRUE(journal.ok()) << journal.error().describe();
  EXPECT_TRUE(KeyedJob((*journal)->first_key()).accept(**journal).ok());
}

TEST_F(JournalDamage, ForeignAndNewerDatabasesAreRefused) {
  make(true);
  const auto expect_refused = [&](size_t at, const std::string& bytes, ErrorClass error_class) {
    std::string database = database_;
    database.replace(at, bytes.size(), bytes);
    write_file(folder_.file("copy"), database);
    const auto journal = Journal::open({folder_.file("copy")});
    ASSERT_FALSE(journal.ok());
    EXPECT_EQ(journal.error().error_class, error_class) << journal.error().describe();
    EXPECT_EQ(journal.error().file, folder_.file("copy"));
  };
  // Offsets of SQLite's file format: application id 68, user version 60.
  expect_refused(68, "ABCD", ErrorClass::kCorrupt);
  expect_refused(60, std::string("\0\0\0\2", 4), ErrorClass::kUnsupported);
  expect_refused(60, std::string(4, '\0'), ErrorClass::kCorrupt);
}

// Full disks. After the refusal the journal holds what it held, and goes on when there is room.

void expect_full(const Status& status, const std::string& file) {
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().error_class, ErrorClass::kResource) << status.error().describe();
  EXPECT_EQ(status.error().file, file);
}

Submission large(size_t bytes) {
  Submission submission;
  submission.vanilla_proof.assign(bytes, 'x');
  return submission;
}

TEST(JournalFull, ALimitHolds) {
  TemporaryFolder folder;
  auto journal = Journal::open({folder.file(), 2 << 20});
  ASSERT_TRUE(journal.ok());
  ASSERT_TRUE(KeyedJob(1).accept(**journal).ok());
  const Submission one = large(500'000);
  JobKey key = 2;
  Status status;
  for (; status.ok() && key < 10; ++key) status = (*journal)->accept(key, "id", one, one.digest(), {});
  expect_full(status, folder.file());
  EXPECT_GT(key, 4u);
  // What cannot fit at all leaves no trace either.
  const Submission never = large(5'000'000);
  expect_full((*journal)->accept(20, "id", never, never.digest(), {}), folder.file());
  // Finishing makes room.
  ASSERT_TRUE(KeyedJob(2).finish(**journal).ok());
  EXPECT_TRUE((*journal)->accept(30, "id", one, one.digest(), {}).ok());
  const auto all = (*journal)->recover();
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->pending.size() + all->ended.size(), key - 1);
  EXPECT_TRUE(KeyedJob(1).is(all->pending.front()));
}

// Status of a child in which every write beyond `bytes` of a file fails.
TEST(JournalFull, FailingWritesAreTypedErrorsAndLeaveTheRest) {
  TemporaryFolder folder;
  EXPECT_EQ(in_child([&] {
              ::signal(SIGXFSZ, SIG_IGN);
              auto journal = Journal::open({folder.file()});
              if (!journal.ok() || !KeyedJob(1).accept(**journal).ok()) return 1;
              const rlimit no_more{1 << 20, RLIM_INFINITY};
              ::setrlimit(RLIMIT_FSIZE, &no_more);
              const Submission one = large(5'000'000);
              const Status status = (*journal)->accept(2, "id", one, one.digest(), {});
              if (status.ok()) return 2;
              if (status.error().error_class != ErrorClass::kIo || status.error().file != folder.file()) return 3;
              if (!KeyedJob(3).accept(**journal).ok()) return 4;
              const rlimit again{RLIM_INFINITY, RLIM_INFINITY};
              ::setrlimit(RLIMIT_FSIZE, &again);
              return (*journal)->accept(4, "id", one, one.digest(), {}).ok() ? 0 : 5;
            }),
            0);
  const auto journal = Journal::open({folder.file()});
  ASSERT_TRUE(journal.ok());
  const auto all = (*journal)->recover();
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->pending.size(), 3u);
  EXPECT_TRUE(KeyedJob(1).is(all->pending[0]));
  EXPECT_TRUE(KeyedJob(3).is(all->pending[1]));
  EXPECT_EQ(all->pending[2].key, 4u);
}

constexpr int kCannot = 77;  // no user namespaces here

// A small file system of its own, in a child with a mount namespace.
int on_small_disk(const std::string& where, const char* size, const std::function<int()>& work) {
  return in_child([&] {
    const std::string user = "0 " + std::to_string(::geteuid()) + " 1",
                      group = "0 " + std::to_string(::getegid()) + " 1";
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return kCannot;
    write_file("/proc/self/uid_map", user);
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/gid_map", group);
    if (::mount("none", where.c_str(), "tmpfs", 0, size) != 0) return kCannot;
    return work();
  });
}

TEST(JournalFull, ADiskWithoutSpaceIsAResourceError) {
  TemporaryFolder folder;
  const std::string file = folder.file();
  const int status = on_small_disk(folder.path().string(), "size=3m", [&] {
    auto journal = Journal::open({file});
    if (!journal.ok() || !KeyedJob(1).accept(**journal).ok()) return 1;
    const Submission one = large(5'000'000);
    const Status full = (*journal)->accept(2, "id", one, one.digest(), {});
    if (full.ok() || full.error().error_class != ErrorClass::kResource || full.error().file != file) return 2;
    const auto all = (*journal)->recover();
    if (!all.ok() || all->pending.size() != 1 || !KeyedJob(1).is(all->pending[0])) return 3;
    // The log that grew in vain must not stand in the way of the next.
    if (!KeyedJob(1).finish(**journal).ok()) return 4;
    return KeyedJob(3, 1000).accept(**journal).ok() ? 0 : 5;
  });
  if (status == kCannot) GTEST_SKIP() << "no file system can be mounted here";
  EXPECT_EQ(status, 0);
}

TEST(JournalFull, ADiskWithoutSpaceForANewJournalIsAResourceError) {
  TemporaryFolder folder;
  const int status = on_small_disk(folder.path().string(), "size=4k", [&] {
    const auto journal = Journal::open({folder.file()});
    if (journal.ok()) return 1;
    return journal.error().error_class == ErrorClass::kResource && journal.error().file == folder.file() ? 0 : 2;
  });
  if (status == kCannot) GTEST_SKIP() << "no file system can be mounted here";
  EXPECT_EQ(status, 0);
}

TEST(JournalFull, AFolderThatCannotBeWrittenIsAnIoError) {
  TemporaryFolder folder;
  make_journal(folder.file("old"), true);
  const auto refuses = [&](const std::string& name) {
    const auto journal = Journal::open({folder.file(name)});
    return !journal.ok() && journal.error().error_class == ErrorClass::kIo && journal.error().file == folder.file(name);
  };
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  std::filesystem::permissions(folder.file("old"), std::filesystem::perms(0666));
  // Root may write everywhere: as somebody else.
  EXPECT_EQ(in_child([&] {
              if (::geteuid() == 0 && ::setuid(65534) != 0) return 1;
              if (!refuses("new")) return 2;
              return refuses("old") ? 0 : 3;
            }),
            0);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  EXPECT_EQ(look(folder.file("old")).intact, 9u);
}

}  // namespace
}  // namespace cuzk
