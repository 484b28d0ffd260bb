#include "soak/soak.hpp"

#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <sstream>
#include <thread>

#include "soak/small_proofs.hpp"
#include "srs/srs_test_support.hpp"

namespace cuzk::soak {
namespace {

using namespace std::chrono_literals;

// Samples of a daemon by the number of jobs that are done.
class Watcher {
 public:
  Watcher(const SmallDaemon& daemon, uint64_t jobs) : daemon_(daemon), jobs_(jobs), thread_([this] { run(); }) {}
  ~Watcher() { stop(); }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  void job_done() { ++done_; }
  void stop() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  void tell(SoakResult& out) const {
    for (size_t i = 0; i < 4; ++i) {
      const auto mean = [&](uint64_t Usage::*member) {
        double sum = 0;
        for (const Usage& usage : samples_[i]) sum += static_cast<double>(usage.*member);
        return sum / static_cast<double>(std::max<size_t>(1, samples_[i].size()));
      };
      out.quarters[i] = {mean(&Usage::memory_bytes),       mean(&Usage::descriptors),    mean(&Usage::threads),
                         mean(&Usage::worker_descriptors), mean(&Usage::worker_threads), mean(&Usage::journal_bytes)};
      for (const Usage& usage : samples_[i]) {
        for (uint64_t Usage::*member : {&Usage::memory_bytes, &Usage::descriptors, &Usage::threads,
                                        &Usage::worker_descriptors, &Usage::worker_threads, &Usage::journal_bytes}) {
          out.most.*member = std::max(out.most.*member, usage.*member);
        }
      }
    }
  }

 private:
  void run() {
    while (!over_) {
      const uint64_t quarter = std::min<uint64_t>(3, 4 * done_ / jobs_);
      samples_[quarter].push_back(daemon_.usage());
      std::this_thread::sleep_for(100ms);
    }
  }

  const SmallDaemon& daemon_;
  const uint64_t jobs_;
  std::atomic<uint64_t> done_{0};
  std::atomic<bool> over_{false};
  std::array<std::vector<Usage>, 4> samples_;
  std::thread thread_;
};

std::string page(const std::string& address) {
  httplib::Client client("http://" + address);
  const auto answer = client.Get("/metrics");
  return answer && answer->status == 200 ? answer->body : "";
}

// The sum over all labels.
uint64_t metric(const std::string& page, const std::string& name, const std::string& label = "") {
  std::istringstream in(page);
  double sum = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.find(label) == std::string::npos) continue;
    if (line.starts_with(name + " ") || line.starts_with(name + "{")) sum += std::stod(line.substr(line.rfind(' ')));
  }
  return static_cast<uint64_t>(sum);
}

}  // namespace

SoakResult run_soak(uint32_t clients, uint32_t jobs, const Mischief& mischief) {
  SoakResult out;
  const test::TemporaryDirectory folder;
  const std::string path = folder.file("");
  const Status made = make_files(path);
  EXPECT_TRUE(made.ok()) << made.error().describe();
  SmallDaemon daemon(path, mischief);
  if (daemon.addresses().size() != 3) {
    ADD_FAILURE() << "the daemon did not start";
    return out;
  }
  const std::vector<std::string>& addresses = daemon.addresses();
  const auto start = std::chrono::steady_clock::now();
  {
    Watcher watcher(daemon, uint64_t{clients} * jobs);
    ClientsOptions options{.addresses = {addresses[0], addresses[1]}, .clients = clients, .jobs = jobs};
    options.memory_fails = mischief.failing_allocations > 0;
    out.tally = run_clients(options, *read_key(path), [&] { watcher.job_done(); });
    watcher.stop();
    watcher.tell(out);
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  daemon.mend();
  // Jobs whose clients are gone end by themselves.
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text = page(addresses[2]);
    if (!text.empty() && metric(text, "cuzk_jobs_pending") + metric(text, "cuzk_jobs_running") == 0) break;
    std::this_thread::sleep_for(100ms);
  }
  out.completed = metric(text, "cuzk_proofs_completed_total");
  out.failed = metric(text, "cuzk_proofs_failed_total");
  out.cancelled = metric(text, "cuzk_proofs_cancelled_total");
  out.expired = metric(text, "cuzk_proofs_expired_total");
  out.wrong = metric(text, "cuzk_wrong_proofs_total");
  out.device_faults = metric(text, "cuzk_device_faults_total");
  out.shortages = metric(text, "cuzk_memory_shortages_total");
  for (const char* what : {"uploads", "requests", "checking", "witness", "proving"}) {
    out.held_for_jobs += metric(text, "cuzk_memory_reserved_bytes", std::string("\"") + what + "\"");
  }
  out.exit_status = daemon.stop();
  return out;
}

std::string describe(const SoakResult& r) {
  std::ostringstream out;
  const Tally& t = r.tally;
  out << t.completed << " completed (" << t.proofs << " proofs verified), " << t.cancelled << " cancelled, "
      << t.expired << " expired, " << t.failed << " failed (" << t.for_memory << " for memory), " << t.unknown
      << " not seen to end; " << t.attached << " attached, " << t.evictions << " evictions, " << t.preloads
      << " preloads, " << t.refusals << " refusals; " << r.seconds << " s\ndaemon: " << r.completed << " completed, "
      << r.cancelled << " cancelled, " << r.expired << " expired, " << r.failed << " failed; " << r.shortages
      << " shortages of memory\n";
  for (const Quarter& q : r.quarters) {
    char line[200];
    std::snprintf(line, sizeof line,
                  "quarter: %.2f MiB, descriptors %.1f + %.1f, threads %.1f + %.1f, journal %.2f MiB\n",
                  q.memory_bytes / (1 << 20), q.descriptors, q.worker_descriptors, q.threads, q.worker_threads,
                  q.journal_bytes / (1 << 20));
    out << line;
  }
  for (const auto& [text, count] : t.complaints) out << count << " times: " << text << "\n";
  return out.str();
}

void expect_right(const SoakResult& r, uint64_t jobs) {
  const Tally& t = r.tally;
  EXPECT_TRUE(t.complaints.empty());
  EXPECT_EQ(t.proofs, t.completed);
  EXPECT_GE(t.completed + t.cancelled + t.expired + t.failed + t.unknown, jobs);
  EXPECT_EQ(r.wrong, 0u);
  EXPECT_EQ(r.device_faults, 0u);
  EXPECT_EQ(r.exit_status, 0);
  EXPECT_EQ(r.held_for_jobs, 0u);
}

void expect_counted(const SoakResult& r) {
  const Tally& t = r.tally;
  // Each job ended once, so that the daemon counted no more than what was seen and what may not have been.
  const auto expect_between = [&](uint64_t counted, uint64_t seen, const char* what) {
    EXPECT_GE(counted, seen) << what;
    EXPECT_LE(counted, seen + t.unknown) << what;
  };
  expect_between(r.completed, t.completed, "completed");
  expect_between(r.cancelled, t.cancelled, "cancelled");
  expect_between(r.expired, t.expired, "expired");
  expect_between(r.failed, t.failed, "failed");
  expect_between(r.completed + r.cancelled + r.expired + r.failed, t.completed + t.cancelled + t.expired + t.failed,
                 "all");
}

}  // namespace cuzk::soak

int main(int argc, char** argv) {
  if (const int status = cuzk::soak::run_as_daemon_or_worker(argc, argv); status >= 0) return status;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
