// Fr: the scalar field of BLS12-381, 255 bits; two-adicity 32, multiplicative generator 7.
#pragma once

#include "field/prime_field.hpp"

namespace cuzk {

struct FrParams {
  static constexpr bool kHasAsm = true;  // limbs_x86.hpp has this modulus
  // 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001
  static constexpr std::array<uint64_t, 4> kModulus = {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805,
                                                       0x73eda753299d7d48};
};
using Fr = PrimeField<FrParams>;

inline constexpr uint32_t kFrTwoAdicity = 32;
inline constexpr uint64_t kFrGenerator = 7;
// 7^((r-1)/2^32), a root of unity of order 2^32.
inline constexpr Fr fr_root_of_unity() {
  return Fr::from_plain({0x3829971f439f0d2b, 0xb63683508c2280b9, 0xd09b681922c813b4, 0x16a2a19edfe81f20});
}

}  // namespace cuzk
