#include "ntt/ntt.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "ntt/engine.hpp"
#include "ntt/quotient.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

using Values = std::vector<Fr>;
using ntt::Arithmetic;

Fr random_fr(std::mt19937_64& rng) {
  for (;;) {
    Fr::Limbs limbs{rng(), rng(), rng(), rng() >> 1};
    if (auto v = Fr::from_plain_checked(limbs)) return *v;
  }
}
Values random_values(size_t count, uint64_t seed) {
  std::mt19937_64 rng(seed);
  Values out(count);
  for (Fr& v : out) v = random_fr(rng);
  return out;
}
Fr evaluate(const Values& coefficients, const Fr& x) {
  Fr out;
  for (size_t i = coefficients.size(); i-- > 0;) out = out * x + coefficients[i];
  return out;
}

// Restores the thread limit.
struct Threads {
  explicit Threads(size_t n) : before(parallel_threads()) { set_parallel_threads(n); }
  ~Threads() { set_parallel_threads(before); }
  size_t before;
};

class NttTest : public testing::TestWithParam<Arithmetic> {};
INSTANTIATE_TEST_SUITE_P(Arithmetic, NttTest, testing::Values(Arithmetic::kPortable, Arithmetic::kFastest),
                         [](const auto& p) { return p.param == Arithmetic::kPortable ? "Portable" : "Fastest"; });

TEST_P(NttTest, RootHasExactlyTheDomainsOrder) {
  for (unsigned k = 0; k <= Domain::kMaxLog2Size; ++k) {
    if (k > 24 && k < 31) continue;
    const Domain domain(k, GetParam());
    Fr x = domain.root();
    for (unsigned i = 0; i < k; ++i) {
      EXPECT_FALSE(x.is_one());
      x = x.square();
    }
    EXPECT_TRUE(x.is_one());
    EXPECT_EQ(domain.z_on_coset() + Fr::one(), Fr::from_u64(7).pow(uint64_t{1} << k));
    EXPECT_FALSE(domain.z_on_coset().is_zero());
  }
}

TEST_P(NttTest, EqualsTheDefiningSumAtEverySmallSize) {
  for (unsigned k = 0; k <= 8; ++k) {
    const Domain domain(k, GetParam());
    const Values coefficients = random_values(domain.size(), k);
    Values values = coefficients, on_coset = coefficients;
    domain.forward(values);
    domain.coset_forward(on_coset);
    Fr x = Fr::one();
    for (size_t j = 0; j < domain.size(); ++j, x *= domain.root()) {
      ASSERT_EQ(values[j], evaluate(coefficients, x)) << k << " " << j;
      ASSERT_EQ(on_coset[j], evaluate(coefficients, Fr::from_u64(7) * x)) << k << " " << j;
    }
    domain.inverse(values);
    domain.coset_inverse(on_coset);
    EXPECT_EQ(values, coefficients);
    EXPECT_EQ(on_coset, coefficients);
  }
}

TEST_P(NttTest, EqualsHornerAtRandomPointsOfLargerSizes) {
  std::mt19937_64 rng(7);
  for (unsigned k = 9; k <= 17; ++k) {
    const Domain domain(k, GetParam());
    const Values coefficients = random_values(domain.size(), k);
    Values values = coefficients, on_coset = coefficients;
    domain.forward(values);
    domain.coset_forward(on_coset);
    for (size_t trial = 0; trial < 5; ++trial) {
      const size_t j = trial == 0 ? domain.size() - 1 : rng() % domain.size();
      const Fr x = domain.root().pow(j);
      ASSERT_EQ(values[j], evaluate(coefficients, x)) << k << " " << j;
      ASSERT_EQ(on_coset[j], evaluate(coefficients, Fr::from_u64(7) * x)) << k << " " << j;
    }
    domain.inverse(values);
    domain.coset_inverse(on_coset);
    ASSERT_TRUE(values == coefficients) << k;
    ASSERT_TRUE(on_coset == coefficients) << k;
  }
}

// The largest and smallest residues, where lazy reductions would overflow first.
TEST_P(NttTest, ExtremeValues) {
  const Fr minus_one = -Fr::one();
  for (unsigned k : {6u, 11u, 14u, 15u}) {
    const Domain domain(k, GetParam());
    Values values(domain.size(), minus_one);
    domain.forward(values);
    EXPECT_EQ(values[0], -Fr::from_u64(domain.size()));
    for (size_t j = 1; j < values.size(); ++j) ASSERT_TRUE(values[j].is_zero());
    // Inputs that align with the twiddles of every stage keep all sums on one side.
    for (size_t j : {size_t{1}, domain.size() / 2, domain.size() - 1}) {
      Values powers(domain.size());
      Fr x = minus_one;
      for (Fr& v : powers) {
        v = x;
        x *= domain.root().pow(j);
      }
      domain.inverse(powers);
      for (size_t i = 0; i < powers.size(); ++i) ASSERT_EQ(powers[i], i == j ? minus_one : Fr::zero());
    }
    Values zeros(domain.size());
    domain.coset_inverse(zeros);
    for (const Fr& v : zeros) ASSERT_TRUE(v.is_zero());
    Values stored_maximum(domain.size());  // Montgomery limbs r - 1
    Fr::Limbs top = Fr::kModulus;
    top[0] -= 1;
    for (Fr& v : stored_maximum) v = Fr::from_montgomery(top);
    const Values before = stored_maximum;
    domain.coset_forward(stored_maximum);
    domain.coset_inverse(stored_maximum);
    EXPECT_TRUE(stored_maximum == before);
  }
}

TEST_P(NttTest, SameResultOnAnyNumberOfThreads) {
  const unsigned k = 13;
  const Domain domain(k, GetParam());
  const Values input = random_values(domain.size(), 1);
  Values one = input;
  {
    Threads threads(1);
    domain.forward(one);
  }
  for (size_t n : {2, 3, 8}) {
    Threads threads(n);
    Values many = input;
    domain.forward(many);
    EXPECT_TRUE(many == one) << n;
  }
}

// compute_h by the plain transforms, each of which the tests above check.
Values reference_h(const Domain& domain, Values a, Values b, Values c) {
  for (Values* v : {&a, &b, &c}) {
    domain.inverse(*v);
    domain.coset_forward(*v);
  }
  const Fr z = domain.z_on_coset().inverse();
  for (size_t i = 0; i < a.size(); ++i) a[i] = (a[i] * b[i] - c[i]) * z;
  domain.coset_inverse(a);
  return a;
}

TEST_P(NttTest, QuotientEqualsSevenPlainTransforms) {
  for (unsigned k = 0; k <= 14; ++k) {
    const Domain domain(k, GetParam());
    Values a = random_values(domain.size(), 3 * k), b = random_values(domain.size(), 3 * k + 1),
           c = random_values(domain.size(), 3 * k + 2);
    const Values expected = reference_h(domain, a, b, c);
    compute_h(domain, a, b, c);
    ASSERT_TRUE(a == expected) << k;
    EXPECT_EQ(b.size(), domain.size());
  }
}

// Where c = a*b on the domain: h * (x^m - 1) = a*b - c as polynomials, and the top coefficient is zero.
TEST_P(NttTest, QuotientDividesExactly) {
  for (unsigned k : {1u, 4u, 6u, 9u, 12u}) {
    const Domain domain(k, GetParam());
    Values a = random_values(domain.size(), 50 + k), b = random_values(domain.size(), 60 + k);
    Values c(domain.size());
    for (size_t i = 0; i < c.size(); ++i) c[i] = a[i] * b[i];
    Values pa = a, pb = b, pc = c;
    for (Values* v : {&pa, &pb, &pc}) domain.inverse(*v);
    compute_h(domain, a, b, c);
    EXPECT_TRUE(a.back().is_zero()) << k;
    const Fr x = random_values(1, k)[0];
    EXPECT_EQ(evaluate(a, x) * (x.pow(domain.size()) - Fr::one()), evaluate(pa, x) * evaluate(pb, x) - evaluate(pc, x));
  }
}

TEST_P(NttTest, QuotientOfAnUnsatisfiedSystemHasATopCoefficient) {
  const Domain domain(8, GetParam());
  Values a = random_values(256, 1), b = random_values(256, 2), c(256);
  for (size_t i = 0; i < c.size(); ++i) c[i] = a[i] * b[i];
  c[100] += Fr::one();
  compute_h(domain, a, b, c);
  EXPECT_FALSE(a.back().is_zero());
}

TEST_P(NttTest, GoldenVectors) {
  std::map<std::string, Values> lines;
  std::ifstream file(std::string(CUZK_GOLDEN_DIR) + "/ntt/ntt.txt");
  std::string line, name, word;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string k;
    words >> name >> k;
    Values values;
    while (words >> word) {
      Fr::Limbs limbs{};
      for (size_t i = 0; i < word.size(); ++i) {
        const auto digit = static_cast<uint64_t>(std::stoi(word.substr(word.size() - 1 - i, 1), nullptr, 16));
        limbs.at(i / 16) |= digit << (4 * (i % 16));
      }
      values.push_back(Fr::from_plain(limbs));
    }
    lines[name + k] = values;
  }
  for (unsigned k : {0u, 1u, 2u, 3u, 5u, 6u, 7u, 8u}) {
    const std::string suffix = std::to_string(k);
    const Domain domain(k, GetParam());
    Values values = lines.at("input" + suffix), on_coset = values;
    ASSERT_EQ(values.size(), domain.size());
    domain.forward(values);
    domain.coset_forward(on_coset);
    EXPECT_EQ(values, lines.at("forward" + suffix));
    EXPECT_EQ(on_coset, lines.at("coset_forward" + suffix));
    Values a = lines.at("quotient_a" + suffix), b = lines.at("quotient_b" + suffix),
           c = lines.at("quotient_c" + suffix);
    compute_h(domain, a, b, c);
    EXPECT_EQ(a, lines.at("quotient_h" + suffix));
  }
}

TEST(BitReverse, EqualsTheDefinition) {
  for (unsigned k = 0; k <= 13; ++k) {
    Values x(size_t{1} << k);
    for (size_t i = 0; i < x.size(); ++i) x[i] = Fr::from_u64(i);
    ntt::bit_reverse(x.data(), k);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], Fr::from_u64(ntt::reverse_bits(i, k)));
  }
}

TEST(NttDeath, WrongLengthIsABug) {
  const Domain domain(3);
  Values seven(7);
  EXPECT_DEATH(domain.forward(seven), "");
  EXPECT_DEATH(Domain(33), "");
}

}  // namespace
}  // namespace cuzk
