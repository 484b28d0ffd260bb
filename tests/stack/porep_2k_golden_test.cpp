// The 2 KiB PoRep of tests/golden/c1-2kib.json from end to end: our own synthesis, parameters for a known trapdoor,
// transforms and sums must give upstream's bytes (tests/golden/groth16-known-answers.json).
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "base/hex.hpp"
#include "filecoin/porep_prove.hpp"
#include "format/porep_c1.hpp"
#include "groth16/cpu_backend.hpp"
#include "groth16/prove.hpp"
#include "groth16/setup.hpp"
#include "groth16/verify.hpp"
#include "hash/sha256.hpp"
#include "srs/digest.hpp"
#include "srs/params_file.hpp"
#include "support/fixed_blinding.hpp"

namespace cuzk {
namespace {

std::vector<uint8_t> read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string sha256_of_file(const std::string& path) {
  auto source = open_file_source(path).value();
  Sha256 hash;
  std::vector<uint8_t> block;
  for (uint64_t offset = 0; offset < source->size(); offset += block.size()) {
    block.resize(std::min<uint64_t>(1 << 20, source->size() - offset));
    EXPECT_TRUE(source->read(offset, block).ok());
    hash.update(block);
  }
  return to_hex(hash.finish());
}

std::string sha256_of_values(const std::vector<Fr>& values) {
  Sha256 hash;
  for (const Fr& value : values) hash.update(value.to_bytes_le());
  return to_hex(hash.finish());
}

uint64_t peak_rss_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) / 1024;
}

Fr fr(const char* hex_be) { return *Fr::from_bytes_be(*from_hex(hex_be)); }

struct KnownProof {
  const char *r, *s, *bytes;
};

const KnownProof kProofs[] = {
    {"0000000000000000000000000000000000000000000000000000000000000000",
     "0000000000000000000000000000000000000000000000000000000000000000",
     "b39b873b0484c128ec805c35e8ceb07624fcdf31b8a652cc3abaa72172fc5176eb102c6518e7772ee85a378f297cf03f"
     "b6ac0ad732844a3988215c0c0c71ea57f32a647f5dc5a56804e9f58700530ef4f83e7f1b366b4ac16fc36f3d2d6405e5"
     "06368e5c993b7297493c2547fe1f66c9ad12ec15896f58cc743a6cf74e2ab1759956f0019552483c78195ef574eae6f2"
     "a3bcf85a8b58f39bd955c197bf37161ade0d23d510a1cc267b7deed80b9dd2dbb43bbbdadc074d62f6c55f031ba53c05"},
    {"0000000000000000000000000000000000000000000000000000000000000011",
     "0000000000000000000000000000000000000000000000000000000000000013",
     "ac77040afc3fb26378ab6c5595872db8ccc6f80ecbbb8d1de052f2b81702359a7639a3524630e0207522907da068899a"
     "87d88a9abbfb6af6a98f741a2e743db914ca24ee50cd20d1ac5fb448f46c5f800f3c9d06af3f01d32653bc7e14e28137"
     "115369fcfd624e6bc8a2a55efbf1d3aa8e49870268e643def75f88641fa747b35b8686fe3d3f5185e1429a73f5882dd1"
     "a44fb69e87301aeaa4db465fb1ad4b974982c445a748de79c7fea8228293885245f2fc2d2e5e5a854fbac36702a9708c"},
    {"5d55c778564046d5f3ad82ca4c723c798cdbbd0cf9bac53697f228e40a8219ab",
     "70e5f8e57d4ad6f945faf6e31ab0fecb2b016fae7b04d9573a5f2792f861d59f",
     "9678ec27c5f097905d56dfd9a33c0ebc4d355a2911f84a3f47c76659f811354703f40dcc42fd6530d056da30b2adf2f2"
     "90b1d3530181f80b42157d81bd94144d9af1c53117df7e7f398a3d035b15fe35e30fd61c0d99e7a10d9c99e75d18dbab"
     "0a32a5931e234909be551ac3347af4c0d2d09878180282f8a6540eb55b7d81ecd35f7af02a1fc5d199540c8c25f1969f"
     "91365865d8260cde25f85b6d02c8c3f283ab2c185c2c0eb2113aab2c7d30b09eb63cab062763720a6e75cf3ce0d08ea6"},
};

// Everything is made once, in the order of a user's commands: setup, reading the parameters, proving.
TEST(Porep2k, ParametersAndProofsHaveUpstreamsBytes) {
  NoProgress quiet;
  const auto c1 = read_porep_c1(read_bytes(CUZK_GOLDEN_DIR "/c1-2kib.json"));
  ASSERT_TRUE(c1.ok()) << c1.error().describe();
  const CompiledCircuit circuit = compile_porep(c1->shape(), c1->shape().challenges);
  EXPECT_EQ(circuit.rows(), 2687961u);
  EXPECT_EQ(circuit.log2_domain(), 22u);
  const SrsShape shape{40, 4194303, 2685673, 2674948, 685522, 685522};
  EXPECT_EQ(srs_shape(circuit), shape);

  ToxicWaste toxic;
  toxic.alpha = Secret(Fr::from_u64(3));
  toxic.beta = Secret(Fr::from_u64(5));
  toxic.gamma = Secret(Fr::from_u64(7));
  toxic.delta = Secret(Fr::from_u64(11));
  toxic.tau = Secret(Fr::from_u64(13));
  const std::string path = testing::TempDir() + "cuzk-porep-2k-" + std::to_string(getpid()) + ".params";
  const auto vk = setup_to_file(circuit, toxic, path, quiet);
  ASSERT_TRUE(vk.ok()) << vk.error().describe();
  EXPECT_EQ(encode_vk(*vk), read_bytes(CUZK_GOLDEN_DIR "/c1-2kib-test.vk"));
  EXPECT_EQ(open_file_source(path).value()->size(), 1114707768u);
  EXPECT_EQ(sha256_of_file(path), "f6d5bb1c05b38bcf578f81c041821025d489d48c385a17b9d642265444f7b580");
  EXPECT_EQ(file_digest(path, quiet).value(), "57da137e20a028af84cab7e6a876894b");
  const auto srs = read_params(path, {shape, PointCheck::kOnCurve}, quiet);
  std::remove(path.c_str());
  ASSERT_TRUE(srs.ok()) << srs.error().describe();
  EXPECT_EQ(srs->vk, *vk);

  const PackedWitness witness = porep_witness(*c1, 0);
  const std::vector<Fr> inputs = porep_public_inputs(*c1, 0);
  EXPECT_EQ(std::vector<Fr>(witness.inputs.begin() + 1, witness.inputs.end()), inputs);
  EXPECT_EQ(sha256_of_values(witness.inputs), "fdd35d368ed1c09a29052ea51f6cff32a3bb7bb1f9e004540aeeca0b6d67bc1c");
  const PreparedVerifyingKey key(*vk);
  CpuBackend backend;
  for (const KnownProof& known : kProofs) {
    ProveReport report;
    const auto proof =
        prove(backend, circuit, *srs, witness, BlindingForTests::make(fr(known.r), fr(known.s)), quiet, &report);
    ASSERT_TRUE(proof.ok()) << proof.error().describe();
    EXPECT_EQ(to_hex(encode(*proof)), known.bytes);
    EXPECT_TRUE(verify(key, *proof, inputs).ok());
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::vector<Fr> changed = inputs;
      changed[i] += Fr::one();
      EXPECT_FALSE(verify(key, *proof, changed).ok()) << i;
    }
    for (const auto& step : report.steps) RecordProperty("seconds " + step.name, std::to_string(step.seconds));
  }
  RecordProperty("peak_rss_mib", std::to_string(peak_rss_mib()));

  const auto aux = expand_witness(circuit, witness);
  ASSERT_TRUE(aux.ok());
  EXPECT_EQ(sha256_of_values(*aux), "90c60a4341baa34beb21bbbb712cd64b6e6a9615a1f21a016222d7fcc37cd457");
}

}  // namespace
}  // namespace cuzk
