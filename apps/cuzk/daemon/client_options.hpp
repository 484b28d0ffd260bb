// How a command reaches the daemon.
#pragma once

#include <memory>
#include <string>

#include "client/client.hpp"
#include "cuzk/command_line.hpp"

namespace cuzk::app {

inline constexpr const char* kDefaultAddress = "unix:///run/curio/cuzk.sock";
inline constexpr const char* kDefaultBenchAddress = "http://127.0.0.1:9820";  // the reference's

struct ConnectOptions {
  std::string address;
  std::string token_file;
  std::string ca, certificate, key, server_name;
};

// -a/--addr and the rest. The environment has twins: CUZK_ADDRESS, CUZK_TOKEN_FILE, CUZK_CLIENT_CA,
// CUZK_CLIENT_CERTIFICATE, CUZK_CLIENT_KEY.
void add_connect_options(CLI::App* command, ConnectOptions& options, const char* default_address);

// Errors: those of Client::connect; kNotFound, kIo of the files.
Result<std::unique_ptr<Client>> connect(const ConnectOptions& options, const char* default_address, Console& console);
// What a connection is to be made with, for commands that make several.
Result<ClientOptions> client_options(const ConnectOptions& options, const char* default_address);

}  // namespace cuzk::app
