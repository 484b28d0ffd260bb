#include "hash/poseidon.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "field/cpu_features.hpp"
#include "hash/dot_product.hpp"
#include "hash/poseidon_lanes.hpp"

namespace cuzk {
namespace {

constexpr size_t kMaxWidth = kPoseidonMaxArity + 1;
using State = std::array<Fr, kMaxWidth>;

// Where the values of the circuit's variables go; NoTrace drops them.
struct NoTrace {
  void operator()(const Fr&) {}
};
struct Trace {
  Fr* next;
  void operator()(const Fr& value) { *next++ = value; }
};

template <class Sink>
Fr fifth_power_plus(const Fr& x, const Fr& post, Sink& sink) {
  const Fr x2 = x.square();
  const Fr x4 = x2.square();
  const Fr x5 = x4 * x + post;
  sink(x2);
  sink(x4);
  sink(x5);
  return x5;
}

// state := state * matrix (row vector).
void mix_dense(State& state, const std::vector<Fr>& matrix, size_t t) {
  State next;
  for (size_t j = 0; j < t; ++j) {
    next[j] = detail::dot_product(state.data(), &matrix[j], t, t);
  }
  std::copy_n(next.begin(), t, state.begin());
}

void mix_sparse(State& state, const Fr* w_hat, const Fr* v_rest, size_t t) {
  const Fr first = detail::dot_product(state.data(), w_hat, 1, t);
  for (size_t j = 1; j < t; ++j) state[j] += v_rest[j - 1] * state[0];
  state[0] = first;
}

// The fast permutation; `sink` receives every variable of the circuit in its order.
template <class Sink>
Fr permute(const PoseidonConstants& k, std::span<const Fr> preimage, uint64_t tag, Sink sink) {
  const size_t t = k.width;
  const Fr* post = k.compressed.data();
  State state;
  state[0] = Fr::from_u64(tag);
  for (size_t i = 1; i < t; ++i) state[i] = preimage[i - 1];
  for (size_t i = 0; i < t; ++i) state[i] += *post++;
  NoTrace none;
  for (int round = 0; round < 4; ++round) {
    for (size_t i = 0; i < t; ++i) {
      // In the first round the circuit works on the preimage itself, and element 0 is a constant.
      if (round > 0) sink(state[i]);
      state[i] =
          round == 0 && i == 0 ? fifth_power_plus(state[i], *post++, none) : fifth_power_plus(state[i], *post++, sink);
    }
    mix_dense(state, round < 3 ? k.mds : k.pre_sparse, t);
  }
  const Fr* sparse = k.sparse.data();
  for (unsigned round = 0; round < k.partial_rounds; ++round, sparse += t + t - 1) {
    sink(state[0]);
    state[0] = fifth_power_plus(state[0], *post++, sink);
    mix_sparse(state, sparse, sparse + t, t);
  }
  for (int round = 0; round < 4; ++round) {
    for (size_t i = 0; i < t; ++i) {
      sink(state[i]);
      state[i] = fifth_power_plus(state[i], round < 3 ? *post++ : Fr::zero(), sink);
    }
    mix_dense(state, k.mds, t);
  }
  CUZK_ASSERT(post == k.compressed.data() + k.compressed.size());
  sink(state[1]);
  return state[1];
}

}  // namespace

Fr poseidon_hash(std::span<const Fr> preimage, uint64_t tag) {
  return permute(poseidon_constants(static_cast<unsigned>(preimage.size())), preimage, tag, NoTrace());
}

Fr poseidon_hash(std::span<const Fr> preimage) {
  return poseidon_hash(preimage, poseidon_merkle_tag(static_cast<unsigned>(preimage.size())));
}

void poseidon_hashes(unsigned arity, std::span<const Fr> preimages, std::span<Fr> out) {
  constexpr size_t kLanes = detail::kPoseidonLanes;
  CUZK_ASSERT(preimages.size() == arity * out.size());
  const PoseidonConstants& k = poseidon_constants(arity);
  const uint64_t tag = poseidon_merkle_tag(arity);
  size_t done = 0;
  if (cpu_features().avx512_ifma) {
    for (; done + kLanes <= out.size(); done += kLanes) {
      detail::poseidon_hash_lanes(k, &preimages[done * arity], tag, &out[done]);
    }
    // Eight cost less than two one by one; the rest is filled up with its first.
    if (const size_t rest = out.size() - done; rest >= 2) {
      std::array<Fr, kLanes * kPoseidonMaxArity> padded;
      std::array<Fr, kLanes> hashes;
      for (size_t lane = 0; lane < kLanes; ++lane) {
        std::copy_n(&preimages[(done + (lane < rest ? lane : 0)) * arity], arity, &padded[lane * arity]);
      }
      detail::poseidon_hash_lanes(k, padded.data(), tag, hashes.data());
      std::copy_n(hashes.begin(), rest, &out[done]);
      done = out.size();
    }
  }
  for (; done < out.size(); ++done) out[done] = permute(k, preimages.subspan(done * arity, arity), tag, NoTrace());
}

Fr poseidon_hash_reference(std::span<const Fr> preimage, uint64_t tag) {
  const PoseidonConstants& k = poseidon_constants(static_cast<unsigned>(preimage.size()));
  const size_t t = k.width;
  State state;
  state[0] = Fr::from_u64(tag);
  std::copy(preimage.begin(), preimage.end(), state.begin() + 1);
  const size_t rounds = kPoseidonFullRounds + k.partial_rounds;
  for (size_t round = 0; round < rounds; ++round) {
    const bool full = round < 4 || round >= 4 + k.partial_rounds;
    for (size_t i = 0; i < t; ++i) {
      state[i] += k.raw[round * t + i];
      if (full || i == 0) state[i] = state[i].pow(5);
    }
    State next;
    for (size_t i = 0; i < t; ++i) {
      next[i] = Fr::zero();
      for (size_t j = 0; j < t; ++j) next[i] += k.mds[i * t + j] * state[j];
    }
    state = next;
  }
  return state[1];
}

Fr poseidon_hash_md(std::span<const Fr> elements) {
  CUZK_ASSERT(!elements.empty());
  Fr hash = elements[0];
  for (auto rest = elements.subspan(1); !rest.empty();) {
    const auto chunk = rest.first(std::min<size_t>(rest.size(), kPoseidonMaxArity - 1));
    std::array<Fr, kPoseidonMaxArity> preimage{};
    preimage[0] = hash;
    std::copy(chunk.begin(), chunk.end(), preimage.begin() + 1);
    hash = poseidon_hash(preimage);
    rest = rest.subspan(chunk.size());
  }
  return hash;
}

uint32_t poseidon_trace_size(unsigned arity) {
  const uint32_t sboxes = (arity + 1) * kPoseidonFullRounds + poseidon_partial_rounds(arity);
  return 3 * (sboxes - 1) + sboxes - arity;
}

void poseidon_trace(std::span<const Fr> preimage, uint64_t tag, std::span<Fr> out) {
  CUZK_ASSERT(out.size() == poseidon_trace_size(static_cast<unsigned>(preimage.size())));
  permute(poseidon_constants(static_cast<unsigned>(preimage.size())), preimage, tag, Trace{out.data()});
}

}  // namespace cuzk
