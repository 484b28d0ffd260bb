// 2 KiB winning and window proofs from upstream's vanilla proofs in bytes to upstream's proof bytes: parameters for
// known trapdoors and proofs with known r and s (tests/golden/groth16-known-answers.json).
#include <gtest/gtest.h>
#include <simdjson.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/hex.hpp"
#include "curve/encoding.hpp"
#include "filecoin/post_circuit.hpp"
#include "format/post_vanilla_format.hpp"
#include "groth16/cpu_backend.hpp"
#include "groth16/prove.hpp"
#include "groth16/setup.hpp"
#include "groth16/verify.hpp"
#include "srs/digest.hpp"
#include "srs/params_file.hpp"
#include "support/fixed_blinding.hpp"
#include "support/post_vectors.hpp"

namespace cuzk {
namespace {

using Json = simdjson::dom::element;

std::string text(Json json, const char* key) { return std::string(json[key].get_string().value()); }
// Big-endian, leading zeros perhaps left out.
Fr fr(Json json, const char* key) {
  const std::string digits = text(json, key);
  return *Fr::from_bytes_be(*from_hex(std::string(64 - digits.size(), '0') + digits));
}

ToxicWaste toxic_of(Json json) {
  ToxicWaste out;
  out.tau = Secret(fr(json, "tau"));
  out.alpha = Secret(fr(json, "alpha"));
  out.beta = Secret(fr(json, "beta"));
  out.gamma = Secret(fr(json, "gamma"));
  out.delta = Secret(fr(json, "delta"));
  out.g1 = decompress_g1(*from_hex(text(json, "g1")), PointCheck::kSubgroup).value();
  out.g2 = decompress_g2(*from_hex(text(json, "g2")), PointCheck::kSubgroup).value();
  return out;
}

void expect_known_proofs(Json known, const CompiledCircuit& circuit, const Srs& srs) {
  NoProgress quiet;
  const std::string file = text(known, "input");
  const test::PostVector vector(file.substr(0, file.rfind(".json")));
  const Result<PostInput> input = read_post_request(vector.request());
  ASSERT_TRUE(input.ok()) << input.error().describe();
  const Result<PostPathHashes> hashes = validate_post_vanilla(input->request, input->vanilla);
  ASSERT_TRUE(hashes.ok()) << hashes.error().describe();
  const PackedWitness witness = post_witness(input->vanilla, *hashes);
  const std::vector<Fr> inputs = post_public_inputs(input->request, input->vanilla.public_sectors());
  const PreparedVerifyingKey key(srs.vk);
  CpuBackend backend;
  uint32_t proofs = 0;
  for (const Json one : known["proofs"].get_array()) {
    const auto proof = prove(backend, circuit, srs, witness, BlindingForTests::make(fr(one, "r"), fr(one, "s")), quiet);
    ASSERT_TRUE(proof.ok()) << proof.error().describe();
    EXPECT_EQ(to_hex(encode(*proof)), text(one, "proof")) << file;
    EXPECT_TRUE(verify(key, *proof, inputs).ok());
    std::vector<Fr> wrong = inputs;
    wrong[inputs.size() - 1 - proofs] += Fr::one();
    EXPECT_FALSE(verify(key, *proof, wrong).ok());
    ++proofs;
  }
  EXPECT_EQ(proofs, 3u);
}

// Parameters and all known proofs of one circuit and trapdoor.
void expect_known_answers(const std::string& circuit_name, const char* circuit_id, const std::string& toxic_name) {
  NoProgress quiet;
  simdjson::dom::parser parser;
  const Json all = parser.load(CUZK_GOLDEN_DIR "/groth16-known-answers.json");
  const PostShape& shape = *post_shape_by_circuit_id(circuit_id);
  const CompiledCircuit circuit = compile_post(shape, shape.sectors);
  uint32_t parameters = 0, inputs = 0;
  for (const Json known : all["parameters"].get_array()) {
    if (text(known, "circuit") != circuit_name || text(known, "toxic_name") != toxic_name) continue;
    const auto length = [&](const char* key) { return known["lengths"][key].get_uint64().value(); };
    const SrsShape expected{length("ic"), length("h"), length("l"), length("a"), length("b_g1"), length("b_g2")};
    EXPECT_EQ(srs_shape(circuit), expected);
    const CircuitCounts counts = post_circuit_counts(shape, shape.sectors);
    const SrsShape closed_form{counts.inputs,
                               (uint64_t{1} << counts.log2_domain()) - 1,
                               counts.aux,
                               counts.inputs + counts.a_aux_density,
                               counts.b_input_density + counts.b_aux_density,
                               counts.b_input_density + counts.b_aux_density};
    EXPECT_EQ(closed_form, expected);
    const Result<Srs> srs = setup(circuit, toxic_of(all["toxic"][toxic_name]), quiet);
    ASSERT_TRUE(srs.ok()) << srs.error().describe();
    const std::string path = testing::TempDir() + "cuzk-" + circuit_id + "-" + std::to_string(getpid()) + ".params";
    ASSERT_TRUE(write_params(path, *srs, quiet).ok());
    const Result<std::string> digest = file_digest(path, quiet);
    std::remove(path.c_str());
    ASSERT_TRUE(digest.ok()) << digest.error().describe();
    EXPECT_EQ(*digest, text(known["params"], "blake2b_512_first_16_bytes"));
    EXPECT_EQ(encode_vk(srs->vk).size(), known["vk"]["bytes"].get_uint64().value());
    for (const Json proofs : all["proofs"].get_array()) {
      if (text(proofs, "circuit") != circuit_name || text(proofs, "toxic_name") != toxic_name) continue;
      expect_known_proofs(proofs, circuit, *srs);
      ++inputs;
    }
    ++parameters;
  }
  EXPECT_EQ(parameters, 1u);
  EXPECT_EQ(inputs, circuit_name == "winning-2KiB" ? 1u : 3u);
}

TEST(Post2k, WinningHasUpstreamsBytes) { expect_known_answers("winning-2KiB", "winning-2k", "random-1"); }
TEST(Post2k, WindowHasUpstreamsBytes) {
  expect_known_answers("window-2KiB", "window-2k", "small");
  expect_known_answers("window-2KiB", "window-2k", "random-1");
}

}  // namespace
}  // namespace cuzk
