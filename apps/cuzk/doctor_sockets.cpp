#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cuzk/doctor.hpp"

namespace cuzk::app {
namespace {

class Socket {
 public:
  explicit Socket(int family) : fd_(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Finding about(const std::string& address) {
  Finding finding{.check = "sockets"};
  finding.details = {{"address", address}};
  return finding;
}

Finding bad(Finding finding, ErrorClass error_class, std::string message, std::string advice) {
  finding.health = Health::kBad;
  finding.error_class = error_class;
  finding.message = std::move(message);
  finding.advice = std::move(advice);
  return finding;
}

Finding told(Finding finding, Health health, const char* state, std::string message, std::string advice = "") {
  finding.health = health;
  finding.details["state"] = state;
  finding.message = std::move(message);
  finding.advice = std::move(advice);
  return finding;
}

// The first folder on the way up that exists, in which the missing ones would be made.
std::filesystem::path existing_parent(std::filesystem::path path) {
  std::error_code failure;
  do path = path.parent_path();
  while (!path.empty() && path != path.root_path() && !std::filesystem::exists(path, failure));
  return path.empty() ? "." : path;
}

Finding check_unix(const std::string& address, const std::string& path) {
  Finding finding = about(address);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof name.sun_path) {
    return bad(finding, ErrorClass::kUsage, address + ": a socket's path has 1 to 107 bytes", "name a shorter one");
  }
  std::memcpy(name.sun_path, path.c_str(), path.size());
  struct stat there {};
  if (lstat(path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) {
      return bad(finding, ErrorClass::kUsage, address + ": there is something else than a socket at this path",
                 "remove it, or let the daemon listen elsewhere");
    }
    const Socket client(AF_UNIX);
    if (connect(client.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0) {
      return told(finding, Health::kNote, "in use", address + ": a program listens there",
                  "if it is not the daemon that you meant to look at, let the new one listen elsewhere");
    }
    if (errno == ECONNREFUSED) {
      return told(finding, Health::kGood, "stale",
                  address + ": the socket of a program that has ended, to be replaced");
    }
    return bad(finding, ErrorClass::kIo, address + ": the socket cannot be tried: " + std::strerror(errno),
               "run the doctor as the daemon's user, or remove the socket");
  }
  const std::filesystem::path parent = existing_parent(path);
  std::error_code ignored;
  errno = ENOTDIR;
  if (!std::filesystem::is_directory(parent, ignored) || access(parent.c_str(), W_OK | X_OK) != 0) {
    const int reason = errno;
    return bad(finding, ErrorClass::kIo,
               address + ": no socket can be made in " + parent.string() + ": " + std::strerror(reason),
               "make the folder " + std::filesystem::path(path).parent_path().string() +
                   " for the daemon's user (RuntimeDirectory= in the systemd unit), or let it listen elsewhere");
  }
  return told(finding, Health::kGood, "free", address + ": free");
}

Finding check_tcp(const std::string& address, const std::string& host, const std::string& port) {
  Finding finding = about(address);
  const addrinfo hints{.ai_flags = AI_PASSIVE,
                       .ai_family = AF_UNSPEC,
                       .ai_socktype = SOCK_STREAM,
                       .ai_protocol = 0,
                       .ai_addrlen = 0,
                       .ai_addr = nullptr,
                       .ai_canonname = nullptr,
                       .ai_next = nullptr};
  unsigned number = 0;  // getaddrinfo would take it modulo 65536
  const auto [end, wrong] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (wrong != std::errc() || end != port.data() + port.size() || number == 0 || number > 65535) {
    return bad(finding, ErrorClass::kUsage, address + ": a port is a number from 1 to 65535", "name one, as 9820");
  }
  addrinfo* list = nullptr;
  if (const int failed = getaddrinfo(host.c_str(), port.c_str(), &hints, &list); failed != 0) {
    return bad(finding, ErrorClass::kUsage, address + ": " + gai_strerror(failed),
               "give an address of this machine and a port, as 127.0.0.1:9820");
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    const Socket server(entry->ai_family);
    if (server.get() < 0) continue;
    // As servers do: connections that are ending do not count.
    const int on = 1;
    setsockopt(server.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(server.get(), entry->ai_addr, entry->ai_addrlen) == 0) continue;
    const int reason = errno;
    if (reason == EADDRINUSE) {
      return told(finding, Health::kNote, "in use", address + ": a program listens there",
                  "if it is not the daemon that you meant to look at, let the new one listen elsewhere");
    }
    return bad(finding, reason == EADDRNOTAVAIL ? ErrorClass::kUsage : ErrorClass::kIo,
               address + ": cannot listen there: " + std::strerror(reason),
               reason == EACCES ? "ports below 1024 are for root: take another"
                                : "give an address of this machine and a free port");
  }
  return told(finding, Health::kGood, "free", address + ": free");
}

}  // namespace

std::vector<Finding> check_address(const std::string& address) {
  constexpr std::string_view kUnix = "unix:";
  if (address.starts_with(kUnix)) {
    std::string path = address.substr(kUnix.size());
    if (path.starts_with("//")) path = path.substr(2);
    return {check_unix(address, path)};
  }
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size()) {
    return {bad(about(address), ErrorClass::kUsage, address + ": no address to listen on",
                "unix:///run/curio/cuzk.sock or 127.0.0.1:9820")};
  }
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {check_tcp(address, host, address.substr(colon + 1))};
}

}  // namespace cuzk::app
