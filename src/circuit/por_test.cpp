// Merkle inclusion: upstream's counts, real trees of every shape, and wrong witnesses.
#include "circuit/por.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "circuit/circuit_test_util.hpp"

namespace cuzk {
namespace {

Fr sha256_parent(const Fr& a, const Fr& b) {
  Sha256 hash;
  hash.update(a.to_bytes_le());
  hash.update(b.to_bytes_le());
  auto digest = hash.finish();
  digest[31] &= 0x3f;
  return *Fr::from_bytes_le(digest);
}

struct Tree {
  std::vector<uint32_t> arities;  // of the levels, from the leaves up
  std::vector<std::vector<Fr>> levels;

  Tree(std::vector<uint32_t> level_arities, bool sha256) : arities(std::move(level_arities)) {
    size_t leaves = 1;
    for (const uint32_t arity : arities) leaves *= arity;
    std::vector<Fr> level;
    for (size_t i = 0; i < leaves; ++i) level.push_back(Fr::from_u64(1000 + i));
    for (const uint32_t arity : arities) {
      levels.push_back(level);
      std::vector<Fr> next;
      for (size_t i = 0; i < level.size(); i += arity) {
        next.push_back(sha256 ? sha256_parent(level[i], level[i + 1])
                              : poseidon_hash(std::span<const Fr>(level).subspan(i, arity)));
      }
      level = std::move(next);
    }
    levels.push_back(level);
  }
  Fr root() const { return levels.back()[0]; }
  // Siblings are stored in `storage`, which the levels refer to.
  std::vector<PathLevel> path(size_t leaf, std::vector<std::vector<Fr>>& storage) const {
    storage.clear();
    std::vector<PathLevel> out;
    for (size_t l = 0; l < arities.size(); ++l) {
      const size_t first = leaf / arities[l] * arities[l];
      std::vector<Fr> siblings;
      for (size_t i = first; i < first + arities[l]; ++i) {
        if (i != leaf) siblings.push_back(levels[l][i]);
      }
      storage.push_back(std::move(siblings));
      out.push_back({arities[l], static_cast<uint32_t>(leaf - first), {}});
      leaf /= arities[l];
    }
    for (size_t l = 0; l < out.size(); ++l) out[l].siblings = storage[l];
    return out;
  }
};

template <class Hasher>
auto por_circuit(const Fr& leaf, std::vector<PathLevel> path, const Fr& root, bool is_private) {
  return [=](auto& cs) {
    using CS = std::remove_reference_t<decltype(cs)>;
    auto scope = cs.scope("inclusion");
    gadget::por<Hasher>(cs, Root<CS>::val(leaf), path, Root<CS>::val(root), is_private);
  };
}

struct Shape {
  std::vector<uint32_t> arities;
  uint64_t public_constraints;
};

TEST(Por, UpstreamCountsAndEveryMode) {
  const std::vector<Shape> shapes = {{{2, 2, 2, 2, 2, 2}, 1887}, {{4, 4, 4}, 1164},    {{8, 8}, 1063},
                                     {{8, 8, 2}, 1377},          {{8, 8, 4, 2}, 1764}, {{8, 8, 8}, 1593},
                                     {{8, 8, 8, 2}, 1907}};
  for (const Shape& shape : shapes) {
    const Tree tree(shape.arities, false);
    const size_t leaves = tree.levels[0].size();
    for (const size_t leaf : {size_t{0}, leaves / 3, leaves - 1}) {
      std::vector<std::vector<Fr>> storage;
      const auto path = tree.path(leaf, storage);
      for (const bool is_private : {false, true}) {
        const auto modes = test::run_all_modes(
            por_circuit<PoseidonCircuitHasher>(tree.levels[0][leaf], path, tree.root(), is_private));
        EXPECT_EQ(modes.summary.num_inputs, is_private ? 2u : 3u);
        EXPECT_EQ(modes.summary.num_constraints, shape.public_constraints - is_private);
        EXPECT_EQ(modes.inputs[1], Fr::from_u64(leaf));
        if (!is_private) {
          EXPECT_EQ(modes.inputs[2], tree.root());
        }
      }
    }
  }
}

TEST(Por, Sha256Tree) {
  const Tree tree({2, 2, 2, 2, 2, 2}, true);
  std::vector<std::vector<Fr>> storage;
  const auto path = tree.path(37, storage);
  const auto modes =
      test::run_all_modes(por_circuit<Sha256CircuitHasher>(tree.levels[0][37], path, tree.root(), false));
  EXPECT_EQ(modes.summary.num_inputs, 3u);
  EXPECT_EQ(modes.summary.num_constraints, 272295u);
  EXPECT_EQ(modes.inputs[1], Fr::from_u64(37));
}

// The circuit does not depend on the witness: siblings may be absent where there are no values.
TEST(Por, BlankCircuitIsTheSame) {
  const Tree tree({8, 8, 2}, false);
  std::vector<std::vector<Fr>> storage;
  Digester real, blank;
  por_circuit<PoseidonCircuitHasher>(tree.levels[0][9], tree.path(9, storage), tree.root(), true)(real);
  por_circuit<PoseidonCircuitHasher>(Fr::zero(), {{8, 0, {}}, {8, 0, {}}, {2, 0, {}}}, Fr::zero(), true)(blank);
  EXPECT_EQ(real.summary().r1cs_digest, blank.summary().r1cs_digest);
}

TEST(Por, WrongWitnessesAreFoundWhereTheyAre) {
  const Tree tree({8, 8, 2}, false);
  std::vector<std::vector<Fr>> storage;
  const auto path = tree.path(77, storage);
  {
    Checker cs;
    por_circuit<PoseidonCircuitHasher>(tree.levels[0][76], path, tree.root(), true)(cs);
    ASSERT_FALSE(cs.satisfied());
    EXPECT_EQ(cs.first_violation()->path, "inclusion/root");
    EXPECT_EQ(cs.num_violations(), 1u);
    EXPECT_EQ(cs.first_violation()->constraint + 1, cs.num_constraints());
  }
  {
    Checker cs;
    storage[1][3] += Fr::one();
    por_circuit<PoseidonCircuitHasher>(tree.levels[0][77], path, tree.root(), true)(cs);
    EXPECT_EQ(cs.first_violation()->path, "inclusion/root");
    storage[1][3] -= Fr::one();
  }
  {
    Checker cs;
    por_circuit<PoseidonCircuitHasher>(tree.levels[0][77], path, tree.root() + Fr::one(), true)(cs);
    EXPECT_EQ(cs.first_violation()->path, "inclusion/root");
  }
}

TEST(Por, NoChallengeInputForm) {
  const Tree tree({8, 4, 2}, false);
  std::vector<std::vector<Fr>> storage;
  const size_t leaf = 45;
  const auto path = tree.path(leaf, storage);
  auto circuit = [&](const Fr& root) {
    return [&, root](auto& cs) {
      using CS = std::remove_reference_t<decltype(cs)>;
      std::vector<Boolean<CS>> bits;
      gadget::alloc_bits_le(cs, leaf, 6, bits);
      const Num<CS> value = gadget::alloc_num(cs, tree.levels[0][leaf]);
      std::vector<std::vector<Num<CS>>> siblings;
      for (const PathLevel& level : path) {
        siblings.emplace_back();
        for (const Fr& s : level.siblings) siblings.back().push_back(gadget::alloc_num(cs, s));
      }
      gadget::por_no_challenge_input<PoseidonCircuitHasher, CS>(cs, bits, value, siblings, gadget::alloc_num(cs, root));
    };
  };
  const auto modes = test::run_all_modes(circuit(tree.root()));
  EXPECT_EQ(modes.summary.num_inputs, 1u);
  EXPECT_EQ(modes.summary.num_constraints, 530u + 387 + 314 + 1);
  Checker wrong;
  circuit(tree.root() + Fr::one())(wrong);
  EXPECT_FALSE(wrong.satisfied());
}

}  // namespace
}  // namespace cuzk
