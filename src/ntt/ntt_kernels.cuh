// One pass of a transform on the device. Everything but the kernels themselves also compiles for the host, where a test
// runs the phases of a block one after the other (ntt_emulation_test.cpp).
//
// Level l of a transform of 2^k elements pairs those whose numbers differ in bit k-1-l, and has one twiddle for each
// value of the bits above. Cooley and Tukey's form (natural order in, bit-reversed out) makes (u + w*v, u - w*v) of a
// pair, levels upwards; Gentleman and Sande's, its inverse, makes (u + v, (u - v)/w), levels downwards. A coset costs
// nothing: it is in the twiddles.
//
// A pass works on tiles of 2^kTileLog2 elements. A tile's number p has the bits of its levels ("rows"), at the low end
// in the last pass, where tiles are contiguous, and otherwise above the bits of some neighbouring columns. Threads hold
// eight elements, those with equal p except in the three bits of a *window*; between windows they exchange through
// shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"
#include "field/fr.hpp"
#include "ntt/lazy_fr.cuh"
#include "ntt/ntt_tuning.hpp"
#include "ntt/prepared_twiddle.cuh"

namespace cuzk::ntt {

// Twiddles of one direction and coset, on the device.
struct TwiddleTables {
  const PreparedTwiddle* levels;  // entry 2^l + b: level l, bits above b
  const Fr* low;                  // w^j * the last level's coset factor, j < 2^kLowExponentBits
  const Fr* high;                 // w^(j * 2^kLowExponentBits)
  const Fr* factors;              // coset factor of level l over that of the last level; null without a coset
  const PreparedTwiddle* roots;   // of order 4 and 8, and the cube of the latter
};

struct PassArguments {
  Fr* data;
  TwiddleTables tables;
  unsigned log2_size, first_level, levels;
  bool trivial;         // the twiddles of the first two levels are 1, 1, and a root of order 4
  bool reduce;          // write canonical residues
  unsigned scale_bits;  // divide by 2^scale_bits when writing

  CUZK_HD unsigned column_bits() const { return log2_size - first_level - levels; }
  // The place of the lowest row bit in p.
  CUZK_HD unsigned row_shift() const { return column_bits() == 0 ? 0 : kTileLog2 - levels; }
  CUZK_HD unsigned windows() const { return levels <= 3 ? 1 : (levels + 2) / 3; }
  // The lowest p bit of window i, counted from the high end; the last one may overlap the one before.
  CUZK_HD unsigned window_low(unsigned i) const {
    const unsigned below = levels > 3 * (i + 1) ? levels - 3 * (i + 1) : 0;
    return row_shift() + below;
  }
  // How many levels, the lowest of its bits, window i works on.
  CUZK_HD unsigned window_levels(unsigned i) const { return levels >= 3 * (i + 1) ? 3 : levels - 3 * i; }
};

// Where a thread's elements are neighbours in memory, for the contiguous tiles of the last pass.
inline constexpr unsigned kMemoryLow = kTileLog2 - kThreadElementsLog2;

CUZK_HD inline unsigned position(unsigned thread, unsigned j, unsigned low) {
  return (thread >> low) << (low + 3) | j << low | (thread & ((1U << low) - 1));
}
// The 16-byte slot of p: neighbours in p and in p/8 fall on different banks.
CUZK_HD inline unsigned slot(unsigned p) { return p ^ (p >> 3 & 7); }

CUZK_HD inline size_t address(const PassArguments& pass, unsigned block, unsigned p) {
  const unsigned columns = pass.column_bits();
  if (columns == 0) return static_cast<size_t>(block) << kTileLog2 | p;
  const unsigned shift = pass.row_shift(), chunks = columns - shift;
  const size_t column = static_cast<size_t>(block & ((1U << chunks) - 1)) << shift | (p & ((1U << shift) - 1));
  return static_cast<size_t>(block >> chunks) << (columns + pass.levels) | static_cast<size_t>(p >> shift) << columns |
         column;
}

// The bits of the element's number above the window.
CUZK_HD inline unsigned bits_above(const PassArguments& pass, unsigned block, unsigned thread, unsigned low) {
  const unsigned columns = pass.column_bits(), above = thread >> low;
  const unsigned rows_above = pass.levels + pass.row_shift() > low + 3 ? pass.levels + pass.row_shift() - low - 3 : 0;
  if (columns == 0) {
    const unsigned all = block << (kTileLog2 - low - 3) | above;
    return all & ((1U << (pass.first_level + rows_above)) - 1);  // of elements beyond a small transform: nothing
  }
  return block >> (columns - pass.row_shift()) << rows_above | above;
}

CUZK_HD inline unsigned reversed(unsigned value, unsigned bits) {
#if defined(__CUDA_ARCH__)
  return bits == 0 ? 0 : __brev(value) >> (32 - bits);
#else
  unsigned out = 0;
  for (unsigned i = 0; i < bits; ++i) out |= (value >> i & 1) << (bits - 1 - i);
  return out;
#endif
}

// w^exponent times the last level's coset factor; reduced.
CUZK_HD inline LazyFr generate(const TwiddleTables& tables, unsigned exponent) {
  LazyFr w = LazyFr::mul(LazyFr::load_table(tables.high + (exponent >> kLowExponentBits)),
                         LazyFr::load_table(tables.low + (exponent & ((1U << kLowExponentBits) - 1))));
  w.reduce_once();
  return w;
}

// Twiddles of all windows but the last of a generating pass, one a thread: 64 for each of a tile's transforms of 2^9,
// entry 2^t + b for the pass's level t.
static_assert(kGeneratedLevels == 9 && kTileLog2 >= kGeneratedLevels && kThreadElementsLog2 == 3);
CUZK_HD inline Prepared shared_twiddle(const PassArguments& pass, unsigned block, unsigned thread) {
  const unsigned entry = thread & 63;
  unsigned t = 0;
  while (entry >> (t + 1) != 0) ++t;
  const unsigned b = (block << (kTileLog2 - kGeneratedLevels) | thread >> 6) << t | (entry & ((1U << t) - 1));
  LazyFr w = generate(pass.tables, reversed(b, pass.log2_size - 1));
  if (pass.tables.factors != nullptr) {
    w = LazyFr::mul(LazyFr::load_table(pass.tables.factors + pass.first_level + t), w);
    w.reduce_once();
  }
  return Prepared::of(w);
}

CUZK_HD inline LazyFr times(const LazyFr& w, const LazyFr& v) { return LazyFr::mul(w, v); }
CUZK_HD inline LazyFr times(const Prepared& w, const LazyFr& v) { return w.mul(v); }

template <bool kGentlemanSande, class Twiddle>
CUZK_HD inline void butterfly(LazyFr& u, LazyFr& v, const Twiddle& w, bool trivial) {
  if constexpr (kGentlemanSande) {
    const LazyFr difference = LazyFr::sub(u, v);
    u = LazyFr::add_below_twice(u, v);
    v = difference;
    if (!trivial) v = times(w, v);
  } else {
    if (!trivial) v = times(w, v);
    const LazyFr difference = LazyFr::sub(u, v);
    u = LazyFr::add(u, v);
    v = difference;
  }
}

// One level of a window whose twiddles are in a table.
template <bool kGentlemanSande, int kBit>
CUZK_HD inline void table_level(LazyFr (&x)[8], const PreparedTwiddle* twiddles, bool trivial) {
  CUZK_UNROLL
  for (int block = 0; block < 4 >> kBit; ++block) {
    const Prepared w = Prepared::load(twiddles + block);
    CUZK_UNROLL
    for (int i = 0; i < 1 << kBit; ++i) {
      const int u = block << (kBit + 1) | i;
      butterfly<kGentlemanSande>(x[u], x[u | 1 << kBit], w, trivial && kBit >= 1 && block == 0);
    }
  }
}

// What was stored is loaded again where it is read, instead of being held in registers.
CUZK_HD inline void keep_in_memory() {
#if defined(__CUDA_ARCH__)
  asm volatile("" ::: "memory");
#endif
}

// The lower two levels of the last window of a generating pass. All its twiddles come from one: of its lowest level
// `power` itself, of the next its square, and so on; those of odd blocks are products with roots of order 4 and 8.
template <bool kGentlemanSande, int kBit>
CUZK_HD inline void generated_level(LazyFr (&x)[8], const TwiddleTables& tables, const Fr* power) {
  CUZK_UNROLL
  for (int block = 0; block < 4 >> kBit; ++block) {
    LazyFr w = LazyFr::load(power);
    if (block > 0) {  // blocks 1, 2, 3 in bit-reversed order
      w = Prepared::load(tables.roots + (block - 1)).mul(w);
      w.reduce_once();
    }
    CUZK_UNROLL
    for (int i = 0; i < 1 << kBit; ++i) {
      const int u = block << (kBit + 1) | i;
      butterfly<kGentlemanSande>(x[u], x[u | 1 << kBit], w, false);
    }
  }
}

// The levels of the last window of a generating pass. `scratch`: two elements of this thread's, which would not fit its
// registers.
template <bool kGentlemanSande>
CUZK_HD inline void generated_window(LazyFr (&x)[8], const PassArguments& pass, unsigned block, unsigned thread,
                                     Fr* scratch) {
  constexpr bool kGs = kGentlemanSande;
  const TwiddleTables& tables = pass.tables;
  const auto square = [](const LazyFr& w) {
    LazyFr out = LazyFr::mul(w, w);
    out.reduce_once();
    return out;
  };
  LazyFr w = generate(tables, reversed(bits_above(pass, block, thread, 0) << 2, pass.log2_size - 1));
  w.store(scratch);
  w = square(w);
  w.store(scratch + 1);
  keep_in_memory();
  if constexpr (kGs) {
    generated_level<kGs, 0>(x, tables, scratch);
    generated_level<kGs, 1>(x, tables, scratch + 1);
    w = LazyFr::load(scratch + 1);
  }
  w = square(w);
  CUZK_UNROLL
  for (int j = 0; j < 4; ++j) butterfly<kGs>(x[j], x[j | 4], w, false);
  if constexpr (!kGs) {
    generated_level<kGs, 1>(x, tables, scratch + 1);
    generated_level<kGs, 0>(x, tables, scratch);
  }
}

// The levels of window `i`, in a generating pass not the last. `shared`: there, the twiddles of shared_twiddle().
template <bool kGentlemanSande, bool kGenerate>
CUZK_HD inline void table_window(LazyFr (&x)[8], const PassArguments& pass, unsigned block, unsigned thread, unsigned i,
                                 const PreparedTwiddle* shared) {
  constexpr bool kGs = kGentlemanSande;
  const unsigned low = pass.window_low(i), count = pass.window_levels(i);
  const unsigned above = bits_above(pass, block, thread, low);
  const bool trivial = pass.trivial && i == 0;
  // The level of the window's bit 2; levels that a short first window lacks are not used.
  const int top = static_cast<int>(pass.first_level + pass.levels + pass.row_shift()) - 3 - static_cast<int>(low);
  const PreparedTwiddle* table[3];
  CUZK_UNROLL
  for (int bit = 0; bit < 3; ++bit) {
    const int lev = top + 2 - bit;
    if constexpr (kGenerate) {
      // Entry 2^t + (row bits above) of the transform's 64.
      const unsigned t = static_cast<unsigned>(lev) - pass.first_level;
      const unsigned rows = (above << (2 - bit)) & ((1U << t) - 1);
      table[bit] = shared + ((thread >> 6) << 6 | 1U << t | rows);
    } else {
      table[bit] = pass.tables.levels + ((lev >= 0 ? size_t{1} << lev : 0) + (static_cast<size_t>(above) << (2 - bit)));
    }
  }
  if (kGs && count > 0) table_level<kGs, 0>(x, table[0], trivial);
  if (!kGs && (kGenerate || count > 2)) table_level<kGs, 2>(x, table[2], trivial);
  if (kGenerate || count > 1) table_level<kGs, 1>(x, table[1], trivial);
  if (kGs && (kGenerate || count > 2)) table_level<kGs, 2>(x, table[2], trivial);
  if (!kGs && count > 0) table_level<kGs, 0>(x, table[0], trivial);
}

// What becomes of an element when it is written.
template <bool kGentlemanSande>
CUZK_HD inline void finish(LazyFr& x, const PassArguments& pass) {
  if (!pass.reduce) return;
  if constexpr (!kGentlemanSande) x.reduce();
  if (pass.scale_bits > 0) x.divide_by_power(pass.scale_bits);
  if (kGentlemanSande || pass.scale_bits > 0) x.reduce_once();
}

// Entry 2^l + b of TwiddleTables::levels and entry j of low and high are powers of the root; `powers` has those of
// order 2^i: root^(2^i).
struct TablePowers {
  Fr root[32];
};
CUZK_HD inline Fr power_of_root(const TablePowers& powers, unsigned exponent) {
  Fr out = Fr::one();
  for (unsigned i = 0; i < 32; ++i) {
    if (exponent >> i & 1) out *= powers.root[i];
  }
  return out;
}
CUZK_HD inline Prepared level_twiddle(const TablePowers& powers, const Fr* coset_factors, unsigned log2_size,
                                      unsigned entry) {
  unsigned l = 0;
  while (entry >> (l + 1) != 0) ++l;
  const Fr w = power_of_root(powers, reversed(entry - (1U << l), log2_size - 1));
  const Fr twiddle = coset_factors == nullptr ? w : w * coset_factors[l];
  return Prepared::of(LazyFr::load(&twiddle));
}

// a*b*factor, reduced; a is reduced.
CUZK_HD inline Fr scaled_product(const Fr& a, const Fr& b, const Fr& factor) {
  LazyFr product = LazyFr::mul(LazyFr::load(&factor), LazyFr::mul(LazyFr::load(&a), LazyFr::load(&b)));
  Fr out;
  product.reduce_once();
  product.store(&out);
  return out;
}
// a - c*factor, reduced; a is reduced.
CUZK_HD inline Fr scaled_difference(const Fr& a, const Fr& c, const Fr& factor) {
  LazyFr difference = LazyFr::sub(LazyFr::load(&a), LazyFr::mul(LazyFr::load(&factor), LazyFr::load(&c)));
  Fr out;
  difference.reduce_once();
  difference.store(&out);
  return out;
}

#if defined(__CUDACC__)

// Moves a thread's elements from one window to another, half an element at a time. `slots` has 2^kTileLog2 entries.
__device__ __forceinline__ void exchange(LazyFr (&x)[8], uint4* slots, unsigned thread, unsigned from, unsigned to) {
#if defined(__CUDA_ARCH__)
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const uint32_t* w = x[j].w + 4 * half;
      slots[slot(position(thread, j, from))] = make_uint4(w[0], w[1], w[2], w[3]);
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const uint4 v = slots[slot(position(thread, j, to))];
      uint32_t* w = x[j].w + 4 * half;
      w[0] = v.x;
      w[1] = v.y;
      w[2] = v.z;
      w[3] = v.w;
    }
    __syncthreads();
  }
#endif
}

// One block a tile. In place: a tile is read before it is written, and no other block touches it.
template <bool kGentlemanSande, bool kGenerate>
__global__ void __launch_bounds__(kPassThreads, kPassBlocks) pass_kernel(const __grid_constant__ PassArguments pass) {
#if defined(__CUDA_ARCH__)
  __shared__ uint4 slots[1U << kTileLog2];
  __shared__ uint4 twiddles[kGenerate ? 4 * kPassThreads : 1];
  const unsigned thread = threadIdx.x, block = blockIdx.x;
  PreparedTwiddle* const shared = reinterpret_cast<PreparedTwiddle*>(twiddles);
  // A thread's own entry is also its scratch: before the others are made in the one form, after their last use in the
  // other.
  Fr* const scratch = reinterpret_cast<Fr*>(shared + thread);
  if constexpr (kGenerate && !kGentlemanSande) {
    shared_twiddle(pass, block, thread).store(shared + thread);
    __syncthreads();
  }
  const unsigned windows = pass.windows();
  const bool contiguous = pass.column_bits() == 0;
  const unsigned limit = pass.log2_size < kTileLog2 ? 1U << pass.log2_size : 1U << kTileLog2;
  unsigned low = !kGentlemanSande ? pass.window_low(0) : contiguous ? kMemoryLow : pass.window_low(windows - 1);
  LazyFr x[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const unsigned p = position(thread, j, low);
    if (p < limit) {
      x[j] = LazyFr::load(pass.data + address(pass, block, p));
    } else {
      x[j] = LazyFr{};
    }
  }
  const unsigned table_windows = kGenerate ? windows - 1 : windows;
  if constexpr (kGenerate && kGentlemanSande) {
    exchange(x, slots, thread, low, 0);
    low = 0;
    generated_window<true>(x, pass, block, thread, scratch);
    shared_twiddle(pass, block, thread).store(shared + thread);
  }
#pragma unroll 1
  for (unsigned i = 0; i < table_windows; ++i) {
    const unsigned w = kGentlemanSande ? table_windows - 1 - i : i, next = pass.window_low(w);
    if (next != low) exchange(x, slots, thread, low, next);
    low = next;
    table_window<kGentlemanSande, kGenerate>(x, pass, block, thread, w, shared);
  }
  if constexpr (kGenerate && !kGentlemanSande) {
    exchange(x, slots, thread, low, 0);
    low = 0;
    generated_window<false>(x, pass, block, thread, scratch);
  }
  if (!kGentlemanSande && contiguous) {
    exchange(x, slots, thread, low, kMemoryLow);
    low = kMemoryLow;
  }
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const unsigned p = position(thread, j, low);
    if (p < limit) {
      finish<kGentlemanSande>(x[j], pass);
      x[j].store(pass.data + address(pass, block, p));
    }
  }
#endif
}

static __global__ void level_table_kernel(const __grid_constant__ TablePowers powers, const Fr* coset_factors,
                                          unsigned log2_size, unsigned levels, unsigned entries, PreparedTwiddle* out) {
  const unsigned entry = blockIdx.x * blockDim.x + threadIdx.x;
  if (entry < entries) {
    const bool used = entry > 0 && entry < 1U << levels;
    if (used) {
      level_twiddle(powers, coset_factors, log2_size, entry).store(out + entry);
    } else {
      out[entry] = {};
    }
  }
}

// out_j = factor * root^(j << shift).
static __global__ void power_table_kernel(const __grid_constant__ TablePowers powers, const __grid_constant__ Fr factor,
                                          unsigned shift, unsigned entries, Fr* out) {
  const unsigned j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < entries) out[j] = factor * power_of_root(powers, j << shift);
}

static __global__ void multiply_kernel(Fr* a, const Fr* b, const __grid_constant__ Fr factor, size_t count) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < count) a[i] = scaled_product(a[i], b[i], factor);
}

static __global__ void subtract_kernel(Fr* a, const Fr* c, const __grid_constant__ Fr factor, size_t count) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < count) a[i] = scaled_difference(a[i], c[i], factor);
}

// The place to which element (row, column) of square `middle` goes: numbers are row, middle, column, with four bits of
// row and column, all reversed.
inline constexpr unsigned kReverseLog2 = 4;

// Exchanges square m and its mirror image; 256 threads a square.
static __global__ void bit_reverse_kernel(Fr* data, unsigned log2_size) {
#if defined(__CUDA_ARCH__)
  const unsigned middle_bits = log2_size - 2 * kReverseLog2;
  const size_t middle = blockIdx.x, mirror = reversed(blockIdx.x, middle_bits);
  if (mirror < middle) return;
  const unsigned row = threadIdx.x >> kReverseLog2, column = threadIdx.x & ((1U << kReverseLog2) - 1);
  const unsigned shift = log2_size - kReverseLog2;
  const size_t place = static_cast<size_t>(row) << shift | column;
  const size_t to = static_cast<size_t>(reversed(column, kReverseLog2)) << shift | reversed(row, kReverseLog2);
  const LazyFr x = LazyFr::load(data + (place | middle << kReverseLog2));
  const LazyFr y = LazyFr::load(data + (place | mirror << kReverseLog2));
  __syncthreads();
  x.store(data + (to | mirror << kReverseLog2));
  if (mirror != middle) y.store(data + (to | middle << kReverseLog2));
#endif
}

static __global__ void bit_reverse_small_kernel(Fr* data, unsigned log2_size) {
#if defined(__CUDA_ARCH__)
  const unsigned i = threadIdx.x, j = reversed(i, log2_size);
  if (i < j && j < 1U << log2_size) {
    const LazyFr x = LazyFr::load(data + i), y = LazyFr::load(data + j);
    x.store(data + j);
    y.store(data + i);
  }
#endif
}

#endif  // __CUDACC__

}  // namespace cuzk::ntt
