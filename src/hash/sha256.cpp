#include "hash/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#define CUZK_SHA256_X86 1
#endif

namespace cuzk {
namespace {

uint32_t load_be32(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | uint32_t{p[3]};
}

void store_be32(uint8_t* p, uint32_t v) {
  for (int i = 0; i < 4; ++i) p[i] = static_cast<uint8_t>(v >> (24 - 8 * i));
}

void compress_block_portable(std::array<uint32_t, 8>& state, const uint8_t* block) {
  std::array<uint32_t, 64> w;
  for (size_t i = 0; i < 16; ++i) w[i] = load_be32(block + 4 * i);
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kSha256RoundConstants[i] + w[i];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<uint32_t, 8> add = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state[i] += add[i];
}

#if defined(CUZK_SHA256_X86)

bool detect_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b >> 29 & 1) == 0) return false;  // SHA
  if (!__get_cpuid(1, &a, &b, &c, &d)) return false;
  return (c >> 9 & 1) != 0 && (c >> 19 & 1) != 0;  // SSSE3, SSE4.1
}

// The instructions hold the state as (a, b, e, f) and (c, d, g, h), most significant lane first, and do two rounds
// each; the schedule is kept as four vectors of four words that are replaced in turn.
__attribute__((target("sha,sse4.1,ssse3"))) void compress_x86(std::array<uint32_t, 8>& state, const uint8_t* block,
                                                              size_t blocks) {
  const __m128i byte_order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i dcba = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&state[0]));
  const __m128i hgfe = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&state[4]));
  const __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1);
  const __m128i efgh = _mm_shuffle_epi32(hgfe, 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  for (; blocks > 0; --blocks, block += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i) {
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * i)), byte_order);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const __m128i k = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&kSha256RoundConstants[4 * i]));
      const __m128i wk = _mm_add_epi32(w[i % 4], k);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
      if (i < 12) {
        // w[t] = msg2(msg1(w[t-16], w[t-12]) + w[t-7], w[t-4]), four words at a time.
        const __m128i w7 = _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4);
        const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]), w7);
        w[i % 4] = _mm_sha256msg2_epu32(sum, w[(i + 3) % 4]);
      }
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&state[0]), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&state[4]), _mm_alignr_epi8(dchg, feba, 8));
}

#endif

}  // namespace

void sha256_compress_portable(std::array<uint32_t, 8>& state, std::span<const uint8_t> blocks) {
  CUZK_ASSERT(blocks.size() % 64 == 0);
  for (size_t i = 0; i < blocks.size(); i += 64) compress_block_portable(state, blocks.data() + i);
}

bool sha256_has_instructions() {
#if defined(CUZK_SHA256_X86)
  static const bool present = detect_instructions();
  return present;
#else
  return false;
#endif
}

void sha256_compress_instructions(std::array<uint32_t, 8>& state, std::span<const uint8_t> blocks) {
  CUZK_ASSERT(blocks.size() % 64 == 0);
#if defined(CUZK_SHA256_X86)
  compress_x86(state, blocks.data(), blocks.size() / 64);
#else
  sha256_compress_portable(state, blocks);
#endif
}

void sha256_compress(std::array<uint32_t, 8>& state, std::span<const uint8_t> blocks) {
  if (sha256_has_instructions()) {
    sha256_compress_instructions(state, blocks);
  } else {
    sha256_compress_portable(state, blocks);
  }
}

void Sha256::update(std::span<const uint8_t> data) {
  total_bytes_ += data.size();
  if (buffered_ > 0) {
    const size_t take = std::min(data.size(), buffer_.size() - buffered_);
    std::copy_n(data.begin(), take, buffer_.begin() + static_cast<std::ptrdiff_t>(buffered_));
    buffered_ += take;
    data = data.subspan(take);
    if (buffered_ < buffer_.size()) return;
    sha256_compress(state_, buffer_);
    buffered_ = 0;
  }
  const size_t whole = data.size() / 64 * 64;
  if (whole > 0) sha256_compress(state_, data.first(whole));
  data = data.subspan(whole);
  std::copy(data.begin(), data.end(), buffer_.begin());
  buffered_ = data.size();
}

Sha256Digest Sha256::finish() {
  const uint64_t bits = total_bytes_ * 8;
  std::array<uint8_t, 128> tail{};
  std::copy_n(buffer_.begin(), buffered_, tail.begin());
  tail[buffered_] = 0x80;
  const size_t size = buffered_ + 9 <= 64 ? 64 : 128;
  store_be32(&tail[size - 8], static_cast<uint32_t>(bits >> 32));
  store_be32(&tail[size - 4], static_cast<uint32_t>(bits));
  sha256_compress(state_, std::span<const uint8_t>(tail.data(), size));
  Sha256Digest out;
  for (size_t i = 0; i < 8; ++i) store_be32(&out[4 * i], state_[i]);
  return out;
}

Sha256Digest sha256(std::span<const uint8_t> data) {
  Sha256 hash;
  hash.update(data);
  return hash.finish();
}

}  // namespace cuzk
