#include "cuzk/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace cuzk::app {
namespace {

constexpr const char* kStandardInput = "(standard input)";
constexpr size_t kHeadBytes = 4096;
constexpr size_t kFirstBytes = size_t{1} << 20;

Error read_failure(const std::string& name) {
  return Error(ErrorClass::kIo, std::string("cannot read: ") + std::strerror(errno)).in_file(name);
}

Error too_long(const std::string& name, uint64_t limit) {
  return Error(ErrorClass::kInvalidInput, "longer than the " + std::to_string(limit) + " bytes that are read")
      .in_file(name);
}

// Reads until `wanted` bytes are there or the end; false where errno says why not.
bool fill(int fd, uint8_t* bytes, size_t wanted, size_t& used) {
  while (used < wanted) {
    const ssize_t got = read(fd, bytes + used, wanted - used);
    if (got == 0) return true;
    if (got > 0) {
      used += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void grow(PaddedBuffer& buffer, size_t used, size_t size) {
  PaddedBuffer larger(size);
  std::memcpy(larger.data(), buffer.data(), used);
  buffer = std::move(larger);
}

// `length` is what is known of it beforehand; 0 for pipes and terminals.
Result<PaddedBuffer> read_open(int fd, const std::string& name, uint64_t length, const LengthLimit& limit_of) {
  PaddedBuffer buffer(kHeadBytes);
  size_t used = 0;
  if (!fill(fd, buffer.data(), kHeadBytes, used)) return read_failure(name);
  const uint64_t limit = limit_of({buffer.data(), used});
  if (std::max(length, uint64_t{used}) > limit) return too_long(name, limit);
  // A byte more than may come, so that the end is seen, or that there is more.
  size_t size = std::min(std::max(length + 1, uint64_t{kFirstBytes}), limit + 1);
  while (used == buffer.size()) {
    grow(buffer, used, size);
    if (!fill(fd, buffer.data(), size, used)) return read_failure(name);
    if (used > limit) return too_long(name, limit);
    size = static_cast<size_t>(std::min(uint64_t{size} * 2, limit + 1));
  }
  buffer.shrink(used);
  return buffer;
}

}  // namespace

Result<PaddedBuffer> read_any_file(const std::string& path, const LengthLimit& limit) {
  if (path == "-") return read_open(STDIN_FILENO, kStandardInput, 0, limit);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return Error(ErrorClass::kNotFound, "there is no such file").in_file(path);
  if (fd < 0) return read_failure(path);
  struct stat info {};
  const bool known = fstat(fd, &info) == 0;
  Result<PaddedBuffer> content = known && S_ISDIR(info.st_mode)
                                     ? Error(ErrorClass::kIo, "is a folder").in_file(path)
                                     : read_open(fd, path, known && S_ISREG(info.st_mode) ? info.st_size : 0, limit);
  close(fd);
  return content;
}

Result<PaddedBuffer> read_any_file(const std::string& path, uint64_t max_bytes) {
  return read_any_file(path, [max_bytes](std::span<const uint8_t>) { return max_bytes; });
}

std::string shown_path(const std::string& path) { return path == "-" ? kStandardInput : path; }

}  // namespace cuzk::app
