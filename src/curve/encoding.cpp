#include "curve/encoding.hpp"

#include <bit>
#include <cstring>
#include <optional>
#include <string>

#include "curve/check.hpp"
#include "field/sqrt.hpp"

namespace cuzk {
namespace {

constexpr uint8_t kCompressedFlag = 0x80;
constexpr uint8_t kInfinityFlag = 0x40;
constexpr uint8_t kSignFlag = 0x20;
constexpr uint8_t kAllFlags = kCompressedFlag | kInfinityFlag | kSignFlag;

// Bytes of a field element in either form.
template <class Field>
constexpr size_t kFieldBytes = sizeof(Field);
static_assert(kFieldBytes<Fp> == 48 && kFieldBytes<Fp2> == 96);
static_assert(std::endian::native == std::endian::little, "read_field swaps bytes");

// Reads an element whose first byte may carry flags, which are ignored. False where it is not below the modulus.
inline bool read_field(const uint8_t* bytes, Fp& out) {
  Fp::Limbs plain;
  for (size_t i = 0; i < Fp::kLimbs; ++i) {
    uint64_t word;
    std::memcpy(&word, bytes + 8 * (Fp::kLimbs - 1 - i), sizeof word);
    plain[i] = __builtin_bswap64(word);
  }
  plain[Fp::kLimbs - 1] &= ~(uint64_t{kAllFlags} << 56);
  if (!limbs::less(plain, Fp::kModulus)) return false;
  out = Fp::from_plain(plain);
  return true;
}

// Flags are never part of a second coefficient, so c0 is read with all its bits.
inline bool read_field_exact(const uint8_t* bytes, Fp& out) {
  return (bytes[0] & kAllFlags) == 0 && read_field(bytes, out);
}
inline bool read_field_exact(const uint8_t* bytes, Fp2& out) {
  return read_field_exact(bytes, out.c1) && read_field_exact(bytes + kFieldBytes<Fp>, out.c0);
}
inline bool read_field(const uint8_t* bytes, Fp2& out) {
  return read_field(bytes, out.c1) && read_field_exact(bytes + kFieldBytes<Fp>, out.c0);
}

void write_field(const Fp& value, uint8_t* bytes) {
  const auto encoded = value.to_bytes_be();
  std::memcpy(bytes, encoded.data(), encoded.size());
}
void write_field(const Fp2& value, uint8_t* bytes) {
  write_field(value.c1, bytes);
  write_field(value.c0, bytes + kFieldBytes<Fp>);
}

// (p-1)/2
constexpr Fp::Limbs half_modulus() {
  Fp::Limbs out{};
  for (size_t i = 0; i < Fp::kLimbs; ++i) {
    const uint64_t above = i + 1 < Fp::kLimbs ? Fp::kModulus[i + 1] : 0;
    out[i] = Fp::kModulus[i] >> 1 | above << 63;
  }
  return out;
}

// True where y is the larger of y and -y; neither curve has points with y = 0.
bool is_larger_root(const Fp& y) { return limbs::less(half_modulus(), y.to_plain()); }
bool is_larger_root(const Fp2& y) { return is_larger_root(y.c1.is_zero() ? y.c0 : y.c1); }

bool is_zero_but_flags(std::span<const uint8_t> bytes) {
  uint8_t any = bytes[0] & static_cast<uint8_t>(~kAllFlags);
  for (size_t i = 1; i < bytes.size(); ++i) any |= bytes[i];
  return any == 0;
}

// Infinity with these exact flags, or what is wrong with it.
PointError read_infinity(std::span<const uint8_t> bytes, uint8_t expected_flags) {
  const bool exact = (bytes[0] & kAllFlags) == expected_flags && is_zero_but_flags(bytes);
  return exact ? PointError::kNone : PointError::kInfinityNotZero;
}

template <class Curve>
PointError check_subgroup(PointCheck check, const Affine<Curve>& p) {
  return check == PointCheck::kOnCurve || is_in_subgroup(p) ? PointError::kNone : PointError::kNotInSubgroup;
}

template <class Curve>
PointError read_compressed_point(std::span<const uint8_t> bytes, PointCheck check, Affine<Curve>& out) {
  using Field = typename Curve::Field;
  if (bytes.size() != kFieldBytes<Field>) return PointError::kLength;
  const uint8_t flags = bytes[0] & kAllFlags;
  if (!(flags & kCompressedFlag)) return PointError::kNotCompressed;
  if (flags & kInfinityFlag) {
    out = Affine<Curve>::infinity();
    return read_infinity(bytes, kCompressedFlag | kInfinityFlag);
  }
  if (!read_field(bytes.data(), out.x)) return PointError::kXRange;
  const std::optional<Field> root = sqrt(out.x.square() * out.x + Curve::b());
  if (!root) return PointError::kNotOnCurve;
  out.y = is_larger_root(*root) == ((flags & kSignFlag) != 0) ? *root : -*root;
  return check_subgroup(check, out);
}

template <class Curve>
PointError read_uncompressed_point(std::span<const uint8_t> bytes, PointCheck check, Affine<Curve>& out) {
  using Field = typename Curve::Field;
  if (bytes.size() != 2 * kFieldBytes<Field>) return PointError::kLength;
  const uint8_t flags = bytes[0] & kAllFlags;
  if (flags != 0) {
    if (flags & kCompressedFlag) return PointError::kCompressed;
    if (!(flags & kInfinityFlag)) return PointError::kSignFlag;
    out = Affine<Curve>::infinity();
    return read_infinity(bytes, kInfinityFlag);
  }
  if (!read_field(bytes.data(), out.x)) return PointError::kXRange;
  if (!read_field_exact(bytes.data() + kFieldBytes<Field>, out.y)) return PointError::kYRange;
  // Not is_on_curve: (0, 0) without the infinity flag is not a point.
  if (!(out.y.square() == out.x.square() * out.x + Curve::b())) return PointError::kNotOnCurve;
  return check_subgroup(check, out);
}

template <class Curve>
auto compress_point(const Affine<Curve>& p) {
  std::array<uint8_t, kFieldBytes<typename Curve::Field>> out{};
  if (p.is_infinity()) {
    out[0] = kCompressedFlag | kInfinityFlag;
    return out;
  }
  write_field(p.x, out.data());
  out[0] |= kCompressedFlag | (is_larger_root(p.y) ? kSignFlag : 0);
  return out;
}

template <class Curve>
auto encode_uncompressed_point(const Affine<Curve>& p) {
  constexpr size_t kSize = kFieldBytes<typename Curve::Field>;
  std::array<uint8_t, 2 * kSize> out{};
  if (p.is_infinity()) {
    out[0] = kInfinityFlag;
    return out;
  }
  write_field(p.x, out.data());
  write_field(p.y, out.data() + kSize);
  return out;
}

const char* describe(PointError error) {
  switch (error) {
    case PointError::kNone: return "is right";
    case PointError::kLength: return "has the wrong number of bytes";
    case PointError::kNotCompressed: return "lacks the flag of the compressed form";
    case PointError::kCompressed: return "has the flag of the compressed form, where the uncompressed one is due";
    case PointError::kSignFlag: return "has the sign flag, which the uncompressed form does not use";
    case PointError::kInfinityNotZero: return "has the flag of infinity, but other bits are not zero";
    case PointError::kXRange: return "has an x that is not below the field modulus";
    case PointError::kYRange: return "has a y that is not below the field modulus";
    case PointError::kNotOnCurve: return "is not on the curve";
    case PointError::kNotInSubgroup: return "is on the curve, but not in the subgroup of prime order";
  }
  return "is wrong";
}

template <class Curve>
Result<Affine<Curve>> to_result(PointError error, const Affine<Curve>& p) {
  if (error != PointError::kNone) return to_error(error, Curve::kName);
  return p;
}

}  // namespace

Error to_error(PointError error, const char* group_name) {
  return Error(ErrorClass::kInvalidInput, std::string("the ") + group_name + " point " + describe(error));
}

std::array<uint8_t, kG1CompressedBytes> compress(const G1Affine& p) { return compress_point(p); }
std::array<uint8_t, kG2CompressedBytes> compress(const G2Affine& p) { return compress_point(p); }
std::array<uint8_t, kG1UncompressedBytes> encode_uncompressed(const G1Affine& p) {
  return encode_uncompressed_point(p);
}
std::array<uint8_t, kG2UncompressedBytes> encode_uncompressed(const G2Affine& p) {
  return encode_uncompressed_point(p);
}

PointError read_compressed(std::span<const uint8_t> bytes, PointCheck check, G1Affine& out) {
  return read_compressed_point(bytes, check, out);
}
PointError read_compressed(std::span<const uint8_t> bytes, PointCheck check, G2Affine& out) {
  return read_compressed_point(bytes, check, out);
}
PointError read_uncompressed(std::span<const uint8_t> bytes, PointCheck check, G1Affine& out) {
  return read_uncompressed_point(bytes, check, out);
}
PointError read_uncompressed(std::span<const uint8_t> bytes, PointCheck check, G2Affine& out) {
  return read_uncompressed_point(bytes, check, out);
}

Result<G1Affine> decompress_g1(std::span<const uint8_t> bytes, PointCheck check) {
  G1Affine p;
  return to_result(read_compressed(bytes, check, p), p);
}
Result<G2Affine> decompress_g2(std::span<const uint8_t> bytes, PointCheck check) {
  G2Affine p;
  return to_result(read_compressed(bytes, check, p), p);
}
Result<G1Affine> decode_uncompressed_g1(std::span<const uint8_t> bytes, PointCheck check) {
  G1Affine p;
  return to_result(read_uncompressed(bytes, check, p), p);
}
Result<G2Affine> decode_uncompressed_g2(std::span<const uint8_t> bytes, PointCheck check) {
  G2Affine p;
  return to_result(read_uncompressed(bytes, check, p), p);
}

}  // namespace cuzk
