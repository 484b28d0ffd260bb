// G1: the curve y^2 = x^3 + 4 over Fp of BLS12-381; group order h*r with h = (x-1)^2/3, x = -0xd201000000010000.
#pragma once

#include "curve/point.hpp"
#include "field/fp.hpp"

namespace cuzk {

struct G1Curve {
  using Field = Fp;
  static constexpr const char* kName = "G1";

  CUZK_HD static constexpr Fp b() {
    constexpr Fp kB = Fp::from_u64(4);
    return kB;
  }
  // 3*b*a, for the complete formulas.
  CUZK_HD static constexpr Fp mul_by_3b(const Fp& a) {
    const Fp a4 = a.dbl().dbl();
    return a4.dbl() + a4;
  }
  // The standard generator of the subgroup of order r.
  static constexpr Affine<G1Curve> generator() {
    constexpr Fp kX = Fp::from_plain({0xfb3af00adb22c6bb, 0x6c55e83ff97a1aef, 0xa14e3a3f171bac58, 0xc3688c4f9774b905,
                                      0x2695638c4fa9ac0f, 0x17f1d3a73197d794});
    constexpr Fp kY = Fp::from_plain({0x0caa232946c5e7e1, 0xd03cc744a2888ae4, 0x00db18cb2c04b3ed, 0xfcf5e095d5d00af6,
                                      0xa09e30ed741d8ae4, 0x08b3f481e3aaa0f1});
    return Affine<G1Curve>{kX, kY};
  }
};

using G1Affine = Affine<G1Curve>;
using G1Jacobian = Jacobian<G1Curve>;
using G1Xyzz = Xyzz<G1Curve>;

}  // namespace cuzk
