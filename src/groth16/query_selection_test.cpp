#include "groth16/query_selection.hpp"

#include <gtest/gtest.h>

#include "groth16/groth16_test_support.hpp"

namespace cuzk {
namespace {

// Bits with a few other values, as a witness has; `others` per mille.
std::vector<Fr> values(std::mt19937_64& rng, size_t count, unsigned others) {
  std::vector<Fr> out(count);
  for (Fr& v : out) v = rng() % 1000 < others ? test::random_fr(rng) : Fr::from_u64(rng() % 2);
  return out;
}

TEST(Classify, EverySize) {
  std::mt19937_64 rng(1);
  for (const size_t count : {0, 1, 63, 64, 65, 1000, 20000}) {
    auto v = values(rng, count, 100);
    if (count > 2) v[1] = -Fr::one();
    const ValueClasses classes = classify(v);
    ASSERT_EQ(classes.one.size(), count);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(classes.one.get(i), v[i] == Fr::one()) << i;
      ASSERT_EQ(classes.other.get(i), !(v[i] == Fr::one()) && !(v[i] == Fr::zero())) << i;
    }
  }
}

// The sum over multiples of the generator is one multiple, so the scalars tell what it must be.
TEST(QuerySelection, SumsEqualTheScalarProduct) {
  std::mt19937_64 rng(2);
  for (const size_t count : {0, 1, 64, 100, 257}) {
    for (const unsigned others : {0, 50, 1000}) {
      for (const int density_kind : {0, 1, 2}) {  // dense; random; none
        const std::vector<Fr> first = values(rng, 3, others), second = values(rng, count, others);
        BitVector density(count);
        for (size_t i = 0; i < count; ++i) {
          if (density_kind == 1 && rng() % 3 != 0) density.set(i);
        }
        const BitVector* pointer = density_kind == 0 ? nullptr : &density;
        const ValueClasses first_classes = classify(first), second_classes = classify(second);
        // Others brought together all at once, and some at a time.
        QuerySelection query, by_parts(5);
        for (QuerySelection* q : {&query, &by_parts}) {
          q->append(first, first_classes, nullptr);
          q->append(second, second_classes, pointer);
        }

        std::vector<Fr> scalars = first;
        for (size_t i = 0; i < count; ++i) {
          if (pointer == nullptr || density.get(i)) scalars.push_back(second[i]);
        }
        ASSERT_EQ(query.size(), scalars.size());
        std::vector<G1Jacobian> multiples;
        Fr expected = Fr::zero();
        G1Jacobian point = G1Jacobian::from_affine(G1Curve::generator());
        for (size_t i = 0; i < scalars.size(); ++i) {
          multiples.push_back(point);
          point += G1Curve::generator();
          expected += Fr::from_u64(i + 1) * scalars[i];
        }
        std::vector<G1Affine> bases(multiples.size());
        batch_to_affine<G1Curve>(multiples, bases);
        const G1Jacobian sum = G1Jacobian::from_affine(G1Curve::generator()).mul(expected);
        EXPECT_EQ(query.sum<G1Curve>(bases), sum) << count << " " << others << " " << density_kind;
        EXPECT_EQ(by_parts.sum<G1Curve>(bases), sum) << count << " " << others << " " << density_kind;
      }
    }
  }
}

}  // namespace
}  // namespace cuzk
