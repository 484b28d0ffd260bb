#include "hash/chacha.hpp"

#include <algorithm>
#include <bit>

#include "base/assert.hpp"

namespace cuzk {
namespace {

uint32_t load_le32(const uint8_t* p) {
  return uint32_t{p[0]} | uint32_t{p[1]} << 8 | uint32_t{p[2]} << 16 | uint32_t{p[3]} << 24;
}

// "expand 32-byte k", the key, then zeros.
std::array<uint32_t, 16> initial_words(std::span<const uint8_t, 32> key) {
  std::array<uint32_t, 16> words = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  for (size_t i = 0; i < 8; ++i) words[4 + i] = load_le32(key.data() + 4 * i);
  return words;
}

void quarter_round(std::array<uint32_t, 16>& x, size_t a, size_t b, size_t c, size_t d) {
  x[a] += x[b];
  x[d] = std::rotl(x[d] ^ x[a], 16);
  x[c] += x[d];
  x[b] = std::rotl(x[b] ^ x[c], 12);
  x[a] += x[b];
  x[d] = std::rotl(x[d] ^ x[a], 8);
  x[c] += x[d];
  x[b] = std::rotl(x[b] ^ x[c], 7);
}

std::array<uint32_t, 16> chacha_block(const std::array<uint32_t, 16>& input, int rounds) {
  std::array<uint32_t, 16> x = input;
  for (int round = 0; round < rounds; round += 2) {
    for (size_t i = 0; i < 4; ++i) quarter_round(x, i, 4 + i, 8 + i, 12 + i);
    for (size_t i = 0; i < 4; ++i) quarter_round(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
  }
  for (size_t i = 0; i < 16; ++i) x[i] += input[i];
  return x;
}

}  // namespace

ChaCha8Rng::ChaCha8Rng(std::span<const uint8_t, 32> key) : input_(initial_words(key)) {}

uint32_t ChaCha8Rng::next_u32() {
  if (used_ == block_.size()) {
    block_ = chacha_block(input_, 8);
    if (++input_[12] == 0) ++input_[13];
    used_ = 0;
  }
  return block_[used_++];
}

ChaCha20::ChaCha20(std::span<const uint8_t, 32> key, std::span<const uint8_t, 12> nonce) : input_(initial_words(key)) {
  for (size_t i = 0; i < 3; ++i) input_[13 + i] = load_le32(nonce.data() + 4 * i);
}

void ChaCha20::keystream(std::span<uint8_t> out) {
  CUZK_ASSERT(position_ <= kKeystreamBytes && out.size() <= kKeystreamBytes - position_);
  while (!out.empty()) {
    input_[12] = static_cast<uint32_t>(position_ / 64);
    const std::array<uint32_t, 16> block = chacha_block(input_, 20);
    const size_t first = position_ % 64;
    const size_t take = std::min(out.size(), 64 - first);
    for (size_t i = 0; i < take; ++i) {
      out[i] = static_cast<uint8_t>(block[(first + i) / 4] >> (8 * ((first + i) % 4)));
    }
    position_ += take;
    out = out.subspan(take);
  }
}

}  // namespace cuzk
