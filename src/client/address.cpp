#include "client/address.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace cuzk {
namespace {

Error bad(const std::string& text, const std::string& why) {
  return Error(ErrorClass::kUsage, "'" + text + "' is no address: " + why +
                                       "; write unix:///run/curio/cuzk.sock, host:port or https://host:port");
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

Result<ServerAddress> parse_server_address(const std::string& text) {
  ServerAddress address;
  std::string_view rest = text;
  if (take(rest, "unix:")) {
    if (rest.starts_with("//") && !rest.starts_with("///")) return bad(text, "the path has to begin with /");
    if (rest.starts_with("///")) rest.remove_prefix(2);
    if (rest.empty() || rest == "/") return bad(text, "it has no path");
    address.unix_path = rest;
    address.target = "unix:" + address.unix_path;
    address.local = true;
    return address;
  }
  if (take(rest, "https://")) {
    address.tls = true;
  } else if (!take(rest, "http://")) {
    take(rest, "dns:///");
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || rest.find('/') != std::string_view::npos) {
    return bad(text, colon == std::string_view::npos ? "it has no port" : "there is something behind the port");
  }
  std::string_view host = rest.substr(0, colon), port = rest.substr(colon + 1);
  unsigned number = 0;
  const auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (failure != std::errc() || end != port.data() + port.size() || number == 0 || number > 65535) {
    return bad(text, "'" + std::string(port) + "' is no port");
  }
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (host.empty()) return bad(text, "it has no host");
  if (!bracketed && host.find_first_of(":[] \t@?#") != std::string_view::npos) {
    return bad(text, "'" + std::string(host) + "' is no host (IPv6 addresses stand in brackets)");
  }
  address.target = "dns:///" + std::string(rest);
  address.local = host == "localhost" || host.starts_with("127.") || host == "[::1]";
  return address;
}

}  // namespace cuzk
