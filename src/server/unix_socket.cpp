#include "server/unix_socket.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace cuzk {
namespace {

Error io_error(const std::string& what, const std::string& path) {
  return Error(ErrorClass::kIo, what + ": " + std::strerror(errno)).in_file(path);
}

// Whether somebody accepts connections there. Errors: kIo where that cannot be found out.
Result<bool> somebody_listens(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return io_error("a socket cannot be made", path);
  const int outcome = connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int why = errno;
  close(probe);
  if (outcome == 0 || why == EAGAIN || why == EINPROGRESS) return true;  // EAGAIN: its backlog is full
  if (why == ECONNREFUSED || why == ENOENT) return false;
  errno = why;
  return io_error("cannot find out whether somebody listens", path);
}

// Whether the file that was opened still has that name. Whoever gives a lock up removes its file first, so a lock of a
// file without a name is worth nothing.
bool is_the_file(int descriptor, const std::string& path) {
  struct stat opened {
  }, named{};
  return fstat(descriptor, &opened) == 0 && lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

// The lock, held. Errors: kUsage where somebody else has it; kIo.
Result<int> take_lock(const std::string& path, const std::string& lock_path) {
  for (;;) {
    const int lock = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0) return io_error("the lock of the socket cannot be opened", lock_path);
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
      if (is_the_file(lock, lock_path)) return lock;
      close(lock);
      continue;
    }
    const bool held = errno == EWOULDBLOCK;
    const Error error = io_error("the lock of the socket cannot be taken", lock_path);
    close(lock);
    if (!held) return error;
    return Error(ErrorClass::kUsage, "another daemon serves on this socket").in_file(path);
  }
}

}  // namespace

Result<UnixSocketClaim> UnixSocketClaim::claim(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failure);
  if (failure) {
    return Error(ErrorClass::kIo, "the socket's directory cannot be made: " + failure.message()).in_file(path);
  }
  const std::string lock_path = path + ".lock";
  CUZK_ASSIGN(const int lock, take_lock(path, lock_path));
  const auto give_up = [&](Error error) {
    unlink(lock_path.c_str());
    close(lock);
    return error;
  };
  struct stat information {};
  if (lstat(path.c_str(), &information) == 0) {
    if (!S_ISSOCK(information.st_mode)) {
      return give_up(
          Error(ErrorClass::kUsage, "there is something else than a socket; it is left as it is").in_file(path));
    }
    const Result<bool> live = somebody_listens(path);
    if (!live.ok()) return give_up(live.error());
    if (*live) return give_up(Error(ErrorClass::kUsage, "another program serves on this socket").in_file(path));
    if (unlink(path.c_str()) != 0 && errno != ENOENT)
      return give_up(io_error("the stale socket cannot be removed", path));
  } else if (errno != ENOENT) {
    return give_up(io_error("cannot look at the socket", path));
  }
  return UnixSocketClaim(path, lock);
}

UnixSocketClaim::~UnixSocketClaim() {
  if (lock_ < 0) return;
  unlink(path_.c_str());
  unlink((path_ + ".lock").c_str());
  close(lock_);
}

}  // namespace cuzk
