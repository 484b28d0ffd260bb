// The subgroup checks of check.hpp with the endomorphisms, for host and device code. Callers but device code include
// check.hpp.
#pragma once

#include "base/host_device.hpp"
#include "curve/check.hpp"

namespace cuzk::subgroup_detail {

// kCurveParameter*p, by doubling and adding: the parameter has six bits set, and p may be affine.
template <class Curve, class Point>
CUZK_HD Jacobian<Curve> mul_by_parameter(const Jacobian<Curve>& start, const Point& p) {
  Jacobian<Curve> out = start;
  for (int bit = 62; bit >= 0; --bit) {
    out = out.dbl();
    if (kCurveParameter >> bit & 1) out += p;
  }
  return out;
}

CUZK_HD inline G1Affine phi(const G1Affine& p) {
  // The cube root of 1 that belongs to the eigenvalue -x^2 (the other one belongs to x^2 - 1).
  constexpr Fp kBeta = Fp::from_plain({0x2e01fffffffefffe, 0xde17d813620a0002, 0xddb3a93be6f89688, 0xba69c6076a0f77ea,
                                       0x5f19672fdf76ce51, 0x0000000000000000});
  return G1Affine{p.x * kBeta, p.y};
}

CUZK_HD inline G2Affine psi(const G2Affine& p) {
  // (u+1)^-((p-1)/3), without its real part, which is zero; (u+1)^-((p-1)/2).
  constexpr Fp kPsiX = Fp::from_plain({0x8bfd00000000aaad, 0x409427eb4f49fffd, 0x897d29650fb85f9b, 0xaa0d857d89759ad4,
                                       0xec02408663d4de85, 0x1a0111ea397fe699});
  constexpr Fp2 kPsiY = {Fp::from_plain({0xf1ee7b04121bdea2, 0x304466cf3e67fa0a, 0xef396489f61eb45e, 0x1c3dedd930b1cf60,
                                         0xe2e9c448d77a2cd9, 0x135203e60180a68e}),
                         Fp::from_plain({0xc81084fbede3cc09, 0xee67992f72ec05f4, 0x77f76e17009241c5, 0x48395dabc2d3435e,
                                         0x6831e36d6bd17ffe, 0x06af0e0437ff400b})};
  const Fp2 x = p.x.conjugate();
  return G2Affine{Fp2{-(x.c1 * kPsiX), x.c0 * kPsiX}, p.y.conjugate() * kPsiY};
}

// phi(p) = -x^2*p. As phi^2 + phi + 1 = 0 on the whole curve, such a p has (x^4 - x^2 + 1)*p = r*p = 0; conversely phi
// maps the subgroup, cyclic of prime order, to itself.
CUZK_HD inline bool contains(const G1Affine& p) {
  if (p.is_infinity()) return true;
  const G1Jacobian once = mul_by_parameter(G1Jacobian::from_affine(p), p);
  const G1Jacobian twice = mul_by_parameter(once, once);
  return twice == G1Jacobian::from_affine(-phi(p));
}

// psi(p) = x*p. As psi^2 - (x+1)*psi + q = 0 on the whole twist (q the field's characteristic), such a p has
// (q - x)*p = h1*r*p = 0 with h1 = (x-1)^2/3, the cofactor of G1; h1 and the cofactor of G2 have no common factor, so
// r*p = 0 (Scott, section 4).
CUZK_HD inline bool contains(const G2Affine& p) {
  if (p.is_infinity()) return true;
  const G2Jacobian product = mul_by_parameter(G2Jacobian::from_affine(p), p);
  return product == G2Jacobian::from_affine(-psi(p));
}

}  // namespace cuzk::subgroup_detail
