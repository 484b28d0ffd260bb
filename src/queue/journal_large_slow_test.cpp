// A journal of a gigabyte is open and read within seconds after a kill.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "queue/journal_test_util.hpp"

namespace cuzk {
namespace {

using namespace queue_test;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

TEST(JournalLarge, IsReadAgainWithinSeconds) {
  constexpr uint64_t kJobs = 20, kBytes = 52 << 20;  // as those of 32 GiB PoReps
  const TemporaryFolder folder;
  const auto submission_of = [](uint64_t i) {
    Submission submission;
    submission.vanilla_proof.assign(kBytes, 'x');
    submission.sector_number = i;
    return submission;
  };
  const pid_t writer = fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    auto journal = Journal::open({.file = folder.file()});
    bool good = journal.ok();
    for (uint64_t i = 0; good && i < kJobs; ++i) {
      const Submission submission = submission_of(i);
      const JobKey key = (*journal)->first_key() + i;
      good = (*journal)->accept(key, "job", submission, submission.digest(), std::chrono::system_clock::now()).ok();
    }
    if (good) kill(getpid(), SIGKILL);
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(writer, &status, 0), writer);
  ASSERT_TRUE(WIFSIGNALED(status));

  const Clock::time_point start = Clock::now();
  auto journal = Journal::open({.file = folder.file()});
  ASSERT_TRUE(journal.ok()) << journal.error().describe();
  const double opened = seconds_since(start);
  const auto recovered = (*journal)->recover();
  ASSERT_TRUE(recovered.ok());
  const double read = seconds_since(start);
  printf("opened in %.2f s, read after %.2f s (processor time %.2f s)\n", opened, read, cpu_ns() / 1e9);
  ASSERT_EQ(recovered->pending.size(), kJobs);
  EXPECT_TRUE(recovered->damaged.empty());
  for (uint64_t i = 0; i < kJobs; ++i) EXPECT_EQ(recovered->pending[i].submission->sector_number, i);
  EXPECT_LT(cpu_ns() / 1e9, 5.0);  // of this thread: other work on the machine does not change it
}

}  // namespace
}  // namespace cuzk
