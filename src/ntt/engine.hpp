// Internal to ntt/: the passes that a transform of m = R*C points is made of.
//
// A transform runs over the array seen as an R x C matrix, row after row. "ct" goes from natural to bit-reversed order
// by Cooley-Tukey butterflies (u + w*v, u - w*v) whose twiddle is the same in a whole block and is indexed by the
// bit-reversed block number: W[j] = exp(i*pi*0.j0j1j2...) in binary, so one table serves every stage and every size.
// Columns first (blocks are whole rows: one twiddle for all columns), then each row is a transform of its own, whose
// twiddles are the same table times a power of the row's root. "gs" is the mirror image: Gentleman-Sande butterflies
// (u + v, (u - v)*w) from bit-reversed to natural order, rows first.
// Sources: Bailey, "FFTs in external or hierarchical memory" (1990); Harvey, "Faster arithmetic for number-theoretic
// transforms" (2014).
#pragma once

#include <cstddef>
#include <memory>

#include "field/cpu_features.hpp"
#include "field/fr.hpp"

namespace cuzk::ntt {

// Powers of w (kForward) or of 1/w (kInverse).
enum class Root { kForward, kInverse };
// What a pass multiplies coefficient i with: nothing, 1/m, or 7^-i / m.
enum class Scale { kNone, kInverseSize, kInverseCoset };

class Engine {
 public:
  virtual ~Engine() = default;

  // First half of a natural -> bit-reversed transform, in place. With `coset` the points are 7*w^j.
  virtual void columns_ct(Root root, bool coset, Fr* x) const = 0;
  // Second half, in place.
  virtual void rows_ct(Root root, bool coset, Scale scale, Fr* x) const = 0;
  // Second half, written to `out` (another array) in natural order.
  virtual void rows_ct_natural(Root root, Scale scale, const Fr* x, Fr* out, const Fr& factor) const = 0;
  // From the state after columns_ct(kInverse) to the state before columns_gs(kForward), coefficient i scaled by
  // factor * 7^i / m on the way, in place.
  virtual void rows_to_coset(Fr* x, const Fr& factor) const = 0;
  // a := columns_ct(kInverse) of (A*B - C), where A, B, C are columns_gs(kForward) of a, b, c and A*B is off by
  // product_factor(). One pass; b and c are only read.
  virtual void columns_quotient(Fr* a, const Fr* b, const Fr* c) const = 0;
  // What one operand of the product in columns_quotient must be multiplied with beforehand.
  virtual Fr product_factor() const = 0;
};

// Smallest size that is cut in two passes; both sides of the matrix are then multiples of eight.
inline constexpr unsigned kMinEngineLog2 = 6;

// log2_size in kMinEngineLog2 .. 32.
std::unique_ptr<const Engine> make_portable_engine(unsigned log2_size);
#if CUZK_X86_ASM
std::unique_ptr<const Engine> make_ifma_engine(unsigned log2_size);  // needs cpu_features().avx512_ifma
#endif

// The permutation that swaps i with its `bits` bits reversed.
inline size_t reverse_bits(size_t i, unsigned bits) {
  size_t out = 0;
  for (unsigned b = 0; b < bits; ++b) out |= (i >> b & 1) << (bits - 1 - b);
  return out;
}
// x[i] <-> x[reverse(i)], parallel, by blocks of 16 x 16.
void bit_reverse(Fr* x, unsigned log2_size);

// w of order 2^log2_size.
Fr root_of_unity(unsigned log2_size);

}  // namespace cuzk::ntt
