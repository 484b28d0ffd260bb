// Random access to the bytes of a file or of a memory range, so that readers and fuzzers run the same code.
//
// Files are read with pread, not mapped: a mapping of a file that is truncated meanwhile kills the process with
// SIGBUS, a short pread is an ordinary error. Measured cost of the copy: below a tenth of the point conversion.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"

namespace cuzk {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Bytes there were when the source was opened.
  virtual uint64_t size() const = 0;
  // For messages; empty for memory.
  virtual const std::string& name() const = 0;
  // Fills `out` from `offset`; any number of threads at once. Errors, with file and offset: kIo; kCorrupt where the
  // source ends before (it was shortened after it was opened).
  virtual Status read(uint64_t offset, std::span<uint8_t> out) const = 0;
  // kIo where the file was changed since it was opened, as far as size and time of modification tell.
  virtual Status check_unchanged() const = 0;
};

// Opens a regular file. Errors, with the path: kNotFound, kIo, kCorrupt where it is no regular file.
Result<std::unique_ptr<ByteSource>> open_file_source(const std::string& path);

// A view of bytes that must outlive it.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  const std::string& name() const override { return name_; }
  Status read(uint64_t offset, std::span<uint8_t> out) const override;
  Status check_unchanged() const override { return {}; }

 private:
  std::span<const uint8_t> bytes_;
  std::string name_;
};

}  // namespace cuzk
