// Poseidon on eight preimages at once with AVX-512 IFMA (field/ifma_fr.hpp): the fast permutation of poseidon.cpp, a
// hash a lane. Sums of products are accumulated in columns and reduced once.
//
// Bounds, in multiples of r, for every width up to 37; constants are below 1. Loaded elements are below 16, with their
// constant 17: powers below 9.2, 3.4, 2.6, with the next constant 3.7. A dense row is below 37*3.7/35.3 + 1 = 4.9, so
// in all later rounds powers with their constant are below 2.8. In a partial round an element grows by less than 1.1,
// for kRoundsBetween rounds from below 4.9, to 13.7 at most; element 0 becomes less than 36*13.7/35.3 + 1.1 = 15.1,
// whose powers (7.5, 2.6, 2.2) with their constant are below 3.2. All far below the 35.3 that fit.
#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "field/ifma_fr.hpp"
#include "hash/poseidon_lanes.hpp"

#if CUZK_X86_ASM

namespace cuzk::detail {
namespace {

using ifma::Columns;
using ifma::FrLanes;
using ifma::FrLimbs;
using ifma::kFrModulus;

constexpr size_t kMaxWidth = kPoseidonMaxArity + 1;
constexpr unsigned kRoundsBetween = 8;

struct LaneConstants {
  std::vector<FrLimbs> compressed, mds, pre_sparse, sparse;
};

std::vector<FrLimbs> limbs_of(const std::vector<Fr>& values) {
  std::vector<FrLimbs> out;
  out.reserve(values.size());
  for (const Fr& value : values) out.push_back(ifma::to_fr_limbs(value));
  return out;
}

const LaneConstants& lane_constants(const PoseidonConstants& k) {
  static std::array<std::unique_ptr<const LaneConstants>, kMaxWidth> all;
  static std::array<std::once_flag, kMaxWidth> made;
  std::call_once(made[k.arity], [&] {
    all[k.arity] = std::make_unique<const LaneConstants>(
        LaneConstants{limbs_of(k.compressed), limbs_of(k.mds), limbs_of(k.pre_sparse), limbs_of(k.sparse)});
  });
  return *all[k.arity];
}

// Element i of eight preimages, times 2^260: below 16 r.
CUZK_IFMA_INLINE FrLanes load(const Fr* preimages, size_t arity, size_t i) {
  static_assert(sizeof(Fr) == 32);
  const int64_t step = static_cast<int64_t>(4 * arity);
  const __m512i index = _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), _mm512_set1_epi64(step));
  __m512i words[4];
#pragma GCC unroll 4
  for (size_t w = 0; w < 4; ++w) {
    words[w] = _mm512_i64gather_epi64(index, reinterpret_cast<const char*>(preimages + i) + 8 * w, 8);
  }
  return ifma::from_words<5, 4, 4>(words);
}

CUZK_IFMA_INLINE void store(FrLanes x, Fr* out) {
  // From 2^260 to the 2^256 of Fr: times 2^256, which is what Fr stores for one.
  x = ifma::mul<5>(x, ifma::broadcast<5>(ifma::to_limbs52<5>(Fr::one().montgomery())), kFrModulus);
  ifma::reduce_once(x, kFrModulus);
  alignas(64) uint64_t words[4][8];
  __m512i w[4];
  ifma::to_words<5, 4>(x, w);
  for (size_t i = 0; i < 4; ++i) _mm512_store_si512(words[i], w[i]);
  for (size_t lane = 0; lane < kPoseidonLanes; ++lane) {
    out[lane] = Fr::from_montgomery({words[0][lane], words[1][lane], words[2][lane], words[3][lane]});
  }
}

CUZK_IFMA_INLINE void add(FrLanes& x, const FrLimbs& constant) {
  x = ifma::add_limbs(x, ifma::broadcast<5>(constant));
  ifma::tidy(x);
}

CUZK_IFMA_INLINE void fifth_power_plus(FrLanes& x, const FrLimbs* post) {
  const FrLanes x4 = ifma::sqr<5>(ifma::sqr<5>(x, kFrModulus), kFrModulus);
  x = ifma::mul<5>(x4, x, kFrModulus);
  if (post != nullptr) add(x, *post);
}

CUZK_IFMA_INLINE void add_product(Columns<5>& sum, const FrLanes& x, const FrLimbs& y) {
  auto& t = sum.t;
#pragma GCC unroll 5
  for (size_t j = 0; j < 5; ++j) {
    const __m512i yj = _mm512_set1_epi64(static_cast<int64_t>(y[j]));
#pragma GCC unroll 5
    for (size_t i = 0; i < 5; ++i) t[i + j] = _mm512_madd52lo_epu64(t[i + j], x.l[i], yj);
#pragma GCC unroll 5
    for (size_t i = 0; i < 5; ++i) t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], x.l[i], yj);
  }
}

// sum state[i] * row[i * stride]; columns stay below 2^52 * 10 * 37.
CUZK_IFMA_TARGET FrLanes dot(const FrLanes* state, const FrLimbs* row, size_t stride, size_t t) {
  Columns<5> sum;
#pragma GCC unroll 10
  for (auto& column : sum.t) column = _mm512_setzero_si512();
  for (size_t i = 0; i < t; ++i) add_product(sum, state[i], row[i * stride]);
  return ifma::reduce_columns<5>(sum, kFrModulus);
}

CUZK_IFMA_TARGET void mix_dense(FrLanes* state, const FrLimbs* matrix, size_t t) {
  FrLanes next[kMaxWidth];
  for (size_t j = 0; j < t; ++j) next[j] = dot(state, matrix + j, t, t);
  for (size_t j = 0; j < t; ++j) state[j] = next[j];
}

CUZK_IFMA_TARGET void mix_sparse(FrLanes* state, const FrLimbs* w_hat, const FrLimbs* v_rest, size_t t) {
  const FrLanes first = dot(state, w_hat, 1, t);
  for (size_t j = 1; j < t; ++j) {
    const FrLanes product = ifma::mul<5>(state[0], ifma::broadcast<5>(v_rest[j - 1]), kFrModulus);
    state[j] = ifma::add_limbs(state[j], product);
    ifma::tidy(state[j]);
  }
  state[0] = first;
}

}  // namespace

CUZK_IFMA_TARGET void poseidon_hash_lanes(const PoseidonConstants& k, const Fr* preimages, uint64_t tag, Fr* out) {
  const LaneConstants& constants = lane_constants(k);
  const size_t t = k.width;
  const FrLimbs* post = constants.compressed.data();
  FrLanes state[kMaxWidth];
  state[0] = ifma::broadcast<5>(ifma::to_fr_limbs(Fr::from_u64(tag)));
  for (size_t i = 1; i < t; ++i) state[i] = load(preimages, k.arity, i - 1);
  for (size_t i = 0; i < t; ++i) add(state[i], *post++);
  for (int round = 0; round < 4; ++round) {
    for (size_t i = 0; i < t; ++i) fifth_power_plus(state[i], post++);
    mix_dense(state, (round < 3 ? constants.mds : constants.pre_sparse).data(), t);
  }
  const FrLimbs* sparse = constants.sparse.data();
  for (unsigned round = 0; round < k.partial_rounds; ++round, sparse += t + t - 1) {
    if (round % kRoundsBetween == kRoundsBetween - 1) {
      for (size_t i = 1; i < t; ++i) ifma::reduce_below_2r(state[i]);
    }
    fifth_power_plus(state[0], post++);
    mix_sparse(state, sparse, sparse + t, t);
  }
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < t; ++i) fifth_power_plus(state[i], post++);
    mix_dense(state, constants.mds.data(), t);
  }
  for (size_t i = 0; i < t; ++i) fifth_power_plus(state[i], nullptr);
  store(dot(state, constants.mds.data() + 1, t, t), out);
}

}  // namespace cuzk::detail

#else

#include "base/assert.hpp"

namespace cuzk::detail {
void poseidon_hash_lanes(const PoseidonConstants&, const Fr*, uint64_t, Fr*) { CUZK_ASSERT(false); }
}  // namespace cuzk::detail

#endif  // CUZK_X86_ASM
