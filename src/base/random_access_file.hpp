// A file that is read in pieces, at any offset.
#pragma once

#include <cstdint>
#include <ctime>
#include <span>
#include <string>

#include "base/result.hpp"

namespace cuzk {

// Read-only. Its size is the one at opening; a file that is shortened later gives an error, never a signal.
class RandomAccessFile {
 public:
  // Errors, with the path: kNotFound, kIo, kCorrupt where it is no regular file.
  static Result<RandomAccessFile> open(const std::string& path);
  RandomAccessFile(RandomAccessFile&& other) noexcept;
  RandomAccessFile& operator=(RandomAccessFile&& other) noexcept;
  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;
  ~RandomAccessFile();

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  // Fills `out` from the bytes at `offset`. From any number of threads at once. Errors, with path and offset: kIo;
  // kCorrupt where the file ends before.
  Status read_at(uint64_t offset, std::span<uint8_t> out) const;
  // kIo where the file was changed since it was opened, as far as size and time of modification tell.
  Status check_unchanged() const;
  // For mmap; the file stays its owner.
  int descriptor() const { return fd_; }

 private:
  RandomAccessFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_ = -1;
  std::string path_;
  uint64_t size_ = 0;
  timespec modified_{};
};

}  // namespace cuzk
