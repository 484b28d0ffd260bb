// Between the messages of the wire and the engine's values.
#pragma once

#include <cuzk/v1/proving.pb.h>
#include <grpcpp/support/status.h>

#include <string>
#include <string_view>
#include <variant>

#include "engine/engine.hpp"
#include "engine/status.hpp"
#include "queue/submission.hpp"

namespace cuzk {

std::string_view code_name(grpc::StatusCode code);  // "OK", "NOT_FOUND"

// Takes the bytes out of the message, without a copy. Otherwise INVALID_ARGUMENT: an unknown kind ("invalid proof_kind:
// N", as the reference says it), or too long a request_id.
std::variant<Submission, grpc::Status> take_submission(v1::SubmitProofRequest&& request, size_t max_request_id_bytes);

// FAILED, CANCELLED and TIMEOUT (expired) are answers, not errors of the call; their texts say whether a retry helps.
v1::AwaitProofResponse to_message(const JobResult& result);

// The caller's time is up, and the job goes on.
v1::AwaitProofResponse unfinished_message(std::string_view job_id);

// INVALID_ARGUMENT, RESOURCE_EXHAUSTED with a hint when to retry, FAILED_PRECONDITION for what never fits, UNAVAILABLE
// while draining.
grpc::Status to_status(const Refusal& refusal);

// Of a call that failed with an error of the engine.
grpc::Status to_status(const Error& error);

// A google.rpc.Status with a google.rpc.RetryInfo goes with it where `retry_after_ms` is not 0.
grpc::Status status_with_retry(grpc::StatusCode code, std::string message, uint64_t retry_after_ms);
// What such a status says; 0 where it says nothing.
uint64_t retry_after_ms(const grpc::Status& status);

v1::GetStatusResponse to_message(const EngineStatus& status, bool draining);

}  // namespace cuzk
