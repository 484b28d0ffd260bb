#include "client/client.hpp"

#include <grpc/support/log.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

namespace cuzk {
namespace {

using Clock = std::chrono::system_clock;

// gRPC says only that it did not work; for a Unix socket the system says why.
std::string why_unix_fails(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return "the path is too long for a socket";
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::strerror(errno);
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const bool connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int failure = errno;
  ::close(fd);
  if (connected) return "it does not speak gRPC";
  return failure == ENOENT ? "there is no such socket" : std::strerror(failure);
}

// gRPC tells in its log alone why a handshake failed, and would print it. Kept is the last of what it complained of.
class GrpcComplaints {
 public:
  static GrpcComplaints& listen() {
    static auto* const kAll = new GrpcComplaints;  // gRPC's threads may log while the process ends
    return *kAll;
  }
  std::string last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  GrpcComplaints() {
    gpr_set_log_function([](gpr_log_func_args* line) {
      if (line->severity == GPR_LOG_SEVERITY_ERROR) listen().take(line->message);
    });
  }
  // "Handshake failed with fatal error SSL_ERROR_SSL: error:0A000086:SSL routines::certificate verify failed."
  void take(std::string message) {
    if (const size_t at = message.rfind("::"); at != std::string::npos) message.erase(0, at + 2);
    while (!message.empty() && (message.back() == '.' || message.back() == '\n')) message.pop_back();
    const std::lock_guard lock(mutex_);
    last_ = std::move(message);
  }
  std::mutex mutex_;
  std::string last_;
};

// Waits until the channel is connected, or has failed once.
Status wait_connected(grpc::Channel& channel, const ServerAddress& address, const ClientOptions& options) {
  const auto deadline = Clock::now() + options.connect_timeout;
  for (grpc_connectivity_state state = channel.GetState(true); state != GRPC_CHANNEL_READY;
       state = channel.GetState(true)) {
    if (state != GRPC_CHANNEL_TRANSIENT_FAILURE && state != GRPC_CHANNEL_SHUTDOWN &&
        channel.WaitForStateChange(state, deadline)) {
      continue;
    }
    std::string why = "nothing answers there, or not with " + std::string(options.tls ? "TLS" : "gRPC without TLS");
    if (!address.unix_path.empty()) why = why_unix_fails(address.unix_path);
    if (const std::string told = options.tls ? GrpcComplaints::listen().last() : ""; !told.empty()) why = told;
    return Error(ErrorClass::kIo, "cannot connect to " + options.address + ": " + why);
  }
  return {};
}

std::shared_ptr<grpc::ChannelCredentials> credentials_of(const ClientOptions& options) {
  if (!options.tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = options.ca_pem;
  ssl.pem_cert_chain = options.certificate_pem;
  ssl.pem_private_key = options.key_pem;
  return grpc::SslCredentials(ssl);
}

grpc::ChannelArguments arguments_of(const ServerAddress& address, const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(options.message_limit));
  arguments.SetMaxSendMessageSize(static_cast<int>(options.message_limit));
  // A connection of its own for each client, as clients on several machines have.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A daemon whose machine is gone is noticed, at a pace that every server allows.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 360'000);
  if (!options.server_name.empty()) arguments.SetSslTargetNameOverride(options.server_name);
  // The path of a socket is no name of a host.
  if (!address.unix_path.empty()) arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  return arguments;
}

v1::ProofKind wire_kind(ProofKind kind) {
  switch (kind) {
    case ProofKind::kPorep: return v1::POREP_SEAL_COMMIT;
    case ProofKind::kSnap: return v1::SNAP_DEALS_UPDATE;
    case ProofKind::kWindow: return v1::WINDOW_POST_PARTITION;
    case ProofKind::kWinning: return v1::WINNING_POST;
  }
  return v1::PROOF_KIND_UNSPECIFIED;
}

ErrorClass class_of(grpc::StatusCode code) {
  switch (code) {
    case grpc::UNAVAILABLE:
    case grpc::ABORTED:
    case grpc::CANCELLED: return ErrorClass::kIo;
    case grpc::RESOURCE_EXHAUSTED:
    case grpc::DEADLINE_EXCEEDED: return ErrorClass::kResource;
    case grpc::INVALID_ARGUMENT:
    case grpc::OUT_OF_RANGE: return ErrorClass::kInvalidInput;
    case grpc::NOT_FOUND: return ErrorClass::kNotFound;
    case grpc::UNAUTHENTICATED:
    case grpc::PERMISSION_DENIED: return ErrorClass::kUsage;
    case grpc::FAILED_PRECONDITION:  // it never fits there, or not before a person changed something
    case grpc::UNIMPLEMENTED: return ErrorClass::kUnsupported;
    default: return ErrorClass::kInternal;
  }
}

}  // namespace

v1::SubmitProofRequest wire_request(const Submission& submission) {
  v1::SubmitProofRequest out;
  out.set_request_id(submission.request_id);
  out.set_proof_kind(wire_kind(submission.kind));
  out.set_sector_size(submission.sector_size);
  out.set_registered_proof(submission.registered_proof);
  if (submission.priority) out.set_priority(static_cast<v1::Priority>(*submission.priority));
  out.set_vanilla_proof(submission.vanilla_proof);
  for (const std::string& proof : submission.vanilla_proofs) out.add_vanilla_proofs(proof);
  out.set_sector_number(submission.sector_number);
  out.set_miner_id(submission.miner_id);
  out.set_randomness(submission.randomness);
  out.set_partition_index(submission.partition_index);
  out.set_comm_r_old(submission.comm_r_old);
  out.set_comm_r_new(submission.comm_r_new);
  out.set_comm_d_new(submission.comm_d_new);
  if (submission.deadline) {
    const auto since = submission.deadline->time_since_epoch();
    out.set_deadline_unix_ms(
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count()));
  }
  return out;
}

Error error_of(const grpc::Status& status) {
  std::string text = status.error_message();
  if (text.empty()) text = "gRPC status " + std::to_string(status.error_code());
  return Error(class_of(status.error_code()), "the daemon: " + text);
}

const char* status_name(v1::AwaitProofResponse::Status status) {
  switch (status) {
    case v1::AwaitProofResponse::COMPLETED: return "COMPLETED";
    case v1::AwaitProofResponse::FAILED: return "FAILED";
    case v1::AwaitProofResponse::CANCELLED: return "CANCELLED";
    case v1::AwaitProofResponse::TIMEOUT: return "TIMEOUT";
    default: return "UNKNOWN";
  }
}

Client::Client(const ClientOptions& options, std::shared_ptr<grpc::Channel> channel)
    : options_(options), channel_(std::move(channel)), stub_(v1::ProvingEngine::NewStub(channel_)) {}

Result<std::unique_ptr<Client>> Client::connect(const ClientOptions& given) {
  CUZK_ASSIGN(const ServerAddress address, parse_server_address(given.address));
  ClientOptions options = given;
  options.tls = given.tls || address.tls;
  if (!options.tls && (!given.ca_pem.empty() || !given.certificate_pem.empty())) {
    return Error(ErrorClass::kUsage, "certificates are of no use without TLS; write https://host:port");
  }
  if (given.certificate_pem.empty() != given.key_pem.empty()) {
    return Error(ErrorClass::kUsage, "a client's certificate and its key are only of use together");
  }
  if (!given.token.empty() && !options.tls && !address.local) {
    return Error(ErrorClass::kUsage, "a token is not sent to another machine without TLS; write https://host:port");
  }
  for (const char c : given.token) {
    if (c <= ' ' || c > '~') return Error(ErrorClass::kUsage, "the token has characters that no token has");
  }
  if (options.tls) GrpcComplaints::listen();
  auto channel = grpc::CreateCustomChannel(address.target, credentials_of(options), arguments_of(address, options));
  CUZK_TRY(wait_connected(*channel, address, options));
  return std::unique_ptr<Client>(new Client(options, std::move(channel)));
}

template <class Request, class Response>
Result<Response> Client::call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                              const Request& request, Timeout timeout) {
  grpc::ClientContext context;
  if (timeout) context.set_deadline(Clock::now() + *timeout);
  if (!options_.token.empty()) context.AddMetadata("authorization", "Bearer " + options_.token);
  Response response;
  const grpc::Status status = (stub_.get()->*method)(&context, request, &response);
  if (!status.ok()) return error_of(status);
  return response;
}

Result<v1::SubmitProofResponse> Client::submit(const v1::SubmitProofRequest& request) {
  return call(&Stub::SubmitProof, request, options_.call_timeout);
}

Result<v1::AwaitProofResponse> Client::prove(const v1::SubmitProofRequest& request, Timeout timeout) {
  v1::ProveRequest wrapped;
  *wrapped.mutable_submit() = request;
  CUZK_ASSIGN(v1::ProveResponse response, call(&Stub::Prove, wrapped, timeout));
  if (!response.has_result()) return Error(ErrorClass::kInternal, "the daemon answered without a result");
  return std::move(*response.mutable_result());
}

Result<v1::AwaitProofResponse> Client::await(const std::string& job_id, uint64_t timeout_ms) {
  v1::AwaitProofRequest request;
  request.set_job_id(job_id);
  request.set_timeout_ms(timeout_ms);
  return call(&Stub::AwaitProof, request, {});
}

Result<v1::CancelProofResponse> Client::cancel(const std::string& job_id) {
  v1::CancelProofRequest request;
  request.set_job_id(job_id);
  return call(&Stub::CancelProof, request, options_.call_timeout);
}

Result<v1::GetStatusResponse> Client::status() {
  return call(&Stub::GetStatus, v1::GetStatusRequest(), options_.call_timeout);
}

Result<std::string> Client::metrics() {
  CUZK_ASSIGN(v1::GetMetricsResponse response, call(&Stub::GetMetrics, v1::GetMetricsRequest(), options_.call_timeout));
  return std::move(*response.mutable_prometheus_text());
}

Result<v1::PreloadSrsResponse> Client::preload(const std::string& circuit) {
  v1::PreloadSrsRequest request;
  request.set_circuit_id(circuit);
  return call(&Stub::PreloadSRS, request, {});
}

Result<v1::EvictSrsResponse> Client::evict(const std::string& circuit) {
  v1::EvictSrsRequest request;
  request.set_circuit_id(circuit);
  Result<v1::EvictSrsResponse> response = call(&Stub::EvictSRS, request, options_.call_timeout);
  // FAILED_PRECONDITION says here that they are in use now.
  if (!response.ok() && response.error().error_class == ErrorClass::kUnsupported) {
    response.error().error_class = ErrorClass::kResource;
  }
  return response;
}

}  // namespace cuzk
