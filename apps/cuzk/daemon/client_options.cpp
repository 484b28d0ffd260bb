#include "cuzk/daemon/client_options.hpp"

#include <cstdlib>

#include "cuzk/read_file.hpp"

namespace cuzk::app {
namespace {

constexpr uint64_t kMaxPemBytes = uint64_t{1} << 20;

std::string given_or(const std::string& option, const char* variable) {
  if (!option.empty()) return option;
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

Result<std::string> text_of(const std::string& path) {
  if (path.empty()) return std::string();
  CUZK_ASSIGN(const PaddedBuffer content, read_any_file(path, kMaxPemBytes));
  return std::string(reinterpret_cast<const char*>(content.data()), content.size());
}

}  // namespace

void add_connect_options(CLI::App* command, ConnectOptions& options, const char* default_address) {
  command->add_option(
      "-a,--addr", options.address,
      std::string("unix:///path, host:port, https://host:port; default: $CUZK_ADDRESS, else ") + default_address);
  command->add_option("--token-file", options.token_file, "File of the bearer token; default: $CUZK_TOKEN_FILE");
  command->add_option("--tls-ca", options.ca,
                      "PEM file of the authorities that are trusted; default: $CUZK_CLIENT_CA, else the machine's");
  command->add_option("--tls-cert", options.certificate,
                      "PEM file of this client's certificate; $CUZK_CLIENT_CERTIFICATE");
  command->add_option("--tls-key", options.key, "PEM file of its key; $CUZK_CLIENT_KEY");
  command->add_option("--tls-name", options.server_name, "Name that the daemon's certificate must have");
}

Result<ClientOptions> client_options(const ConnectOptions& options, const char* default_address) {
  ClientOptions out;
  out.address = given_or(options.address, "CUZK_ADDRESS");
  if (out.address.empty()) out.address = default_address;
  CUZK_ASSIGN(out.token, text_of(given_or(options.token_file, "CUZK_TOKEN_FILE")));
  while (!out.token.empty() && (out.token.back() == '\n' || out.token.back() == '\r')) out.token.pop_back();
  CUZK_ASSIGN(out.ca_pem, text_of(given_or(options.ca, "CUZK_CLIENT_CA")));
  CUZK_ASSIGN(out.certificate_pem, text_of(given_or(options.certificate, "CUZK_CLIENT_CERTIFICATE")));
  CUZK_ASSIGN(out.key_pem, text_of(given_or(options.key, "CUZK_CLIENT_KEY")));
  out.server_name = options.server_name;
  return out;
}

Result<std::unique_ptr<Client>> connect(const ConnectOptions& options, const char* default_address, Console& console) {
  console.hint(ErrorClass::kIo, "is the daemon running? `cuzk serve` starts one, --addr names another address");
  CUZK_ASSIGN(const ClientOptions client, client_options(options, default_address));
  return Client::connect(client);
}

}  // namespace cuzk::app
