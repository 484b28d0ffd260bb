// What the commands of `cuzk bench` that use a daemon share.
#pragma once

#include <memory>
#include <string>

#include "cuzk/daemon/client_options.hpp"
#include "cuzk/daemon/job_input.hpp"
#include "cuzk/daemon/reply_output.hpp"

namespace cuzk::app {

struct BenchOptions {
  ConnectOptions connect;
  JobOptions job;
  VerifyOptions verify;
  uint32_t count = 3, concurrency = 1;
};
void add_bench_options(CLI::App* command, BenchOptions& options);

// Options before the subcommand, where the reference has them; the subcommand's own go first.
struct BenchGroup {
  std::string address, log_level;
  ConnectOptions complete(ConnectOptions options) const;
  BenchOptions complete(BenchOptions options) const;
};

// Prove, timed; a proof that comes back is checked, outside the time. Errors: of the call; kBadProof.
Result<ProofReply> prove_and_check(Client& client, const v1::SubmitProofRequest& request, ReplyVerifier& verifier);

void add_stress_command(CommandLine& line, CLI::App* bench, const std::shared_ptr<BenchGroup>& group);

}  // namespace cuzk::app
