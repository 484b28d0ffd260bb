// Commands that ask a daemon something short, for `cuzk` and `cuzk bench` alike.
#pragma once

#include <string>

#include "cuzk/daemon/client_options.hpp"

namespace cuzk::app {

struct StatusOptions {
  ConnectOptions connect;
  std::string wait_ready;  // a duration; empty: asks once
};
struct CircuitOptions {
  ConnectOptions connect;
  std::string circuit;
};

Result<Outcome> run_status(const StatusOptions& options, const char* default_address, Console& console);
Result<Outcome> run_preload(const CircuitOptions& options, const char* default_address, Console& console);
Result<Outcome> run_metrics(const ConnectOptions& options, const char* default_address, Console& console);

}  // namespace cuzk::app
