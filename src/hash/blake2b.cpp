#include "hash/blake2b.hpp"

#include <algorithm>
#include <bit>

#include "base/assert.hpp"

namespace cuzk {
namespace {

constexpr std::array<uint64_t, 8> kIv = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                         0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                         0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

// Rounds 10 and 11 use rows 0 and 1 again.
constexpr uint8_t kSigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

void mix(std::array<uint64_t, 16>& v, size_t a, size_t b, size_t c, size_t d, uint64_t x, uint64_t y) {
  v[a] += v[b] + x;
  v[d] = std::rotr(v[d] ^ v[a], 32);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 24);
  v[a] += v[b] + y;
  v[d] = std::rotr(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 63);
}

}  // namespace

Blake2b::Blake2b(size_t digest_bytes, std::span<const uint8_t> key) : state_(kIv), digest_bytes_(digest_bytes) {
  CUZK_ASSERT(digest_bytes >= 1 && digest_bytes <= 64 && key.size() <= 64);
  state_[0] ^= 0x01010000 ^ (uint64_t{key.size()} << 8) ^ digest_bytes;
  if (!key.empty()) {  // the key, padded with zeros, is the first block
    std::copy(key.begin(), key.end(), buffer_.begin());
    buffered_ = buffer_.size();
    total_bytes_ = buffer_.size();
  }
}

void Blake2b::compress(bool last) {
  std::array<uint64_t, 16> m{}, v;
  for (size_t i = 0; i < buffer_.size(); ++i) m[i / 8] |= uint64_t{buffer_[i]} << (8 * (i % 8));
  std::copy(state_.begin(), state_.end(), v.begin());
  std::copy(kIv.begin(), kIv.end(), v.begin() + 8);
  v[12] ^= static_cast<uint64_t>(total_bytes_);
  v[13] ^= static_cast<uint64_t>(total_bytes_ >> 64);
  if (last) v[14] = ~v[14];
  for (size_t round = 0; round < 12; ++round) {
    const uint8_t* s = kSigma[round % 10];
    for (size_t i = 0; i < 4; ++i) mix(v, i, 4 + i, 8 + i, 12 + i, m[s[2 * i]], m[s[2 * i + 1]]);
    for (size_t i = 0; i < 4; ++i) {
      mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
    }
  }
  for (size_t i = 0; i < 8; ++i) state_[i] ^= v[i] ^ v[i + 8];
}

void Blake2b::update(std::span<const uint8_t> data) {
  while (!data.empty()) {
    // A full buffer is compressed only when more follows: the last block is marked.
    if (buffered_ == buffer_.size()) {
      compress(false);
      buffered_ = 0;
    }
    const size_t take = std::min(data.size(), buffer_.size() - buffered_);
    std::copy_n(data.begin(), take, buffer_.begin() + static_cast<std::ptrdiff_t>(buffered_));
    buffered_ += take;
    total_bytes_ += take;
    data = data.subspan(take);
  }
}

std::vector<uint8_t> Blake2b::finish() {
  std::fill(buffer_.begin() + static_cast<std::ptrdiff_t>(buffered_), buffer_.end(), uint8_t{0});
  compress(true);
  std::vector<uint8_t> out(digest_bytes_);
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>(state_[i / 8] >> (8 * (i % 8)));
  return out;
}

std::vector<uint8_t> blake2b(size_t digest_bytes, std::span<const uint8_t> key, std::span<const uint8_t> data) {
  Blake2b hash(digest_bytes, key);
  hash.update(data);
  return hash.finish();
}

}  // namespace cuzk
