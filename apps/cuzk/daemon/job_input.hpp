// What a command sends to a daemon, and how it checks what comes back.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "client/client.hpp"
#include "cuzk/request_options.hpp"
#include "cuzk/verification.hpp"
#include "queue/submission.hpp"

namespace cuzk::app {

struct JobOptions {
  RequestOptions request;
  std::string job_id, priority, deadline;
};
// The options that say what is to be proved; `with_job` adds --id, --priority and --deadline.
void add_job_options(CLI::App* command, JobOptions& options, bool with_job);

// Reads the files and makes a submission of the options, with the defaults of the reference's bench (sector 1, miner
// 1000, registered proof 0, randomness of zeros). What it means is the daemon's to judge. Errors: kUsage, kNotFound,
// kIo, kInvalidInput where a file is no list of vanilla proofs.
Result<Submission> read_job(const JobOptions& options, Progress& progress);

// "b3a1..." of 32 digits with dashes: an id that nobody else has. Errors: kIo.
Result<std::string> make_job_id();

struct VerifyOptions {
  std::string directory, vk;
  bool off = false;
};
void add_verify_options(CLI::App* command, VerifyOptions& options);

// Checks proofs that a daemon returned for one submission, as `cuzk verify` does. Reads the submission and the
// verifying key when it is first asked. Thread safe.
class ReplyVerifier {
 public:
  ReplyVerifier(Submission submission, VerifyOptions options);

  struct Verdict {
    bool verified = false;
    std::string text;  // "1 partition", or why not
  };
  // Errors: kBadProof where it is no proof of the request; kCorrupt where the key is damaged.
  Result<Verdict> check(const std::string& proof);

 private:
  // Why nothing can be verified; nothing where it can.
  Result<std::optional<std::string>> prepare();

  const Submission submission_;
  const VerifyOptions options_;
  std::mutex mutex_;
  bool prepared_ = false;
  std::optional<std::string> obstacle_;
  std::optional<Error> failure_;
  std::optional<ProofRequest> request_;
  std::unique_ptr<PreparedVerifyingKey> key_;
};

}  // namespace cuzk::app
