#include "ntt/ntt.hpp"

#include <utility>

#include "base/assert.hpp"
#include "ntt/engine.hpp"
#include "parallel/parallel.hpp"

#define CUZK_NTT_TARGET
#include "ntt/passes.hpp"

namespace cuzk {
namespace ntt {
namespace {

// One element, always fully reduced.
struct PortableLane {
  static constexpr size_t kLanes = 1;
  using Twiddle = Fr;
  Fr v;

  static PortableLane load(const Fr* base, const size_t* index) { return {base[*index]}; }
  void store(Fr* base, const size_t* index) const { base[*index] = v; }
  static PortableLane broadcast(const Twiddle& w) { return {w}; }
  static Twiddle twiddle(const Fr& w) { return w; }
  static Fr factor() { return Fr::one(); }
  static PortableLane mul(const PortableLane& a, const PortableLane& b) { return {a.v * b.v}; }
  static PortableLane sub(const PortableLane& a, const PortableLane& b) { return {a.v - b.v}; }
  static void ct(PortableLane& a, PortableLane& b, const PortableLane& w) {
    const Fr t = b.v * w.v;
    b.v = a.v - t;
    a.v = a.v + t;
  }
  static void gs(PortableLane& a, PortableLane& b, const PortableLane& w) {
    const Fr t = a.v - b.v;
    a.v = a.v + b.v;
    b.v = t * w.v;
  }
};

// Cooley and Tukey's algorithm as in the books, for sizes too small to cut.
void small_transform(std::span<Fr> x, unsigned log2_size, const Fr& root) {
  bit_reverse(x.data(), log2_size);
  for (unsigned s = 0; s < log2_size; ++s) {
    const size_t half = size_t{1} << s;
    const Fr step = root.pow(uint64_t{1} << (log2_size - s - 1));
    for (size_t begin = 0; begin < x.size(); begin += 2 * half) {
      Fr w = Fr::one();
      for (size_t i = begin; i < begin + half; ++i, w *= step) {
        const Fr t = x[i + half] * w;
        x[i + half] = x[i] - t;
        x[i] += t;
      }
    }
  }
}

// x_i *= factor * base^i.
void small_scale(std::span<Fr> x, const Fr& base, const Fr& factor) {
  Fr power = factor;
  for (Fr& v : x) {
    v *= power;
    power *= base;
  }
}

constexpr unsigned kBlockLog2 = 4;
constexpr size_t kBlock = size_t{1} << kBlockLog2;

// Exchanges the blocks of `middle` and of its mirror image, each transposed and bit-reversed.
void bit_reverse_blocks(Fr* x, unsigned log2_size, size_t middle, const size_t* reversed) {
  const unsigned shift = log2_size - kBlockLog2;
  const size_t mirror = reverse_bits(middle, log2_size - 2 * kBlockLog2);
  if (mirror < middle) return;
  std::array<Fr, kBlock * kBlock> block;
  Fr* from = x + (middle << kBlockLog2);
  Fr* to = x + (mirror << kBlockLog2);
  for (size_t hi = 0; hi < kBlock; ++hi) {
    for (size_t lo = 0; lo < kBlock; ++lo) block[reversed[lo] * kBlock + reversed[hi]] = from[(hi << shift) + lo];
  }
  for (size_t hi = 0; hi < kBlock; ++hi) {
    for (size_t lo = 0; lo < kBlock; ++lo) {
      std::swap(block[hi * kBlock + lo], to[(hi << shift) + lo]);
    }
  }
  if (mirror == middle) return;
  for (size_t hi = 0; hi < kBlock; ++hi) {
    for (size_t lo = 0; lo < kBlock; ++lo) from[(reversed[lo] << shift) + reversed[hi]] = block[hi * kBlock + lo];
  }
}

}  // namespace

void bit_reverse(Fr* x, unsigned log2_size) {
  if (log2_size < 2 * kBlockLog2) {
    for (size_t i = 0; i < size_t{1} << log2_size; ++i) {
      const size_t j = reverse_bits(i, log2_size);
      if (i < j) std::swap(x[i], x[j]);
    }
    return;
  }
  std::array<size_t, kBlock> reversed;
  for (size_t i = 0; i < kBlock; ++i) reversed[i] = reverse_bits(i, kBlockLog2);
  parallel_for(size_t{1} << (log2_size - 2 * kBlockLog2), 256, [&](size_t begin, size_t end) {
    for (size_t middle = begin; middle < end; ++middle) bit_reverse_blocks(x, log2_size, middle, reversed.data());
  });
}

Fr root_of_unity(unsigned log2_size) {
  Fr root = fr_root_of_unity();
  for (unsigned i = log2_size; i < kFrTwoAdicity; ++i) root = root.square();
  return root;
}

namespace {
std::unique_ptr<const Engine> make_engine(unsigned log2_size, [[maybe_unused]] Arithmetic arithmetic) {
#if CUZK_X86_ASM
  if (arithmetic == Arithmetic::kFastest && cpu_features().avx512_ifma) return make_ifma_engine(log2_size);
#endif
  return make_portable_engine(log2_size);
}
}  // namespace

std::unique_ptr<const Engine> make_portable_engine(unsigned log2_size) {
  return std::make_unique<PassEngine<PortableLane>>(log2_size);
}

}  // namespace ntt

Domain::Domain(unsigned log2_size, ntt::Arithmetic arithmetic) : log2_size_(log2_size) {
  CUZK_ASSERT(log2_size <= kMaxLog2Size);
  root_ = ntt::root_of_unity(log2_size);
  z_on_coset_ = Fr::from_u64(kFrGenerator).pow(uint64_t{1} << log2_size) - Fr::one();
  if (log2_size >= ntt::kMinEngineLog2) engine_ = ntt::make_engine(log2_size, arithmetic);
}
Domain::~Domain() = default;
Domain::Domain(Domain&&) noexcept = default;
Domain& Domain::operator=(Domain&&) noexcept = default;

void Domain::forward(std::span<Fr> values) const {
  CUZK_ASSERT(values.size() == size());
  if (!engine_) return ntt::small_transform(values, log2_size_, root_);
  engine_->columns_ct(ntt::Root::kForward, false, values.data());
  engine_->rows_ct(ntt::Root::kForward, false, ntt::Scale::kNone, values.data());
  ntt::bit_reverse(values.data(), log2_size_);
}

void Domain::inverse(std::span<Fr> values) const {
  CUZK_ASSERT(values.size() == size());
  if (!engine_) {
    ntt::small_transform(values, log2_size_, root_.inverse());
    return ntt::small_scale(values, Fr::one(), Fr::from_u64(size()).inverse());
  }
  engine_->columns_ct(ntt::Root::kInverse, false, values.data());
  engine_->rows_ct(ntt::Root::kInverse, false, ntt::Scale::kInverseSize, values.data());
  ntt::bit_reverse(values.data(), log2_size_);
}

void Domain::coset_forward(std::span<Fr> values) const {
  CUZK_ASSERT(values.size() == size());
  if (!engine_) {
    ntt::small_scale(values, Fr::from_u64(kFrGenerator), Fr::one());
    return ntt::small_transform(values, log2_size_, root_);
  }
  engine_->columns_ct(ntt::Root::kForward, true, values.data());
  engine_->rows_ct(ntt::Root::kForward, true, ntt::Scale::kNone, values.data());
  ntt::bit_reverse(values.data(), log2_size_);
}

void Domain::coset_inverse(std::span<Fr> values) const {
  CUZK_ASSERT(values.size() == size());
  if (!engine_) {
    ntt::small_transform(values, log2_size_, root_.inverse());
    return ntt::small_scale(values, Fr::from_u64(kFrGenerator).inverse(), Fr::from_u64(size()).inverse());
  }
  engine_->columns_ct(ntt::Root::kInverse, false, values.data());
  engine_->rows_ct(ntt::Root::kInverse, false, ntt::Scale::kInverseCoset, values.data());
  ntt::bit_reverse(values.data(), log2_size_);
}

}  // namespace cuzk
