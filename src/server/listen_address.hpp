// Addresses to listen on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cuzk {

struct ListenAddress {
  std::string unix_path;  // a unix socket, or empty: TCP
  std::string host;       // name or address, without brackets; empty for all addresses
  uint16_t port = 0;

  bool is_unix() const { return !unix_path.empty(); }
  std::string text() const;  // "unix:///run/cuzk.sock", "127.0.0.1:9820", "[::1]:9820"
};

// "unix:///absolute/path", "unix:/absolute/path", "host:port", "[address]:port", ":port". Errors: kUsage.
Result<ListenAddress> parse_listen_address(std::string_view text);

// True where no other machine can reach it: a unix socket, or a host all of whose addresses are loopback. Asks the
// resolver for names. Errors: kUsage for a name that has no address.
Result<bool> is_local_only(const ListenAddress& address);

}  // namespace cuzk
