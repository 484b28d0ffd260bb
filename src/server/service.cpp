#include "server/service.hpp"

#include <cuzk/v1/proving.pb.h>

#include <algorithm>
#include <type_traits>

#include "base/memory_reserve.hpp"
#include "server/messages.hpp"
#include "server/reflection.hpp"

namespace cuzk {
namespace {

constexpr std::string_view kServicePrefix = "/cuzk.v1.ProvingEngine/";
// Longer waits are for ever.
constexpr uint64_t kLongestWaitMs = uint64_t{365} * 24 * 3600 * 1000;

using SystemTime = std::chrono::system_clock::time_point;

template <class Request, auto handle>
void parsed(ServiceContext& context, const CallHandle& call, Received&& received) {
  Request request;
  const grpc::Status status = grpc::SerializationTraits<Request>::Deserialize(&received.bytes, &request);
  received.bytes.Clear();
  received.memory.shrink_to(received.memory.bytes() / 2);
  if (!status.ok()) {
    return call.refuse(
        {grpc::StatusCode::INVALID_ARGUMENT, "the message is no " + std::string(Request::descriptor()->full_name())});
  }
  if constexpr (std::is_invocable_v<decltype(handle), ServiceContext&, const CallHandle&, Request&&, Reservation&&>) {
    handle(context, call, std::move(request), std::move(received.memory));
  } else {
    handle(context, call, std::move(request));
  }
}

// For who has taken the end of a call that waited.
void answer_result(const CallHandle& call, bool in_prove, const v1::AwaitProofResponse& result) {
  if (!in_prove) return call.answer_taken(result);
  v1::ProveResponse response;
  *response.mutable_result() = result;
  call.answer_taken(response);
}

void wait_for(ServiceContext& context, const CallHandle& call, JobKey job, const std::string& job_id, bool in_prove) {
  context.waiting.add(call.end, [call](const grpc::Status& status) {
    if (!call.end->take()) return;
    call.end->release();
    call.refuse_taken(status);
  });
  CallEnd::watch(call.end, job, [call, job_id, in_prove](const JobResult& result) {
    v1::AwaitProofResponse message = to_message(result);
    if (message.job_id().empty()) {  // the job was forgotten just before the watch
      if (!in_prove) return call.refuse_taken({grpc::StatusCode::NOT_FOUND, "job not found: " + job_id});
      message.set_job_id(job_id);
    }
    answer_result(call, in_prove, message);
  });
}

void submit_proof(ServiceContext& context, const CallHandle& call, v1::SubmitProofRequest&& request,
                  Reservation&& memory) {
  auto taken = take_submission(std::move(request), context.options.max_request_id_bytes);
  if (const auto* status = std::get_if<grpc::Status>(&taken)) return call.refuse(*status);
  const SubmitOutcome outcome =
      context.engine.submit(std::move(std::get<Submission>(taken)), Attendance::kDetached, std::move(memory));
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) return call.refuse(to_status(*refusal));
  const Submitted& submitted = std::get<Submitted>(outcome);
  v1::SubmitProofResponse response;
  response.set_job_id(submitted.job_id);
  response.set_queue_position(submitted.queue_position);
  response.set_attached(submitted.attached);
  call.answer(response);
}

void prove(ServiceContext& context, const CallHandle& call, v1::ProveRequest&& request, Reservation&& memory) {
  if (!request.has_submit()) return call.refuse({grpc::StatusCode::INVALID_ARGUMENT, "missing submit field"});
  auto taken = take_submission(std::move(*request.mutable_submit()), context.options.max_request_id_bytes);
  if (const auto* status = std::get_if<grpc::Status>(&taken)) return call.refuse(*status);
  Submission& submission = std::get<Submission>(taken);
  if (call.deadline < SystemTime::max() - context.options.prove_deadline_grace) {
    const SystemTime latest = call.deadline + context.options.prove_deadline_grace;
    submission.deadline = std::min(submission.deadline.value_or(latest), latest);
  }
  if (call.over()) return;
  const SubmitOutcome outcome = context.engine.submit(std::move(submission), Attendance::kAwaited, std::move(memory));
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) return call.refuse(to_status(*refusal));
  const Submitted& submitted = std::get<Submitted>(outcome);
  wait_for(context, call, submitted.key, submitted.job_id, true);
}

void await_proof(ServiceContext& context, const CallHandle& call, v1::AwaitProofRequest&& request) {
  const std::optional<JobKey> job = context.engine.find(request.job_id());
  if (!job) return call.refuse({grpc::StatusCode::NOT_FOUND, "job not found: " + request.job_id()});
  // TIMEOUT comes a little before the client gives up by itself.
  SystemTime latest = SystemTime::max();
  const SystemTime now = std::chrono::system_clock::now();
  if (call.deadline != SystemTime::max()) {
    const auto left = call.deadline - now;
    latest = call.deadline - std::min<SystemTime::duration>(left / 4, std::chrono::milliseconds(100));
  }
  if (request.timeout_ms() != 0 && request.timeout_ms() < kLongestWaitMs) {
    latest = std::min(latest, now + std::chrono::milliseconds(static_cast<int64_t>(request.timeout_ms())));
  }
  if (latest < now + std::chrono::milliseconds(kLongestWaitMs)) {
    CallEnd::limit(call.end, latest, [call, job_id = request.job_id()] {
      call.end->release();
      call.answer_taken(unfinished_message(job_id));
    });
  }
  wait_for(context, call, *job, request.job_id(), false);
}

void cancel_proof(ServiceContext& context, const CallHandle& call, v1::CancelProofRequest&& request) {
  const CancelOutcome outcome = context.engine.cancel(request.job_id());
  v1::CancelProofResponse response;
  response.set_was_running(outcome.was_running);
  response.set_found(outcome.found);
  call.answer(response);
}

void get_status(ServiceContext& context, const CallHandle& call, v1::GetStatusRequest&&) {
  const EngineStatus status = context.engine.status();
  v1::GetStatusResponse response = to_message(status, context.draining.load());
  response.set_version(context.options.version);
  response.set_status_json(context.hooks.status_json(status));
  call.answer(response);
}

void get_metrics(ServiceContext& context, const CallHandle& call, v1::GetMetricsRequest&&) {
  v1::GetMetricsResponse response;
  response.set_prometheus_text(context.hooks.metrics_text(context.engine.status()));
  call.answer(response);
}

void preload_srs(ServiceContext& context, const CallHandle& call, v1::PreloadSrsRequest&& request) {
  context.engine.preload(request.circuit_id(), [call, id = request.circuit_id()](Result<Engine::Preloaded> loaded) {
    if (!loaded.ok()) {
      if (loaded.error().error_class == ErrorClass::kUsage) {
        return call.refuse({grpc::StatusCode::INVALID_ARGUMENT, "unknown circuit ID: " + id});
      }
      return call.refuse(to_status(loaded.error()));
    }
    v1::PreloadSrsResponse response;
    response.set_already_loaded(loaded->already_loaded);
    response.set_load_time_ms(loaded->load_ms);
    call.answer(response);
  });
}

void evict_srs(ServiceContext& context, const CallHandle& call, v1::EvictSrsRequest&& request) {
  context.engine.evict(request.circuit_id(), [call, id = request.circuit_id()](Result<Engine::Evicted> evicted) {
    if (!evicted.ok()) {
      const Error& error = evicted.error();
      if (error.error_class == ErrorClass::kUsage) {
        return call.refuse({grpc::StatusCode::INVALID_ARGUMENT, "unknown circuit ID: " + id});
      }
      if (error.error_class == ErrorClass::kResource) {
        return call.refuse({grpc::StatusCode::FAILED_PRECONDITION, error.describe() + " [a retry may help]"});
      }
      return call.refuse(to_status(error));
    }
    v1::EvictSrsResponse response;
    response.set_was_loaded(evicted->was_loaded);
    response.set_freed_bytes(evicted->freed_bytes);
    call.answer(response);
  });
}

// SubmitProof waits for the journal's disk.
constexpr Method kMethods[] = {
    {"SubmitProof", Role::kSubmitter, true, true, &parsed<v1::SubmitProofRequest, submit_proof>},
    {"AwaitProof", Role::kSubmitter, false, false, &parsed<v1::AwaitProofRequest, await_proof>},
    {"Prove", Role::kSubmitter, true, false, &parsed<v1::ProveRequest, prove>},
    {"CancelProof", Role::kSubmitter, false, true, &parsed<v1::CancelProofRequest, cancel_proof>},
    {"GetStatus", Role::kReader, false, false, &parsed<v1::GetStatusRequest, get_status>},
    {"GetMetrics", Role::kReader, false, false, &parsed<v1::GetMetricsRequest, get_metrics>},
    {"PreloadSRS", Role::kAdmin, false, false, &parsed<v1::PreloadSrsRequest, preload_srs>},
    {"EvictSRS", Role::kAdmin, false, false, &parsed<v1::EvictSrsRequest, evict_srs>},
};

class Unimplemented final : public grpc::ServerGenericBidiReactor {
 public:
  Unimplemented() { Finish({grpc::StatusCode::UNIMPLEMENTED, "there is no such method"}); }
  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerGenericBidiReactor* Service::CreateReactor(grpc::GenericCallbackServerContext* call) {
  const UsesReserve uses_reserve;
  std::string_view path = call->method();
  if (path.starts_with(kServicePrefix)) {
    path.remove_prefix(kServicePrefix.size());
    for (const Method& method : kMethods) {
      if (method.name == path) return new Call(context_, method, *call);
    }
  } else if (is_reflection(path)) {
    return new_reflection_call(context_.authorizer, *call);
  }
  return new Unimplemented;
}

}  // namespace cuzk
