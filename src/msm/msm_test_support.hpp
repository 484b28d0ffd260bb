// Shared by this module's tests: points with known logarithms, scalars of each distribution, switches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "field/cpu_features.hpp"
#include "parallel/parallel.hpp"

namespace cuzk::msm_test {

template <class C>
using Points = std::vector<Affine<C>>;
using Scalars = std::vector<Fr>;

inline Fr random_fr(std::mt19937_64& rng) {
  for (;;) {
    if (auto v = Fr::from_plain_checked({rng(), rng(), rng(), rng() >> 1})) return *v;
  }
}

// Runs what follows without vector instructions, or with what the processor has.
struct Arithmetic {
  explicit Arithmetic(bool portable) : before(cpu_features()) {
    if (portable) restrict_cpu_features({.adx = before.adx, .avx512_ifma = false});
  }
  ~Arithmetic() { restrict_cpu_features(before); }
  CpuFeatures before;
};

struct Threads {
  explicit Threads(size_t n) : before(parallel_threads()) { set_parallel_threads(n); }
  ~Threads() { set_parallel_threads(before); }
  size_t before;
};

template <class C>
struct Known {
  Points<C> points;
  Scalars logs;  // of points, to the generator
};

// Points without structure, by additions of a few random multiples of the generator; no FixedBase involved.
template <class C>
Known<C> known_points(size_t n, uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<Jacobian<C>> step_points, points;
  Known<C> out;
  Scalars steps;
  for (int i = 0; i < 16; ++i) {
    steps.push_back(random_fr(rng));
    step_points.push_back(Jacobian<C>::from_affine(C::generator()).mul(steps.back()));
  }
  Fr log;
  Jacobian<C> p = Jacobian<C>::infinity();
  for (size_t i = 0; i < n; ++i) {
    const size_t which = rng() % 16;
    p += step_points[which];
    log += steps[which];
    points.push_back(p);
    out.logs.push_back(log);
  }
  out.points.resize(n);
  batch_to_affine<C>(points, out.points);
  return out;
}

enum class Bases { kInfinities, kEqual, kOpposite, kFew, kSmallMultiples, kAllInfinite };
inline constexpr Bases kBases[] = {Bases::kInfinities, Bases::kEqual,          Bases::kOpposite,
                                   Bases::kFew,        Bases::kSmallMultiples, Bases::kAllInfinite};

template <class C>
Known<C> exceptional_points(size_t n, Bases kind, uint64_t seed) {
  std::mt19937_64 rng(seed);
  Known<C> out = known_points<C>(n, seed);
  for (size_t i = 0; i < n; ++i) {
    const size_t from = kind == Bases::kEqual ? 0 : kind == Bases::kFew ? rng() % std::min<size_t>(n, 3) : i;
    out.points[i] = out.points[from];
    out.logs[i] = out.logs[from];
    if (kind == Bases::kAllInfinite || (kind == Bases::kInfinities && rng() % 3 == 0)) {
      out.points[i] = Affine<C>::infinity();
      out.logs[i] = Fr::zero();
    }
    if (kind == Bases::kOpposite && i > 0 && rng() % 2 == 0) {
      out.points[i] = -out.points[i - 1];
      out.logs[i] = -out.logs[i - 1];
    }
  }
  if (kind == Bases::kSmallMultiples) {
    Jacobian<C> p = Jacobian<C>::infinity();
    for (size_t i = 0; i < n; ++i) {
      p += C::generator();
      out.points[i] = p.to_affine();
      out.logs[i] = Fr::from_u64(i + 1);
    }
  }
  return out;
}

enum class Distribution { kUniform, kZeros, kOnes, kBits, kBytes, k64Bit, kEqual, kHalfEqual, kMinusOnes, kSparse };
inline constexpr Distribution kDistributions[] = {
    Distribution::kUniform,   Distribution::kZeros, Distribution::kOnes,  Distribution::kBits,
    Distribution::kBytes,     Distribution::k64Bit, Distribution::kEqual, Distribution::kHalfEqual,
    Distribution::kMinusOnes, Distribution::kSparse};
inline const char* name(Distribution d) {
  constexpr const char* kNames[] = {"uniform", "zeros", "ones",       "bits",       "bytes",
                                    "64 bit",  "equal", "half equal", "minus ones", "sparse"};
  return kNames[static_cast<int>(d)];
}

inline Scalars make_scalars(size_t n, Distribution distribution, uint64_t seed) {
  std::mt19937_64 rng(seed);
  const Fr equal = random_fr(rng);
  Scalars out(n);
  for (Fr& s : out) {
    switch (distribution) {
      case Distribution::kUniform: s = random_fr(rng); break;
      case Distribution::kZeros: break;
      case Distribution::kOnes: s = Fr::one(); break;
      case Distribution::kBits: s = Fr::from_u64(rng() % 2); break;
      case Distribution::kBytes: s = Fr::from_u64(rng() % 256); break;
      case Distribution::k64Bit: s = Fr::from_u64(rng()); break;
      case Distribution::kEqual: s = equal; break;
      case Distribution::kHalfEqual: s = rng() % 2 == 0 ? equal : random_fr(rng); break;
      case Distribution::kMinusOnes: s = -Fr::one(); break;
      case Distribution::kSparse: s = rng() % 50 == 0 ? random_fr(rng) : Fr::zero(); break;
    }
  }
  return out;
}

}  // namespace cuzk::msm_test
