// G2: the curve y^2 = x^3 + 4*(u + 1) over Fp2, the sextic (M-type) twist of G1's curve.
#pragma once

#include "curve/point.hpp"
#include "field/fp2.hpp"

namespace cuzk {

struct G2Curve {
  using Field = Fp2;
  static constexpr const char* kName = "G2";

  CUZK_HD static constexpr Fp2 b() {
    constexpr Fp kB = Fp::from_u64(4);
    return Fp2{kB, kB};
  }
  // 3*b*a, for the complete formulas and the lines of the pairing.
  CUZK_HD static constexpr Fp2 mul_by_3b(const Fp2& a) {
    const Fp2 a4 = a.mul_by_nonresidue().dbl().dbl();
    return a4.dbl() + a4;
  }
  // The standard generator of the subgroup of order r.
  static constexpr Affine<G2Curve> generator() {
    constexpr Fp kX0 = Fp::from_plain({0xd48056c8c121bdb8, 0x0bac0326a805bbef, 0xb4510b647ae3d177, 0xc6e47ad4fa403b02,
                                       0x260805272dc51051, 0x024aa2b2f08f0a91});
    constexpr Fp kX1 = Fp::from_plain({0xe5ac7d055d042b7e, 0x334cf11213945d57, 0xb5da61bbdc7f5049, 0x596bd0d09920b61a,
                                       0x7dacd3a088274f65, 0x13e02b6052719f60});
    constexpr Fp kY0 = Fp::from_plain({0xe193548608b82801, 0x923ac9cc3baca289, 0x6d429a695160d12c, 0xadfd9baa8cbdd3a7,
                                       0x8cc9cdc6da2e351a, 0x0ce5d527727d6e11});
    constexpr Fp kY1 = Fp::from_plain({0xaaa9075ff05f79be, 0x3f370d275cec1da1, 0x267492ab572e99ab, 0xcb3e287e85a763af,
                                       0x32acd2b02bc28b99, 0x0606c4a02ea734cc});
    return Affine<G2Curve>{Fp2{kX0, kX1}, Fp2{kY0, kY1}};
  }
};

using G2Affine = Affine<G2Curve>;
using G2Jacobian = Jacobian<G2Curve>;
using G2Xyzz = Xyzz<G2Curve>;

}  // namespace cuzk
