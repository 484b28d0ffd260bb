// Where a daemon is served, as people and the reference write it.
#pragma once

#include <string>

#include "base/result.hpp"

namespace cuzk {

struct ServerAddress {
  std::string target;     // as gRPC takes it: "unix:/run/x.sock", "dns:///host:9820"
  std::string unix_path;  // of a Unix socket, else empty
  bool tls = false;       // "https://"
  bool local = false;     // a Unix socket or a loopback address: what is sent does not leave the machine
};

// unix:///absolute/path, unix:path, host:port, http://host:port, https://host:port, dns:///host:port. Errors: kUsage.
Result<ServerAddress> parse_server_address(const std::string& text);

}  // namespace cuzk
