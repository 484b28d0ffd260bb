// BLAKE2b (RFC 7693): digests of 1 to 64 bytes, with an optional key of up to 64 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cuzk {

// Streaming form. Copies continue independently.
class Blake2b {
 public:
  // 1 <= digest_bytes <= 64, key.size() <= 64.
  explicit Blake2b(size_t digest_bytes, std::span<const uint8_t> key = {});
  void update(std::span<const uint8_t> data);
  // The digest, `digest_bytes` long; the object must not be updated afterwards.
  std::vector<uint8_t> finish();

 private:
  void compress(bool last);

  std::array<uint64_t, 8> state_;
  std::array<uint8_t, 128> buffer_{};
  size_t buffered_ = 0;
  unsigned __int128 total_bytes_ = 0;
  size_t digest_bytes_;
};

std::vector<uint8_t> blake2b(size_t digest_bytes, std::span<const uint8_t> key, std::span<const uint8_t> data);

}  // namespace cuzk
