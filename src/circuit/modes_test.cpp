// The word-wise and the bit-wise witness must be the same bits, gadgets must mean what they say, and every mode must
// notice what it is there to notice.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "circuit/circuit_test_util.hpp"
#include "circuit/hasher.hpp"
#include "circuit/insertion.hpp"

namespace cuzk {
namespace {

template <class CS>
Boolean<CS> random_boolean(CS& cs, std::mt19937_64& random, unsigned constants_per_8) {
  const uint64_t r = random();
  if ((r >> 8) % 8 < constants_per_8) return Boolean<CS>::constant(r & 1);
  const Boolean<CS> bit = gadget::alloc_bit(cs, r & 1);
  return r & 2 ? !bit : bit;
}

template <class CS>
UInt32<CS> random_word(CS& cs, std::mt19937_64& random, unsigned constants_per_8) {
  std::vector<Boolean<CS>> bits;
  for (int i = 0; i < 32; ++i) bits.push_back(random_boolean(cs, random, constants_per_8));
  return UInt32<CS>::from_bits_be(bits);
}

// Few words and many operations on them, so that all mixtures of constants, negations and results meet.
TEST(PackedEqualsBitwise, RandomWordOperations) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const auto modes = test::run_all_modes([seed](auto& cs) {
      using CS = std::remove_reference_t<decltype(cs)>;
      std::mt19937_64 random(seed);
      const unsigned constants_per_8 = seed % 9;
      std::vector<UInt32<CS>> words;
      for (int i = 0; i < 5; ++i) words.push_back(random_word(cs, random, constants_per_8));
      words.push_back(UInt32<CS>::constant(static_cast<uint32_t>(random())));
      words.push_back(UInt32<CS>::constant(0));
      words.push_back(UInt32<CS>::constant(0xffffffff));
      MultiEq<CS> eq(cs);
      for (int step = 0; step < 30; ++step) {
        auto any = [&] { return words[random() % words.size()]; };
        const UInt32<CS> a = any(), b = any(), c = any();
        UInt32<CS> out;
        switch (random() % 6) {
          case 0: out = gadget::uint32_xor(cs, a, b); break;
          case 1: out = gadget::uint32_ch(cs, a, b, c); break;
          case 2: out = gadget::uint32_maj(cs, a, b, c); break;
          case 3: out = a.rotr(static_cast<unsigned>(random() % 32)); break;
          case 4: out = a.shr(static_cast<unsigned>(1 + random() % 31)); break;
          default: {
            std::vector<UInt32<CS>> operands;
            for (uint64_t i = 0, n = 2 + random() % 9; i < n; ++i) operands.push_back(any());
            out = gadget::uint32_add_many<CS>(eq, operands);
          }
        }
        words[random() % words.size()] = out;
      }
    });
    if (modes.summary.num_aux == 0) {
      EXPECT_EQ(seed % 9, 8u);
    }
  }
}

TEST(PackedEqualsBitwise, RandomSha256Inputs) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<uint8_t> message, digest;
    const auto modes = test::run_all_modes([&, seed](auto& cs) {
      using CS = std::remove_reference_t<decltype(cs)>;
      std::mt19937_64 random(seed);
      const size_t bytes = std::array<size_t, 10>{0, 1, 31, 55, 56, 64, 65, 100, 119, 120}[seed % 10];
      std::vector<Boolean<CS>> bits;
      message.assign(bytes, 0);
      for (size_t i = 0; i < 8 * bytes; ++i) {
        bits.push_back(random_boolean(cs, random, seed % 2 == 0 ? 2 : 7));
        if (CS::kHasValues) message[i / 8] |= static_cast<uint8_t>(bits.back().value << (7 - i % 8));
      }
      const auto out = gadget::sha256<CS>(cs, bits);
      digest.assign(32, 0);
      for (size_t i = 0; i < out.size(); ++i) digest[i / 8] |= static_cast<uint8_t>(out[i].value << (7 - i % 8));
    });
    // The last mode that ran has values.
    const auto expected = sha256(message);
    EXPECT_EQ(to_hex(digest), to_hex(expected));
    if (message.empty()) {
      EXPECT_EQ(modes.summary.num_aux, 0u);
    }
  }
}

// All values, negations and constants of three Booleans against the plain functions.
TEST(Booleans, TruthTables) {
  auto operations = [](auto& cs, int code) {
    using CS = std::remove_reference_t<decltype(cs)>;
    auto make = [&](int kind) {
      const bool v = kind & 1;
      if (kind < 2) return Boolean<CS>::constant(v);
      if (kind < 4) return gadget::alloc_bit(cs, v);
      return !gadget::alloc_bit(cs, v);
    };
    const Boolean<CS> a = make(code % 6), b = make(code / 6 % 6), c = make(code / 36);
    const std::array<Boolean<CS>, 5> results = {gadget::boolean_xor(cs, a, b), gadget::boolean_and(cs, a, b),
                                                gadget::boolean_or(cs, a, b), gadget::boolean_ch(cs, a, b, c),
                                                gadget::boolean_maj(cs, a, b, c)};
    const std::array<bool, 5> plain = {a.value != b.value, a.value && b.value, a.value || b.value,
                                       a.value ? b.value : c.value, a.value + b.value + c.value >= 2};
    return std::pair(results, plain);
  };
  for (int code = 0; code < 6 * 6 * 6; ++code) {
    SCOPED_TRACE(code);
    test::run_all_modes([&](auto& cs) { operations(cs, code); });
    PackedWriter writer;
    const auto [packed, packed_plain] = operations(writer, code);
    Checker cs;
    const auto checked = operations(cs, code);  // no structured binding: clang 14 does not capture those
    const auto& results = checked.first;
    const auto& plain = checked.second;
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i].value, plain[i]) << i;
      EXPECT_EQ(packed[i].value, plain[i]) << i;
      EXPECT_EQ(packed[i].kind, results[i].kind) << i;
      // In linear combinations a Boolean stands for its value.
      for (const bool negate : {false, true}) {
        cs.enforce([](auto&) {}, [](auto&) {},
                   [&](auto& lc) {
                     negate ? sub_boolean(lc, results[i], 3) : add_boolean(lc, results[i], 3);
                     if (plain[i]) negate ? lc.add_shifted(Wire::one(), 3) : lc.sub_shifted(Wire::one(), 3);
                   });
      }
    }
    EXPECT_TRUE(cs.satisfied());
  }
}

TEST(Nums, ArithmeticAndReversal) {
  for (const bool condition : {false, true}) {
    const auto modes = test::run_all_modes([condition](auto& cs) {
      using CS = std::remove_reference_t<decltype(cs)>;
      const Num<CS> a = gadget::alloc_num(cs, Fr::from_u64(5)), b = gadget::alloc_input(cs, Fr::from_u64(7));
      gadget::add(cs, a, b);
      gadget::sub(cs, a, b);
      gadget::mul(cs, a, b);
      gadget::square(cs, b);
      gadget::assert_nonzero(cs, a);
      gadget::conditionally_reverse(cs, a, b, gadget::alloc_bit(cs, condition));
      gadget::inputize(cs, a);
      gadget::enforce_sum(cs, a, b, gadget::alloc_num(cs, Fr::from_u64(12)));
    });
    const Fr five = Fr::from_u64(5), seven = Fr::from_u64(7);
    const std::vector<Fr> aux = {five,
                                 five + seven,
                                 five - seven,
                                 five * seven,
                                 seven * seven,
                                 five.inverse(),
                                 condition ? Fr::one() : Fr::zero(),
                                 condition ? seven : five,
                                 condition ? five : seven,
                                 Fr::from_u64(12)};
    EXPECT_EQ(modes.aux, aux);
    const std::vector<Fr> inputs = {Fr::one(), seven, five};
    EXPECT_EQ(modes.inputs, inputs);
    EXPECT_EQ(modes.summary.num_constraints, 10u);
  }
}

TEST(Nums, WrongValuesViolate) {
  Checker cs;
  const auto zero = gadget::alloc_num(cs, Fr::zero()), one = gadget::alloc_num(cs, Fr::one());
  gadget::assert_nonzero(cs, one);
  EXPECT_TRUE(cs.satisfied());
  gadget::assert_nonzero(cs, zero);
  EXPECT_EQ(cs.num_violations(), 1u);
  gadget::equal(cs, zero, one);
  EXPECT_EQ(cs.num_violations(), 2u);
  gadget::enforce_sum(cs, one, one, one);
  EXPECT_EQ(cs.num_violations(), 3u);
  using B = Boolean<Checker>;
  gadget::enforce_booleans_equal(cs, B::constant(true), B::constant(false));
  EXPECT_EQ(cs.num_violations(), 4u);
  gadget::enforce_booleans_equal(cs, gadget::alloc_bit(cs, true), B::constant(false));
  EXPECT_EQ(cs.num_violations(), 5u);
  gadget::enforce_booleans_equal(cs, B::constant(false), !gadget::alloc_bit(cs, false));
  EXPECT_EQ(cs.num_violations(), 6u);
  gadget::enforce_booleans_equal(cs, gadget::alloc_bit(cs, true), !gadget::alloc_bit(cs, false));
  EXPECT_EQ(cs.num_violations(), 6u);
}

TEST(Nums, BitsOfLargeNumbersAndStrictness) {
  const Fr top = -Fr::one();
  for (const Fr& value : {Fr::zero(), Fr::one(), top, top * Fr::from_u64(2).inverse()}) {
    test::run_all_modes([&](auto& cs) {
      gadget::to_bits_le(cs, gadget::alloc_num(cs, value));
      gadget::to_bits_le_strict(cs, gadget::alloc_num(cs, value));
    });
  }
  // 0 written as the bits of r satisfies the form that Filecoin uses.
  Checker plain;
  for (uint32_t i = 0; i < 255; ++i) {
    plain.override_aux(1 + i, Fr::from_u64(Fr::kModulus[i / 64] >> (i % 64) & 1));
  }
  gadget::to_bits_le(plain, gadget::alloc_num(plain, Fr::zero()));
  EXPECT_TRUE(plain.satisfied());
}

auto mixed_circuit() {
  return [](auto& cs) {
    using CS = std::remove_reference_t<decltype(cs)>;
    auto outer = cs.scope("mixed");
    std::vector<Num<CS>> numbers = test::fresh_numbers(cs, 8);
    {
      auto scope = cs.scope("hash", 1);
      numbers[0] = gadget::poseidon_hash<CS>(cs, numbers);
    }
    {
      auto scope = cs.scope("chain", 2);
      numbers[1] = gadget::poseidon_hash<CS>(cs, std::span<const Num<CS>>(numbers).first(2));
      numbers[1] = gadget::poseidon_hash<CS>(cs, std::span<const Num<CS>>(numbers).first(4));
    }
    auto scope = cs.scope("digest", 3);
    const auto digest = Sha256CircuitHasher::hash2(cs, numbers[0], numbers[1]);
    gadget::inputize(cs, digest);
  };
}

// Each wire in turn gets another value; every constraint system must object, the first time where the wire is used.
TEST(Checker, EveryFlippedWireIsCaught) {
  const auto modes = test::run_all_modes(mixed_circuit());
  std::set<std::string> paths;
  std::mt19937_64 random(1);
  for (int i = 0; i < 60; ++i) {
    const uint32_t index = i < 8    ? static_cast<uint32_t>(i)
                           : i < 30 ? static_cast<uint32_t>(random() % 1200)
                                    : static_cast<uint32_t>(random() % modes.aux.size());
    SCOPED_TRACE(index);
    Checker cs;
    const Fr wrong = modes.aux[index].is_zero()  ? Fr::one()
                     : modes.aux[index].is_one() ? Fr::zero()
                                                 : modes.aux[index] + Fr::one();
    cs.override_aux(index, wrong);
    mixed_circuit()(cs);
    ASSERT_FALSE(cs.satisfied());
    paths.insert(cs.first_violation()->path);
    // The matrices say the same.
    std::vector<Fr> aux = modes.aux;
    aux[index] = wrong;
    const auto row = first_unsatisfied(modes.circuit, modes.inputs, aux);
    ASSERT_TRUE(row.has_value());
    EXPECT_EQ(*row, cs.first_violation()->constraint);
    if (index < 8) {
      EXPECT_EQ(cs.first_violation()->path, "mixed/hash 1/poseidon 8");
    }
  }
  EXPECT_TRUE(paths.count("mixed/chain 2/poseidon 2") + paths.count("mixed/chain 2/poseidon 4") > 0);
  EXPECT_TRUE(paths.count("mixed/digest 3/sha256 block 0") && paths.count("mixed/digest 3/sha256 block 1"));
}

TEST(Checker, WrongInputIsCaught) {
  const auto modes = test::run_all_modes(mixed_circuit());
  std::vector<Fr> inputs = modes.inputs;
  inputs[1] += Fr::one();
  EXPECT_EQ(first_unsatisfied(modes.circuit, inputs, modes.aux), modes.circuit.num_constraints - 1);
}

TEST(Recorder, StructureOfACompiledCircuit) {
  const auto modes = test::run_all_modes(mixed_circuit());
  const CompiledCircuit& c = modes.circuit;
  ASSERT_EQ(c.blocks.size(), 1u);  // nothing in it is marked
  ASSERT_EQ(c.instances.size(), 1u);
  const CircuitBlock& block = c.blocks[0];
  uint64_t total = 0;
  for (size_t i = 0; i < block.kinds.size(); ++i) {
    total += block.kinds[i].count;
    EXPECT_GT(block.kinds[i].count, 0u);
    if (i > 0) {
      EXPECT_NE(block.kinds[i].kind, block.kinds[i - 1].kind);
    }
  }
  EXPECT_EQ(total, c.num_aux);
  EXPECT_EQ(block.num_ports + c.ports.size(), 0u);
  ASSERT_EQ(block.derived.size(), 3u);
  EXPECT_EQ(block.derived_inputs.size(), 8u + 2 + 4);
  // The second hash reads the first one's output, its last wire.
  EXPECT_EQ(block.derived_inputs[8], Column::aux(block.derived[0].first_aux + block.derived[0].num_aux - 1));
  EXPECT_EQ(c.rows(), uint64_t{c.num_constraints} + c.num_inputs);
  EXPECT_EQ(uint64_t{1} << c.log2_domain() >= c.rows(), true);
  EXPECT_EQ(uint64_t{1} << (c.log2_domain() - 1) < c.rows(), true);
  std::vector<bool> used(c.coefficients.size());
  for (const BlockMatrix& m : {c.a(), c.b(), c.c()}) {
    ASSERT_EQ(m.num_rows, c.num_constraints);
    uint64_t last_row = 0;
    std::optional<uint32_t> last_key;
    m.for_each_term([&](uint64_t row, uint32_t raw, uint16_t coefficient) {
      used[coefficient] = true;
      const Wire w{raw};
      ASSERT_FALSE(c.coefficients[coefficient].is_zero());
      ASSERT_LT(w.index(), w.is_input() ? c.num_inputs : c.num_aux);
      ASSERT_LT(row, c.num_constraints);
      ASSERT_GE(row, last_row);
      if (row == last_row && last_key) {
        ASSERT_LT(*last_key, w.order_key());
      }
      last_row = row;
      last_key = w.order_key();
    });
  }
  EXPECT_EQ(std::count(used.begin(), used.end(), false), 0);
}

TEST(ExpandWitness, RefusesAForeignWitness) {
  const auto modes = test::run_all_modes(mixed_circuit());
  auto expect_refused = [&](PackedWitness w) {
    const auto result = expand_witness(modes.circuit, w);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().error_class, ErrorClass::kInternal);
  };
  PackedWitness w = modes.witness;
  w.fields.pop_back();
  expect_refused(w);
  w = modes.witness;
  w.bits.push_back(true);
  expect_refused(w);
  w = modes.witness;
  w.inputs.push_back(Fr::one());
  expect_refused(w);
  w = modes.witness;
  w.inputs[0] = Fr::zero();
  expect_refused(w);
}

// A witness that was packed with a wrong bit must expand to an assignment that fails.
TEST(ExpandWitness, FlippedBitIsUnsatisfied) {
  const auto modes = test::run_all_modes(mixed_circuit());
  std::mt19937_64 random(3);
  for (int i = 0; i < 20; ++i) {
    PackedWitness w = modes.witness;
    const size_t at = random() % w.bits.size();
    w.bits.words()[at / 64] ^= uint64_t{1} << (at % 64);
    const auto aux = expand_witness(modes.circuit, w);
    ASSERT_TRUE(aux.ok());
    EXPECT_TRUE(first_unsatisfied(modes.circuit, w.inputs, aux.value()).has_value()) << at;
  }
}

TEST(LinearCombination, MergesSortsAndDropsZeros) {
  CoefficientTable table;
  LinearCombination lc(table);
  lc.add(Wire::aux(5));
  lc.add_shifted(Wire::aux(5), 3);
  lc.sub(Wire::aux(2));
  lc.add(Wire::one(), Fr::from_u64(77));
  lc.add(Wire::aux(2));
  lc.add(Wire::aux(9), Fr::zero());
  lc.add(Wire::input(4));
  lc.normalize();
  ASSERT_EQ(lc.terms().size(), 3u);
  EXPECT_EQ(LinearCombination::wire_of(lc.terms()[0]), Wire::one());
  EXPECT_EQ(LinearCombination::wire_of(lc.terms()[1]), Wire::input(4));
  EXPECT_EQ(LinearCombination::wire_of(lc.terms()[2]), Wire::aux(5));
  EXPECT_EQ(table.value(LinearCombination::id_of(lc.terms()[0])), Fr::from_u64(77));
  EXPECT_EQ(table.value(LinearCombination::id_of(lc.terms()[2])), Fr::from_u64(9));
  // Many terms take another path: against a map.
  std::mt19937_64 random(5);
  for (int round = 0; round < 50; ++round) {
    lc.clear();
    std::map<uint32_t, Fr> expected;
    for (uint64_t i = 0, n = random() % 200; i < n; ++i) {
      const Wire w = random() % 4 == 0 ? Wire::input(random() % 9) : Wire::aux(random() % 60);
      const unsigned k = random() % 3;
      Fr& sum = expected[w.order_key()];
      if (random() % 2 == 0) {
        lc.add_shifted(w, k);
        sum += Fr::from_u64(uint64_t{1} << k);
      } else {
        lc.sub_shifted(w, k);
        sum -= Fr::from_u64(uint64_t{1} << k);
      }
    }
    std::erase_if(expected, [](const auto& e) { return e.second.is_zero(); });
    lc.normalize();
    ASSERT_EQ(lc.terms().size(), expected.size());
    size_t i = 0;
    for (const auto& [key, value] : expected) {
      EXPECT_EQ(LinearCombination::wire_of(lc.terms()[i]).order_key(), key);
      EXPECT_EQ(table.value(LinearCombination::id_of(lc.terms()[i])), value);
      ++i;
    }
  }
}

TEST(CoefficientTable, KeepsIdsWhileItGrows) {
  CoefficientTable table;
  EXPECT_EQ(table.value(CoefficientTable::kOne), Fr::one());
  EXPECT_EQ(table.value(CoefficientTable::kMinusOne), -Fr::one());
  EXPECT_EQ(table.value(CoefficientTable::power_of_two(254)), Fr::from_u64(2).pow(254));
  EXPECT_EQ(table.value(CoefficientTable::negative_power_of_two(100)), -Fr::from_u64(2).pow(100));
  std::vector<uint32_t> ids;
  for (uint64_t i = 0; i < 20000; ++i) ids.push_back(table.intern(Fr::from_u64(i * i + 3)));
  for (uint64_t i = 0; i < 20000; ++i) {
    EXPECT_EQ(table.intern(Fr::from_u64(i * i + 3)), ids[i]);
    EXPECT_EQ(table.value(ids[i]), Fr::from_u64(i * i + 3));
  }
}

TEST(PackedWriter, AppendsRunsOfEveryLength) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20; ++round) {
    PackedWriter writer(round % 2 == 0 ? 0 : 100000);
    BitVector expected;
    for (int i = 0; i < 3000; ++i) {
      const unsigned count = static_cast<unsigned>(round < 2 ? 64 * (random() % 2) : random() % 65);
      const uint64_t bits = count == 64 ? random() : random() & ((uint64_t{1} << count) - 1);
      writer.append_bits(bits, count);
      for (unsigned k = 0; k < count; ++k) expected.push_back(bits >> k & 1);
    }
    const PackedWitness witness = writer.finish();
    EXPECT_TRUE(witness.bits == expected) << round;
    EXPECT_EQ(witness.inputs, std::vector<Fr>{Fr::one()});
    EXPECT_TRUE(witness.fields.empty());
  }
  PackedWriter empty;
  EXPECT_EQ(empty.finish().bits.size(), 0u);
}

// A digest asked for in between changes nothing later.
TEST(Digester, SummariesInBetween) {
  Digester once, twice;
  mixed_circuit()(once);
  mixed_circuit()(once);
  mixed_circuit()(twice);
  const auto first = twice.summary();
  EXPECT_EQ(first.r1cs_digest, test::run_all_modes(mixed_circuit()).summary.r1cs_digest);
  EXPECT_EQ(first.r1cs_digest, twice.summary().r1cs_digest);
  mixed_circuit()(twice);
  EXPECT_EQ(once.summary().r1cs_digest, twice.summary().r1cs_digest);
  EXPECT_NE(first.r1cs_digest, twice.summary().r1cs_digest);
}

TEST(Packing, ReverseBitNumberingPadsAndInverts) {
  using B = Boolean<PackedWriter>;
  std::vector<B> bits;
  for (int i = 0; i < 255; ++i) bits.push_back(B::is(Wire::aux(static_cast<uint32_t>(i)), i % 3 == 0));
  const auto reversed = gadget::reverse_bit_numbering(bits);
  ASSERT_EQ(reversed.size(), 256u);
  EXPECT_TRUE(reversed[248].is_constant(false));
  EXPECT_EQ(reversed[0].wire.index(), 7u);
  EXPECT_EQ(reversed[255].wire.index(), 248u);
  const auto back = gadget::reverse_bit_numbering(reversed);
  for (size_t i = 0; i < 255; ++i) EXPECT_EQ(back[i].wire.index(), i);
}

TEST(Packing, XorWithKeyRepeatsTheKey) {
  test::run_all_modes([](auto& cs) {
    using CS = std::remove_reference_t<decltype(cs)>;
    const auto key = test::fresh_bits(cs, 256), input = test::fresh_bits(cs, 300);
    const auto out = gadget::xor_with_key<CS>(cs, key, input);
    ASSERT_EQ(out.size(), 300u);
    for (size_t i = 0; i < 300; ++i) EXPECT_EQ(out[i].value, key[i % 256].value != input[i].value);
  });
}

}  // namespace
}  // namespace cuzk
