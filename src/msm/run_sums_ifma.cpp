// Sums of runs with AVX-512 IFMA: eight additions at a time.
//
// Points are not converted when they are loaded. A base's coordinate is stored as x*2^384 mod p, and the vector
// products divide by 2^416, so the same bits stand for x*2^-32 here. Shifted left by 12 and by 2 bits, x and y stand
// for u^2*x and u^3*y with u = 2^-10: a point of the isomorphic curve y^2 = x^3 + u^6*b, and the addition formulas do
// not contain b. Only sums that leave a chunk are brought back, by two products.
//
// Nothing is reduced within a chunk: 8 limbs of 52 bits leave 35 bits above p. In round r every x is below bound_x(r)*p
// with bound_x(0) = 2^12, doubling each round, and every y is below bound_y(r)*p; each subtraction adds such a bound.
#include "msm/ifma_points.hpp"
#include "msm/run_sums.hpp"

#if CUZK_X86_ASM

#include <algorithm>

#include "base/assert.hpp"
#include "field/batch_inverse.hpp"

namespace cuzk::msm_detail {
namespace {

template <class Curve>
class IfmaChunkSummer final : public ChunkSummer<Curve> {
  using Point = Affine<Curve>;
  using Field = typename Curve::Field;
  static constexpr size_t K = sizeof(Field) / sizeof(Fp);
  static_assert(sizeof(Point) == 2 * K * 48);
  // Additions that share an inversion.
  static constexpr size_t kBatch = 1024 / K;
  static constexpr size_t kGroups = kBatch / 8;

 public:
  // A run of three entries takes two slots, all others fewer for their length.
  explicit IfmaChunkSummer(size_t max_entries)
      : max_entries_(max_entries),
        slots_((2 * max_entries / 3 + 1) * kSlotWords<K> / 8),
        products_(kGroups),
        differences_(kGroups),
        a_(kBatch),
        b_(kBatch),
        to_(kBatch) {
    CUZK_ASSERT(max_entries <= size_t{1} << kMaxRounds);
  }

  void sum(const Point* bases, std::span<const Entry> entries, std::span<const uint32_t> lengths,
           Point* const* out) override {
    CUZK_ASSERT(entries.size() <= max_entries_);
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
    if (!try_add<kFirst>()) {
      add_exceptional<kFirst>();
      const bool added = pending_ == 0 || try_add<kFirst>();
      CUZK_ASSERT(added);
    }
    pending_ = 0;
  }

  // False, and nothing done, where some operands are infinite, equal or opposite.
  template <bool kFirst>
  bool try_add() {
    const size_t groups = fill_group(a_, b_, to_, pending_);
    if (!multiply_differences<kFirst>(groups) || !invert()) return false;
    add<kFirst>(groups);
    return true;
  }
  // Completes the last group by repeating the last addition, which gives the same result again; returns the groups.
  template <class Indices>
  static size_t fill_group(Indices& a, Indices& b, Indices& to, size_t count) {
    const size_t groups = (count + 7) / 8;
    for (size_t i = count; i < 8 * groups; ++i) {
      a[i] = a[count - 1];
      b[i] = b[count - 1];
      to[i] = to[count - 1];
    }
    return groups;
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

  template <bool kFirst>
  CUZK_IFMA_INLINE void load_both_x(size_t g, Element<K>& xa, Element<K>& xb) {
    if constexpr (kFirst) {
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
  }

  // The differences of the x and their running products; false where an operand is infinity (or x is zero).
  template <bool kFirst>
  CUZK_IFMA_TARGET bool multiply_differences(size_t groups) {
    const Limbs8& offset = kBounds[round_].x;
    Element<K> product{};
    product.c[0] = ifma::broadcast<8>(kOne);
    if constexpr (K == 2) product.c[1] = ifma::sub_limbs(product.c[0], product.c[0]);
    unsigned bad = 0;
    constexpr size_t kAhead = 8;
    if (kFirst) {
      for (size_t g = 0; g < kAhead; ++g) prefetch(g, groups);
    }
    for (size_t g = 0; g < groups; ++g) {
      if (kFirst) prefetch(g + kAhead, groups);
      Element<K> xa, xb;
      load_both_x<kFirst>(g, xa, xb);
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

  // Does the pending additions that have no slope of a chord, by the complete formulas, and leaves the others pending.
  template <bool kFirst>
  CUZK_IFMA_TARGET void add_exceptional() {
    const size_t groups = (pending_ + 7) / 8;
    std::vector<uint32_t> a, b, to;
    size_t kept = 0;
    for (size_t g = 0; g < groups; ++g) {
      const unsigned exceptional = exceptional_lanes<kFirst>(g);
      for (size_t i = 8 * g; i < std::min(8 * g + 8, pending_); ++i) {
        if (exceptional >> (i % 8) & 1) {
          a.push_back(a_[i]);
          b.push_back(b_[i]);
          to.push_back(to_[i]);
        } else {
          a_[kept] = a_[i];
          b_[kept] = b_[i];
          to_[kept++] = to_[i];
        }
      }
    }
    pending_ = kept;
    const size_t count = a.size(), padded = (count + 7) / 8 * 8;
    CUZK_ASSERT(count > 0);
    for (auto* v : {&a, &b, &to}) v->resize(padded);
    fill_group(a, b, to, count);
    std::vector<Point> points_a(padded), points_b(padded);
    std::vector<Field> denominators(padded), products(padded);
    for (size_t i = 0; i < padded; i += 8) {
      fetch<kFirst>(&a[i], &points_a[i]);
      fetch<kFirst>(&b[i], &points_b[i]);
    }
    batch_add<Curve>(points_a.data(), points_b.data(), points_a.data(), padded, denominators.data(), products.data());
    for (size_t i = 0; i < padded; i += 8) {
      const uint64_t* p[8];
      for (size_t j = 0; j < 8; ++j) p[j] = reinterpret_cast<const uint64_t*>(&points_a[i + j]);
      load(p, 0, &to[i]);
    }
  }

  // Lanes of a group whose operands have the same x or of which one is infinity.
  template <bool kFirst>
  CUZK_IFMA_TARGET unsigned exceptional_lanes(size_t g) {
    Element<K> xa, xb;
    load_both_x<kFirst>(g, xa, xb);
    Element<K> difference = sub(xb, xa, kBounds[round_].x);
    for (size_t k = 0; k < K; ++k) {
      difference.c[k] = ifma::mul<8>(difference.c[k], ifma::broadcast<8>(kToFp), kP);
      ifma::reduce_once(difference.c[k], kP);
    }
    return static_cast<unsigned>(zero_lanes(xa) | zero_lanes(xb) | zero_lanes(difference));
  }

  // Eight operands as affine points.
  template <bool kFirst>
  void fetch(const uint32_t* from, Point* out) {
    if constexpr (kFirst) {
      for (size_t j = 0; j < 8; ++j) {
        const Entry e{from[j]};
        out[j] = e.negative() ? -bases_[e.index()] : bases_[e.index()];
      }
    } else {
      Point* each[8];
      for (size_t j = 0; j < 8; ++j) each[j] = out + j;
      unload(from, each);
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

  size_t max_entries_;
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
std::unique_ptr<ChunkSummer<Curve>> make_ifma_chunk_summer(size_t max_entries) {
  return std::make_unique<IfmaChunkSummer<Curve>>(max_entries);
}
template std::unique_ptr<ChunkSummer<G1Curve>> make_ifma_chunk_summer<G1Curve>(size_t);
template std::unique_ptr<ChunkSummer<G2Curve>> make_ifma_chunk_summer<G2Curve>(size_t);

}  // namespace cuzk::msm_detail

#endif  // CUZK_X86_ASM
