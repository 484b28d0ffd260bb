#include "server/server.hpp"

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <condition_variable>
#include <thread>

#include "base/memory_reserve.hpp"
#include "server/acceptor.hpp"
#include "server/authorizer.hpp"
#include "server/grpc_log.hpp"
#include "server/http_server.hpp"
#include "server/listen_address.hpp"
#include "server/service.hpp"
#include "server/tls.hpp"
#include "server/unix_socket.hpp"

namespace cuzk {
namespace {

constexpr const char* kServiceName = "cuzk.v1.ProvingEngine";
constexpr std::chrono::milliseconds kMaintenanceInterval{100};
// What a request counts with that is still on its way after a moment: those of 32 GiB PoReps have 52 MiB.
constexpr uint64_t kLargeRequestBytes = uint64_t{64} << 20;
constexpr int kMaintenancesPerLook = 10;  // at the tokens and the engine's readiness

Status check_safe(const ListenAddress& address, bool encrypted, bool allowed) {
  if (encrypted || allowed) return {};
  CUZK_ASSIGN(const bool local, is_local_only(address));
  if (local) return {};
  return Error(ErrorClass::kUsage, "other machines can reach " + address.text() +
                                       " and it has no TLS; use a loopback address, a unix socket or TLS, or allow "
                                       "insecure remote access explicitly");
}

uint64_t connection_memory(const ServerOptions& options, uint64_t budget_bytes) {
  if (budget_bytes == 0) return options.connection_memory_bytes;
  return std::min(options.connection_memory_bytes, std::max(budget_bytes / 2, 2 * options.max_message_bytes));
}

void set_limits(grpc::ServerBuilder& builder, const ServerOptions& options, uint64_t budget_bytes) {
  grpc::ResourceQuota quota("cuzk");
  quota.Resize(connection_memory(options, budget_bytes));
  builder.SetResourceQuota(quota);
  // Calls look at the size of their message themselves, for the reference's status; gRPC would not look any earlier.
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  // A small message could become a very large one.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 4096);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 30 * 60'000);  // without a call; clients connect again
  // Clients that vanish without a word are noticed, and theirs may ask whether we are there.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
}

}  // namespace

struct Server::State {
  State(Engine& engine_in, ServerOptions options_in, ServerHooks hooks_in)
      : engine(engine_in), options(std::move(options_in)), hooks(std::move(hooks_in)) {}

  Status listen();
  Status start_http();
  HttpAnswer page(std::string_view path) const;
  void maintain();
  void update_health();

  Engine& engine;
  const ServerOptions options;
  const ServerHooks hooks;
  GrpcLogRoute grpc_log{hooks.log};
  std::unique_ptr<Authorizer> authorizer;
  std::vector<UnixSocketClaim> claims;
  std::unique_ptr<ServiceContext> context;
  std::unique_ptr<Service> service;
  std::unique_ptr<grpc::Server> grpc_server;
  Acceptor acceptor{hooks};
  std::unique_ptr<HttpServer> http;
  std::vector<std::string> addresses;
  std::string http_address;

  std::mutex health_mutex;  // so that a look at the engine does not undo what drain() said
  std::mutex mutex;
  std::condition_variable wake;
  bool stopped = false;
  std::thread maintenance;
};

Status Server::State::listen() {
  if (options.listen.empty()) return Error(ErrorClass::kUsage, "no address to listen on");
  std::shared_ptr<grpc::ServerCredentials> plain = grpc::InsecureServerCredentials(), encrypted;
  if (options.tls) {
    CUZK_ASSIGN(encrypted, tls_credentials(*options.tls));
  }
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  set_limits(builder, options, engine.status().budget_bytes);
  std::vector<std::pair<Socket, bool>> sockets;  // and whether it has TLS
  for (const std::string& text : options.listen) {
    CUZK_ASSIGN(ListenAddress address, parse_listen_address(text));
    CUZK_TRY(check_safe(address, encrypted != nullptr, options.allow_insecure_remote));
    if (address.is_unix()) {
      CUZK_ASSIGN(UnixSocketClaim claim, UnixSocketClaim::claim(address.unix_path));
      claims.push_back(std::move(claim));
      CUZK_ASSIGN(Socket socket, listen_unix(address.unix_path, options.unix_mode));
      sockets.emplace_back(std::move(socket), false);
    } else {
      CUZK_ASSIGN(std::vector<Socket> found, listen_tcp(address));
      for (Socket& socket : found) sockets.emplace_back(std::move(socket), encrypted != nullptr);
    }
    addresses.push_back(address.text());
  }
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  for (auto& [socket, with_tls] : sockets) {
    std::shared_ptr<grpc::experimental::ExternalConnectionAcceptor> taker =
        builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, with_tls ? encrypted : plain);
    acceptor.add(std::move(socket), [taker](int descriptor) {
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
      connection.fd = descriptor;
      taker->HandleNewConnection(&connection);
    });
  }
  builder.RegisterCallbackGenericService(service.get());
  grpc_server = builder.BuildAndStart();
  if (!grpc_server) return Error(ErrorClass::kResource, "gRPC cannot start");
  return acceptor.start();
}

Status Server::State::start_http() {
  if (options.http_listen.empty()) return {};
  CUZK_ASSIGN(const ListenAddress address, parse_listen_address(options.http_listen));
  if (address.is_unix()) return Error(ErrorClass::kUsage, "the HTTP pages need HOST:PORT, not a unix socket");
  CUZK_TRY(check_safe(address, false, options.allow_insecure_remote));
  CUZK_ASSIGN(http, HttpServer::start(address, HttpLimits{}, options.http_allow_origin,
                                      [this](std::string_view path) { return page(path); }));
  http_address = http->address().text();
  return {};
}

HttpAnswer Server::State::page(std::string_view path) const {
  const auto text = [](int status, std::string body) {
    return HttpAnswer{status, "text/plain; charset=utf-8", std::move(body)};
  };
  if (path == "/livez") return text(200, "ok\n");
  if (path == "/readyz") {
    if (context->draining.load()) return text(503, "draining\n");
    const EngineStatus status = engine.status();
    return status.ready && !status.draining ? text(200, "ready\n") : text(503, "not ready\n");
  }
  if (path == "/status") return {200, "application/json", hooks.status_json(engine.status())};
  if (path == "/metrics") {
    return {200, "text/plain; version=0.0.4; charset=utf-8", hooks.metrics_text(engine.status())};
  }
  return text(404, "404 Not Found\n");
}

void Server::State::update_health() {
  const EngineStatus status = engine.status();
  const std::lock_guard lock(health_mutex);
  const bool serving = status.ready && !status.draining && !context->draining.load();
  grpc_server->GetHealthCheckService()->SetServingStatus("", serving);
  grpc_server->GetHealthCheckService()->SetServingStatus(kServiceName, serving);
}

void Server::State::maintain() {
  const UsesReserve uses_reserve;
  std::unique_lock lock(mutex);
  for (int count = 0; !stopped; ++count) {
    lock.unlock();
    context->uploads.expire();
    context->uploads.count(kMaintenanceInterval, [this] {
      return engine.reserve_upload(std::min(kLargeRequestBytes, options.max_message_bytes));
    });
    context->small_requests.expire();
    if (count % kMaintenancesPerLook == 0) {
      update_health();
      const Status reloaded = authorizer->reload_if_changed();
      if (!reloaded.ok()) {
        hooks.log(LogLevel::kError, "the tokens were changed and cannot be used; those before stay",
                  {{"error", reloaded.error().describe()}});
      }
    }
    lock.lock();
    wake.wait_for(lock, kMaintenanceInterval, [&] { return stopped; });
  }
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Server>> Server::start(Engine& engine, ServerOptions options, ServerHooks hooks) {
  auto state = std::make_unique<State>(engine, std::move(options), std::move(hooks));
  CUZK_ASSIGN(state->authorizer, Authorizer::load(state->options.tokens_file));
  state->context = std::make_unique<ServiceContext>(engine, state->options, state->hooks, *state->authorizer);
  state->service = std::make_unique<Service>(*state->context);
  std::unique_ptr<Server> server(new Server(std::move(state)));
  CUZK_TRY(server->state_->listen());
  CUZK_TRY(server->state_->start_http());
  server->state_->maintenance = std::thread([raw = server->state_.get()] { raw->maintain(); });
  server->state_->update_health();
  return server;
}

Server::~Server() { stop(std::chrono::milliseconds(0)); }

const std::vector<std::string>& Server::addresses() const { return state_->addresses; }
const std::string& Server::http_address() const { return state_->http_address; }

void Server::drain(std::chrono::steady_clock::time_point deadline, std::function<void()> done) {
  {
    const std::lock_guard lock(state_->health_mutex);
    state_->context->draining.store(true);
    state_->grpc_server->GetHealthCheckService()->SetServingStatus("", false);
    state_->grpc_server->GetHealthCheckService()->SetServingStatus(kServiceName, false);
  }
  state_->hooks.log(LogLevel::kInfo, "draining", {});
  state_->engine.drain(deadline, std::move(done));
}

void Server::stop(std::chrono::milliseconds grace) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->stopped) return;
    state_->stopped = true;
  }
  state_->wake.notify_all();
  if (state_->maintenance.joinable()) state_->maintenance.join();
  state_->acceptor.stop();
  state_->context->draining.store(true);
  state_->context->waiting.stop_all(
      {grpc::StatusCode::UNAVAILABLE, "the daemon is going down [ask again after its restart]"});
  if (state_->grpc_server) {
    state_->grpc_server->Shutdown(std::chrono::system_clock::now() + grace);
    state_->grpc_server->Wait();
  }
  state_->http.reset();
  state_->claims.clear();
}

Status Server::reload() { return state_->authorizer->reload_if_changed(); }

}  // namespace cuzk
