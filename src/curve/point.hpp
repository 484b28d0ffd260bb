// Points of the short Weierstrass curves y^2 = x^3 + b (a = 0) in affine, Jacobian and XYZZ coordinates.
//
// Formulas: Bernstein and Lange's Explicit-Formulas Database, "short Weierstrass curves, a = 0":
// Jacobian dbl-2009-l, add-2007-bl, madd-2007-bl; XYZZ dbl-2008-s-1, add-2008-s, madd-2008-s, mdbl-2008-s-1.
// Every operation is complete in the sense that equal, opposite and infinite operands give the right sum.
#pragma once

#include <cstdint>
#include <span>

#include "base/host_device.hpp"
#include "field/fr.hpp"

namespace cuzk {

// Curve is a type with `using Field`, `static Field b()` and the generator; see curve/g1.hpp and curve/g2.hpp.
// Infinity is (0, 0), which is on neither curve since b != 0.
template <class Curve>
struct Affine {
  using Field = typename Curve::Field;
  Field x, y;

  CUZK_HD static constexpr Affine infinity() { return Affine{}; }
  CUZK_HD constexpr bool is_infinity() const { return x.is_zero() && y.is_zero(); }
  CUZK_HD constexpr Affine operator-() const { return Affine{x, -y}; }
  CUZK_HD friend constexpr bool operator==(const Affine& a, const Affine& b) { return a.x == b.x && a.y == b.y; }
};

}  // namespace cuzk
