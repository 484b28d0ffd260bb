#include "pairing/pairing.hpp"

#include <vector>

#include "base/assert.hpp"
#include "curve/check.hpp"

namespace cuzk {
namespace {

// Bits of |x| below the leading one, which the Miller loop and the exponentiations by x go through from the top.
constexpr int kTopBit = 62;
constexpr bool parameter_bit(int bit) { return kCurveParameter >> bit & 1; }
static_assert(kCurveParameter >> (kTopBit + 1) == 1);
static_assert(G2Prepared::kLines == kTopBit + 1 + static_cast<size_t>(__builtin_popcountll(kCurveParameter)) - 1);

// (x/z, y/z) on the twist.
struct HomogeneousPoint {
  Fp2 x, y, z;
};

// t := 2*t, and the tangent at t. With affine (x, y) of t the tangent at (xP, yP), moved from the twist to the curve by
// (x, y) -> (x/w^2, y/w^3) and multiplied by w^3, is (s*x - y) - s*xP*w^2 + yP*w^3 with s = 3x^2/2y; times 2*y*z^2, and
// with the curve's equation in the constant term, this is what is returned (eprint 2010/526, equations 10 and 11,
// scaled by 4 against halves).
LineCoefficients double_step(HomogeneousPoint& t) {
  const Fp2 xx = t.x.square();
  const Fp2 yy = t.y.square();
  const Fp2 zz = t.z.square();
  const Fp2 e = G2Curve::mul_by_3b(zz);
  const Fp2 f = e.dbl() + e;
  const Fp2 yz2 = (t.y + t.z).square() - yy - zz;
  const Fp2 ee = e.square();
  const Fp2 ee4 = ee.dbl().dbl();
  t.x = (t.x * t.y).dbl() * (yy - f);
  t.y = (yy + f).square() - (ee4.dbl() + ee4);
  t.z = (yy * yz2).dbl().dbl();
  return {yy - e, -(xx.dbl() + xx), yz2};
}

// t := t + q for t != +-q, and the line through both: (s*x - y) - s*xP*w^2 + yP*w^3 with q = (x, y) and s =
// theta/lambda, times lambda.
LineCoefficients add_step(HomogeneousPoint& t, const G2Affine& q) {
  const Fp2 theta = t.y - q.y * t.z;
  const Fp2 lambda = t.x - q.x * t.z;
  const Fp2 d = lambda.square();
  const Fp2 e = lambda * d;
  const Fp2 f = t.z * theta.square();
  const Fp2 g = t.x * d;
  const Fp2 h = e + f - g.dbl();
  t.x = lambda * h;
  t.y = theta * (g - h) - e * t.y;
  t.z = t.z * e;
  return {theta * q.x - lambda * q.y, -theta, lambda};
}

Fp12 mul_by_line(const Fp12& f, const LineCoefficients& line, const G1Affine& p) {
  return f.mul_by_014(line.constant, line.slope * p.x, line.vertical * p.y);
}

// The Miller loop over pairs without infinite points.
struct Pair {
  G1Affine p;
  const LineCoefficients* next;
};
Fp12 miller_loop(std::span<Pair> pairs) {
  Fp12 f = Fp12::one();
  const auto multiply_by_lines = [&] {
    for (Pair& pair : pairs) f = mul_by_line(f, *pair.next++, pair.p);
  };
  for (int bit = kTopBit; bit >= 0; --bit) {
    if (bit != kTopBit) f = f.square();
    multiply_by_lines();
    if (parameter_bit(bit)) multiply_by_lines();
  }
  return f.conjugate();  // the parameter is negative; up to what the final exponentiation removes
}

// value^x for a value whose inverse is its conjugate.
Fp12 pow_parameter(const Fp12& value) {
  Fp12 out = value;
  for (int bit = kTopBit; bit >= 0; --bit) {
    out = out.cyclotomic_square();
    if (parameter_bit(bit)) out *= value;
  }
  return out.conjugate();
}

}  // namespace

G2Prepared::G2Prepared(const G2Affine& q) : infinity_(q.is_infinity()) {
  if (infinity_) return;
  HomogeneousPoint t{q.x, q.y, Fp2::one()};
  size_t line = 0;
  for (int bit = kTopBit; bit >= 0; --bit) {
    lines_[line++] = double_step(t);
    if (parameter_bit(bit)) lines_[line++] = add_step(t, q);
  }
  CUZK_ASSERT(line == kLines);
}

Fp12 miller_loop(std::span<const G1Affine> p, std::span<const G2Prepared* const> q) {
  CUZK_ASSERT(p.size() == q.size());
  std::vector<Pair> pairs;
  pairs.reserve(p.size());
  for (size_t i = 0; i < p.size(); ++i) {
    if (!p[i].is_infinity() && !q[i]->is_infinity()) pairs.push_back({p[i], q[i]->lines().data()});
  }
  return miller_loop(std::span<Pair>(pairs));
}

Fp12 miller_loop(std::span<const G1Affine> p, std::span<const G2Prepared> q) {
  std::vector<const G2Prepared*> pointers;
  pointers.reserve(q.size());
  for (const G2Prepared& prepared : q) pointers.push_back(&prepared);
  return miller_loop(p, std::span<const G2Prepared* const>(pointers));
}

Fp12 final_exponentiation(const Fp12& f) {
  // Easy part: (p^6 - 1)(p^2 + 1). From here on the inverse is the conjugate.
  const Fp12 g = f.conjugate() * f.inverse();
  const Fp12 h = g.frobenius(2) * g;
  // Hard part: 3*(p^4 - p^2 + 1)/r = (x-1)^2 * (x+p) * (x^2 + p^2 - 1) + 3 (eprint 2020/875, section 5, k = 12).
  const Fp12 a = pow_parameter(h) * h.conjugate();
  const Fp12 b = pow_parameter(a) * a.conjugate();
  const Fp12 c = pow_parameter(b) * b.frobenius(1);
  const Fp12 d = pow_parameter(pow_parameter(c)) * c.frobenius(2) * c.conjugate();
  return d * (h.cyclotomic_square() * h);
}

Fp12 pairing(const G1Affine& p, const G2Affine& q) {
  if (p.is_infinity() || q.is_infinity()) return Fp12::one();
  const G2Prepared prepared(q);
  Pair pair{p, prepared.lines().data()};
  return final_exponentiation(miller_loop(std::span<Pair>(&pair, 1)));
}

bool pairing_product_is(std::span<const G1Affine> p, std::span<const G2Prepared* const> q, const Fp12& expected) {
  return final_exponentiation(miller_loop(p, q)) == expected;
}

bool pairing_product_is(std::span<const G1Affine> p, std::span<const G2Prepared> q, const Fp12& expected) {
  return final_exponentiation(miller_loop(p, q)) == expected;
}

Fp12 gt_pow(const Fp12& value, std::span<const uint64_t> exponent) {
  constexpr unsigned kWindow = 4;
  std::array<Fp12, size_t{1} << kWindow> powers;
  powers[0] = Fp12::one();
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * value;
  Fp12 out = Fp12::one();
  bool started = false;
  for (size_t i = 64 / kWindow * exponent.size(); i-- > 0;) {
    const uint64_t digit = exponent[i * kWindow / 64] >> (i * kWindow % 64) & (powers.size() - 1);
    if (started) {
      for (unsigned j = 0; j < kWindow; ++j) out = out.cyclotomic_square();
    }
    if (digit == 0) continue;
    out = started ? out * powers[digit] : powers[digit];
    started = true;
  }
  return out;
}

}  // namespace cuzk
