// Sockets that listen.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "server/listen_address.hpp"

namespace cuzk {

// A file descriptor, closed when it is destroyed. Move-only.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket();
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

// One socket for each address of the host; all addresses of the machine where the host is empty. Puts the port that was
// taken into `address` where it was 0. Not blocking. Errors: kIo.
Result<std::vector<Socket>> listen_tcp(ListenAddress& address);

// The socket's file has `mode` before anybody can connect. Errors: kIo.
Result<Socket> listen_unix(const std::string& path, uint32_t mode);

}  // namespace cuzk
