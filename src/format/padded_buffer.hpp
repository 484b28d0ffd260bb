// Bytes followed by readable zero padding, which the JSON reader needs.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"

namespace cuzk {

class PaddedBuffer {
 public:
  // Bytes behind the content that may be read.
  static constexpr size_t kPadding = 64;

  PaddedBuffer() = default;
  // Uninitialised content, zero padding.
  explicit PaddedBuffer(size_t size) : bytes_(new uint8_t[size + kPadding]), size_(size) {
    std::memset(bytes_.get() + size, 0, kPadding);
  }
  explicit PaddedBuffer(std::span<const uint8_t> content) : PaddedBuffer(content.size()) {
    if (!content.empty()) std::memcpy(bytes_.get(), content.data(), content.size());
  }

  // Drops what is behind the first `size` bytes; size <= this->size().
  void shrink(size_t size) {
    std::memset(bytes_.get() + size, 0, kPadding);
    size_ = size;
  }

  uint8_t* data() { return bytes_.get(); }
  const uint8_t* data() const { return bytes_.get(); }
  size_t size() const { return size_; }
  std::span<const uint8_t> bytes() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<uint8_t[]> bytes_;
  size_t size_ = 0;
};

// The whole file, which must not exceed max_bytes. Errors: kNotFound, kIo, kInvalidInput (too long), with the path.
Result<PaddedBuffer> read_file_padded(const std::string& path, uint64_t max_bytes);

}  // namespace cuzk
