// SHA-256 (FIPS 180-4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cuzk {

inline constexpr std::array<uint32_t, 8> kSha256InitialState = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
inline constexpr std::array<uint32_t, 64> kSha256RoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

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
