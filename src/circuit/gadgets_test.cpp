// Every known value of the gadgets (computed with upstream bellpepper-core, bellpepper, storage-proofs-core and
// neptune), in every mode.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "circuit/circuit_test_util.hpp"
#include "circuit/por.hpp"

namespace cuzk {
namespace {

using test::check_all_modes;
using test::CheckValues;
using test::fresh_bits;
using test::fresh_numbers;

TEST(GadgetValues, Sha256) {
  const std::array<std::pair<size_t, CheckValues>, 3> cases = {{
      {8,
       {1, 24352, 24378, "53da2f96a7ce4fdfe50a1dfbe37173a9bc3cd81ba40f4fc6c7fec1db2a3f9080",
        "1c6a3ac2b9f5319a31950ec26cfd6d3e5d6db40eeb48bf164d9cf19189880269"}},
      {256,
       {1, 25474, 25500, "a79169997828482b03708525e5ee23b6a7466c3ea6fe9d6d4169730a56b82c26",
        "bb82c9e734165ae964c6981e01e9c8906664b4ed6774f3e22c42e522fb72e248"}},
      {512,
       {1, 45340, 45386, "9fb8f430fd9cbbe615fdb1371f39e23fbaed6eccb26d42ede76f3812118666c4",
        "141a33b62a38c2fbe6fdfed6e3769df37413f8587ac15cba9c2b1e92368a4d2f"}},
  }};
  for (const auto& [count, expected] : cases) {
    SCOPED_TRACE(count);
    check_all_modes(expected, [n = count](auto& cs) {
      using CS = std::remove_reference_t<decltype(cs)>;
      gadget::sha256<CS>(cs, fresh_bits(cs, n));
    });
  }
}

TEST(GadgetValues, Sha256WithConstants) {
  check_all_modes({1, 44602, 44648, "8ce2a8d2873385b47812b5970669dcdea736fc0dafb0f84a3d35253916455faf",
                   "088adca1e24f7cb25b6a814438f0843e07f5869275066a587b17a3ad1d336b4c"},
                  [](auto& cs) {
                    using CS = std::remove_reference_t<decltype(cs)>;
                    auto bits = fresh_bits(cs, 300);
                    for (size_t j = 0; j < 212; ++j) bits.push_back(Boolean<CS>::constant(j % 3 == 0));
                    gadget::sha256<CS>(cs, bits);
                  });
}

TEST(GadgetValues, Insert) {
  const std::array<std::pair<std::vector<bool>, CheckValues>, 4> cases = {{
      {{true},
       {1, 5, 3, "a8dc9e4dae2d47159542920f5732648a2bea38ba123371847058cc3a152d5ea1",
        "50e121a9410f5b9d610c994c0f66a30eaeb3636e612dad117197ca08b1005edb"}},
      {{true, false},
       {1, 14, 10, "02e7e2c84b41289b7a0750bdfb75e67b66765851c825f4bad019fa0266c7c1b4",
        "58e94e2a3b972c9dbcd2282fe191f848fcc4a4462348f1a12ef3b4b4e9fb2c94"}},
      {{true, false, true},
       {1, 33, 25, "c9ca72c219a52a2999f94f3a19c0ac5ed8b848e3d996f0644b5f27613554032d",
        "69c8660931208519dd83cf6a7a6a4f1349a0e48d0321acee1805f44e2e44afaf"}},
      {{true, false, true, false},
       {1, 260, 244, "ba56e6e739e838301ebc3d2e38080ce5c01848b59b4cfb1196834c671cc18d98",
        "d0b7ddb15bf0f7b0a50defbdfdbbc6395c22934ae4af023ce89e27f49cb96b41"}},
  }};
  for (const auto& [index, expected] : cases) {
    SCOPED_TRACE(index.size());
    check_all_modes(expected, [&index = index](auto& cs) {
      using CS = std::remove_reference_t<decltype(cs)>;
      const auto numbers = fresh_numbers(cs, size_t{1} << index.size());
      std::vector<Boolean<CS>> bits;
      for (const bool bit : index) bits.push_back(gadget::alloc_bit(cs, bit));
      gadget::insert<CS>(cs, numbers[0], bits, std::span(numbers).subspan(1));
    });
  }
}

TEST(GadgetValues, Sha256HashOfTwoNumbers) {
  check_all_modes({1, 45333, 45379, "f0de463109598a465f181b7120101a29223d817d9152b392343029bb84368079",
                   "805ee650dc8830e4b865b56275622b65f318b553723b7380bb2b865acf84abdc"},
                  [](auto& cs) {
                    using CS = std::remove_reference_t<decltype(cs)>;
                    Sha256CircuitHasher::hash_multi_leaf<CS>(cs, fresh_numbers(cs, 2));
                  });
}

TEST(GadgetValues, PoseidonHashMd) {
  const auto modes = check_all_modes({1, 2841, 2770, "a5357cc9d78f7aa8c96109341eb79e70dedecc330c2f4c48a36997618c90cd97",
                                      "1651f50bb033d8f063ba5408735767526e62c802396f216680cf34cce81adef4"},
                                     [](auto& cs) {
                                       using CS = std::remove_reference_t<decltype(cs)>;
                                       PoseidonCircuitHasher::hash_md<CS>(cs, fresh_numbers(cs, 71));
                                     });
  EXPECT_EQ(to_hex(modes.aux.back().to_bytes_be()), "0f9ea17d3605998b30215e4c4b4eb5625b354210aa0efd107075bc864f80ff27");
  EXPECT_EQ(modes.circuit.blocks[0].derived.size(), 2u);
}

TEST(GadgetValues, Bits) {
  check_all_modes({1, 256, 256, "92fd228206395845b1ee77421b7f553e54ae812c1c9a20c8ea9cb93b3781115e",
                   "d58119846fd3f4f6a575804f4d2fda2944eb63a090c3d5f5b2850d500c9db433"},
                  [](auto& cs) { gadget::to_bits_le(cs, fresh_numbers(cs, 1)[0]); });
  check_all_modes({1, 388, 388, "45e81c688aa1544bf2d0d5a692bd0280871aedcfd21b083c765c0fb9e24bddb0",
                   "9f11688566f42013614773c4e802bec604c8bc73a55aaf80bb1c642cfe6b3b79"},
                  [](auto& cs) { gadget::to_bits_le_strict(cs, fresh_numbers(cs, 1)[0]); });
  check_all_modes({3, 300, 302, "e2a55a4efd7b8e7e5ec7c33066ea74429d04fe8a95aae23e9bc8689062addd2d",
                   "e75d1a084bce211a7396f346fe3d5d714da7bbcdb2a25d57c93a485b5f0e7e03"},
                  [](auto& cs) {
                    using CS = std::remove_reference_t<decltype(cs)>;
                    gadget::pack_into_inputs<CS>(cs, fresh_bits(cs, 300));
                  });
}

// The label of a PoRep layer, as its circuit builds it: replica id, layer 3, node 22, 37 parents.
TEST(GadgetValues, CreateLabel) {
  check_all_modes({1, 531505, 532025, "994bd382b5e6d6f9b268dfc8d045f1ea8f044cc9709b6e974716a60228c06ab6",
                   "f0334e3d4eda75bc651f8d2fcc8f3c19d9fd5f6a05a13be83c58339dbbfe0e2d"},
                  [](auto& cs) {
                    using CS = std::remove_reference_t<decltype(cs)>;
                    std::vector<Boolean<CS>> message = fresh_bits(cs, 256);
                    std::vector<Boolean<CS>> parents;
                    for (int i = 0; i < 37; ++i) {
                      for (const auto& bit : fresh_bits(cs, 256)) parents.push_back(bit);
                    }
                    for (int i = 31; i >= 0; --i) message.push_back(Boolean<CS>::constant(3 >> i & 1));
                    for (const auto& bit : UInt64<CS>::constant(22).to_bits_be()) message.push_back(bit);
                    message.resize(message.size() + 160, Boolean<CS>::constant(false));
                    message.insert(message.end(), parents.begin(), parents.end());
                    Sha256CircuitHasher::hash_bits<CS>(cs, message);
                  });
}

TEST(GadgetValues, Poseidon) {
  struct Case {
    unsigned arity;
    CheckValues values;
    uint64_t density, a_terms, b_terms, c_terms;
  };
  const std::vector<Case> cases = {
      {2,
       {1, 313, 311, "7b222b97c97051cd5d6e61119b5d22319d07f367636fcb52ca64ad3d91975a10",
        "0e05ddaa4e21f6f373e62e5974fadaffb8e973cbe352265e1a062bf3fa838050"},
       234,
       2119,
       313,
       386},
      {4,
       {1, 381, 377, "a2862e9a950d90b99950dc981b5a7bb04c7cbd1b388a32ec1ef17b012d20f7e9",
        "61d98bb230290273ad1d8c26090d68ee9a94139a11615b937fb9fdefb44fcccd"},
       285,
       2573,
       381,
       467},
      {8,
       {1, 513, 505, "858ae9ea16bd44fb8cfa79e56d33c4faec7372896de7beaafa21c09011fbb125",
        "afc543dd400ae7ba08399073eca50919232da4db72541f81754e75674ba824f8"},
       384,
       3598,
       513,
       624},
      {11,
       {1, 609, 598, "89741ee9ba216868d17d49dbb60accc77fd2c21be6ae315ac7fa9e8c0b4185b6",
        "ef55ed766627ab224641b03d45be48b8c10ee89f9e67da8ee2f9dc518772b5e9"},
       456,
       4462,
       609,
       738},
      {36,
       {1, 1421, 1385, "18f1f877251f04017360d074890b82700af943d2db160d97dcdd9d81ec83eeb5",
        "a923b50abf0f5594c9f819993a3dc632548afa22b0b6b44ae9fc734feffc4303"},
       1065,
       16967,
       1421,
       1703},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.arity);
    const auto modes = check_all_modes(c.values, [&c](auto& cs) {
      using CS = std::remove_reference_t<decltype(cs)>;
      gadget::poseidon_hash<CS>(cs, fresh_numbers(cs, c.arity));
    });
    EXPECT_EQ(modes.summary.a_aux_density, c.density);
    EXPECT_EQ(modes.summary.b_aux_density, c.density);
    EXPECT_EQ(modes.summary.a_terms, c.a_terms);
    EXPECT_EQ(modes.summary.b_terms, c.b_terms);
    EXPECT_EQ(modes.summary.c_terms, c.c_terms);
    EXPECT_EQ(modes.summary.num_derived, c.values.constraints);
    const DerivedInstance expected = {c.arity, c.arity, static_cast<uint32_t>(c.values.constraints), 0,
                                      poseidon_merkle_tag(c.arity)};
    ASSERT_EQ(modes.circuit.blocks[0].derived.size(), 1u);
    EXPECT_EQ(modes.circuit.blocks[0].derived[0], expected);
  }
}

// The other arities and a tag of its own have no digest from upstream: counts, and the modes against each other.
TEST(GadgetValues, PoseidonOtherAritiesAndTags) {
  for (const auto& [arity, count] : {std::pair<unsigned, unsigned>{16, 761}, {24, 1009}}) {
    const auto modes = test::run_all_modes([arity = arity](auto& cs) {
      using CS = std::remove_reference_t<decltype(cs)>;
      gadget::poseidon_hash<CS>(cs, fresh_numbers(cs, arity));
    });
    EXPECT_EQ(modes.summary.num_constraints, count);
    EXPECT_EQ(modes.summary.num_derived, count);
  }
  const auto modes = test::run_all_modes([](auto& cs) {
    using CS = std::remove_reference_t<decltype(cs)>;
    gadget::poseidon_hash<CS>(cs, fresh_numbers(cs, 2), poseidon_custom_tag(1));
  });
  EXPECT_EQ(to_hex(modes.aux.back().to_bytes_be()), "702c879bafdb05ab3018f4fbc1d4c74854af845cdbb6bb53e40d5f9cb5e92f3c");
}

// One compression by what is allocated: everything; the message only; the state only (padding of a 512-bit message).
TEST(GadgetValues, CountsOfOneCompression) {
  struct Case {
    bool state, message;
    uint64_t constraints, aux;
  };
  for (const Case& c : {Case{true, true, 26192, 26166}, {false, true, 25840, 25814}, {true, false, 19034, 19014}}) {
    const auto modes = test::run_all_modes([&c](auto& cs) {
      using CS = std::remove_reference_t<decltype(cs)>;
      std::array<UInt32<CS>, 8> state;
      std::array<UInt32<CS>, 16> block;
      for (size_t i = 0; i < 8; ++i) {
        state[i] = c.state ? gadget::uint32_alloc(cs, static_cast<uint32_t>(i * 77777777))
                           : UInt32<CS>::constant(kSha256InitialState[i]);
      }
      for (size_t i = 0; i < 16; ++i) {
        const uint32_t padding = i == 0 ? 0x80000000 : i == 15 ? 512 : 0;
        block[i] =
            c.message ? gadget::uint32_alloc(cs, static_cast<uint32_t>(i * 987654321)) : UInt32<CS>::constant(padding);
      }
      gadget::sha256_compress(cs, block, state);
    });
    const uint64_t setup = 32 * (8 * c.state + 16 * c.message);
    EXPECT_EQ(modes.summary.num_constraints, c.constraints + setup);
    EXPECT_EQ(modes.summary.num_aux, c.aux + setup);
  }
}

// Upstream's tests (storage-proofs-core util.rs:326; gadgets/insertion.rs).
TEST(UpstreamCounts, Sha256LeafBitsAndSelect) {
  const auto leaf = test::run_all_modes([](auto& cs) {
    using CS = std::remove_reference_t<decltype(cs)>;
    Sha256CircuitHasher::hash_bits<CS>(cs, fresh_bits(cs, 512));
  });
  EXPECT_EQ(leaf.summary.num_constraints, 45387u);
  for (unsigned log2_size = 1; log2_size <= 5; ++log2_size) {
    for (size_t index = 0; index < size_t{1} << log2_size; ++index) {
      Checker cs;
      const auto numbers = fresh_numbers(cs, size_t{1} << log2_size);
      std::vector<Boolean<Checker>> bits;
      gadget::alloc_bits_le(cs, index, log2_size, bits);
      const auto selected = gadget::select<Checker>(cs, numbers, bits);
      EXPECT_TRUE(cs.satisfied());
      EXPECT_EQ(cs.num_constraints(), numbers.size() - 1 + log2_size);
      EXPECT_EQ(selected.value, Fr::from_u64(index + 1));
    }
  }
}

TEST(UpstreamCounts, InsertAtEveryPosition) {
  const std::array<uint64_t, 5> constraints = {0, 2, 8, 22, 16 * 15};
  for (unsigned log2_size = 1; log2_size <= 4; ++log2_size) {
    const size_t size = size_t{1} << log2_size;
    for (size_t index = 0; index < size; ++index) {
      Checker cs;
      const auto numbers = fresh_numbers(cs, size);
      std::vector<Boolean<Checker>> bits;
      gadget::alloc_bits_le(cs, index, log2_size, bits);
      const auto inserted = gadget::insert<Checker>(cs, numbers[0], bits, std::span(numbers).subspan(1));
      EXPECT_TRUE(cs.satisfied());
      EXPECT_EQ(cs.num_constraints(), constraints[log2_size] + log2_size);
      std::vector<Fr> expected;
      for (size_t i = 1; i < size; ++i) expected.push_back(Fr::from_u64(i + 1));
      expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(index), Fr::one());
      for (size_t i = 0; i < size; ++i) EXPECT_EQ(inserted[i].value, expected[i]) << index << " " << i;
    }
  }
}

}  // namespace
}  // namespace cuzk
