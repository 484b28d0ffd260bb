#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/hex.hpp"
#include "base/random.hpp"

namespace cuzk {
namespace {

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  // A rename would put a file in the place of a device, a socket or a pipe.
  struct stat present {};
  if (stat(path.c_str(), &present) == 0 && !S_ISREG(present.st_mode)) {
    return Error(ErrorClass::kIo, S_ISDIR(present.st_mode) ? "this is a folder; a file is to be written"
                                                           : "this is not a regular file, so it is not replaced")
        .in_file(path);
  }
  std::array<uint8_t, 8> nonce{};
  CUZK_TRY(os_random(nonce));
  // In the same directory, since a rename is atomic only within a file system.
  std::string temporary = path + ".tmp-" + to_hex(nonce);
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) {
    const int reason = errno;
    const bool absent = reason == ENOENT || reason == ENOTDIR;
    return Error(absent ? ErrorClass::kNotFound : ErrorClass::kIo,
                 absent ? "there is no directory for this file"
                        : std::string("cannot create a file here: ") + std::strerror(reason))
        .in_file(path);
  }
  return AtomicFile(fd, path, std::move(temporary));
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(other.fd_), path_(std::move(other.path_)), temporary_(std::move(other.temporary_)), written_(other.written_) {
  other.fd_ = -1;
  other.temporary_.clear();
}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this != &other) {
    discard();
    fd_ = other.fd_;
    path_ = std::move(other.path_);
    temporary_ = std::move(other.temporary_);
    written_ = other.written_;
    other.fd_ = -1;
    other.temporary_.clear();
  }
  return *this;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  fd_ = -1;
  temporary_.clear();
}

Error AtomicFile::failure(const char* what) const {
  return Error(ErrorClass::kIo, std::string(what) + ": " + std::strerror(errno)).in_file(path_).at_offset(written_);
}

Status AtomicFile::write(std::span<const uint8_t> bytes) {
  CUZK_ASSERT(fd_ >= 0);
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd_, bytes.data(), bytes.size());
    if (done < 0) {
      if (errno == EINTR) continue;
      return failure("writing failed");
    }
    written_ += static_cast<uint64_t>(done);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return {};
}

Status AtomicFile::commit() {
  CUZK_ASSERT(fd_ >= 0);
  // Some file systems report a lack of space only here.
  if (fsync(fd_) != 0) return failure("flushing to the disk failed");
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0) return failure("closing failed");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return failure("renaming failed");
  temporary_.clear();
  const int directory = open(directory_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return failure("opening the directory failed");
  const int flushed = fsync(directory);
  const int reason = errno;
  close(directory);
  // EINVAL: a file system that cannot flush directories.
  if (flushed != 0 && reason != EINVAL) {
    errno = reason;
    return failure("flushing the directory failed");
  }
  return {};
}

}  // namespace cuzk
