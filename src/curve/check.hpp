// Membership: is a pair of coordinates on the curve, and is a point of the curve in the subgroup of order r.
//
// The subgroup checks are those of Scott, "A note on group membership tests for G1, G2 and GT on BLS pairing-friendly
// curves", eprint 2021/1130: an endomorphism that acts on the subgroup as a multiplication by a small number, compared
// with that multiplication on the point in question.
#pragma once

#include "curve/g1.hpp"
#include "curve/g2.hpp"

namespace cuzk {

// The absolute value of the curve's parameter x, which is negative.
inline constexpr uint64_t kCurveParameter = 0xd201000000010000;

// True for infinity and for the points of the whole curve, in the subgroup or not.
template <class Curve>
CUZK_HD constexpr bool is_on_curve(const Affine<Curve>& p) {
  return p.is_infinity() || p.y.square() == p.x.square() * p.x + Curve::b();
}

// (x, y) -> (beta*x, y) with beta^3 = 1: multiplication by -x^2 on the subgroup.
G1Affine endomorphism_phi(const G1Affine& p);
// The p-power Frobenius of the curve that G2 is a twist of, seen on the twist: multiplication by x on the subgroup.
G2Affine endomorphism_psi(const G2Affine& p);

// p must be on the curve. True for infinity. About 126 doublings and 10 additions. Not constant time.
bool is_in_subgroup(const G1Affine& p);
// p must be on the curve. True for infinity. About 63 doublings and 5 additions. Not constant time.
bool is_in_subgroup(const G2Affine& p);

}  // namespace cuzk
