// The byte forms of points, as Filecoin's keys, parameter files and proofs have them ("zcash" format).
//
// Coordinates are big-endian and plain; an element of Fp2 is c1 then c0. The three top bits of the first byte are
// flags: 0x80 compressed, 0x40 infinity, 0x20 sign (compressed only: y is the larger of the two roots, compared by c1
// first). Infinity is the flag byte (0x40 or 0xc0) and zeros. Source: zcash/librustzcash
// pairing/src/bls12_381/README.md "Serialization"; the draft draft-irtf-cfrg-pairing-friendly-curves appendix C.
//
// Reading is strict: whatever is read writes back to the same bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"

namespace cuzk {

inline constexpr size_t kG1CompressedBytes = 48;
inline constexpr size_t kG1UncompressedBytes = 96;
inline constexpr size_t kG2CompressedBytes = 96;
inline constexpr size_t kG2UncompressedBytes = 192;

// What a reader makes sure of beyond the form of the bytes.
enum class PointCheck : uint8_t {
  kOnCurve,   // a point of the whole curve; for parameter files, whose digest vouches for them
  kSubgroup,  // a point of the subgroup of order r; for proofs and verifying keys
};

// What is wrong with the bytes of a point, without the cost of an Error.
enum class PointError : uint8_t {
  kNone,
  kLength,           // not the number of bytes that the form has
  kNotCompressed,    // the compressed flag is missing
  kCompressed,       // the compressed flag is set in the uncompressed form
  kSignFlag,         // the sign flag is set in the uncompressed form
  kInfinityNotZero,  // the infinity flag is set, and another bit but the compressed flag too
  kXRange,           // x (of G2: a coefficient of it) is not below the field modulus
  kYRange,           // y likewise
  kNotOnCurve,       // no point of the curve has this x, or not with this y
  kNotInSubgroup,    // a point of the curve, but not of order r
};

// The typed error (kInvalidInput) for anything but kNone; group_name is Curve::kName.
Error to_error(PointError error, const char* group_name);

std::array<uint8_t, kG1CompressedBytes> compress(const G1Affine& p);
std::array<uint8_t, kG2CompressedBytes> compress(const G2Affine& p);
std::array<uint8_t, kG1UncompressedBytes> encode_uncompressed(const G1Affine& p);
std::array<uint8_t, kG2UncompressedBytes> encode_uncompressed(const G2Affine& p);

// Reads a point; infinity is read as infinity, and callers that may not have it refuse it. Any bytes of any length may
// be given. Errors: kInvalidInput. Cost: a square root where the form is compressed; see check.hpp for the subgroup.
// Not constant time: points are public.
Result<G1Affine> decompress_g1(std::span<const uint8_t> bytes, PointCheck check);
Result<G2Affine> decompress_g2(std::span<const uint8_t> bytes, PointCheck check);
Result<G1Affine> decode_uncompressed_g1(std::span<const uint8_t> bytes, PointCheck check);
Result<G2Affine> decode_uncompressed_g2(std::span<const uint8_t> bytes, PointCheck check);

// The same for readers of millions of points: `out` is the point where kNone is returned, else unspecified.
PointError read_compressed(std::span<const uint8_t> bytes, PointCheck check, G1Affine& out);
PointError read_compressed(std::span<const uint8_t> bytes, PointCheck check, G2Affine& out);
PointError read_uncompressed(std::span<const uint8_t> bytes, PointCheck check, G1Affine& out);
PointError read_uncompressed(std::span<const uint8_t> bytes, PointCheck check, G2Affine& out);

}  // namespace cuzk
