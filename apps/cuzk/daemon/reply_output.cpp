#include "cuzk/daemon/reply_output.hpp"

#include <cmath>

#include "base/hex.hpp"
#include "cuzk/exit_status.hpp"

namespace cuzk::app {
namespace {

constexpr size_t kShownProofBytes = 256, kHeadBytes = 128;

std::string hex_of(const std::string& bytes, size_t count) {
  return to_hex({reinterpret_cast<const uint8_t*>(bytes.data()), count});
}

bool completed(const v1::AwaitProofResponse& response) {
  return response.status() == v1::AwaitProofResponse::COMPLETED;
}

}  // namespace

int reply_status(const v1::AwaitProofResponse& response) {
  switch (response.status()) {
    case v1::AwaitProofResponse::COMPLETED: return kExitOk;
    case v1::AwaitProofResponse::CANCELLED: return kExitJobCancelled;
    case v1::AwaitProofResponse::TIMEOUT: return kExitJobTimedOut;
    default: return kExitJobFailed;
  }
}

Json reply_json(const ProofReply& reply, bool with_proof) {
  const v1::AwaitProofResponse& r = reply.response;
  Json json = {{"status", status_name(r.status())}, {"job_id", r.job_id()}};
  if (completed(r)) {
    json["proof_bytes"] = r.proof().size();
    if (with_proof) json["proof"] = hex_of(r.proof(), r.proof().size());
    json["verified"] = reply.verdict.verified;
    if (!reply.verdict.verified) json["not_verified_because"] = reply.verdict.text;
  } else {
    json["error"] = r.error_message();
    if (!r.error_class().empty()) json["error_class"] = r.error_class();
    json["retry_helps"] = r.retry_helps();
    json["unfinished"] = r.unfinished();
  }
  json["times_ms"] = {{"total", r.total_ms()},
                      {"queue", r.queue_wait_ms()},
                      {"srs", r.srs_load_ms()},
                      {"synthesis", r.synthesis_ms()},
                      {"gpu", r.gpu_compute_ms()}};
  json["wall_ms"] = std::llround(reply.wall_seconds * 1000);
  return json;
}

Outcome describe_reply(const ProofReply& reply) {
  const v1::AwaitProofResponse& r = reply.response;
  Outcome outcome;
  outcome.status = reply_status(r);
  outcome.json = reply_json(reply, true);
  std::string& text = outcome.text;
  text = std::string("\n=== Proof Result ===\nstatus:    ") + status_name(r.status()) +
         "\njob_id:    " + printable(r.job_id());
  if (!completed(r)) {
    text += "\nerror:     " + printable(r.error_message());
    if (!r.error_class().empty()) text += " [" + printable(r.error_class()) + "]";
    if (r.unfinished()) text += "\nthe job goes on; `cuzk await` waits for it";
    return outcome;
  }
  text += "\ntimings:   total=" + std::to_string(r.total_ms()) + " ms (queue=" + std::to_string(r.queue_wait_ms()) +
          " ms, srs=" + std::to_string(r.srs_load_ms()) + " ms, synth=" + std::to_string(r.synthesis_ms()) +
          " ms, gpu=" + std::to_string(r.gpu_compute_ms()) + " ms)";
  text += "\nwall time: " + std::to_string(std::llround(reply.wall_seconds * 1000)) + " ms";
  const size_t size = r.proof().size();
  text += "\nproof:     " + std::to_string(size) + " bytes (hex: " +
          (size <= kShownProofBytes ? hex_of(r.proof(), size) : hex_of(r.proof(), kHeadBytes) + "...") + ")";
  text += (reply.verdict.verified ? "\nverified:  yes, " : "\nverified:  no: ") + reply.verdict.text;
  return outcome;
}

}  // namespace cuzk::app
