#include "field/sqrt.hpp"

#include <iterator>

namespace cuzk {
namespace {

// (p-3)/4
constexpr Fp::Limbs exponent_p_minus_3_over_4() {
  Fp::Limbs out{};
  for (size_t i = 0; i < Fp::kLimbs; ++i) {
    const uint64_t above = i + 1 < Fp::kLimbs ? Fp::kModulus[i + 1] : 0;
    out[i] = Fp::kModulus[i] >> 2 | above << 62;
  }
  return out;
}
constexpr Fp::Limbs kExponent = exponent_p_minus_3_over_4();
static_assert((Fp::kModulus[0] & 3) == 3);

// 1/2
constexpr Fp half() { return Fp::from_u64(2).inverse(); }

}  // namespace

// Sliding windows of five bits: 377 squarings and about 80 multiplications. The squarings are in one chain, where a
// product has less latency than square().
Fp pow_p_minus_3_over_4(const Fp& x) {
  constexpr int kWindow = 5;
  Fp odd_powers[1 << (kWindow - 1)];  // x, x^3, x^5, ...
  odd_powers[0] = x;
  const Fp x2 = x.square();
  for (size_t i = 1; i < std::size(odd_powers); ++i) odd_powers[i] = odd_powers[i - 1] * x2;
  const auto bit = [](int i) { return static_cast<unsigned>(kExponent[static_cast<size_t>(i / 64)] >> (i % 64) & 1); };
  Fp out = Fp::one();
  for (int i = 64 * static_cast<int>(Fp::kLimbs) - 1; i >= 0;) {
    if (bit(i) == 0) {
      out *= out;
      --i;
      continue;
    }
    int low = i - kWindow + 1 > 0 ? i - kWindow + 1 : 0;
    while (bit(low) == 0) ++low;
    unsigned window = 0;
    for (; i >= low; --i) {
      window = 2 * window + bit(i);
      out *= out;
    }
    out *= odd_powers[window / 2];
  }
  return out;
}

std::optional<Fp> sqrt(const Fp& x) {
  const Fp root = x * pow_p_minus_3_over_4(x);
  if (root.square() != x) return std::nullopt;
  return root;
}

// With s^2 = c0^2 + c1^2 a root x0 + x1*u has x0^2 = (c0 +- s)/2 =: t or t' and 2*x0*x1 = c1; t*t' = -(c1/2)^2, so
// exactly one of the two is a square where c1 != 0. y = t^((p-3)/4) gives x0 = t*y where that is a root of t, and with
// x0*y = t*y^2 = +-1 also the inverse that x1 needs (Adj and Rodriguez-Henriquez, "Square root computation over even
// extension fields", 2012, the complex method, here without an inversion).
std::optional<Fp2> sqrt(const Fp2& x) {
  if (x.c1.is_zero()) {
    if (const auto root = sqrt(x.c0)) return Fp2{*root, Fp::zero()};
    const auto root = sqrt(-x.c0);  // -1 is not a square, so one of x, -x is
    if (!root) return std::nullopt;
    return Fp2{Fp::zero(), *root};
  }
  const auto s = sqrt(x.norm());
  if (!s) return std::nullopt;
  static const Fp kHalf = half();
  const Fp t = (x.c0 + *s) * kHalf;
  const Fp y = pow_p_minus_3_over_4(t);
  const Fp root = t * y;
  const Fp other = x.c1 * kHalf * y;
  if (root.square() == t) return Fp2{root, other};
  return Fp2{-other, root};  // root^2 = -t: root is x1
}

}  // namespace cuzk
