// Blocks change how a circuit is stored and nothing else: against the same circuit recorded flat, and in every mode.
#include "circuit/block.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "circuit/circuit_test_util.hpp"
#include "circuit/hasher.hpp"
#include "matrix/matrix.hpp"

namespace cuzk {
namespace {

// A circuit that ends in blocks where `marked`, and has the same constraints otherwise.
template <class CS, class Body>
BlockWires<CS> maybe_block(CS& cs, bool marked, std::string_view key, const BlockWires<CS>& ports, Body&& body) {
  return marked ? gadget::block(cs, key, ports, body) : body(ports);
}

using Terms = std::map<std::tuple<int, uint64_t, uint32_t>, Fr>;

Terms terms_of(const CompiledCircuit& c) {
  Terms out;
  int number = 0;
  for (const BlockMatrix& m : {c.a(), c.b(), c.c()}) {
    m.for_each_term([&](uint64_t row, uint32_t wire, uint32_t id) {
      const bool is_new = out.try_emplace({number, row, wire}, c.coefficients[id]).second;
      EXPECT_TRUE(is_new) << "a wire twice in a row";
    });
    ++number;
  }
  return out;
}

template <class F>
CompiledCircuit record(F&& circuit, bool marked) {
  Recorder recorder;
  circuit(recorder, marked);
  return recorder.finish();
}

// circuit(cs, marked). Returns the compiled form with blocks.
template <class F>
CompiledCircuit expect_blocks_change_nothing(F&& circuit) {
  test::run_all_modes([&](auto& cs) { circuit(cs, false); });
  const test::AllModes modes = test::run_all_modes([&](auto& cs) { circuit(cs, true); });
  const CompiledCircuit flat = record(circuit, false);
  const CompiledCircuit& c = modes.circuit;
  EXPECT_LE(flat.blocks.size(), 1u);
  EXPECT_EQ(flat.num_inputs, c.num_inputs);
  EXPECT_EQ(flat.num_aux, c.num_aux);
  EXPECT_EQ(flat.num_constraints, c.num_constraints);
  EXPECT_EQ(flat.num_bits, c.num_bits);
  EXPECT_EQ(flat.num_fields, c.num_fields);
  EXPECT_TRUE(terms_of(flat) == terms_of(c));
  EXPECT_EQ(r1cs_digest(flat), r1cs_digest(c));
  const WireDensities d = wire_densities(c), flat_d = wire_densities(flat);
  EXPECT_TRUE(d.a_aux == flat_d.a_aux && d.b_aux == flat_d.b_aux && d.b_input == flat_d.b_input);
  // Products by both forms, as the prover and setup make them.
  std::vector<Fr> rows(c.num_constraints), flat_rows(c.num_constraints);
  multiply(c.c(), Coefficients(c.coefficients), modes.inputs, modes.aux, rows);
  multiply(flat.c(), Coefficients(flat.coefficients), modes.inputs, modes.aux, flat_rows);
  EXPECT_EQ(rows, flat_rows);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = Fr::from_u64(i * i + 7).square();
  std::vector<Fr> in(c.num_inputs), aux(c.num_aux), flat_in(c.num_inputs), flat_aux(c.num_aux);
  multiply_transposed(c.a(), Coefficients(c.coefficients), rows, in, aux);
  multiply_transposed(flat.a(), Coefficients(flat.coefficients), rows, flat_in, flat_aux);
  EXPECT_EQ(in, flat_in);
  EXPECT_EQ(aux, flat_aux);
  // Each wire in turn wrong: both forms find the same first row.
  std::vector<Fr> wrong = modes.aux;
  for (size_t i = 0; i < wrong.size(); i += 1 + wrong.size() / 50) {
    wrong[i] += Fr::one();
    EXPECT_EQ(first_unsatisfied(c, modes.inputs, wrong), first_unsatisfied(flat, modes.inputs, wrong)) << i;
    wrong[i] = modes.aux[i];
  }
  return c;
}

// y = x^3 + k * b, made public, where b is a Boolean port; the hash of (x, y) is an output.
template <class CS>
BlockWires<CS> cubic(CS& cs, const BlockWires<CS>& ports) {
  const Num<CS>& x = ports.nums[0];
  const Boolean<CS>& b = ports.bits[0];
  const Num<CS> x3 = gadget::mul(cs, gadget::square(cs, x), x);
  const Fr k = Fr::from_u64(5);
  const Num<CS> y = gadget::alloc_num(cs, gadget::value_of<CS>([&] { return b.value ? x3.value + k : x3.value; }));
  cs.enforce(
      [&](auto& lc) {
        lc.add(x3.wire);
        lc.sub(y.wire);
        add_boolean(lc, b);
        add_boolean(lc, b, 2);
      },
      [](auto& lc) { lc.add(Wire::one()); }, [](auto&) {});
  gadget::inputize(cs, y);
  const Boolean<CS> bit = gadget::alloc_bit(cs, true);
  const std::array<Num<CS>, 2> both = {x, y};
  const Num<CS> hash = gadget::poseidon_hash<CS>(cs, both);
  return {{hash, x, y}, {!bit, b, Boolean<CS>::constant(true), gadget::boolean_and(cs, bit, b)}};
}

TEST(Blocks, ChainedThroughOutputs) {
  const CompiledCircuit c = expect_blocks_change_nothing([](auto& cs, bool marked) {
    using CS = std::remove_reference_t<decltype(cs)>;
    Num<CS> x = gadget::alloc_num(cs, Fr::from_u64(3));
    Boolean<CS> b = gadget::alloc_bit(cs, true);
    for (int i = 0; i < 6; ++i) {
      const auto out = maybe_block(cs, marked, "cubic", {{x}, {b}}, [&](const auto& in) { return cubic(cs, in); });
      x = out.nums[i % 2 == 0 ? 0 : 2];
      if (i == 2) x = gadget::add(cs, x, out.nums[1]);  // something between two of them
      EXPECT_TRUE(out.bits[2].is_constant(true));
      b = i == 3 ? out.bits[3] : out.bits[1];
    }
    gadget::inputize(cs, x);
  });
  EXPECT_EQ(c.instances.size(), 1u + 3 + 1 + 3 + 1);
  EXPECT_EQ(c.blocks.size(), 4u);  // before, cubic, between, after
  EXPECT_EQ(c.ports.size(), 6u * 2 + 2 + 1);
}

// Which ports are constants, negated or the same decides the constraints, so these are blocks of their own.
TEST(Blocks, PortsOfEveryForm) {
  const CompiledCircuit c = expect_blocks_change_nothing([](auto& cs, bool marked) {
    using CS = std::remove_reference_t<decltype(cs)>;
    using B = Boolean<CS>;
    const Num<CS> x = gadget::alloc_num(cs, Fr::from_u64(3)), y = gadget::alloc_input(cs, Fr::from_u64(4));
    const Num<CS> z = gadget::alloc_num(cs, Fr::from_u64(9)), one = {Wire::one(), Fr::one()};
    const B t = gadget::alloc_bit(cs, true), f = gadget::alloc_bit(cs, false);
    // (u - v) * (v + w) = (p), so that equal ports cancel or merge.
    const auto run = [&](const Num<CS>& u, const Num<CS>& v, const Num<CS>& w, const B& b) {
      maybe_block(cs, marked, "form", {{u, v, w}, {b, t}}, [&](const BlockWires<CS>& in) {
        const auto& n = in.nums;
        const Num<CS> p = gadget::alloc_num(
            cs, gadget::value_of<CS>([&] { return (n[0].value - n[1].value) * (n[1].value + n[2].value); }));
        cs.enforce(
            [&](auto& lc) {
              lc.add(n[0].wire);
              lc.sub(n[1].wire);
            },
            [&](auto& lc) {
              lc.add(n[1].wire);
              lc.add(n[2].wire);
            },
            [&](auto& lc) { lc.add(p.wire); });
        gadget::boolean_and(cs, gadget::boolean_xor(cs, in.bits[0], in.bits[1]), in.bits[1]);
        return BlockWires<CS>{};
      });
    };
    for (int i = 0; i < 2; ++i) {
      run(x, y, z, f);                   // 1: distinct wires
      run(z, x, y, f);                   //    in another order
      run(y, z, x, f);                   //
      run(x, x, z, f);                   // 2: u - v cancels
      run(y, y, x, f);                   //
      run(x, y, y, f);                   // 3: v + w merges
      run(z, z, z, f);                   // 4
      run(one, x, y, f);                 // 5: ONE is no port
      run(x, one, one, f);               // 6
      run(x, y, z, !f);                  // 7
      run(x, y, z, t);                   // 8: the same bit twice
      run(x, y, z, !t);                  // 9
      run(x, y, z, B::constant(true));   // 10
      run(x, y, z, B::constant(false));  // 11
    }
  });
  EXPECT_EQ(c.blocks.size(), 1u + 11);
  EXPECT_EQ(c.instances.size(), 1u + 2 * 14);
}

TEST(Blocks, WithoutPortsOutputsOrAnything) {
  const CompiledCircuit c = expect_blocks_change_nothing([](auto& cs, bool marked) {
    using CS = std::remove_reference_t<decltype(cs)>;
    for (int i = 0; i < 5; ++i) {
      maybe_block(cs, marked, "nothing", {}, [&](const auto&) { return BlockWires<CS>{}; });
      maybe_block(cs, marked, "square", {}, [&](const auto&) {
        gadget::square(cs, gadget::alloc_num(cs, Fr::from_u64(7)));
        return BlockWires<CS>{};
      });
      maybe_block(cs, marked, "constraint", {}, [&](const auto&) {
        cs.enforce([](auto&) {}, [](auto& lc) { lc.add(Wire::one()); }, [](auto&) {});
        return BlockWires<CS>{};
      });
      maybe_block(cs, marked, "input", {}, [&](const auto&) {
        gadget::alloc_input(cs, Fr::from_u64(7));
        return BlockWires<CS>{};
      });
    }
  });
  EXPECT_EQ(c.blocks.size(), 4u);
  EXPECT_EQ(c.instances.size(), 20u);
  EXPECT_EQ(c.num_constraints, 10u);
  EXPECT_TRUE(c.ports.empty());
}

// A block inside a block belongs to the outer one, and a different key is a different block.
TEST(Blocks, NestedAreInlined) {
  const CompiledCircuit c = expect_blocks_change_nothing([](auto& cs, bool marked) {
    using CS = std::remove_reference_t<decltype(cs)>;
    Num<CS> x = gadget::alloc_num(cs, Fr::from_u64(2));
    for (int i = 0; i < 4; ++i) {
      const auto body = [&](const BlockWires<CS>& in) {
        const auto inner = maybe_block(cs, marked, "inner", in, [&](const BlockWires<CS>& ports) {
          return BlockWires<CS>{{gadget::square(cs, ports.nums[0])}, {}};
        });
        return BlockWires<CS>{{gadget::mul(cs, inner.nums[0], in.nums[0])}, {}};
      };
      x = maybe_block(cs, marked, i % 2 == 0 ? "outer" : "other", {{x}, {}}, body).nums[0];
    }
  });
  EXPECT_EQ(c.blocks.size(), 3u);
  EXPECT_EQ(c.instances.size(), 5u);
}

// Hashes that read hashes of other instances, of unequal depth; SHA-256 across instances.
TEST(Blocks, HashesInWaves) {
  const CompiledCircuit c = expect_blocks_change_nothing([](auto& cs, bool marked) {
    using CS = std::remove_reference_t<decltype(cs)>;
    std::vector<Num<CS>> nums = test::fresh_numbers(cs, 4);
    const auto hash = [&](const Num<CS>& a, const Num<CS>& b) {
      return maybe_block(cs, marked, "hash", {{a, b}, {}},
                         [&](const BlockWires<CS>& in) {
                           const auto h = PoseidonCircuitHasher::hash2(cs, in.nums[0], in.nums[1]);
                           return BlockWires<CS>{{h, PoseidonCircuitHasher::hash2(cs, h, in.nums[0])}, {}};
                         })
          .nums;
    };
    for (int i = 0; i < 6; ++i) {
      const auto h = hash(nums[static_cast<size_t>(i)], nums[static_cast<size_t>((3 * i + 1) % 4)]);
      nums.push_back(h[static_cast<size_t>(i) % 2]);
    }
    nums.push_back(PoseidonCircuitHasher::hash2(cs, nums[9], nums[8]));  // between blocks
    hash(nums[10], nums[0]);
    for (int i = 0; i < 2; ++i) {
      maybe_block(cs, marked, "sha", {{nums[10 - static_cast<size_t>(i)]}, {}}, [&](const BlockWires<CS>& in) {
        return BlockWires<CS>{{Sha256CircuitHasher::hash2(cs, in.nums[0], in.nums[0])}, {}};
      });
    }
  });
  EXPECT_EQ(c.blocks.size(), 4u);
}

TEST(Blocks, RandomMixtures) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    expect_blocks_change_nothing([seed](auto& cs, bool marked) {
      using CS = std::remove_reference_t<decltype(cs)>;
      std::mt19937_64 random(seed);
      std::vector<Num<CS>> nums = test::fresh_numbers(cs, 3);
      std::vector<Boolean<CS>> bits = {gadget::alloc_bit(cs, true), Boolean<CS>::constant(false)};
      for (int step = 0; step < 12; ++step) {
        const auto num = [&] { return nums[random() % nums.size()]; };
        const auto bit = [&] {
          const auto b = bits[random() % bits.size()];
          return random() % 2 ? !b : b;
        };
        switch (random() % 4) {
          case 0: nums.push_back(gadget::add(cs, num(), num())); break;
          case 1: bits.push_back(gadget::boolean_xor(cs, bit(), bit())); break;
          case 2: nums.push_back(gadget::alloc_input(cs, Fr::from_u64(random() % 10))); break;
          default: {
            const auto out = maybe_block(cs, marked, "mix", {{num(), num()}, {bit(), bit()}}, [&](const auto& in) {
              const auto pair = gadget::conditionally_reverse(cs, in.nums[0], in.nums[1], in.bits[0]);
              gadget::inputize(cs, pair.first);
              return BlockWires<CS>{{gadget::mul(cs, pair.first, in.nums[1]), pair.second},
                                    {gadget::boolean_ch(cs, in.bits[1], in.bits[0], in.bits[1]), in.bits[1]}};
            });
            nums.insert(nums.end(), out.nums.begin(), out.nums.end());
            bits.insert(bits.end(), out.bits.begin(), out.bits.end());
          }
        }
      }
    });
  }
}

// What a body must not do, the Recorder does not let pass.
class BlocksDeathTest : public testing::Test {
 protected:
  BlocksDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  using R = Recorder;
  R cs_;
};

TEST_F(BlocksDeathTest, WireFromOutsideIsNoPort) {
  const Num<R> x = gadget::alloc_num(cs_, Fr::one()), input = gadget::alloc_input(cs_, Fr::one());
  const auto use = [&](const Num<R>& outside) {
    gadget::block(cs_, "b", {{x}, {}}, [&](const BlockWires<R>& in) {
      return BlockWires<R>{{gadget::mul(cs_, in.nums[0], outside)}, {}};
    });
  };
  EXPECT_DEATH(use(x), "none of its ports");
  EXPECT_DEATH(use(input), "none of its ports");
  EXPECT_DEATH(gadget::block(cs_, "hash", {},
                             [&](const BlockWires<R>&) {
                               return BlockWires<R>{{PoseidonCircuitHasher::hash2(cs_, x, input)}, {}};
                             }),
               "none of its ports");
  EXPECT_DEATH(gadget::block(cs_, "out", {},
                             [&](const BlockWires<R>&) {
                               return BlockWires<R>{{x}, {}};
                             }),
               "none of its ports");
  use({Wire::one(), Fr::one()});  // ONE may be used anywhere
}

TEST_F(BlocksDeathTest, WireOfABlockIsNoOutput) {
  const Num<R> x = gadget::alloc_num(cs_, Fr::one());
  Num<R> kept, input;
  for (int i = 0; i < 2; ++i) {
    const auto out = gadget::block(cs_, "b", {{x}, {}}, [&](const BlockWires<R>& in) {
      kept = gadget::square(cs_, in.nums[0]);
      input = gadget::alloc_input(cs_, Fr::one());
      return BlockWires<R>{{gadget::square(cs_, kept)}, {}};
    });
    gadget::square(cs_, out.nums[0]);  // an output may be used
  }
  EXPECT_DEATH(gadget::square(cs_, kept), "none of its outputs");
  EXPECT_DEATH(gadget::square(cs_, input), "none of its outputs");
  EXPECT_DEATH(PoseidonCircuitHasher::hash2(cs_, x, kept), "none of its outputs");
  EXPECT_DEATH(gadget::block(cs_, "b", {{kept}, {}}, [](const BlockWires<R>&) { return BlockWires<R>{}; }),
               "none of its outputs");
}

TEST_F(BlocksDeathTest, StandInForAPortIsUsedOutside) {
  const Num<R> x = gadget::alloc_num(cs_, Fr::one());
  Num<R> kept;
  gadget::block(cs_, "b", {{x}, {}}, [&](const BlockWires<R>& in) {
    kept = in.nums[0];
    return BlockWires<R>{};
  });
  EXPECT_DEATH(gadget::square(cs_, kept), "named");
}

}  // namespace
}  // namespace cuzk
