#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cuzk {

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  // Without O_NONBLOCK the open of a FIFO would wait for a writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const bool absent = errno == ENOENT || errno == ENOTDIR;
    return Error(absent ? ErrorClass::kNotFound : ErrorClass::kIo,
                 absent ? "there is no such file" : std::string("cannot open the file: ") + std::strerror(errno))
        .in_file(path);
  }
  const auto fail = [&](ErrorClass error_class, const std::string& message) {
    close(fd);
    return Error(error_class, message).in_file(path);
  };
  struct stat info {};
  if (fstat(fd, &info) != 0) return fail(ErrorClass::kIo, std::string("fstat failed: ") + std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return fail(ErrorClass::kCorrupt, "this is not a regular file");
  const auto size = static_cast<size_t>(info.st_size);
  void* data = nullptr;  // nothing can be mapped of an empty file
  if (size > 0) {
    data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (data == MAP_FAILED) {
      return fail(errno == ENOMEM || errno == EAGAIN ? ErrorClass::kResource : ErrorClass::kIo,
                  std::string("cannot map the file: ") + std::strerror(errno));
    }
  }
  close(fd);
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const uint8_t*>(data), size));
}

MappedFile::~MappedFile() {
  if (size_ > 0) munmap(const_cast<uint8_t*>(data_), size_);
}

}  // namespace cuzk
