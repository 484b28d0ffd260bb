// A client of the daemon, of this one or the reference's. Every call waits for its answer.
#pragma once

#include <cuzk/v1/proving.grpc.pb.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "client/address.hpp"
#include "queue/submission.hpp"

namespace cuzk {

struct ClientOptions {
  std::string address = "unix:///run/curio/cuzk.sock";
  // TLS, for https addresses or where tls is set: PEM texts. Without a CA, those of the machine are trusted.
  bool tls = false;
  std::string ca_pem, certificate_pem, key_pem;
  std::string server_name;  // that the certificate must have, where it is not the address's
  std::string token;        // sent as "authorization: Bearer ..."; never over an unprotected connection to elsewhere
  uint64_t message_limit = uint64_t{256} << 20;
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(10);
  std::chrono::milliseconds call_timeout = std::chrono::seconds(30);  // of calls that do not wait for work
};

// What `submission` is on the wire.
v1::SubmitProofRequest wire_request(const Submission& submission);

// Thread safe: calls from several threads share one connection. Errors of all calls: kIo where the daemon cannot be
// reached or went away, kResource where it refuses for now (full, draining, out of memory) or time ran out,
// kInvalidInput where it does not take the request, kNotFound, kUsage where this client may not do it,
// kUnsupported where that daemon can never do it, kInternal.
class Client {
 public:
  // Connects. Errors: kUsage (the address, a token over an unprotected connection, TLS files), kIo.
  static Result<std::unique_ptr<Client>> connect(const ClientOptions& options);

  using Timeout = std::optional<std::chrono::milliseconds>;  // none: no limit

  Result<v1::SubmitProofResponse> submit(const v1::SubmitProofRequest& request);
  // Submits, and waits until the job has ended. A job that failed is no error here: it is the answer.
  Result<v1::AwaitProofResponse> prove(const v1::SubmitProofRequest& request, Timeout timeout = {});
  // `timeout_ms`: after how long the daemon answers TIMEOUT; 0 for never.
  Result<v1::AwaitProofResponse> await(const std::string& job_id, uint64_t timeout_ms = 0);
  Result<v1::CancelProofResponse> cancel(const std::string& job_id);
  Result<v1::GetStatusResponse> status();
  Result<std::string> metrics();
  Result<v1::PreloadSrsResponse> preload(const std::string& circuit);
  Result<v1::EvictSrsResponse> evict(const std::string& circuit);

 private:
  using Stub = v1::ProvingEngine::Stub;
  Client(const ClientOptions& options, std::shared_ptr<grpc::Channel> channel);
  template <class Request, class Response>
  Result<Response> call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                        const Request& request, Timeout timeout);

  const ClientOptions options_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<Stub> stub_;
};

// The class of error that a gRPC status stands for, with its text.
Error error_of(const grpc::Status& status);

// "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "UNKNOWN"
const char* status_name(v1::AwaitProofResponse::Status status);

}  // namespace cuzk
