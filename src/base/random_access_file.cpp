#include "base/random_access_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/assert.hpp"

namespace cuzk {

Result<RandomAccessFile> RandomAccessFile::open(const std::string& path) {
  // Without O_NONBLOCK the open of a FIFO would wait for a writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const bool absent = errno == ENOENT || errno == ENOTDIR;
    return Error(absent ? ErrorClass::kNotFound : ErrorClass::kIo,
                 absent ? "there is no such file" : std::string("cannot open the file: ") + std::strerror(errno))
        .in_file(path);
  }
  RandomAccessFile file(fd, path);
  struct stat info {};
  if (fstat(fd, &info) != 0) {
    return Error(ErrorClass::kIo, std::string("fstat failed: ") + std::strerror(errno)).in_file(path);
  }
  if (!S_ISREG(info.st_mode)) return Error(ErrorClass::kCorrupt, "this is not a regular file").in_file(path);
  file.size_ = static_cast<uint64_t>(info.st_size);
  file.modified_ = info.st_mtim;
  return file;
}

RandomAccessFile::RandomAccessFile(RandomAccessFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      size_(other.size_),
      modified_(other.modified_) {}

RandomAccessFile& RandomAccessFile::operator=(RandomAccessFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(size_, other.size_);
  std::swap(modified_, other.modified_);
  return *this;
}

RandomAccessFile::~RandomAccessFile() {
  if (fd_ >= 0) close(fd_);
}

Status RandomAccessFile::read_at(uint64_t offset, std::span<uint8_t> out) const {
  CUZK_ASSERT(fd_ >= 0);
  while (!out.empty()) {
    const ssize_t got = pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Error(ErrorClass::kIo, std::string("reading failed: ") + std::strerror(errno))
          .in_file(path_)
          .at_offset(offset);
    }
    if (got == 0) {
      const bool shortened = offset < size_;
      return Error(ErrorClass::kCorrupt, shortened ? "the file became shorter while it was read" : "the file ends here")
          .in_file(path_)
          .at_offset(offset);
    }
    offset += static_cast<uint64_t>(got);
    out = out.subspan(static_cast<size_t>(got));
  }
  return {};
}

Status RandomAccessFile::check_unchanged() const {
  CUZK_ASSERT(fd_ >= 0);
  struct stat info {};
  if (fstat(fd_, &info) != 0) {
    return Error(ErrorClass::kIo, std::string("fstat failed: ") + std::strerror(errno)).in_file(path_);
  }
  if (static_cast<uint64_t>(info.st_size) != size_ || info.st_mtim.tv_sec != modified_.tv_sec ||
      info.st_mtim.tv_nsec != modified_.tv_nsec) {
    return Error(ErrorClass::kIo, "the file was changed while it was read").in_file(path_);
  }
  return {};
}

}  // namespace cuzk
