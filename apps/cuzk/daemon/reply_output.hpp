// What commands say of a daemon's answers; lines of the reference's bench where it has them.
#pragma once

#include <chrono>
#include <string>

#include "cuzk/console.hpp"
#include "cuzk/daemon/job_input.hpp"

namespace cuzk::app {

struct ProofReply {
  v1::AwaitProofResponse response;
  double wall_seconds = 0;
  // Of a completed one: whether it was checked here, and if not, why.
  ReplyVerifier::Verdict verdict;
};

// The whole result. Its status is that of reply_status().
Outcome describe_reply(const ProofReply& reply);
// The same facts as JSON, for lists of replies; `with_proof`: the proof too.
Json reply_json(const ProofReply& reply, bool with_proof);

// 0, or the exit status for what became of the job.
int reply_status(const v1::AwaitProofResponse& response);

}  // namespace cuzk::app
