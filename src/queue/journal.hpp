// What must outlive the process: detached jobs that were accepted, their results while they are kept, the next key.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "queue/job.hpp"
#include "queue/submission.hpp"

namespace cuzk {

struct JournalOptions {
  std::string file;        // a SQLite database; made where it is missing, in a directory that exists
  uint64_t max_bytes = 0;  // of that file; 0: as large as the disk allows
};

// One file, written through SQLite with a write-ahead log beside it. What a member wrote is on the disk when it
// returns: neither kill -9 nor, as far as the disk keeps its word, power loss undoes it; a call that was cut off has
// happened or has not. Thread safe; members wait for the disk, so call them without a lock that others need.
//
// Errors of all members, each with the file: kResource (disk full, or over max_bytes), kIo, kCorrupt (no database,
// another program's, damaged), kUsage (another process has it open), kUnsupported (a newer version's). After an error
// nothing of that call is in the journal, which goes on working as soon as the disk does.
class Journal {
 public:
  // Opens, checks the structure of the whole file, and takes it for this process alone. Errors also: kNotFound (the
  // directory).
  static Result<std::unique_ptr<Journal>> open(const JournalOptions& options);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  // Without close() keys are left out at the next start, nothing else is lost.
  ~Journal();

  // No job of an earlier process has this key or a larger one. For JobTable.
  JobKey first_key() const { return first_key_; }

  struct PendingJob {
    JobKey key = 0;
    std::string job_id;
    std::shared_ptr<const Submission> submission;
    PayloadDigest digest{};
    std::chrono::system_clock::time_point accepted;
  };
  struct EndedJob {
    JobKey key = 0;
    ProofKind kind = ProofKind::kPorep;
    Priority priority = Priority::kNormal;
    PayloadDigest digest{};
    JobResult result;
    std::chrono::system_clock::time_point ended;
  };
  struct Recovered {
    std::vector<PendingJob> pending;  // accepted and not finished, oldest first
    std::vector<EndedJob> ended;      // finished and not forgotten, oldest first
    // Jobs whose record is damaged (kCorrupt): they cannot be proved. To be reported; forget() removes them.
    std::vector<std::pair<JobKey, Error>> damaged;
  };
  // All that is there. Every record is checked by its digest.
  Result<Recovered> recover();

  // A detached job was accepted. Nothing where the key is there already. `job_id` is the job's, which the submission
  // may lack. Memory: a copy of the submission while it runs.
  Status accept(JobKey key, const std::string& job_id, const Submission& submission, const PayloadDigest& digest,
                std::chrono::system_clock::time_point accepted);
  // It has ended: the result takes the place of the submission, whether or not that was there.
  Status finish(JobKey key, ProofKind kind, Priority priority, const PayloadDigest& digest, const JobResult& result,
                std::chrono::system_clock::time_point ended);
  // Results that are not kept any more, and jobs that were taken back. Keys that are not there do no harm.
  Status forget(std::span<const JobKey> keys);

  // The last call: the next process goes on counting at `next_key`.
  Status close(JobKey next_key);

  const std::string& file() const { return file_; }

 private:
  struct Database;  // the connection and its statements

  explicit Journal(std::string file);
  Status prepare(uint64_t max_bytes);
  template <class Work>
  Status transaction(Work work);

  const std::string file_;
  std::mutex mutex_;
  std::unique_ptr<Database> database_;  // none after close()
  JobKey first_key_ = 1;
  JobKey reserved_keys_ = 1;  // keys below may be given away by this process
};

}  // namespace cuzk
