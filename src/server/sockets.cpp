#include "server/sockets.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace cuzk {
namespace {

constexpr int kBacklog = 512;

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

uint16_t port_of(int socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

Error cannot_listen(const std::string& address, const char* why) {
  return Error(ErrorClass::kIo, "cannot listen on " + address + ": " + why);
}

Socket bound_tcp(const addrinfo& entry, uint16_t port) {
  Socket out(socket(entry.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (out.get() < 0) return {};
  const int on = 1;
  setsockopt(out.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  setsockopt(out.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));  // those that it accepts have it too
  sockaddr_storage address{};
  std::memcpy(&address, entry.ai_addr, entry.ai_addrlen);
  if (entry.ai_family == AF_INET6) {
    setsockopt(out.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    reinterpret_cast<sockaddr_in6&>(address).sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in&>(address).sin_port = htons(port);
  }
  if (bind(out.get(), reinterpret_cast<const sockaddr*>(&address), entry.ai_addrlen) != 0) return {};
  if (listen(out.get(), kBacklog) != 0) return {};
  return out;
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<std::vector<Socket>> listen_tcp(ListenAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* list = nullptr;
  const char* host = address.host.empty() ? nullptr : address.host.c_str();
  const int failure = getaddrinfo(host, "0", &hints, &list);
  if (failure != 0) return cannot_listen(address.text(), gai_strerror(failure));
  const std::unique_ptr<addrinfo, FreeAddresses> owner(list);
  std::vector<Socket> out;
  int why = EADDRNOTAVAIL;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    Socket socket = bound_tcp(*entry, address.port);
    if (socket.get() < 0) {
      why = errno;
      // A name may have an address of a family that this machine does not have.
      if (why == EAFNOSUPPORT || why == EADDRNOTAVAIL) continue;
      return cannot_listen(address.text(), std::strerror(why));
    }
    if (address.port == 0) address.port = port_of(socket.get());
    out.push_back(std::move(socket));
  }
  if (out.empty()) return cannot_listen(address.text(), std::strerror(why));
  return out;
}

Result<Socket> listen_unix(const std::string& path, uint32_t mode) {
  Socket out(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), std::min(path.size(), sizeof(address.sun_path) - 1));
  // Nobody can connect to a socket that does not listen yet.
  if (out.get() < 0 || bind(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      chmod(path.c_str(), static_cast<mode_t>(mode)) != 0 || listen(out.get(), kBacklog) != 0) {
    return cannot_listen("unix://" + path, std::strerror(errno));
  }
  return out;
}

}  // namespace cuzk
