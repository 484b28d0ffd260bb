#include "server/listen_address.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <charconv>

namespace cuzk {
namespace {

Error bad_address(std::string_view text, const std::string& what) {
  return Error(ErrorClass::kUsage, std::string("'").append(text) + "' is no address to listen on: " + what);
}

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24 == 127;
  }
  if (address->sa_family == AF_INET6) {
    const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&v6)) return v6.s6_addr[12] == 127;
    return IN6_IS_ADDR_LOOPBACK(&v6);
  }
  return false;
}

}  // namespace

std::string ListenAddress::text() const {
  if (is_unix()) return "unix://" + unix_path;
  const bool v6 = host.find(':') != std::string::npos;
  std::string out = v6 ? "[" : "";
  out += host;
  out += v6 ? "]:" : ":";
  return out + std::to_string(port);
}

Result<ListenAddress> parse_listen_address(std::string_view text) {
  ListenAddress out;
  constexpr std::string_view kUnix = "unix:";
  if (text.substr(0, kUnix.size()) == kUnix) {
    std::string_view path = text.substr(kUnix.size());
    if (path.substr(0, 2) == "//") path.remove_prefix(2);
    if (path.empty() || path[0] != '/') return bad_address(text, "the path of a unix socket must be absolute");
    if (path.size() >= sizeof(sockaddr_un::sun_path)) {
      return bad_address(text, "the path of a unix socket has at most " +
                                   std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " bytes");
    }
    if (path.find('\0') != std::string_view::npos || path.back() == '/') return bad_address(text, "no path of a file");
    out.unix_path = path;
    return out;
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad_address(text, "expected HOST:PORT or unix:///PATH");
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (host.find(':') == std::string_view::npos) return bad_address(text, "only IPv6 addresses stand in brackets");
  } else if (host.find(':') != std::string_view::npos) {
    return bad_address(text, "IPv6 addresses stand in brackets");
  }
  if (host.find_first_of("/ \t\n[]@") != std::string_view::npos) return bad_address(text, "no host name");
  const auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (failure != std::errc() || end != port.data() + port.size()) {
    return bad_address(text, "the port must be a number up to 65535");
  }
  out.host = host;
  return out;
}

Result<bool> is_local_only(const ListenAddress& address) {
  if (address.is_unix()) return true;
  if (address.host.empty()) return false;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(address.host.c_str(), nullptr, &hints, &found);
  if (failure != 0) return bad_address(address.text(), gai_strerror(failure));
  bool local = true;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) local &= is_loopback(entry->ai_addr);
  freeaddrinfo(found);
  return local;
}

}  // namespace cuzk
