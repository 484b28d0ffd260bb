// Circuit "poseidon2" of groth16.md: two numbers, their Poseidon hash, made public. Against upstream's bytes.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "circuit/packed_writer.hpp"
#include "circuit/poseidon_gadget.hpp"
#include "circuit/recorder.hpp"
#include "groth16/cpu_backend.hpp"
#include "groth16/groth16_test_support.hpp"
#include "groth16/prove.hpp"
#include "groth16/setup.hpp"
#include "groth16/verify.hpp"
#include "hash/sha256.hpp"
#include "srs/params_file.hpp"
#include "support/fixed_blinding.hpp"
#include "support/trapdoor_oracle.hpp"

namespace cuzk {
namespace {

template <class CS>
void poseidon2(CS& cs) {
  const std::vector<Num<CS>> preimage = {gadget::alloc_num(cs, Fr::from_u64(1)),
                                         gadget::alloc_num(cs, Fr::from_u64(2))};
  gadget::inputize(cs, gadget::poseidon_hash(cs, std::span<const Num<CS>>(preimage)));
}

class Poseidon2 : public testing::Test {
 protected:
  Poseidon2() {
    Recorder recorder;
    poseidon2(recorder);
    circuit_ = recorder.finish();
    PackedWriter writer;
    poseidon2(writer);
    witness_ = writer.finish();
    NoProgress quiet;
    auto srs = setup(circuit_, test::small_toxic_waste(), quiet);
    if (srs.ok()) srs_ = std::move(*srs);
  }
  Result<Proof> prove_with(uint64_t r, uint64_t s) {
    CpuBackend backend;
    NoProgress quiet;
    return prove(backend, circuit_, srs_, witness_, BlindingForTests::make(Fr::from_u64(r), Fr::from_u64(s)), quiet);
  }

  CompiledCircuit circuit_;
  PackedWitness witness_;
  Srs srs_;
};

TEST_F(Poseidon2, ParametersHaveUpstreamsDigests) {
  EXPECT_EQ(circuit_.num_constraints, 312u);
  EXPECT_EQ(circuit_.num_aux, 313u);
  EXPECT_EQ(circuit_.rows(), 314u);
  EXPECT_EQ(circuit_.log2_domain(), 9u);
  EXPECT_EQ(srs_.shape(), (SrsShape{2, 511, 313, 236, 235, 235}));
  const auto vk = encode_vk(srs_.vk);
  EXPECT_EQ(vk.size(), 1060u);
  EXPECT_EQ(to_hex(sha256(vk)), "1b656cf30d774b7b937f377bf1220ff0f70ac35a7406f6f6d0386bcdd2eca72c");
  NoProgress quiet;
  const std::string path = testing::TempDir() + "cuzk-poseidon2-" + std::to_string(getpid()) + ".params";
  ASSERT_TRUE(write_params(path, srs_, quiet).ok());
  std::ifstream in(path, std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::remove(path.c_str());
  EXPECT_EQ(bytes.size(), 170520u);
  EXPECT_EQ(to_hex(sha256(bytes)), "0992c50666264348b3b79563e479a4936a58220240085a62556ddb46a3a82819");
}

TEST_F(Poseidon2, ProofsHaveUpstreamsBytes) {
  const auto plain = prove_with(0, 0);
  ASSERT_TRUE(plain.ok()) << plain.error().describe();
  EXPECT_EQ(to_hex(encode(*plain)),
            "94d58f9907f1e803a53cae2697905f359ca2cfdbdeb560559423dce09d6e46f520804bb04bc45c867b04a852add7878d"
            "90165db593e58823cf2fdc587bae2f32bd87b5cd9a4c083bbd4a0d18637cd16372feaa0be1f549a3f63fae3793db272f"
            "01c43534a5a31d1123e4454e3b0b4cca0e645a1a44f58efcb580f6bfa552357b5b2bf27785114cacd2afad699bfe2bd5"
            "a68c169eb756e7aab75581c75879c8092c889b1ce81777aa3ed6e38ca04ea380c321beca3c0c5100ada1ba0d6ec8291a");
  const auto blinded = prove_with(17, 19);
  ASSERT_TRUE(blinded.ok()) << blinded.error().describe();
  EXPECT_EQ(to_hex(encode(*blinded)),
            "9137d971219791a9d0bf2e015ffc4ed7fe9bae1487024846991ffe8860d07c547f6bbd6605957eb33e2915fbc9b3e081"
            "aa2633f622fd4d0226741cb25fed2ea96ec5a74dd9c8ab6190f4cd6b178c6c8cbe3416484e99e8c360054b3932f460cb"
            "019379f96c6c5feab97f9ca2d0d1b87def9f6fe9634a1feee8c63553afc32d01961e5af3c7efb144efef1539e61b8fc9"
            "8d5ac35e22bdf0d58d45f5f1abaaedba71d07c4cc39a21d4bcd08b39b0483db45f6070b047cbdfc0716c714c02e6d0a7");
  const auto aux = expand_witness(circuit_, witness_);
  ASSERT_TRUE(aux.ok());
  EXPECT_EQ(*blinded, test::proof_from_trapdoor(circuit_, witness_.inputs, *aux, test::small_toxic_waste(),
                                                Fr::from_u64(17), Fr::from_u64(19)));
}

TEST_F(Poseidon2, OtherHashIsRefused) {
  const auto proof = prove_with(1, 2);
  ASSERT_TRUE(proof.ok());
  const PreparedVerifyingKey key(srs_.vk);
  EXPECT_TRUE(verify(key, *proof, std::vector<Fr>{witness_.inputs[1]}).ok());
  EXPECT_FALSE(verify(key, *proof, std::vector<Fr>{witness_.inputs[1] + Fr::one()}).ok());
  // A preimage that has another hash violates the last constraint, which makes the hash public.
  witness_.fields[0] = Fr::from_u64(3);
  const auto wrong = prove_with(1, 2);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().error_class, ErrorClass::kUnsatisfied);
  EXPECT_EQ(wrong.error().field, "constraint 311");
}

}  // namespace
}  // namespace cuzk
