// kill -9 at any moment: no job whose acceptance was acknowledged is lost, none comes twice, none that was finished is
// pending again. A child process works on the journal and tells what it begins and what has returned; the parent kills
// it and looks at what is there.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "queue/journal_test_util.hpp"

namespace cuzk {
namespace {

using queue_test::below;
using queue_test::KeyedJob;
using queue_test::Rng;
using queue_test::TemporaryFolder;

enum class Is : uint8_t { kAbsent, kPending, kEnded };

// One of these goes through the pipe before each call on the journal and one after it; pipes keep so few bytes
// together.
struct Message {
  JobKey key;
  Is from, to;
  bool done;
};

struct Child {
  Journal& journal;
  const int pipe;
  Rng rng;
  std::map<JobKey, Is> state;
  JobKey next;

  bool tell(Message message) const { return ::write(pipe, &message, sizeof message) == sizeof message; }

  bool change(JobKey key, Is from, Is to) {
    if (!tell({key, from, to, false})) return false;
    const KeyedJob job(key);
    const Status status = to == Is::kPending ? job.accept(journal)
                          : to == Is::kEnded ? job.finish(journal)
                                             : journal.forget(std::vector<JobKey>{key});
    state[key] = to;
    return status.ok() && tell({key, from, to, true});
  }

  // For ever, or until something fails.
  void work() {
    for (;;) {
      std::vector<JobKey> pending, ended;
      for (const auto& [key, is] : state) {
        if (is == Is::kPending) pending.push_back(key);
        if (is == Is::kEnded) ended.push_back(key);
      }
      const uint64_t choice = below(rng, 4);
      if (choice == 0 && !pending.empty()) {
        if (!change(pending[below(rng, pending.size())], Is::kPending, Is::kEnded)) return;
      } else if (choice == 1 && ended.size() > 3) {
        if (!change(ended[below(rng, ended.size())], Is::kEnded, Is::kAbsent)) return;
      } else if (pending.size() < 20) {
        if (!change(next++, Is::kAbsent, Is::kPending)) return;
      }
    }
  }
};

// In the child: opens what a killed process left, and works on it.
[[noreturn]] void child_main(const std::string& file, int pipe, uint64_t seed) {
  Result<std::unique_ptr<Journal>> journal = Journal::open({file});
  if (!journal.ok()) ::_exit(3);
  Result<Journal::Recovered> all = (*journal)->recover();
  if (!all.ok()) ::_exit(4);
  Child child{**journal, pipe, Rng(seed), {}, (*journal)->first_key()};
  for (const auto& job : all->pending) child.state[job.key] = Is::kPending;
  for (const auto& job : all->ended) child.state[job.key] = Is::kEnded;
  child.work();
  ::_exit(5);
}

class JournalKill : public testing::Test {
 protected:
  // Runs a child for a while, kills it, and takes in what it told.
  void run_and_kill(uint64_t seed, std::chrono::microseconds life) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      child_main(folder_.file(), ends[1], seed);
    }
    ::close(ends[1]);
    std::this_thread::sleep_for(life);
    ::kill(child, SIGKILL);
    Message message;
    while (::read(ends[0], &message, sizeof message) == sizeof message) take(message);
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself, with " << WEXITSTATUS(status);
  }

  void take(const Message& message) {
    largest_key_ = std::max(largest_key_, message.key);
    std::vector<Is>& possible = possible_[message.key];
    if (message.done) {
      possible = {message.to};
      ++acknowledged_;
      return;
    }
    // Its view of the job must be one that is possible: the child itself recovered what was there.
    ASSERT_TRUE(possible.empty() || std::count(possible.begin(), possible.end(), message.from) == 1) << message.key;
    possible = {message.from, message.to};
  }

  void look() {
    Result<std::unique_ptr<Journal>> journal = Journal::open({folder_.file()});
    ASSERT_TRUE(journal.ok()) << journal.error().describe();
    // An awaited job of the killed process may have had any key up to here.
    ASSERT_GT((*journal)->first_key(), largest_key_);
    const Result<Journal::Recovered> all = (*journal)->recover();
    ASSERT_TRUE(all.ok()) << all.error().describe();
    ASSERT_TRUE(all->damaged.empty());
    std::map<JobKey, Is> found;
    for (const auto& job : all->pending) {
      ASSERT_TRUE(KeyedJob(job.key).is(job)) << job.key;
      ASSERT_TRUE(found.emplace(job.key, Is::kPending).second) << job.key << " twice";
    }
    for (const auto& job : all->ended) {
      ASSERT_TRUE(KeyedJob(job.key).is(job)) << job.key;
      ASSERT_TRUE(found.emplace(job.key, Is::kEnded).second) << job.key << " twice";
    }
    for (const auto& [key, is] : found) ASSERT_TRUE(possible_.contains(key)) << key << " was never accepted";
    for (auto& [key, possible] : possible_) {
      const Is is = found.contains(key) ? found[key] : Is::kAbsent;
      ASSERT_EQ(std::count(possible.begin(), possible.end(), is), 1)
          << "job " << key << " is in state " << static_cast<int>(is) << ", of " << possible.size() << " possible";
      if (possible.size() == 2) ++cut_off_;
      possible = {is};
    }
  }

  TemporaryFolder folder_{true};
  std::map<JobKey, std::vector<Is>> possible_;  // of each job ever begun
  JobKey largest_key_ = 0;
  uint64_t acknowledged_ = 0, cut_off_ = 0;
};

TEST_F(JournalKill, TwoHundredTimesNothingIsLostOrDoubled) {
  // How long opening and one call take here: a quarter of the children is to be killed around then, the rest at work.
  const auto start = std::chrono::steady_clock::now();
  {
    Result<std::unique_ptr<Journal>> journal = Journal::open({folder_.file("measure")});
    ASSERT_TRUE(journal.ok());
    ASSERT_TRUE(KeyedJob(1).accept(**journal).ok());
  }
  const std::chrono::microseconds once(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start));
  const auto most = static_cast<uint64_t>(std::clamp<int64_t>(5 * once.count(), 2'000, 40'000));
  Rng rng(20261130);
  for (uint64_t round = 0; round < 200; ++round) {
    run_and_kill(rng(), std::chrono::microseconds(below(rng, round % 4 == 0 ? most : most * 3 / 2)));
    if (HasFatalFailure()) return;
    // Else the next child finds the log as this one left it, and may be killed over it.
    if (below(rng, 2) == 0) look();
    if (HasFatalFailure()) return;
  }
  look();
  RecordProperty("acknowledged", std::to_string(acknowledged_));
  RecordProperty("cut_off", std::to_string(cut_off_));
  // That the test has done something: calls returned, and some were cut off.
  EXPECT_GT(acknowledged_, 200u);
  EXPECT_GT(cut_off_, 5u);
}

}  // namespace
}  // namespace cuzk
