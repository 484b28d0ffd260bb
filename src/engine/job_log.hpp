// The journal as the engine uses it, so that a simulation can have its own.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"
#include "queue/journal.hpp"

namespace cuzk {

// As queue/journal.hpp says of each. Members wait for the disk; thread safe.
class JobLog {
 public:
  virtual ~JobLog() = default;
  virtual JobKey first_key() const = 0;
  virtual Result<Journal::Recovered> recover() = 0;
  virtual Status accept(JobKey key, const std::string& job_id, const Submission& submission,
                        const PayloadDigest& digest, std::chrono::system_clock::time_point accepted) = 0;
  virtual Status finish(JobKey key, ProofKind kind, Priority priority, const PayloadDigest& digest,
                        const JobResult& result, std::chrono::system_clock::time_point ended) = 0;
  virtual Status forget(std::span<const JobKey> keys) = 0;
  virtual Status close(JobKey next_key) = 0;
};

class JournalLog final : public JobLog {
 public:
  explicit JournalLog(std::unique_ptr<Journal> journal) : journal_(std::move(journal)) {}
  JobKey first_key() const override { return journal_->first_key(); }
  Result<Journal::Recovered> recover() override { return journal_->recover(); }
  Status accept(JobKey key, const std::string& job_id, const Submission& submission, const PayloadDigest& digest,
                std::chrono::system_clock::time_point accepted) override {
    return journal_->accept(key, job_id, submission, digest, accepted);
  }
  Status finish(JobKey key, ProofKind kind, Priority priority, const PayloadDigest& digest, const JobResult& result,
                std::chrono::system_clock::time_point ended) override {
    return journal_->finish(key, kind, priority, digest, result, ended);
  }
  Status forget(std::span<const JobKey> keys) override { return journal_->forget(keys); }
  Status close(JobKey next_key) override { return journal_->close(next_key); }

 private:
  std::unique_ptr<Journal> journal_;
};

}  // namespace cuzk
