// Number-theoretic transforms over Fr: the fast Fourier transform on the 2^k-th roots of unity and on their coset by 7.
//
// Conventions (bellperson src/domain.rs): element j of the domain is w^j with w = ROOT_OF_UNITY^(2^(32-k)); forward:
// value_j = sum_i coefficient_i * w^(ij); inverse divides by m = 2^k. Coset: evaluation points 7*w^j.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "field/fr.hpp"

namespace cuzk {

namespace ntt {
class Engine;
// Which arithmetic a domain uses. kFastest: the best that this processor has; the others are for tests and benches.
enum class Arithmetic { kFastest, kPortable };
}  // namespace ntt

// The group of 2^k-th roots of unity with tables for transforms of that size.
// Tables take O(sqrt(m)) memory; making a domain costs O(sqrt(m)) multiplications. Immutable, so safe to share between
// threads.
class Domain {
 public:
  static constexpr unsigned kMaxLog2Size = kFrTwoAdicity;

  // The domain of 2^log2_size points; log2_size must be <= kMaxLog2Size.
  explicit Domain(unsigned log2_size, ntt::Arithmetic arithmetic = ntt::Arithmetic::kFastest);
  ~Domain();
  Domain(Domain&&) noexcept;
  Domain& operator=(Domain&&) noexcept;

  unsigned log2_size() const { return log2_size_; }
  size_t size() const { return size_t{1} << log2_size_; }
  // w, of order size().
  const Fr& root() const { return root_; }
  // 7^m - 1: the value of x^m - 1 everywhere on the coset. Never zero.
  const Fr& z_on_coset() const { return z_on_coset_; }

  // Each transforms size() elements in place, natural order in and out (Montgomery form like every Fr), on up to
  // parallel_threads() threads: two passes over memory for the transform and one for the order.
  void forward(std::span<Fr> values) const;        // coefficients -> values at w^j
  void inverse(std::span<Fr> values) const;        // values at w^j -> coefficients (1/m included)
  void coset_forward(std::span<Fr> values) const;  // coefficients -> values at 7*w^j
  void coset_inverse(std::span<Fr> values) const;  // values at 7*w^j -> coefficients (1/m included)

  // For ntt/quotient.cpp: the passes themselves; null below the size from which transforms are cut in two passes.
  const ntt::Engine* engine() const { return engine_.get(); }

 private:
  unsigned log2_size_;
  Fr root_, z_on_coset_;
  std::unique_ptr<const ntt::Engine> engine_;
};

}  // namespace cuzk
