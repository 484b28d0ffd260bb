// The right to a unix socket's path.
#pragma once

#include <string>
#include <utility>

#include "base/result.hpp"

namespace cuzk {

// While it exists no other claim of that path succeeds, in this process or another: it holds a lock on "PATH.lock".
// Move-only; when it is destroyed the files of the socket and of its lock are removed.
class UnixSocketClaim {
 public:
  // Makes missing parent directories. What a daemon that is gone left at `path` is removed; a socket that somebody
  // listens on, and anything that is no socket, is left alone. Errors: kUsage, saying which; kIo.
  static Result<UnixSocketClaim> claim(const std::string& path);

  UnixSocketClaim(UnixSocketClaim&& other) noexcept
      : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}
  UnixSocketClaim& operator=(UnixSocketClaim&&) = delete;
  ~UnixSocketClaim();

 private:
  UnixSocketClaim(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_;
};

}  // namespace cuzk
