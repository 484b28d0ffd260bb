// SHA-256 (FIPS 180-4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cuzk {

inline constexpr std::array<uint32_t, 8> kSha256InitialState = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
extern const std::array<uint32_t, 64> kSha256RoundConstants;

using Sha256Digest = std::array<uint8_t, 32>;

// Applies the compression function to `state` for every 64-byte block of `blocks`, whose size must be a multiple of
// 64. By the processor's SHA instructions where it has them. No padding.
void sha256_compress(std::array<uint32_t, 8>& state, std::span<const uint8_t> blocks);

// The forms behind sha256_compress, for tests. The second must only be called where sha256_has_instructions().
void sha256_compress_portable(std::array<uint32_t, 8>& state, std::span<const uint8_t> blocks);
void sha256_compress_instructions(std::array<uint32_t, 8>& state, std::span<const uint8_t> blocks);
bool sha256_has_instructions();

// Streaming SHA-256. Copies continue independently.
class Sha256 {
 public:
  void update(std::span<const uint8_t> data);
  // The digest of everything so far; the object must not be updated afterwards.
  Sha256Digest finish();

 private:
  std::array<uint32_t, 8> state_ = kSha256InitialState;
  std::array<uint8_t, 64> buffer_{};
  size_t buffered_ = 0;
  uint64_t total_bytes_ = 0;
};

Sha256Digest sha256(std::span<const uint8_t> data);

}  // namespace cuzk
