// Writes a file that appears under its name only when it is complete and on the disk.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"

namespace cuzk {

// A temporary file in the directory of `path`, renamed to `path` by commit(); removed if that is never reached.
// Errors, each with path and offset: kIo (no space left, quota, permission, a failing disk; or `path` is there and no
// regular file), kNotFound where the directory does not exist.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  // Appends bytes. After an error only destruction is left to do.
  Status write(std::span<const uint8_t> bytes);
  // Flushes the file to the disk, renames it, flushes the directory. Nothing may be written afterwards.
  Status commit();
  uint64_t written_bytes() const { return written_; }

 private:
  AtomicFile(int fd, std::string path, std::string temporary)
      : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)) {}
  Error failure(const char* what) const;
  void discard();

  int fd_ = -1;
  std::string path_, temporary_;
  uint64_t written_ = 0;
};

}  // namespace cuzk
