#include "server/messages.hpp"

#include <cuzk/internal/rpc_status.pb.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "telemetry/names.hpp"

namespace cuzk {
namespace {

constexpr const char* kRetryInfoType = "type.googleapis.com/google.rpc.RetryInfo";

std::optional<ProofKind> kind_of(v1::ProofKind kind) {
  switch (kind) {
    case v1::POREP_SEAL_COMMIT: return ProofKind::kPorep;
    case v1::SNAP_DEALS_UPDATE: return ProofKind::kSnap;
    case v1::WINDOW_POST_PARTITION: return ProofKind::kWindow;
    case v1::WINNING_POST: return ProofKind::kWinning;
    default: return std::nullopt;
  }
}

std::optional<Priority> priority_of(v1::Priority priority) {
  switch (priority) {
    case v1::PRIORITY_UNSPECIFIED: return std::nullopt;
    case v1::LOW: return Priority::kLow;
    case v1::HIGH: return Priority::kHigh;
    case v1::CRITICAL: return Priority::kCritical;
    default: return Priority::kNormal;  // as the reference treats numbers that it does not know
  }
}

uint32_t to_uint32(uint64_t value) {
  return static_cast<uint32_t>(std::min<uint64_t>(value, std::numeric_limits<uint32_t>::max()));
}

v1::AwaitProofResponse::Status status_of(JobState state) {
  switch (state) {
    case JobState::kCompleted: return v1::AwaitProofResponse::COMPLETED;
    case JobState::kCancelled: return v1::AwaitProofResponse::CANCELLED;
    case JobState::kExpired: return v1::AwaitProofResponse::TIMEOUT;
    case JobState::kFailed: return v1::AwaitProofResponse::FAILED;
    case JobState::kQueued:
    case JobState::kRunning: break;
  }
  return v1::AwaitProofResponse::UNKNOWN;
}

std::string advice(JobState state, ErrorClass error_class) {
  if (state == JobState::kCancelled) return " [the same request may be sent again]";
  if (state == JobState::kExpired) return " [send it again with a later deadline]";
  return retry_helps(error_class) ? " [a retry may help]" : " [a retry of the same request will not help]";
}

}  // namespace

std::string_view code_name(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK: return "OK";
    case grpc::StatusCode::CANCELLED: return "CANCELLED";
    case grpc::StatusCode::INVALID_ARGUMENT: return "INVALID_ARGUMENT";
    case grpc::StatusCode::DEADLINE_EXCEEDED: return "DEADLINE_EXCEEDED";
    case grpc::StatusCode::NOT_FOUND: return "NOT_FOUND";
    case grpc::StatusCode::ALREADY_EXISTS: return "ALREADY_EXISTS";
    case grpc::StatusCode::PERMISSION_DENIED: return "PERMISSION_DENIED";
    case grpc::StatusCode::UNAUTHENTICATED: return "UNAUTHENTICATED";
    case grpc::StatusCode::RESOURCE_EXHAUSTED: return "RESOURCE_EXHAUSTED";
    case grpc::StatusCode::FAILED_PRECONDITION: return "FAILED_PRECONDITION";
    case grpc::StatusCode::ABORTED: return "ABORTED";
    case grpc::StatusCode::OUT_OF_RANGE: return "OUT_OF_RANGE";
    case grpc::StatusCode::UNIMPLEMENTED: return "UNIMPLEMENTED";
    case grpc::StatusCode::INTERNAL: return "INTERNAL";
    case grpc::StatusCode::UNAVAILABLE: return "UNAVAILABLE";
    case grpc::StatusCode::DATA_LOSS: return "DATA_LOSS";
    default: return "UNKNOWN";
  }
}

std::variant<Submission, grpc::Status> take_submission(v1::SubmitProofRequest&& request, size_t max_request_id_bytes) {
  const std::optional<ProofKind> kind = kind_of(request.proof_kind());
  if (!kind) {
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT,
                        "invalid proof_kind: " + std::to_string(static_cast<int>(request.proof_kind())));
  }
  if (request.request_id().size() > max_request_id_bytes) {
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT,
                        "request_id has " + std::to_string(request.request_id().size()) + " bytes; the limit is " +
                            std::to_string(max_request_id_bytes));
  }
  Submission out;
  out.request_id = std::move(*request.mutable_request_id());
  out.kind = *kind;
  out.priority = priority_of(request.priority());
  // What cannot be told from never is never.
  constexpr uint64_t kLatestMs = 253'402'300'800'000;  // the year 10000
  if (request.deadline_unix_ms() != 0 && request.deadline_unix_ms() < kLatestMs) {
    out.deadline = std::chrono::system_clock::time_point(
        std::chrono::milliseconds(static_cast<int64_t>(request.deadline_unix_ms())));
  }
  out.sector_size = request.sector_size();
  out.registered_proof = request.registered_proof();
  out.vanilla_proof = std::move(*request.mutable_vanilla_proof());
  out.vanilla_proofs.reserve(static_cast<size_t>(request.vanilla_proofs_size()));
  for (std::string& proof : *request.mutable_vanilla_proofs()) out.vanilla_proofs.push_back(std::move(proof));
  out.sector_number = request.sector_number();
  out.miner_id = request.miner_id();
  out.randomness = std::move(*request.mutable_randomness());
  out.partition_index = request.partition_index();
  out.comm_r_old = std::move(*request.mutable_comm_r_old());
  out.comm_r_new = std::move(*request.mutable_comm_r_new());
  out.comm_d_new = std::move(*request.mutable_comm_d_new());
  return out;
}

v1::AwaitProofResponse to_message(const JobResult& result) {
  v1::AwaitProofResponse out;
  out.set_job_id(result.job_id);
  out.set_status(status_of(result.state));
  out.set_queue_wait_ms(result.times.queue_wait_ms);
  out.set_srs_load_ms(result.times.srs_load_ms);
  out.set_synthesis_ms(result.times.synthesis_ms);
  out.set_gpu_compute_ms(result.times.gpu_compute_ms);
  out.set_total_ms(result.times.total_ms);
  if (result.state == JobState::kCompleted) {
    out.set_proof(result.proof.data(), result.proof.size());
    return out;
  }
  const Error error = result.error.value_or(Error(ErrorClass::kInternal, "no error was recorded"));
  out.set_error_message(error.describe() + advice(result.state, error.error_class));
  out.set_error_class(to_string(error.error_class));
  out.set_retry_helps(result.state == JobState::kCancelled ||
                      (result.state == JobState::kFailed && retry_helps(error.error_class)));
  return out;
}

v1::AwaitProofResponse unfinished_message(std::string_view job_id) {
  v1::AwaitProofResponse out;
  out.set_job_id(std::string(job_id));
  out.set_status(v1::AwaitProofResponse::TIMEOUT);
  out.set_error_message("the time to wait is over and the job goes on [await it again]");
  out.set_unfinished(true);
  return out;
}

grpc::Status status_with_retry(grpc::StatusCode code, std::string message, uint64_t retry_after_ms) {
  if (retry_after_ms == 0) return {code, message};
  internal::RetryInfo hint;
  hint.mutable_retry_delay()->set_seconds(static_cast<int64_t>(retry_after_ms / 1000));
  hint.mutable_retry_delay()->set_nanos(static_cast<int32_t>(retry_after_ms % 1000 * 1'000'000));
  internal::RpcStatus details;
  details.set_code(static_cast<int32_t>(code));
  details.set_message(message);
  google::protobuf::Any* any = details.add_details();
  any->set_type_url(kRetryInfoType);
  any->set_value(hint.SerializeAsString());
  return {code, message, details.SerializeAsString()};
}

uint64_t retry_after_ms(const grpc::Status& status) {
  internal::RpcStatus details;
  if (!details.ParseFromString(status.error_details())) return 0;
  for (const google::protobuf::Any& any : details.details()) {
    internal::RetryInfo hint;
    if (any.type_url() != kRetryInfoType || !hint.ParseFromString(any.value())) continue;
    if (hint.retry_delay().seconds() < 0 || hint.retry_delay().nanos() < 0) continue;
    return static_cast<uint64_t>(hint.retry_delay().seconds()) * 1000 +
           static_cast<uint64_t>(hint.retry_delay().nanos()) / 1'000'000;
  }
  return 0;
}

grpc::Status to_status(const Refusal& refusal) {
  switch (refusal.reason) {
    case Refusal::Reason::kInvalid: return {grpc::StatusCode::INVALID_ARGUMENT, refusal.message};
    case Refusal::Reason::kQueueFull:
      return status_with_retry(grpc::StatusCode::RESOURCE_EXHAUSTED,
                               refusal.message + " [retry in " + std::to_string(refusal.retry_after_ms) + " ms]",
                               refusal.retry_after_ms);
    case Refusal::Reason::kTooLarge:
      return {grpc::StatusCode::FAILED_PRECONDITION, refusal.message + " [a retry will not help]"};
    case Refusal::Reason::kDraining:
      return status_with_retry(grpc::StatusCode::UNAVAILABLE,
                               refusal.message + " [retry elsewhere, or after the daemon's restart]",
                               refusal.retry_after_ms);
  }
  return {grpc::StatusCode::INTERNAL, refusal.message};
}

grpc::Status to_status(const Error& error) {
  const auto code = [&] {
    switch (error.error_class) {
      case ErrorClass::kUsage:
      case ErrorClass::kInvalidInput:
      case ErrorClass::kUnsatisfied:
      case ErrorClass::kBadProof: return grpc::StatusCode::INVALID_ARGUMENT;
      case ErrorClass::kNotFound: return grpc::StatusCode::NOT_FOUND;
      case ErrorClass::kCorrupt:
      case ErrorClass::kUnsupported:
      case ErrorClass::kDeviceUnusable: return grpc::StatusCode::FAILED_PRECONDITION;
      case ErrorClass::kResource: return grpc::StatusCode::RESOURCE_EXHAUSTED;
      case ErrorClass::kCancelled: return grpc::StatusCode::CANCELLED;
      case ErrorClass::kExpired: return grpc::StatusCode::DEADLINE_EXCEEDED;
      case ErrorClass::kIo:
      case ErrorClass::kDeviceFault:
      case ErrorClass::kInternal: break;
    }
    return grpc::StatusCode::INTERNAL;
  }();
  return {code, error.describe() + advice(JobState::kFailed, error.error_class)};
}

v1::GetStatusResponse to_message(const EngineStatus& status, bool draining) {
  v1::GetStatusResponse out;
  for (const DeviceStatus& device : status.devices) {
    v1::GPUStatus& gpu = *out.add_gpus();
    gpu.set_ordinal(device.info.ordinal);
    gpu.set_name(device.info.name);
    gpu.set_vram_total_bytes(device.info.memory_total_bytes);
    gpu.set_vram_free_bytes(device.info.memory_free_bytes);
    gpu.set_current_job_id(device.job_id.value_or(""));
    if (device.kind) gpu.set_current_proof_kind(std::string(status_name(*device.kind)));
    gpu.set_state(to_string(device.state));
  }
  for (const ResidentStatus& resident : status.resident) {
    v1::SRSStatus& srs = *out.add_loaded_srs();
    srs.set_circuit_id(reference_circuit_name(resident.circuit_id));
    srs.set_tier(v1::SRSStatus::HOT);  // what a device holds is ready for proving, the CPU's too
    srs.set_size_bytes(resident.parameter_bytes);
    srs.set_ref_count(resident.in_use);
  }
  uint64_t completed = 0, failed = 0;
  for (const ProofKind kind : kProofKinds) {
    const KindCounters& counters = status.kinds[index_of(kind)];
    v1::QueueStatus& queue = *out.add_queues();
    queue.set_proof_kind(std::string(status_name(kind)));
    queue.set_pending(to_uint32(counters.pending));
    queue.set_in_progress(to_uint32(counters.running));
    completed += counters.completed;
    failed += counters.failed;
  }
  out.set_total_proofs_completed(completed);
  out.set_total_proofs_failed(failed);
  out.set_uptime_seconds(static_cast<uint64_t>(status.uptime_seconds));
  out.set_pinned_memory_bytes(status.used_bytes);
  out.set_pinned_memory_limit_bytes(status.budget_bytes);
  out.set_ready(status.ready && !status.draining && !draining);
  out.set_draining(status.draining || draining);
  return out;
}

}  // namespace cuzk
