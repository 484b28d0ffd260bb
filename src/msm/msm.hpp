// Sums of multiples of points: sum_i scalars[i] * bases[i], the same with scalars that are bits, and many multiples of
// one point. Each is exact for any input: bases may be infinity, repeated or opposite, scalars may be anything.
// Variable time. The result is the same group element whatever the threads and the arithmetic are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/bits.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "field/fr.hpp"

namespace cuzk {

// sum_i scalars[i] * bases[i]; the spans have the same length. Pippenger's bucket method with signed digits; buckets
// are summed by affine additions that share inversions (msm/README.md). Work is cut by additions, not by buckets, so
// scalars of any distribution take at most the time of uniform ones, and less where digits are zero.
// Scratch memory: msm_scratch_bytes(), 80 to 400 bytes a base (the fewer, the more bases), about 350 MB at most; it is
// not cleared.
template <class Curve>
Jacobian<Curve> msm(std::span<const Affine<Curve>> bases, std::span<const Fr> scalars);
// The most that msm() of `count` bases allocates on `threads` threads; it comes close where scalars are large.
template <class Curve>
uint64_t msm_scratch_bytes(size_t count, size_t threads);
// The additions that msm() of `count` bases with scalars of all sizes makes; its time is proportional to them.
uint64_t msm_additions(size_t count);

// The sum of the bases whose bit is set; bits.size() == bases.size(). One addition a set bit, in one pass.
template <class Curve>
Jacobian<Curve> sum_selected(std::span<const Affine<Curve>> bases, const BitVector& bits);
// The most that sum_selected() of `count` bases allocates.
template <class Curve>
uint64_t sum_selected_scratch_bytes(size_t count, size_t threads);

// Multiples of one base by a table of its window multiples.
template <class Curve>
class FixedBase {
 public:
  // A table sized for about `expected` multiplications (memory: 16 KB to 50 MB in G1, twice that in G2). base may be
  // infinity.
  FixedBase(const Affine<Curve>& base, size_t expected);

  // out[i] = scalars[i] * base; the spans have the same length. Parallel; 15 to 50 additions a scalar.
  void multiply(std::span<const Fr> scalars, std::span<Affine<Curve>> out) const;

  unsigned window_bits() const { return window_bits_; }

  // Memory of the table; the most that making it takes, the table included; the most that multiply() of `count` scalars
  // allocates.
  static uint64_t table_bytes(size_t expected);
  static uint64_t making_bytes(size_t expected, size_t threads);
  static uint64_t multiply_scratch_bytes(size_t expected, size_t count, size_t threads);

 private:
  unsigned window_bits_;
  std::unique_ptr<Affine<Curve>[]> table_;
  size_t table_size_ = 0;
};

extern template Jacobian<G1Curve> msm<G1Curve>(std::span<const G1Affine>, std::span<const Fr>);
extern template Jacobian<G2Curve> msm<G2Curve>(std::span<const G2Affine>, std::span<const Fr>);
extern template Jacobian<G1Curve> sum_selected<G1Curve>(std::span<const G1Affine>, const BitVector&);
extern template Jacobian<G2Curve> sum_selected<G2Curve>(std::span<const G2Affine>, const BitVector&);
extern template class FixedBase<G1Curve>;
extern template class FixedBase<G2Curve>;

}  // namespace cuzk
