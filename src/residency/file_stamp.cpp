#include "residency/file_stamp.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace cuzk {
namespace {

constexpr std::chrono::milliseconds kTick{20};  // two of the longest, 10 ms

int64_t nanoseconds(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

}  // namespace

Result<FileStamp> file_stamp(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) {
    const int reason = errno;
    if (reason == ENOENT || reason == ENOTDIR) {
      return Error(ErrorClass::kNotFound, "there is no such file").in_file(path);
    }
    return Error(ErrorClass::kIo, std::string("cannot look at this file: ") + std::strerror(reason)).in_file(path);
  }
  if (!S_ISREG(found.st_mode)) return Error(ErrorClass::kCorrupt, "this is not a regular file").in_file(path);
  return FileStamp{.bytes = static_cast<uint64_t>(found.st_size),
                   .inode = static_cast<uint64_t>(found.st_ino),
                   .modified_ns = nanoseconds(found.st_mtim),
                   .changed_ns = nanoseconds(found.st_ctim)};
}

void let_stamp_settle(const FileStamp& stamp) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto age = now - std::chrono::nanoseconds(stamp.changed_ns);
  // A time in the future is that of another machine's clock; there is nothing to wait for.
  if (age >= kTick || age < -kTick) return;
  std::this_thread::sleep_for(kTick);
}

}  // namespace cuzk
