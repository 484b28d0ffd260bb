#include "cuzk/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace cuzk::app {
namespace {

constexpr const char* kStandardInput = "(standard input)";

Error read_failure(const std::string& name) {
  return Error(ErrorClass::kIo, std::string("cannot read: ") + std::strerror(errno)).in_file(name);
}

// What can only be read from front to back: pipes, terminals.
Result<PaddedBuffer> read_stream(int fd, const std::string& name, uint64_t max_bytes) {
  std::vector<uint8_t> bytes;
  size_t used = 0;
  for (;;) {
    if (bytes.size() - used < (size_t{1} << 20)) bytes.resize(std::max(bytes.size() * 2, size_t{4} << 20));
    const ssize_t got = read(fd, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return read_failure(name);
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (used > max_bytes) {
      return Error(ErrorClass::kInvalidInput, "longer than the " + std::to_string(max_bytes) + " bytes that are read")
          .in_file(name);
    }
  }
  return PaddedBuffer(std::span<const uint8_t>(bytes.data(), used));
}

}  // namespace

Result<PaddedBuffer> read_any_file(const std::string& path, uint64_t max_bytes) {
  if (path == "-") return read_stream(STDIN_FILENO, kStandardInput, max_bytes);
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 && errno == ENOENT) {
    return Error(ErrorClass::kNotFound, "there is no such file").in_file(path);
  }
  if (S_ISDIR(info.st_mode)) return Error(ErrorClass::kIo, "is a folder").in_file(path);
  if (S_ISREG(info.st_mode)) return read_file_padded(path, max_bytes);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return read_failure(path);
  Result<PaddedBuffer> content = read_stream(fd, path, max_bytes);
  close(fd);
  return content;
}

std::string shown_path(const std::string& path) { return path == "-" ? kStandardInput : path; }

}  // namespace cuzk::app
