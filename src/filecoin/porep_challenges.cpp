#include "filecoin/porep_challenges.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/assert.hpp"
#include "hash/blake2b.hpp"
#include "hash/chacha.hpp"
#include "hash/sha256.hpp"

namespace cuzk {
namespace {

constexpr uint64_t kMaxSyntheticSet = uint64_t{1} << 18;

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::array<uint8_t, 4> le32(uint32_t x) {
  return {static_cast<uint8_t>(x), static_cast<uint8_t>(x >> 8), static_cast<uint8_t>(x >> 16),
          static_cast<uint8_t>(x >> 24)};
}

// (x mod (nodes - 1)) + 1 of the 256-bit little-endian x: never node 0.
uint64_t to_challenge(const NodeBytes& x, uint64_t nodes) {
  uint64_t remainder = 0;
  for (size_t i = x.size(); i-- > 0;) remainder = (remainder << 8 | x[i]) % (nodes - 1);
  return remainder + 1;
}

ChaCha20 keystream(std::string_view domain, const NodeBytes& first, const NodeBytes& second) {
  std::array<uint8_t, 64> data;
  std::copy(first.begin(), first.end(), data.begin());
  std::copy(second.begin(), second.end(), data.begin() + 32);
  const std::vector<uint8_t> key = blake2b(32, bytes_of(domain), data);
  constexpr std::array<uint8_t, 12> kNonce = {'s', 'y', 'n', 't', 'h', '-', 'p', 'o', 'r', 'e', 'p', 0};
  return ChaCha20(std::span<const uint8_t, 32>(key.data(), 32), kNonce);
}

ChaCha20 generation_stream(const PorepChallengeSource& source) {
  return keystream("filecoin.io|PoRep|1|Synthetic|1|Generation", source.replica_id, source.comm_r);
}

uint64_t next_synthetic(ChaCha20& stream, uint64_t nodes) {
  NodeBytes x;
  stream.keystream(x);
  return to_challenge(x, nodes);
}

}  // namespace

std::vector<uint64_t> porep_synthetic_set(const PorepChallengeSource& source, uint64_t first, uint64_t count) {
  ChaCha20 stream = generation_stream(source);
  stream.seek(32 * first);
  std::vector<uint64_t> out(count);
  for (uint64_t& challenge : out) challenge = next_synthetic(stream, source.nodes);
  return out;
}

std::vector<uint64_t> porep_synthetic_challenges(const PorepChallengeSource& source, uint64_t set_size, uint64_t first,
                                                 uint64_t count) {
  ChaCha20 selection = keystream("filecoin.io|PoRep|1|Synthetic|1|Selection", source.replica_id, source.seed);
  ChaCha20 generation = generation_stream(source);
  selection.seek(4 * first);
  std::vector<uint64_t> out(count);
  for (uint64_t& challenge : out) {
    std::array<uint8_t, 4> word;
    selection.keystream(word);
    const uint32_t index = word[0] | word[1] << 8 | word[2] << 16 | uint32_t{word[3]} << 24;
    generation.seek(32 * (index % set_size));
    challenge = next_synthetic(generation, source.nodes);
  }
  return out;
}

std::vector<uint64_t> porep_challenges(const PorepChallengeSource& source, uint32_t partition, uint32_t count) {
  CUZK_ASSERT(source.nodes > 1);
  const uint32_t first = partition * count;
  if (source.feature == PorepFeature::kSynthetic) {
    return porep_synthetic_challenges(source, std::min(source.nodes, kMaxSyntheticSet), first, count);
  }
  std::vector<uint64_t> out(count);
  for (uint32_t i = 0; i < count; ++i) {
    Sha256 hash;
    if (source.feature == PorepFeature::kNonInteractive) {
      hash.update(bytes_of("filecoin.io|PoRep|1|NonInteractive|1"));
      hash.update(source.replica_id);
      hash.update(source.comm_r);
    } else {
      hash.update(source.replica_id);
      hash.update(source.seed);
    }
    hash.update(le32(first + i));
    out[i] = to_challenge(hash.finish(), source.nodes);
  }
  return out;
}

}  // namespace cuzk
