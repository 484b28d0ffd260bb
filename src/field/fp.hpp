// Fp: the base field of BLS12-381, 381 bits, p = 3 mod 4.
#pragma once

#include "field/prime_field.hpp"

namespace cuzk {

struct FpParams {
  static constexpr bool kHasAsm = true;  // limbs_x86.hpp has this modulus
  // 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab
  static constexpr std::array<uint64_t, 6> kModulus = {0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                                                       0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a};
};
using Fp = PrimeField<FpParams>;

}  // namespace cuzk
