#include "srs/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cuzk {
namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(int fd, std::string path, const struct stat& info)
      : fd_(fd), path_(std::move(path)), size_(static_cast<uint64_t>(info.st_size)), modified_(info.st_mtim) {}
  ~FileSource() override { close(fd_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  uint64_t size() const override { return size_; }
  const std::string& name() const override { return path_; }

  Status read(uint64_t offset, std::span<uint8_t> out) const override {
    size_t done = 0;
    while (done < out.size()) {
      const ssize_t got = pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
      if (got > 0) {
        done += static_cast<size_t>(got);
        continue;
      }
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        return Error(ErrorClass::kIo, std::string("reading failed: ") + std::strerror(errno))
            .in_file(path_)
            .at_offset(offset + done);
      }
      return Error(ErrorClass::kCorrupt, "the file became shorter while it was read")
          .in_file(path_)
          .at_offset(offset + done);
    }
    return {};
  }

  Status check_unchanged() const override {
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

 private:
  int fd_;
  std::string path_;
  uint64_t size_;
  struct timespec modified_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file_source(const std::string& path) {
  // Without O_NONBLOCK the open of a FIFO would wait for a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const bool absent = errno == ENOENT || errno == ENOTDIR;
    return Error(absent ? ErrorClass::kNotFound : ErrorClass::kIo,
                 absent ? "there is no such file" : std::string("cannot open the file: ") + std::strerror(errno))
        .in_file(path);
  }
  struct stat info {};
  if (fstat(fd, &info) != 0) {
    const int reason = errno;
    close(fd);
    return Error(ErrorClass::kIo, std::string("fstat failed: ") + std::strerror(reason)).in_file(path);
  }
  if (!S_ISREG(info.st_mode)) {
    close(fd);
    return Error(ErrorClass::kCorrupt, "this is not a regular file").in_file(path);
  }
  return std::unique_ptr<ByteSource>(new FileSource(fd, path, info));
}

Status MemorySource::read(uint64_t offset, std::span<uint8_t> out) const {
  if (offset > bytes_.size() || bytes_.size() - offset < out.size()) {
    return Error(ErrorClass::kCorrupt, "the input ends early").at_offset(bytes_.size());
  }
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  return {};
}

}  // namespace cuzk
