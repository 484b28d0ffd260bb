// (u+1)^(j*(p^k-1)/6), the constants of the Frobenius maps x -> x^(p^k) of Fp12. fp12_test.cpp computes them anew.
#pragma once

#include <array>

#include "field/fp2.hpp"

namespace cuzk {
namespace internal {

// The distinct coordinates in Fp of all the constants, plain.
inline constexpr std::array<Fp::Limbs, 13> kFrobeniusCoordinates = {{
    {0x8d0775ed92235fb8, 0xf67ea53d63e7813d, 0x7b2443d784bab9c4, 0x0fd603fd3cbd5f4f, 0xc231beb4202c0d1f,
     0x1904d3bf02bb0667},
    {0x2cf78a126ddc4af3, 0x282d5ac14d6c7ec2, 0xec0c8ec971f63c5f, 0x54a14787b6c7b36f, 0x88e9e902231f9fb8,
     0x00fc3e2b36c4e032},
    {0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000,
     0x0000000000000000},
    {0x8bfd00000000aaac, 0x409427eb4f49fffd, 0x897d29650fb85f9b, 0xaa0d857d89759ad4, 0xec02408663d4de85,
     0x1a0111ea397fe699},
    {0xc81084fbede3cc09, 0xee67992f72ec05f4, 0x77f76e17009241c5, 0x48395dabc2d3435e, 0x6831e36d6bd17ffe,
     0x06af0e0437ff400b},
    {0x8bfd00000000aaad, 0x409427eb4f49fffd, 0x897d29650fb85f9b, 0xaa0d857d89759ad4, 0xec02408663d4de85,
     0x1a0111ea397fe699},
    {0x9b18fae980078116, 0xc63a3e6e257f8732, 0x8beadf4d8e9c0566, 0xf39816240c0b8fee, 0xdf47fa6b48b1e045,
     0x05b2cfd9013a5fd8},
    {0x1ee605167ff82995, 0x5871c1908bd478cd, 0xdb45f3536814f0bd, 0x70df3560e77982d0, 0x6bd3ad4afa99cc91,
     0x144e4211384586c1},
    {0x2e01fffffffeffff, 0xde17d813620a0002, 0xddb3a93be6f89688, 0xba69c6076a0f77ea, 0x5f19672fdf76ce51,
     0x0000000000000000},
    {0x2e01fffffffefffe, 0xde17d813620a0002, 0xddb3a93be6f89688, 0xba69c6076a0f77ea, 0x5f19672fdf76ce51,
     0x0000000000000000},
    {0xb9feffffffffaaaa, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624, 0x64774b84f38512bf, 0x4b1ba7b6434bacd7,
     0x1a0111ea397fe69a},
    {0xf1ee7b04121bdea2, 0x304466cf3e67fa0a, 0xef396489f61eb45e, 0x1c3dedd930b1cf60, 0xe2e9c448d77a2cd9,
     0x135203e60180a68e},
    {0x0000000000000001, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000,
     0x0000000000000000},
}};

constexpr std::array<std::array<Fp2, 5>, 3> frobenius_gamma() {
  const auto g = [](size_t c0, size_t c1) {
    return Fp2{Fp::from_plain(kFrobeniusCoordinates[c0]), Fp::from_plain(kFrobeniusCoordinates[c1])};
  };
  return {{
      {{g(0, 1), g(2, 3), g(4, 4), g(5, 2), g(6, 7)}},
      {{g(8, 2), g(9, 2), g(10, 2), g(3, 2), g(5, 2)}},
      {{g(11, 4), g(2, 12), g(11, 11), g(10, 2), g(4, 11)}},
  }};
}

}  // namespace internal

// kFrobeniusGamma[k-1][j-1] = (u+1)^(j*(p^k-1)/6); for k = 2 it lies in Fp.
inline constexpr auto kFrobeniusGamma = internal::frobenius_gamma();

}  // namespace cuzk
