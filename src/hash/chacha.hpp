// ChaCha as a random number generator (8 rounds) and as a keystream (20 rounds, RFC 8439).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cuzk {

// The words of rand_chacha's ChaCha8Rng: 64-bit block counter from 0 in words 12 and 13, stream 0 in words 14 and 15.
// Source: Bernstein, "ChaCha, a variant of Salsa20" (2008).
class ChaCha8Rng {
 public:
  explicit ChaCha8Rng(std::span<const uint8_t, 32> key);
  uint32_t next_u32();
  // Two words, the first one low.
  uint64_t next_u64() {
    const uint64_t low = next_u32();
    return low | uint64_t{next_u32()} << 32;
  }

 private:
  std::array<uint32_t, 16> input_;
  std::array<uint32_t, 16> block_{};
  size_t used_ = 16;
};

// ChaCha20 keystream with a 96-bit nonce and a 32-bit block counter from 0. The keystream ends after 2^38 bytes;
// reading beyond it is a bug.
class ChaCha20 {
 public:
  static constexpr uint64_t kKeystreamBytes = uint64_t{1} << 38;

  ChaCha20(std::span<const uint8_t, 32> key, std::span<const uint8_t, 12> nonce);
  // Continues at byte `position` of the keystream.
  void seek(uint64_t position) { position_ = position; }
  uint64_t position() const { return position_; }
  // The next out.size() bytes.
  void keystream(std::span<uint8_t> out);

 private:
  std::array<uint32_t, 16> input_;
  uint64_t position_ = 0;
};

}  // namespace cuzk
