// Internal to ntt/: the passes of engine.hpp over a lane type V. Each including source defines CUZK_NTT_TARGET, the
// function attribute that V's instructions need (empty for the portable type), so that nothing else of the source is
// compiled for them.
//
// V holds V::kLanes elements with lazy reduction as V sees fit:
//   V::load(base, index): lane l = base[index[l]];  store(base, index): fully reduced;
//   V::broadcast(Twiddle); V::twiddle(Fr) -> Twiddle;  V::factor(): what V's product is off by, taken into twiddles;
//   V::mul, V::sub, V::ct(u, v, w), V::gs(u, v, w).
// A tile is eight columns or eight rows wide: kVectors = 8 / kLanes values side by side.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "ntt/engine.hpp"
#include "parallel/workers.hpp"

#ifndef CUZK_NTT_TARGET
#define CUZK_NTT_TARGET
#endif

namespace cuzk::ntt {

inline constexpr size_t kTileWidth = 8;

// Runs body(tile, scratch) for every tile of a transform of so many elements, each worker with a copy of `scratch`.
template <class Scratch, class Body>
void for_each_tile(size_t tiles, size_t elements, const Scratch& prototype, const Body& body) {
  constexpr size_t kMinParallel = 4096;
  parallel_workers(
      tiles, elements <= kMinParallel ? 1 : tiles, [&] { return prototype; }, body);
}

// The twiddles of a transform on the roots of unity themselves.
template <class V>
struct PlainTwiddles {
  const typename V::Twiddle* w;
  CUZK_NTT_TARGET V operator()(unsigned, size_t block) const { return V::broadcast(w[block]); }
};
// Those of a transform on a coset: stage s is shifted by h[s].
template <class V>
struct ShiftedTwiddles {
  const typename V::Twiddle* w;
  const V* h;
  CUZK_NTT_TARGET V operator()(unsigned stage, size_t block) const { return V::mul(V::broadcast(w[block]), h[stage]); }
};

// Natural -> bit-reversed, over n = 2^log_n rows of T values.
template <class V, class Twiddles>
CUZK_NTT_TARGET void ct_stages(V* x, unsigned log_n, size_t width, const Twiddles& twiddles) {
  unsigned stage = 0;
  if (log_n % 2 == 1) {
    const size_t half = (width << log_n) / 2;
    const V w = twiddles(0, 0);
    for (size_t i = 0; i < half; ++i) V::ct(x[i], x[i + half], w);
    stage = 1;
  }
  for (; stage < log_n; stage += 2) {
    const size_t quarter = width << (log_n - stage - 2);
    for (size_t block = 0; block < size_t{1} << stage; ++block) {
      const V w1 = twiddles(stage, block);
      const V w2 = twiddles(stage + 1, 2 * block);
      const V w3 = twiddles(stage + 1, 2 * block + 1);
      V* p = x + block * 4 * quarter;
      for (size_t i = 0; i < quarter; ++i) {
        V x0 = p[i], x1 = p[i + quarter], x2 = p[i + 2 * quarter], x3 = p[i + 3 * quarter];
        V::ct(x0, x2, w1);
        V::ct(x1, x3, w1);
        V::ct(x0, x1, w2);
        V::ct(x2, x3, w3);
        p[i] = x0, p[i + quarter] = x1, p[i + 2 * quarter] = x2, p[i + 3 * quarter] = x3;
      }
    }
  }
}

// Bit-reversed -> natural: the stages of ct_stages undone (up to a factor n), given the inverse twiddles.
template <class V, class Twiddles>
CUZK_NTT_TARGET void gs_stages(V* x, unsigned log_n, size_t width, const Twiddles& twiddles) {
  for (unsigned end = log_n; end >= 2; end -= 2) {
    const unsigned stage = end - 2;
    const size_t quarter = width << (log_n - stage - 2);
    for (size_t block = 0; block < size_t{1} << stage; ++block) {
      const V w1 = twiddles(stage, block);
      const V w2 = twiddles(stage + 1, 2 * block);
      const V w3 = twiddles(stage + 1, 2 * block + 1);
      V* p = x + block * 4 * quarter;
      for (size_t i = 0; i < quarter; ++i) {
        V x0 = p[i], x1 = p[i + quarter], x2 = p[i + 2 * quarter], x3 = p[i + 3 * quarter];
        V::gs(x0, x1, w2);
        V::gs(x2, x3, w3);
        V::gs(x0, x2, w1);
        V::gs(x1, x3, w1);
        p[i] = x0, p[i + quarter] = x1, p[i + 2 * quarter] = x2, p[i + 3 * quarter] = x3;
      }
    }
  }
  if (log_n % 2 == 1) {
    const size_t half = (width << log_n) / 2;
    const V w = twiddles(0, 0);
    for (size_t i = 0; i < half; ++i) V::gs(x[i], x[i + half], w);
  }
}

template <class V>
class PassEngine final : public Engine {
  static constexpr size_t kVectors = kTileWidth / V::kLanes;
  using Twiddle = typename V::Twiddle;
  using Indices = std::array<size_t, kTileWidth>;
  using Shifts = std::array<V, kFrTwoAdicity>;

  struct RootTables {
    std::vector<Twiddle> twiddle;       // W[j]
    std::vector<Fr> row_root;           // row r: w^reverse(r), times V::factor()
    Fr coset_shift;                     // the generator that goes with this direction
    std::vector<Twiddle> column_coset;  // stage s of the columns on the coset: generator^(m / 2^(s+1))
  };
  // Coefficient (row r, column e) after ct has index reverse(e)*R + reverse(r); its power of g is the product of these.
  struct PowerTables {
    std::vector<Twiddle> column;  // e: g^(R*reverse(e))
    std::vector<Fr> row;          // r: g^reverse(r), times V::factor()
  };

 public:
  explicit PassEngine(unsigned log2_size)
      : log_n_(log2_size), log_rows_(log2_size / 2), log_columns_(log2_size - log2_size / 2) {
    const Fr w = root_of_unity(log_n_);
    const Fr g = Fr::from_u64(kFrGenerator);
    inverse_size_ = Fr::from_u64(uint64_t{1} << log_n_).inverse();
    fill_root(forward_, w, g);
    fill_root(inverse_, w.inverse(), g.inverse());
    fill_powers(coset_powers_, g);
    fill_powers(inverse_coset_powers_, g.inverse());
  }

  void columns_ct(Root root, bool coset, Fr* x) const override {
    for_each_tile(columns() / kTileWidth, size(), std::vector<V>(rows() * kVectors),
                  [&](size_t tile, std::vector<V>& scratch) {
                    columns_ct_tile(tables(root), coset, x + tile * kTileWidth, scratch.data());
                  });
  }

  void rows_ct(Root root, bool coset, Scale scale, Fr* x) const override {
    const Fr factor = scale == Scale::kNone ? Fr::one() : inverse_size_;
    for_each_tile(rows() / kTileWidth, size(), std::vector<V>(columns() * kVectors),
                  [&](size_t tile, std::vector<V>& scratch) {
                    Indices row;
                    for (size_t l = 0; l < kTileWidth; ++l) row[l] = tile * kTileWidth + l;
                    rows_ct_tile(tables(root), coset, x, row, scratch.data());
                    scale_tile(scale, factor, row, scratch.data());
                    store_rows(x, row, scratch.data());
                  });
  }

  void rows_ct_natural(Root root, Scale scale, const Fr* x, Fr* out, const Fr& factor) const override {
    const Fr all = scale == Scale::kNone ? factor : factor * inverse_size_;
    for_each_tile(rows() / kTileWidth, size(), std::vector<V>(columns() * kVectors),
                  [&](size_t tile, std::vector<V>& scratch) {
                    Indices row;  // the rows whose bit-reversed numbers are neighbours
                    for (size_t l = 0; l < kTileWidth; ++l) row[l] = reverse_bits(tile * kTileWidth + l, log_rows_);
                    rows_ct_tile(tables(root), false, x, row, scratch.data());
                    scale_tile(scale, all, row, scratch.data());
                    store_natural(out + tile * kTileWidth, scratch.data());
                  });
  }

  void rows_to_coset(Fr* x, const Fr& factor) const override {
    const Fr all = factor * inverse_size_;
    for_each_tile(rows() / kTileWidth, size(), std::vector<V>(columns() * kVectors),
                  [&](size_t tile, std::vector<V>& scratch) {
                    Indices row;
                    for (size_t l = 0; l < kTileWidth; ++l) row[l] = tile * kTileWidth + l;
                    rows_ct_tile(inverse_, false, x, row, scratch.data());
                    scale_powers(coset_powers_, all, row, scratch.data());
                    rows_gs_tile(forward_, row, scratch.data());
                    store_rows(x, row, scratch.data());
                  });
  }

  void columns_quotient(Fr* a, const Fr* b, const Fr* c) const override {
    for_each_tile(columns() / kTileWidth, size(), std::vector<V>(3 * rows() * kVectors),
                  [&](size_t tile, std::vector<V>& scratch) {
                    const size_t first = tile * kTileWidth;
                    quotient_tile(a + first, b + first, c + first, scratch.data());
                  });
  }

  Fr product_factor() const override { return V::factor(); }

 private:
  size_t size() const { return size_t{1} << log_n_; }
  size_t rows() const { return size_t{1} << log_rows_; }
  size_t columns() const { return size_t{1} << log_columns_; }
  const RootTables& tables(Root root) const { return root == Root::kForward ? forward_ : inverse_; }

  void fill_root(RootTables& out, const Fr& w, const Fr& g) const {
    const size_t half = std::max(rows(), columns()) / 2;
    const unsigned half_bits = std::max(log_rows_, log_columns_) - 1;
    Fr step = w;  // of order 2 * half
    for (unsigned i = 0; i < log_n_ - half_bits - 1; ++i) step = step.square();
    out.twiddle.resize(half);
    Fr power = Fr::one();
    for (size_t j = 0; j < half; ++j, power *= step) out.twiddle[reverse_bits(j, half_bits)] = V::twiddle(power);
    out.row_root.resize(rows());
    power = V::factor();
    for (size_t r = 0; r < rows(); ++r, power *= w) out.row_root[reverse_bits(r, log_rows_)] = power;
    out.coset_shift = g;
    power = g;
    std::vector<Fr> squares;  // g^(2^i)
    for (unsigned i = 0; i < log_n_; ++i, power = power.square()) squares.push_back(power);
    for (unsigned s = 0; s < log_rows_; ++s) out.column_coset.push_back(V::twiddle(squares[log_n_ - s - 1]));
  }

  void fill_powers(PowerTables& out, const Fr& g) const {
    out.row.resize(rows());
    Fr power = V::factor();
    for (size_t r = 0; r < rows(); ++r, power *= g) out.row[reverse_bits(r, log_rows_)] = power;
    const Fr step = g.pow(uint64_t{1} << log_rows_);
    out.column.resize(columns());
    power = Fr::one();
    for (size_t e = 0; e < columns(); ++e, power *= step) {
      out.column[reverse_bits(e, log_columns_)] = V::twiddle(power);
    }
  }

  static constexpr Indices kNeighbours = {0, 1, 2, 3, 4, 5, 6, 7};

  CUZK_NTT_TARGET void load_columns(const Fr* x, V* tile) const {
    for (size_t r = 0; r < rows(); ++r) {
      const Fr* from = x + (r << log_columns_);
      for (size_t t = 0; t < kVectors; ++t) tile[r * kVectors + t] = V::load(from, &kNeighbours[t * V::kLanes]);
    }
  }
  CUZK_NTT_TARGET void store_columns(Fr* x, const V* tile) const {
    for (size_t r = 0; r < rows(); ++r) {
      Fr* to = x + (r << log_columns_);
      for (size_t t = 0; t < kVectors; ++t) tile[r * kVectors + t].store(to, &kNeighbours[t * V::kLanes]);
    }
  }

  CUZK_NTT_TARGET void columns_ct_tile(const RootTables& root, bool coset, Fr* x, V* tile) const {
    load_columns(x, tile);
    if (coset) {
      Shifts h;
      for (unsigned s = 0; s < log_rows_; ++s) h[s] = V::broadcast(root.column_coset[s]);
      ct_stages(tile, log_rows_, kVectors, ShiftedTwiddles<V>{root.twiddle.data(), h.data()});
    } else {
      ct_stages(tile, log_rows_, kVectors, PlainTwiddles<V>{root.twiddle.data()});
    }
    store_columns(x, tile);
  }

  // The shift of stage s of a row is root^(C / 2^(s+1)).
  CUZK_NTT_TARGET void row_shifts(const RootTables& root, bool coset, const size_t* row, Shifts& h) const {
    h[log_columns_ - 1] = V::load(root.row_root.data(), row);
    if (coset) h[log_columns_ - 1] = V::mul(h[log_columns_ - 1], V::broadcast(V::twiddle(root.coset_shift)));
    for (unsigned s = log_columns_ - 1; s-- > 0;) h[s] = V::mul(h[s + 1], h[s + 1]);
  }

  // Rows in a tile: vector t holds rows row[t*kLanes ...], one column after the other.
  CUZK_NTT_TARGET void rows_ct_tile(const RootTables& root, bool coset, const Fr* x, const Indices& row,
                                    V* tile) const {
    Indices start;
    for (size_t l = 0; l < kTileWidth; ++l) start[l] = row[l] << log_columns_;
    for (size_t t = 0; t < kVectors; ++t) {
      V* part = tile + (t << log_columns_);
      for (size_t e = 0; e < columns(); ++e) part[e] = V::load(x + e, &start[t * V::kLanes]);
      Shifts h;
      row_shifts(root, coset, &row[t * V::kLanes], h);
      ct_stages(part, log_columns_, 1, ShiftedTwiddles<V>{root.twiddle.data(), h.data()});
    }
  }
  CUZK_NTT_TARGET void rows_gs_tile(const RootTables& root, const Indices& row, V* tile) const {
    for (size_t t = 0; t < kVectors; ++t) {
      Shifts h;
      row_shifts(root, false, &row[t * V::kLanes], h);
      gs_stages(tile + (t << log_columns_), log_columns_, 1, ShiftedTwiddles<V>{root.twiddle.data(), h.data()});
    }
  }
  CUZK_NTT_TARGET void store_rows(Fr* x, const Indices& row, const V* tile) const {
    Indices start;
    for (size_t l = 0; l < kTileWidth; ++l) start[l] = row[l] << log_columns_;
    for (size_t t = 0; t < kVectors; ++t) {
      const V* part = tile + (t << log_columns_);
      for (size_t e = 0; e < columns(); ++e) part[e].store(x + e, &start[t * V::kLanes]);
    }
  }
  CUZK_NTT_TARGET void store_natural(Fr* out, const V* tile) const {
    for (size_t i = 0; i < columns(); ++i) {
      const size_t e = reverse_bits(i, log_columns_);
      Fr* to = out + (i << log_rows_);
      for (size_t t = 0; t < kVectors; ++t) tile[(t << log_columns_) + e].store(to, &kNeighbours[t * V::kLanes]);
    }
  }

  CUZK_NTT_TARGET void scale_tile(Scale scale, const Fr& factor, const Indices& row, V* tile) const {
    if (scale == Scale::kInverseCoset) return scale_powers(inverse_coset_powers_, factor, row, tile);
    if (factor == Fr::one()) return;
    const V f = V::broadcast(V::twiddle(factor));
    for (size_t i = 0; i < kVectors << log_columns_; ++i) tile[i] = V::mul(tile[i], f);
  }
  CUZK_NTT_TARGET void scale_powers(const PowerTables& powers, const Fr& factor, const Indices& row, V* tile) const {
    const V f = V::broadcast(V::twiddle(factor));
    for (size_t t = 0; t < kVectors; ++t) {
      V* part = tile + (t << log_columns_);
      const V base = V::mul(V::load(powers.row.data(), &row[t * V::kLanes]), f);
      for (size_t e = 0; e < columns(); ++e) {
        part[e] = V::mul(part[e], V::mul(V::broadcast(powers.column[e]), base));
      }
    }
  }

  CUZK_NTT_TARGET void quotient_tile(Fr* a, const Fr* b, const Fr* c, V* scratch) const {
    const size_t count = rows() * kVectors;
    V* ta = scratch;
    V* tb = scratch + count;
    V* tc = tb + count;
    const PlainTwiddles<V> forward{forward_.twiddle.data()};
    load_columns(c, tc);
    gs_stages(tc, log_rows_, kVectors, forward);
    load_columns(b, tb);
    gs_stages(tb, log_rows_, kVectors, forward);
    load_columns(a, ta);
    gs_stages(ta, log_rows_, kVectors, forward);
    for (size_t i = 0; i < count; ++i) ta[i] = V::sub(V::mul(ta[i], tb[i]), tc[i]);
    ct_stages(ta, log_rows_, kVectors, PlainTwiddles<V>{inverse_.twiddle.data()});
    store_columns(a, ta);
  }

  unsigned log_n_, log_rows_, log_columns_;
  Fr inverse_size_;
  RootTables forward_, inverse_;
  PowerTables coset_powers_, inverse_coset_powers_;
};

}  // namespace cuzk::ntt
