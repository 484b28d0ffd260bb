// The optimal ate pairing e: G1 x G2 -> Fp12 of BLS12-381.
//
// e(P, Q) = f^(3*(p^12-1)/r) for the Miller function f of the curve's parameter x; the factor 3 comes with the shorter
// exponentiation, and blst, zkcrypto's bls12_381 and noble-curves have it too, so values agree with theirs.
// Sources: Vercauteren, "Optimal pairings", eprint 2008/096; Costello, Lange, Naehrig, "Faster pairing computations on
// curves with high-degree twists", eprint 2009/615, and Aranha et al., eprint 2010/526, for the steps; Hayashida,
// Hayasaka, Teruya, "Efficient final exponentiation via cyclotomic structure for pairings over families of elliptic
// curves", eprint 2020/875, for the final exponentiation.
//
// Nothing here is constant time: pairings are of public values.
#pragma once

#include <array>
#include <span>

#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "field/fp12.hpp"

namespace cuzk {

// The line through two points of the twist, to be evaluated at P = (x, y) as constant + slope*x*w^2 + vertical*y*w^3,
// up to a factor in Fp2, which the final exponentiation removes.
struct LineCoefficients {
  Fp2 constant, slope, vertical;
};

// A point of G2 with the lines that its Miller loop meets: 68 lines, 19.6 KB. A tenth of the pairing's time.
class G2Prepared {
 public:
  static constexpr size_t kLines = 68;  // a doubling for each of 63 bits of |x|, an addition for the five that are set

  // q must be in the subgroup, or infinity.
  explicit G2Prepared(const G2Affine& q);

  bool is_infinity() const { return infinity_; }
  // In the order of the loop. Unspecified where is_infinity().
  std::span<const LineCoefficients, kLines> lines() const { return lines_; }

 private:
  std::array<LineCoefficients, kLines> lines_;
  bool infinity_;
};

// The product of the Miller functions of (p[i], q[i]), without the final exponentiation; pairs with an infinite point
// count as 1. The spans have the same length. Squarings are shared: each further pair costs about a sixth of a pairing.
Fp12 miller_loop(std::span<const G1Affine> p, std::span<const G2Prepared* const> q);
Fp12 miller_loop(std::span<const G1Affine> p, std::span<const G2Prepared> q);

// f^(3*(p^12-1)/r), an element of the subgroup of order r; zero for zero. Six tenths of the pairing's time.
Fp12 final_exponentiation(const Fp12& f);

// e(p, q); 1 where one of the two is infinity. p and q must be in their subgroups.
Fp12 pairing(const G1Affine& p, const G2Affine& q);

// True where the product of e(p[i], q[i]) is `expected`. The spans have the same length.
bool pairing_product_is(std::span<const G1Affine> p, std::span<const G2Prepared* const> q, const Fp12& expected);
bool pairing_product_is(std::span<const G1Affine> p, std::span<const G2Prepared> q, const Fp12& expected);

// value^exponent for a value of a pairing (or of final_exponentiation) and a plain integer in 64-bit limbs, least
// significant first. A cyclotomic squaring a bit.
Fp12 gt_pow(const Fp12& value, std::span<const uint64_t> exponent);

}  // namespace cuzk
