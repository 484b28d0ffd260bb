// A folder of its own for a journal, and jobs that follow from their key, so that whoever knows the key can check them.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "queue/journal.hpp"
#include "queue/queue_test_util.hpp"

namespace cuzk::queue_test {

class TemporaryFolder {
 public:
  // In memory where `in_memory` and the machine can: for tests with very many files, which need not outlive power loss.
  explicit TemporaryFolder(bool in_memory = false) {
    const bool memory = in_memory && ::access("/dev/shm", W_OK) == 0;
    const std::filesystem::path parent = memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string name = (parent / "cuzk-journal-XXXXXX").string();
    CUZK_ASSERT(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name = "journal") const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// What the journal is given, and must give back, for a key.
struct KeyedJob {
  JobKey key;
  std::string job_id;
  Submission submission;
  PayloadDigest digest;
  std::chrono::system_clock::time_point accepted, ended;
  JobResult result;

  explicit KeyedJob(JobKey k, uint64_t most_bytes = 4000) : key(k) {
    Rng rng(k * 0x9e3779b97f4a7c15 + 1);
    // Most are small; some fill many pages.
    submission = random_submission(rng, below(rng, 8) == 0 ? 50 * most_bytes : most_bytes);
    job_id = "job-" + std::to_string(k % 10);
    digest = submission.digest();
    accepted = std::chrono::system_clock::time_point(std::chrono::nanoseconds(below(rng, uint64_t{1} << 60)));
    ended = accepted + std::chrono::milliseconds(below(rng, 100'000));
    result = random_result(rng, job_id);
  }

  Status accept(Journal& journal) const { return journal.accept(key, job_id, submission, digest, accepted); }
  Status finish(Journal& journal) const {
    return journal.finish(key, submission.kind, submission.effective_priority(), digest, result, ended);
  }
  bool is(const Journal::PendingJob& job) const {
    return job.key == key && job.job_id == job_id && *job.submission == submission && job.digest == digest &&
           job.accepted == accepted;
  }
  bool is(const Journal::EndedJob& job) const {
    return job.key == key && job.kind == submission.kind && job.priority == submission.effective_priority() &&
           job.digest == digest && same(job.result, result) && job.ended == ended;
  }
};

}  // namespace cuzk::queue_test
