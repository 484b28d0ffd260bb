// The server's hooks, made of telemetry/.
#pragma once

#include <string>

#include "server/options.hpp"
#include "telemetry/metrics.hpp"
#include "telemetry/status_json.hpp"

namespace cuzk {

// `log` and `metrics` outlive the server.
inline ServerHooks telemetry_hooks(Log& log, Metrics& metrics, const std::string& version) {
  ServerHooks hooks;
  hooks.status_json = [version](const EngineStatus& status) { return status_json(status, version); };
  hooks.metrics_text = [&metrics, version](const EngineStatus& status) { return metrics.text(status, version); };
  hooks.on_call = [&metrics](std::string_view method, std::string_view code, double seconds) {
    metrics.count_call(method, code, seconds);
  };
  hooks.on_received = [&metrics](uint64_t bytes) { metrics.count_received_bytes(bytes); };
  hooks.log = [&log](LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
    log.write(level, message, fields);
  };
  return hooks;
}

}  // namespace cuzk
