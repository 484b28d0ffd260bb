// Sums of runs with AVX-512 IFMA: eight additions at a time.
//
// Points are not converted when they are loaded. A base's coordinate is stored as x*2^384 mod p, and the vector
// products divide by 2^416, so the same bits stand for x*2^-32 here. Shifted left by 12 and by 2 bits, x and y stand
// for u^2*x and u^3*y with u = 2^-10: a point of the isomorphic curve y^2 = x^3 + u^6*b, and the addition formulas do
// not contain b. Only sums that leave a chunk are brought back, by two products.
//
// Nothing is reduced within a chunk: 8 limbs of 52 bits leave 35 bits above p. In round r every x is below bound_x(r)*p
// with bound_x(0) = 2^12, doubling each round, and every y is below bound_y(r)*p; each subtraction adds such a bound.
#include "field/ifma_lanes.hpp"
#include "msm/run_sums.hpp"

#if CUZK_X86_ASM

#include <algorithm>

#include "base/assert.hpp"
#include "field/batch_inverse.hpp"

namespace cuzk::msm_detail {
namespace {

using Lanes8 = ifma::Lanes<8>;
using Limbs8 = ifma::Limbs52<8>;

alignas(64) constexpr ifma::Modulus<8> kP = ifma::make_modulus<8>(FpParams::kModulus);
constexpr size_t kMaxRounds = 14;
constexpr uint64_t kProductBound = 8;  // products are below this many p, in Fp2 too

// k*p in 52-bit limbs.
constexpr Limbs8 multiple_of_p(uint64_t k) {
  std::array<uint64_t, 7> out{};
  unsigned __int128 carry = 0;
  for (size_t i = 0; i < 6; ++i) {
    carry += static_cast<unsigned __int128>(FpParams::kModulus[i]) * k;
    out[i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  out[6] = static_cast<uint64_t>(carry);
  return ifma::to_limbs52<8>(out);
}
constexpr uint64_t bound_x(size_t round) {
  return round == 0 ? uint64_t{1} << 12 : 2 * bound_x(round - 1) + kProductBound;
}
constexpr uint64_t bound_y(size_t round) { return 4 + kProductBound * round; }

struct RoundBounds {
  Limbs8 x, twice_x, next_x, y;
};
constexpr auto kBounds = [] {
  std::array<RoundBounds, kMaxRounds> out{};
  for (size_t r = 0; r < kMaxRounds; ++r) {
    out[r] = {multiple_of_p(bound_x(r)), multiple_of_p(2 * bound_x(r)), multiple_of_p(bound_x(r + 1)),
              multiple_of_p(bound_y(r))};
  }
  return out;
}();
constexpr Limbs8 kFourP = multiple_of_p(4), kTwoP = multiple_of_p(2);

// 2^k mod p in 52-bit limbs.
constexpr Limbs8 power_of_two(size_t k) {
  std::array<uint64_t, 6> x{1};
  for (size_t i = 0; i < k; ++i) x = limbs::add_mod<6>(x, x, FpParams::kModulus);
  return ifma::to_limbs52<8>(x);
}
// A product with these brings: a loaded x or y back to x*2^384; v*2^416 to v*2^384; v*2^384 to v*2^416.
constexpr Limbs8 kUnloadX = power_of_two(404), kUnloadY = power_of_two(414), kToFp = power_of_two(384),
                 kFromFp = power_of_two(448), kOne = power_of_two(416);

// Eight elements of Fp (K = 1) or Fp2 (K = 2).
template <size_t K>
struct Element {
  Lanes8 c[K];
};

CUZK_IFMA_INLINE Element<1> mul(const Element<1>& a, const Element<1>& b) {
  return {{ifma::mul<8>(a.c[0], b.c[0], kP)}};
}
CUZK_IFMA_INLINE Element<1> sqr(const Element<1>& a) { return {{ifma::sqr<8>(a.c[0], kP)}}; }

CUZK_IFMA_INLINE Element<2> mul(const Element<2>& a, const Element<2>& b) {
  const Lanes8 low = ifma::mul<8>(a.c[0], b.c[0], kP), high = ifma::mul<8>(a.c[1], b.c[1], kP);
  Lanes8 sum_a = ifma::add_limbs(a.c[0], a.c[1]), sum_b = ifma::add_limbs(b.c[0], b.c[1]);
  ifma::tidy(sum_a);
  ifma::tidy(sum_b);
  const Lanes8 cross = ifma::mul<8>(sum_a, sum_b, kP);
  Element<2> out;
  out.c[0] = ifma::add_limbs(ifma::sub_limbs(low, high), ifma::broadcast<8>(kTwoP));
  out.c[1] = ifma::add_limbs(ifma::sub_limbs(cross, ifma::add_limbs(low, high)), ifma::broadcast<8>(kFourP));
  ifma::tidy(out.c[0]);
  ifma::tidy(out.c[1]);
  return out;
}
// Of a product, so coordinates are below kProductBound * p.
CUZK_IFMA_INLINE Element<2> sqr(const Element<2>& a) {
  constexpr Limbs8 kBound = multiple_of_p(kProductBound);
  Lanes8 sum = ifma::add_limbs(a.c[0], a.c[1]);
  Lanes8 difference = ifma::add_limbs(ifma::sub_limbs(a.c[0], a.c[1]), ifma::broadcast<8>(kBound));
  ifma::tidy(sum);
  ifma::tidy(difference);
  Element<2> out;
  out.c[0] = ifma::mul<8>(sum, difference, kP);
  const Lanes8 product = ifma::mul<8>(a.c[0], a.c[1], kP);
  out.c[1] = ifma::add_limbs(product, product);
  ifma::tidy(out.c[1]);
  return out;
}

// a - b + offset, tidy.
template <size_t K>
CUZK_IFMA_INLINE Element<K> sub(const Element<K>& a, const Element<K>& b, const Limbs8& offset) {
  Element<K> out;
#pragma GCC unroll 2
  for (size_t k = 0; k < K; ++k) {
    out.c[k] = ifma::add_limbs(ifma::sub_limbs(a.c[k], b.c[k]), ifma::broadcast<8>(offset));
    ifma::tidy(out.c[k]);
  }
  return out;
}

template <size_t K>
CUZK_IFMA_INLINE __mmask8 zero_lanes(const Element<K>& a) {
  __mmask8 mask = ifma::zero_lanes(a.c[0]);
  if constexpr (K == 2) mask = static_cast<__mmask8>(mask & ifma::zero_lanes(a.c[1]));
  return mask;
}

// The 64-bit words of eight coordinates, number `coordinate` (of 2K) of the points at p[0..7], shifted and cut in
// limbs. Reads 64 bytes a point; the last coordinate is read from 16 bytes earlier so as to stay within the point.
template <unsigned kShift>
CUZK_IFMA_INLINE Lanes8 load_coordinate(const uint64_t* const* p, size_t coordinate, bool last) {
  const size_t back = last ? 2 : 0;
  __m512i rows[8];
#pragma GCC unroll 8
  for (size_t i = 0; i < 8; ++i) rows[i] = _mm512_loadu_si512(p[i] + 6 * coordinate - back);
  ifma::transpose(rows);
  return last ? ifma::from_words<8, 6, kShift>(rows + 2) : ifma::from_words<8, 6, kShift>(rows);
}

template <size_t K>
CUZK_IFMA_INLINE Element<K> load_x(const uint64_t* const* p) {
  Element<K> out;
#pragma GCC unroll 2
  for (size_t k = 0; k < K; ++k) out.c[k] = load_coordinate<12>(p, k, false);
  return out;
}
// The negative (4p - y) in the lanes of `negative`.
template <size_t K>
CUZK_IFMA_INLINE Element<K> load_y(const uint64_t* const* p, __mmask8 negative) {
  Element<K> out;
#pragma GCC unroll 2
  for (size_t k = 0; k < K; ++k) {
    Lanes8 y = k + 1 == K ? load_coordinate<2>(p, K + k, true) : load_coordinate<2>(p, K + k, false);
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) {
      y.l[i] = _mm512_mask_sub_epi64(y.l[i], negative, _mm512_set1_epi64(static_cast<int64_t>(kFourP[i])), y.l[i]);
    }
    ifma::tidy(y);
    out.c[k] = y;
  }
  return out;
}

// Slots hold points as loaded: 2K coordinates of 8 limbs, 64 bytes each.
template <size_t K>
constexpr size_t kSlotWords = 16 * K;

// The coordinate pair or single number `first` of the points in slots[index[0..7]].
template <size_t K>
CUZK_IFMA_INLINE Element<K> load_slots(const uint64_t* slots, const uint32_t* index, size_t first) {
  Element<K> out;
#pragma GCC unroll 2
  for (size_t k = 0; k < K; ++k) {
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) {
      out.c[k].l[i] = _mm512_load_si512(slots + index[i] * kSlotWords<K> + 8 * (first + k));
    }
    ifma::transpose(out.c[k].l);
  }
  return out;
}
template <size_t K>
CUZK_IFMA_INLINE void store_slots(uint64_t* slots, const uint32_t* index, size_t first, const Element<K>& x) {
#pragma GCC unroll 2
  for (size_t k = 0; k < K; ++k) {
    Lanes8 rows = x.c[k];
    ifma::transpose(rows.l);
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) _mm512_store_si512(slots + index[i] * kSlotWords<K> + 8 * (first + k), rows.l[i]);
  }
}

template <class Curve>
class IfmaChunkSummer final : public ChunkSummer<Curve> {
  using Point = Affine<Curve>;
  using Field = typename Curve::Field;
  static constexpr size_t K = sizeof(Field) / sizeof(Fp);
  static_assert(sizeof(Point) == 2 * K * 48);
  // Additions that share an inversion.
  static constexpr size_t kBatch = 2048 / K;
  static constexpr size_t kGroups = kBatch / 8;

 public:
  // A run of three entries takes two slots, all others fewer for their length.
  IfmaChunkSummer()
      : slots_((2 * max_chunk<Curve>() / 3 + 1) * kSlotWords<K> / 8),
        products_(kGroups),
        differences_(kGroups),
        a_(kBatch),
        b_(kBatch),
        to_(kBatch) {
    CUZK_ASSERT(max_chunk<Curve>() <= size_t{1} << kMaxRounds);
  }

  void sum(const Point* bases, std::span<const Entry> entries, std::span<const uint32_t> lengths,
           Point* const* out) override {
    CUZK_ASSERT(entries.size() <= max_chunk<Curve>());
    bases_ = bases;
    starts_.clear();
    uint32_t longest = first_round(entries, lengths, out);
    round_ = 1;
    for (uint32_t step = 1; step < longest; step *= 2, ++round_) {
      for (const Span& s : starts_) {
        for (uint32_t i = 0; i + step < s.length; i += 2 * step) {
          a_[pending_] = to_[pending_] = s.start + i;
          b_[pending_] = s.start + i + step;
          if (++pending_ == kBatch) flush<false>();
        }
      }
      flush<false>();
    }
    for (size_t j = 0; j < starts_.size(); ++j) {
      a_[pending_] = starts_[j].start;
      outputs_[pending_] = starts_[j].out;
      if (++pending_ == 8) flush_outputs();
    }
    flush_outputs();
  }

 private:
  struct Span {
    uint32_t start, length;
    Point* out;
  };
  // Vectors in aligned memory without constructors.
  template <class T>
  struct Buffer {
    explicit Buffer(size_t n) : data(new T[n]) {}
    std::unique_ptr<T[]> data;
    T& operator[](size_t i) { return data[i]; }
  };
  struct alignas(64) Line {
    uint64_t words[8];
  };

  // Pairs of entries into slots; returns the slots of the longest run.
  uint32_t first_round(std::span<const Entry> entries, std::span<const uint32_t> lengths, Point* const* out) {
    round_ = 0;
    uint32_t slot = 0, longest = 0;
    const Entry* e = entries.data();
    for (size_t j = 0; j < lengths.size(); e += lengths[j], ++j) {
      const uint32_t length = lengths[j], half = (length + 1) / 2;
      if (length == 1) {
        *out[j] = e->negative() ? -bases_[e->index()] : bases_[e->index()];
        continue;
      }
      starts_.push_back({slot, half, out[j]});
      longest = std::max(longest, half);
      for (uint32_t i = 0; i + 1 < length; i += 2) {
        a_[pending_] = e[i].bits;
        b_[pending_] = e[i + 1].bits;
        to_[pending_] = slot + i / 2;
        if (++pending_ == kBatch) flush<true>();
      }
      if (length % 2 == 1) {
        single_[singles_] = e[length - 1].bits;
        single_to_[singles_] = slot + half - 1;
        if (++singles_ == 8) flush_singles();
      }
      slot += half;
    }
    flush<true>();
    flush_singles();
    return longest;
  }

  uint64_t* slots() { return slots_[0].words; }

  CUZK_IFMA_INLINE void pointers(const uint32_t* entries, const uint64_t** p, __mmask8& negative) const {
    unsigned mask = 0;
#pragma GCC unroll 8
    for (unsigned i = 0; i < 8; ++i) {
      p[i] = reinterpret_cast<const uint64_t*>(bases_ + (entries[i] >> 1));
      mask |= (entries[i] & 1) << i;
    }
    negative = static_cast<__mmask8>(mask);
  }

  // The pending additions. kFirst: operands are bases, else slots.
  template <bool kFirst>
  void flush() {
    if (pending_ == 0) return;
    const size_t groups = (pending_ + 7) / 8;
    for (size_t i = pending_; i < 8 * groups; ++i) {  // the last addition again, with the same result
      a_[i] = a_[pending_ - 1];
      b_[i] = b_[pending_ - 1];
      to_[i] = to_[pending_ - 1];
    }
    if (!multiply_differences<kFirst>(groups) || !invert()) {
      add_exactly<kFirst>(groups);
    } else {
      add<kFirst>(groups);
    }
    pending_ = 0;
  }

  // Fetches what a group will need into the cache.
  CUZK_IFMA_INLINE void prefetch(size_t group, size_t groups) {
    if (group >= groups) return;
    for (size_t i = 8 * group; i < 8 * group + 8; ++i) {
      const char* p = reinterpret_cast<const char*>(bases_ + (a_[i] >> 1));
      const char* q = reinterpret_cast<const char*>(bases_ + (b_[i] >> 1));
      for (size_t at = 0; at < sizeof(Point) + 63; at += 64) {
        const size_t within = std::min(at, sizeof(Point) - 1);
        _mm_prefetch(p + within, _MM_HINT_T1);
        _mm_prefetch(q + within, _MM_HINT_T1);
      }
    }
  }

  // The differences of the x and their running products; false where an operand is infinity (or x is zero).
  template <bool kFirst>
  CUZK_IFMA_TARGET bool multiply_differences(size_t groups) {
    const Limbs8& offset = kBounds[round_].x;
    Element<K> product{};
    product.c[0] = ifma::broadcast<8>(kOne);
    if constexpr (K == 2) product.c[1] = ifma::sub_limbs(product.c[0], product.c[0]);
    unsigned bad = 0;
    constexpr size_t kAhead = 6;
    if (kFirst) {
      for (size_t g = 0; g < kAhead; ++g) prefetch(g, groups);
    }
    for (size_t g = 0; g < groups; ++g) {
      Element<K> xa, xb;
      if constexpr (kFirst) {
        prefetch(g + kAhead, groups);
        const uint64_t* p[8];
        __mmask8 negative;
        pointers(&a_[8 * g], p, negative);
        xa = load_x<K>(p);
        pointers(&b_[8 * g], p, negative);
        xb = load_x<K>(p);
      } else {
        xa = load_slots<K>(slots(), &a_[8 * g], 0);
        xb = load_slots<K>(slots(), &b_[8 * g], 0);
      }
      bad |= zero_lanes(xa) | zero_lanes(xb);
      const Element<K> difference = sub(xb, xa, offset);
      products_[g] = product;
      differences_[g] = difference;
      product = mul(product, difference);
    }
    running_ = product;
    return bad == 0;
  }

  // running_ := 1/running_; false where a lane is zero, that is, where two x were equal.
  CUZK_IFMA_TARGET bool invert() {
    alignas(64) uint64_t words[K][6][8];
    for (size_t k = 0; k < K; ++k) {
      Lanes8 x = ifma::mul<8>(running_.c[k], ifma::broadcast<8>(kToFp), kP);
      ifma::reduce_once(x, kP);
      __m512i w[6];
      ifma::to_words<8, 6>(x, w);
      for (size_t i = 0; i < 6; ++i) _mm512_store_si512(words[k][i], w[i]);
    }
    Field values[8], scratch[8];
    for (size_t lane = 0; lane < 8; ++lane) {
      for (size_t k = 0; k < K; ++k) {
        Fp::Limbs limbs;
        for (size_t i = 0; i < 6; ++i) limbs[i] = words[k][i][lane];
        reinterpret_cast<Fp*>(&values[lane])[k] = Fp::from_montgomery(limbs);
      }
      if (values[lane].is_zero()) return false;
    }
    batch_inverse<Field>(values, scratch);
    for (size_t k = 0; k < K; ++k) {
      __m512i w[6];
      for (size_t lane = 0; lane < 8; ++lane) {
        const Fp::Limbs& limbs = reinterpret_cast<const Fp*>(&values[lane])[k].montgomery();
        for (size_t i = 0; i < 6; ++i) words[k][i][lane] = limbs[i];
      }
      for (size_t i = 0; i < 6; ++i) w[i] = _mm512_load_si512(words[k][i]);
      running_.c[k] = ifma::mul<8>(ifma::from_words<8, 6, 0>(w), ifma::broadcast<8>(kFromFp), kP);
    }
    return true;
  }

  // The additions, given the inverse of the product of all differences.
  template <bool kFirst>
  CUZK_IFMA_TARGET void add(size_t groups) {
    const RoundBounds& bounds = kBounds[round_];
    Element<K> inverse = running_;
    for (size_t g = groups; g-- > 0;) {
      Element<K> xa, xb, ya, yb;
      if constexpr (kFirst) {
        const uint64_t* p[8];
        __mmask8 negative;
        pointers(&a_[8 * g], p, negative);
        xa = load_x<K>(p);
        ya = load_y<K>(p, negative);
        pointers(&b_[8 * g], p, negative);
        xb = load_x<K>(p);
        yb = load_y<K>(p, negative);
      } else {
        xa = load_slots<K>(slots(), &a_[8 * g], 0);
        xb = load_slots<K>(slots(), &b_[8 * g], 0);
        ya = load_slots<K>(slots(), &a_[8 * g], K);
        yb = load_slots<K>(slots(), &b_[8 * g], K);
      }
      const Element<K> slope = mul(sub(yb, ya, bounds.y), mul(inverse, products_[g]));
      inverse = mul(inverse, differences_[g]);
      Element<K> x = sqr(slope);
#pragma GCC unroll 2
      for (size_t k = 0; k < K; ++k) {
        x.c[k] = ifma::sub_limbs(ifma::add_limbs(x.c[k], ifma::broadcast<8>(bounds.twice_x)),
                                 ifma::add_limbs(xa.c[k], xb.c[k]));
        ifma::tidy(x.c[k]);
      }
      const Element<K> y = sub(mul(slope, sub(xa, x, bounds.next_x)), ya, bounds.y);
      store_slots<K>(slots(), &to_[8 * g], 0, x);
      store_slots<K>(slots(), &to_[8 * g], K, y);
    }
  }

  // The pending additions by the complete formulas: some operands are infinite, equal or opposite.
  template <bool kFirst>
  CUZK_IFMA_TARGET void add_exactly(size_t groups) {
    std::vector<Point> a(8 * groups), b(8 * groups);
    std::vector<Field> denominators(8 * groups), products(8 * groups);
    for (size_t i = 0; i < 8 * groups; i += 8) {
      if constexpr (kFirst) {
        for (size_t j = i; j < i + 8; ++j) {
          const Entry ea{a_[j]}, eb{b_[j]};
          a[j] = ea.negative() ? -bases_[ea.index()] : bases_[ea.index()];
          b[j] = eb.negative() ? -bases_[eb.index()] : bases_[eb.index()];
        }
      } else {
        Point* out[8];
        for (size_t j = 0; j < 8; ++j) out[j] = &a[i + j];
        unload(&a_[i], out);
        for (size_t j = 0; j < 8; ++j) out[j] = &b[i + j];
        unload(&b_[i], out);
      }
    }
    batch_add<Curve>(a.data(), b.data(), a.data(), 8 * groups, denominators.data(), products.data());
    for (size_t i = 0; i < 8 * groups; i += 8) {
      const uint64_t* p[8];
      for (size_t j = 0; j < 8; ++j) p[j] = reinterpret_cast<const uint64_t*>(&a[i + j]);
      load(p, 0, &to_[i]);
    }
  }

  // Eight affine points into slots.
  CUZK_IFMA_TARGET void load(const uint64_t* const* p, __mmask8 negative, const uint32_t* to) {
    store_slots<K>(slots(), to, 0, load_x<K>(p));
    store_slots<K>(slots(), to, K, load_y<K>(p, negative));
  }
  CUZK_IFMA_TARGET void flush_singles() {
    if (singles_ == 0) return;
    for (size_t i = singles_; i < 8; ++i) {
      single_[i] = single_[0];
      single_to_[i] = single_to_[0];
    }
    const uint64_t* p[8];
    __mmask8 negative;
    pointers(single_, p, negative);
    load(p, negative, single_to_);
    singles_ = 0;
  }

  // Eight slots to affine points, fully reduced.
  CUZK_IFMA_TARGET void unload(const uint32_t* from, Point* const* out) {
    for (size_t half = 0; half < 2; ++half) {
      const Element<K> e = load_slots<K>(slots(), from, half * K);
      for (size_t k = 0; k < K; ++k) {
        Lanes8 x = ifma::mul<8>(e.c[k], ifma::broadcast<8>(half == 0 ? kUnloadX : kUnloadY), kP);
        ifma::reduce_once(x, kP);
        __m512i w[8] = {};
        ifma::to_words<8, 6>(x, w);
        ifma::transpose(w);
        for (size_t i = 0; i < 8; ++i) {
          _mm512_mask_storeu_epi64(reinterpret_cast<uint64_t*>(out[i]) + 6 * (half * K + k), 0x3f, w[i]);
        }
      }
    }
  }
  void flush_outputs() {
    if (pending_ == 0) return;
    for (size_t i = pending_; i < 8; ++i) {
      a_[i] = a_[0];
      outputs_[i] = outputs_[0];
    }
    unload(&a_[0], outputs_);
    pending_ = 0;
  }

  const Point* bases_ = nullptr;
  size_t round_ = 0;
  Buffer<Line> slots_;
  Buffer<Element<K>> products_, differences_;
  Buffer<uint32_t> a_, b_, to_;
  size_t pending_ = 0, singles_ = 0;
  uint32_t single_[8], single_to_[8];
  Point* outputs_[8];
  std::vector<Span> starts_;
  Element<K> running_;
};

}  // namespace

template <class Curve>
std::unique_ptr<ChunkSummer<Curve>> make_ifma_chunk_summer() {
  return std::make_unique<IfmaChunkSummer<Curve>>();
}
template std::unique_ptr<ChunkSummer<G1Curve>> make_ifma_chunk_summer<G1Curve>();
template std::unique_ptr<ChunkSummer<G2Curve>> make_ifma_chunk_summer<G2Curve>();

}  // namespace cuzk::msm_detail

#endif  // CUZK_X86_ASM
