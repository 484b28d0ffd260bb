// What whoever starts the server decides.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.hpp"
#include "telemetry/log.hpp"

namespace cuzk {

struct TlsOptions {
  std::string certificate_file;  // PEM, with its chain
  std::string key_file;          // PEM
  std::string client_ca_file;    // where given, clients must show a certificate that one of these signed
  // Files that changed are read again this often; the connections that exist stay.
  std::chrono::seconds reload_interval{10};
};

struct ServerOptions {
  // "unix:///run/curio/cuzk.sock", "127.0.0.1:9820", "[::1]:9820", "localhost:9820". Port 0 takes a free one.
  std::vector<std::string> listen;
  uint32_t unix_mode = 0660;      // permissions of the sockets' files
  std::string http_listen;        // of /status, /metrics, /livez, /readyz; TCP; empty for none
  std::string http_allow_origin;  // Access-Control-Allow-Origin of their answers; empty for none
  // An address that other machines reach, without TLS (the HTTP pages never have it), is refused unless this is set.
  bool allow_insecure_remote = false;
  std::optional<TlsOptions> tls;  // of the TCP listeners
  // Lines "ROLE TOKEN", ROLE being reader, submitter or admin. Where given, TCP clients must send
  // "authorization: Bearer TOKEN"; unix sockets are protected by their mode. Read again when it changes.
  std::string tokens_file;

  uint64_t max_message_bytes = uint64_t{256} << 20;
  size_t max_request_id_bytes = 256;
  // Requests of Prove and SubmitProof that are being received at once; more wait for a place to be taken from one that
  // has been received for longer than `upload_patience`, or are refused. A request must arrive within `upload_timeout`.
  uint32_t max_uploads = 32;
  std::chrono::milliseconds upload_patience{5000};
  std::chrono::milliseconds upload_timeout{120'000};
  // Memory of all connections together; at most half of the engine's budget, but two messages always fit. Above it gRPC
  // ends calls, whichever; nothing of ordinary use comes near.
  uint64_t connection_memory_bytes = uint64_t{4} << 30;
  // A job of Prove expires this long after its call's deadline: as long as a retry may still join it.
  std::chrono::milliseconds prove_deadline_grace{60'000};

  std::string version;
};

// How the server makes what it shows and tells what it does. Calls come from any thread.
struct ServerHooks {
  std::function<std::string(const EngineStatus&)> status_json = [](const EngineStatus&) { return std::string("{}"); };
  std::function<std::string(const EngineStatus&)> metrics_text = [](const EngineStatus&) { return std::string(); };
  // A call ended. Names as "Prove", "OK".
  std::function<void(std::string_view method, std::string_view code, double seconds)> on_call =
      [](std::string_view, std::string_view, double) {};
  std::function<void(uint64_t bytes)> on_received = [](uint64_t) {};
  std::function<void(LogLevel level, std::string_view message, std::initializer_list<LogField> fields)> log =
      [](LogLevel, std::string_view, std::initializer_list<LogField>) {};
};

}  // namespace cuzk
