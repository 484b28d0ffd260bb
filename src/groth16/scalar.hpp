// Uniform scalars from bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/secret.hpp"
#include "field/fr.hpp"

namespace cuzk {

// The little-endian integer of 64 uniform bytes, modulo r: within 2^-256 of uniform. Branches and memory accesses do
// not depend on the bytes.
inline Fr fr_from_wide_bytes(std::span<const uint8_t, 64> bytes) {
  const auto load = [&](size_t first) {
    Fr::Limbs limbs{};
    for (size_t i = 0; i < 32; ++i) limbs[i / 8] |= uint64_t{bytes[first + i]} << (8 * (i % 8));
    // Below 2^256 < 3r, so two conditional subtractions reduce it.
    limbs = limbs::reduce_once<4>(limbs, 0, Fr::kModulus);
    return limbs::reduce_once<4>(limbs, 0, Fr::kModulus);
  };
  const Fr two_to_256 = Fr::from_plain(Fr::kOne);  // kOne is 2^256 mod r
  Fr::Limbs low = load(0), high = load(32);
  const Fr out = Fr::from_plain(low) + Fr::from_plain(high) * two_to_256;
  secure_clear(&low, sizeof low);
  secure_clear(&high, sizeof high);
  return out;
}

}  // namespace cuzk
