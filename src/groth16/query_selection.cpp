#include "groth16/query_selection.hpp"

#include <bit>

#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

// 64 values a word.
constexpr size_t kWordGrain = 128;

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
  for (size_t w = 0; w < one.size(); ++w) {
    const size_t count = std::min<size_t>(64, values.size() - 64 * w);
    const uint64_t valid = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    const uint64_t mask = density == nullptr ? valid : density->words()[w];
    const size_t first = ones_.size();
    ones_.append(compress_bits(one[w], mask), static_cast<unsigned>(std::popcount(mask)));
    for (uint64_t left = other[w] & mask; left != 0; left &= left - 1) {
      const auto bit = static_cast<unsigned>(std::countr_zero(left));
      const uint64_t below = (uint64_t{1} << bit) - 1;
      others_.push_back(first + static_cast<size_t>(std::popcount(mask & below)));
      scalars_.push_back(values[64 * w + bit]);
    }
  }
}

}  // namespace cuzk
