#include "groth16/query_selection.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

// 64 values a word.
constexpr size_t kWordGrain = 128;
constexpr size_t kGatherGrain = 4096;

// The bits of x where mask has ones, moved together at the low end. Source: Warren, "Hacker's Delight", 2nd edition,
// section 7-4, compress by parallel suffix.
uint64_t compress_bits(uint64_t x, uint64_t mask) {
  if (mask == ~uint64_t{0}) return x;
  x &= mask;
  uint64_t zeros_right = ~mask << 1;
  for (unsigned i = 0; i < 6; ++i) {
    uint64_t parity = zeros_right;  // bit k: parity of the zeros of the mask to the right of k
    for (unsigned shift = 1; shift < 64; shift *= 2) parity ^= parity << shift;
    const uint64_t moving = parity & mask;
    const unsigned distance = 1u << i;
    mask = (mask ^ moving) | moving >> distance;
    const uint64_t moved = x & moving;
    x = (x ^ moved) | moved >> distance;
    zeros_right &= ~parity;
  }
  return x;
}

// Which of the values 64*w .. 64*w + 63 of `count` are in the query; no density means all.
uint64_t density_word(size_t count, std::span<const uint64_t> density, size_t w) {
  if (!density.empty()) return density[w];
  const size_t left = count - 64 * w;
  return left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
}

// Equal shares: the window bits of msm() depend on their length.
constexpr size_t gather_share(size_t others, size_t gather_points) {
  const size_t shares = (others + gather_points - 1) / gather_points;
  return (others + shares - 1) / shares;
}

}  // namespace

ValueClasses classify(std::span<const Fr> values) {
  ValueClasses out{BitVector(values.size()), BitVector(values.size())};
  const auto one = out.one.words(), other = out.other.words();
  parallel_for(one.size(), kWordGrain, [&](size_t begin, size_t end) {
    for (size_t w = begin; w < end; ++w) {
      const size_t count = std::min<size_t>(64, values.size() - 64 * w);
      for (size_t i = 0; i < count; ++i) {
        const Fr& value = values[64 * w + i];
        const uint64_t is_one = value.is_one(), is_zero = value.is_zero();
        one[w] |= is_one << i;
        other[w] |= ((is_one | is_zero) ^ 1) << i;
      }
    }
  });
  return out;
}

void QuerySelection::append(std::span<const Fr> values, const ValueClasses& classes, const BitVector* density) {
  CUZK_ASSERT(classes.one.size() == values.size() && (density == nullptr || density->size() == values.size()));
  const auto one = classes.one.words(), other = classes.other.words();
  parts_.push_back({values, other, density == nullptr ? std::span<const uint64_t>() : density->words(), ones_.size()});
  ones_.reserve(ones_.size() + (density == nullptr ? values.size() : density->count()));
  for (size_t w = 0; w < one.size(); ++w) {
    const uint64_t mask = density_word(values.size(), parts_.back().density, w);
    ones_.append(compress_bits(one[w], mask), static_cast<unsigned>(std::popcount(mask)));
    num_others_ += static_cast<size_t>(std::popcount(other[w] & mask));
  }
}

template <class Visit>
void QuerySelection::for_each_other(const Visit& visit) const {
  for (const Part& part : parts_) {
    size_t first = part.first;
    for (size_t w = 0; w < part.others.size(); ++w) {
      const uint64_t mask = density_word(part.values.size(), part.density, w);
      for (uint64_t left = part.others[w] & mask; left != 0; left &= left - 1) {
        const auto bit = static_cast<unsigned>(std::countr_zero(left));
        const uint64_t below = (uint64_t{1} << bit) - 1;
        visit(first + static_cast<size_t>(std::popcount(mask & below)), part.values[64 * w + bit]);
      }
      first += static_cast<size_t>(std::popcount(mask));
    }
  }
}

template <class Curve>
Jacobian<Curve> QuerySelection::sum(std::span<const Affine<Curve>> bases) const {
  CUZK_ASSERT(bases.size() == size());
  Jacobian<Curve> total = sum_selected<Curve>(bases, ones_);
  if (num_others_ == 0) return total;
  const size_t share = gather_share(num_others_, gather_points_);
  std::vector<std::pair<size_t, const Fr*>> picked;
  std::vector<Affine<Curve>> gathered(share);
  std::vector<Fr> scalars(share);
  picked.reserve(share);
  const auto flush = [&] {
    parallel_for(picked.size(), kGatherGrain, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        gathered[i] = bases[picked[i].first];
        scalars[i] = *picked[i].second;
      }
    });
    total += msm<Curve>(std::span<const Affine<Curve>>(gathered).first(picked.size()),
                        std::span<const Fr>(scalars).first(picked.size()));
    picked.clear();
  };
  for_each_other([&](size_t position, const Fr& value) {
    picked.emplace_back(position, &value);
    if (picked.size() == share) flush();
  });
  flush();
  return total;
}

template <class Curve>
uint64_t QuerySelection::sum_scratch_bytes(uint64_t size, uint64_t others, size_t threads) {
  const uint64_t ones = sum_selected_scratch_bytes<Curve>(size, threads);
  if (others == 0) return ones;
  const uint64_t share = gather_share(others, kGatherPoints);
  return std::max(ones, share * (sizeof(std::pair<size_t, const Fr*>) + sizeof(Affine<Curve>) + sizeof(Fr)) +
                            msm_scratch_bytes<Curve>(share, threads));
}

uint64_t QuerySelection::additions(uint64_t others) {
  if (others == 0) return 0;
  const uint64_t share = gather_share(others, kGatherPoints);
  return (others + share - 1) / share * msm_additions(share);
}

WitnessQueries::WitnessQueries(const CompiledCircuit& circuit, std::span<const Fr> inputs, std::span<const Fr> aux)
    : densities_(wire_densities(circuit)), input_classes_(classify(inputs)), aux_classes_(classify(aux)) {
  l.append(aux, aux_classes_, nullptr);
  a.append(inputs, input_classes_, nullptr);
  a.append(aux, aux_classes_, &densities_.a_aux);
  b.append(inputs, input_classes_, &densities_.b_input);
  b.append(aux, aux_classes_, &densities_.b_aux);
}

template G1Jacobian QuerySelection::sum<G1Curve>(std::span<const G1Affine>) const;
template G2Jacobian QuerySelection::sum<G2Curve>(std::span<const G2Affine>) const;
template uint64_t QuerySelection::sum_scratch_bytes<G1Curve>(uint64_t, uint64_t, size_t);
template uint64_t QuerySelection::sum_scratch_bytes<G2Curve>(uint64_t, uint64_t, size_t);

}  // namespace cuzk
