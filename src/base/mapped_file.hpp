// The bytes of a file, mapped and not copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"

namespace cuzk {

// Read-only. For files that are replaced whole (base/atomic_file.hpp) and never changed in place: reading a mapping of
// a file that was shortened meanwhile ends the process, and a check of bytes that change says nothing.
class MappedFile {
 public:
  // Reads all pages ahead, since who maps a file checks it first. Errors, with the path: kNotFound, kIo, kResource,
  // kCorrupt where it is no regular file.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Aligned to a page.
  std::span<const uint8_t> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  const uint8_t* data_;
  size_t size_;
};

}  // namespace cuzk
