#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/hex.hpp"
#include "hash/blake2b.hpp"
#include "hash/chacha.hpp"
#include "hash/sha256.hpp"

namespace cuzk {
namespace {

using Bytes = std::vector<uint8_t>;

// The data of the golden files.
Bytes pattern(size_t size, unsigned seed = 0) {
  Bytes out(size);
  for (size_t i = 0; i < size; ++i) out[i] = static_cast<uint8_t>(seed + i * i * 7 + i * 13);
  return out;
}

Bytes text(std::string_view s) { return {s.begin(), s.end()}; }

// Calls `line(stream)` for every line that is no comment; returns how many there were.
template <class F>
size_t for_each_line(const std::string& name, F&& line) {
  std::ifstream file(std::string(CUZK_GOLDEN_DIR) + "/" + name);
  EXPECT_TRUE(file.good()) << name;
  size_t count = 0;
  for (std::string s; std::getline(file, s);) {
    if (s.empty() || s[0] == '#') continue;
    std::istringstream stream(s);
    line(stream);
    ++count;
  }
  return count;
}

TEST(Sha256, NistVectors) {
  EXPECT_EQ(to_hex(sha256(text("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256(text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(to_hex(sha256(Bytes(1000000, 'a'))), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, GoldenLengthsOneShotAndInPieces) {
  const size_t lines = for_each_line("hash/sha256.txt", [](std::istream& in) {
    size_t length = 0;
    std::string digest;
    in >> length >> digest;
    const Bytes data = pattern(length);
    EXPECT_EQ(to_hex(sha256(data)), digest) << length;
    for (const size_t piece : {1, 7, 63, 64, 65, 130}) {
      Sha256 hash;
      for (size_t at = 0; at < length; at += piece) {
        hash.update(std::span<const uint8_t>(data).subspan(at, std::min(piece, length - at)));
      }
      EXPECT_EQ(to_hex(hash.finish()), digest) << length << " in pieces of " << piece;
    }
  });
  EXPECT_EQ(lines, 206u);
}

TEST(Sha256, CopiesContinueIndependently) {
  Sha256 a;
  a.update(pattern(100));
  Sha256 b = a;
  b.update(text("x"));
  EXPECT_EQ(a.finish(), sha256(pattern(100)));
  Bytes longer = pattern(100);
  longer.push_back('x');
  EXPECT_EQ(b.finish(), sha256(longer));
}

TEST(Sha256, InstructionsAgreeWithPortable) {
  if (!sha256_has_instructions()) GTEST_SKIP() << "this processor has no SHA instructions";
  for (size_t blocks = 0; blocks <= 9; ++blocks) {
    for (unsigned seed = 0; seed < 50; ++seed) {
      const Bytes data = pattern(blocks * 64, seed);
      std::array<uint32_t, 8> a = kSha256InitialState, b = a;
      a[seed % 8] ^= seed * 0x9e3779b9;
      b = a;
      sha256_compress_portable(a, data);
      sha256_compress_instructions(b, data);
      EXPECT_EQ(a, b);
    }
  }
}

TEST(Sha256, PortableCompressOfPaddedAbc) {
  Bytes block(64);
  block[0] = 'a', block[1] = 'b', block[2] = 'c', block[3] = 0x80, block[63] = 24;
  std::array<uint32_t, 8> state = kSha256InitialState;
  sha256_compress_portable(state, block);
  EXPECT_EQ(state[0], 0xba7816bfu);
  EXPECT_EQ(state[7], 0xf20015adu);
}

TEST(Blake2b, RfcVector) {
  EXPECT_EQ(to_hex(blake2b(64, {}, text("abc"))),
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
            "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
}

TEST(Blake2b, GoldenLengthsKeysAndPieces) {
  const size_t lines = for_each_line("hash/blake2b.txt", [](std::istream& in) {
    size_t digest_bytes = 0, key_bytes = 0, length = 0;
    std::string digest;
    in >> digest_bytes >> key_bytes >> length >> digest;
    const Bytes data = pattern(length), key = pattern(key_bytes, 5);
    EXPECT_EQ(to_hex(blake2b(digest_bytes, key, data)), digest) << digest_bytes << " " << key_bytes << " " << length;
    for (const size_t piece : {1, 127, 128, 129}) {
      Blake2b hash(digest_bytes, key);
      for (size_t at = 0; at < length; at += piece) {
        hash.update(std::span<const uint8_t>(data).subspan(at, std::min(piece, length - at)));
      }
      EXPECT_EQ(to_hex(hash.finish()), digest) << "pieces of " << piece;
    }
  });
  EXPECT_EQ(lines, 364u);
}

TEST(ChaCha8, GoldenWords) {
  const size_t lines = for_each_line("hash/chacha8.txt", [](std::istream& in) {
    std::string key_hex, words_hex;
    in >> key_hex >> words_hex;
    const Bytes key = *from_hex(key_hex), words = *from_hex(words_hex);
    ChaCha8Rng rng(std::span<const uint8_t, 32>(key.data(), 32));
    ChaCha8Rng rng64(std::span<const uint8_t, 32>(key.data(), 32));
    for (size_t i = 0; i < words.size(); i += 8) {
      uint64_t expected = 0;
      for (size_t j = 0; j < 8; ++j) expected |= uint64_t{words[i + j]} << (8 * j);
      const uint64_t low = rng.next_u32(), high = rng.next_u32();
      EXPECT_EQ(low | high << 32, expected) << i;
      EXPECT_EQ(rng64.next_u64(), expected) << i;
    }
  });
  EXPECT_EQ(lines, 3u);
}

TEST(ChaCha20, RfcBlock) {
  // RFC 8439 2.3.2: counter 1.
  Bytes key(32), nonce = {0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0};
  for (size_t i = 0; i < 32; ++i) key[i] = static_cast<uint8_t>(i);
  ChaCha20 stream(std::span<const uint8_t, 32>(key.data(), 32), std::span<const uint8_t, 12>(nonce.data(), 12));
  stream.seek(64);
  Bytes out(64);
  stream.keystream(out);
  EXPECT_EQ(to_hex(out),
            "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
            "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
  EXPECT_EQ(stream.position(), 128u);
}

TEST(ChaCha20, GoldenPositions) {
  const Bytes key = pattern(32, 9);
  Bytes nonce = text("synth-porep");
  nonce.push_back(0);
  const size_t lines = for_each_line("hash/chacha20.txt", [&](std::istream& in) {
    uint64_t position = 0;
    size_t length = 0;
    std::string expected;
    in >> position >> length >> expected;
    ChaCha20 stream(std::span<const uint8_t, 32>(key.data(), 32), std::span<const uint8_t, 12>(nonce.data(), 12));
    stream.seek(position);
    Bytes out(length);
    for (size_t at = 0; at < length; at += 3) {
      stream.keystream(std::span<uint8_t>(out).subspan(at, std::min<size_t>(3, length - at)));
    }
    EXPECT_EQ(to_hex(out), expected) << position;
  });
  EXPECT_EQ(lines, 11u);
}

}  // namespace
}  // namespace cuzk
