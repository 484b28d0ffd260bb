// Shared by this module's tests: the golden vectors and random elements.
#pragma once

#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "field/fp12.hpp"
#include "field/fr.hpp"

namespace cuzk::field_test {

// Numbers of one line of tests/golden/field/field.txt, as hexadecimal text.
using Row = std::vector<std::string>;

#ifdef CUZK_GOLDEN_DIR  // tests, not benches
// Rows of `op`. tests/golden/field/make_vectors.py wrote them.
inline const std::vector<Row>& golden(const std::string& op) {
  static const auto rows = [] {
    std::map<std::string, std::vector<Row>> out;
    std::ifstream file(std::string(CUZK_GOLDEN_DIR) + "/field/field.txt");
    std::string line, name, number;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      words >> name;
      Row row;
      while (words >> number) row.push_back(number);
      out[name].push_back(row);
    }
    return out;
  }();
  static const std::vector<Row> none;
  const auto found = rows.find(op);
  return found == rows.end() ? none : found->second;
}
#endif

template <size_t N>
std::array<uint64_t, N> parse_limbs(const std::string& hex) {
  std::array<uint64_t, N> out{};
  size_t nibble = 0;
  for (size_t i = hex.size(); i-- > 0; ++nibble) {
    const auto digit = static_cast<uint64_t>(std::stoi(hex.substr(i, 1), nullptr, 16));
    out.at(nibble / 16) |= digit << (4 * (nibble % 16));
  }
  return out;
}

template <class F>
F parse_plain(const std::string& hex) {
  return F::from_plain(parse_limbs<F::kLimbs>(hex));
}
template <class F>
F parse_mont(const std::string& hex) {
  return F::from_montgomery(parse_limbs<F::kLimbs>(hex));
}

inline Fp2 parse_fp2(const Row& row, size_t at) {
  return {parse_plain<Fp>(row.at(at)), parse_plain<Fp>(row.at(at + 1))};
}
inline Fp6 parse_fp6(const Row& row, size_t at) {
  return {parse_fp2(row, at), parse_fp2(row, at + 2), parse_fp2(row, at + 4)};
}
inline Fp12 parse_fp12(const Row& row, size_t at) { return {parse_fp6(row, at), parse_fp6(row, at + 6)}; }

// Uniform below 2^k for the k bits of the modulus, by rejection.
template <class F>
struct Random {
  static F next(std::mt19937_64& rng) {
    constexpr int kFree = __builtin_clzll(F::kModulus[F::kLimbs - 1]);
    for (;;) {
      typename F::Limbs limbs;
      for (auto& limb : limbs) limb = rng();
      limbs[F::kLimbs - 1] >>= kFree;
      if (limbs::less(limbs, F::kModulus)) return F::from_montgomery(limbs);
    }
  }
};
template <>
struct Random<Fp2> {
  static Fp2 next(std::mt19937_64& rng) {
    const Fp a = Random<Fp>::next(rng);
    return {a, Random<Fp>::next(rng)};
  }
};
template <>
struct Random<Fp6> {
  static Fp6 next(std::mt19937_64& rng) {
    const Fp2 a = Random<Fp2>::next(rng), b = Random<Fp2>::next(rng);
    return {a, b, Random<Fp2>::next(rng)};
  }
};
template <>
struct Random<Fp12> {
  static Fp12 next(std::mt19937_64& rng) {
    const Fp6 a = Random<Fp6>::next(rng);
    return {a, Random<Fp6>::next(rng)};
  }
};
template <class F>
F random(std::mt19937_64& rng) {
  return Random<F>::next(rng);
}

}  // namespace cuzk::field_test
