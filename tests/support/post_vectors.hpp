// Upstream's vectors of PoSts (tests/golden/winning-*, window-*): vanilla proofs in bytes, and what follows from them.
#pragma once

#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "base/hex.hpp"
#include "format/post_vanilla_format.hpp"

namespace cuzk::test {

struct PostVector {
  struct Sector {
    uint64_t number;
    std::string comm_r;  // hex, little-endian
    std::vector<uint64_t> challenges;
  };
  std::vector<std::vector<uint8_t>> blobs;
  std::vector<std::span<const uint8_t>> views;  // of `blobs`
  std::vector<Sector> sectors;
  std::vector<uint8_t> randomness;
  std::vector<std::string> public_inputs;  // hex, little-endian; those of the first sectors at least
  std::string sha256_input_assignment, sha256_aux_assignment;
  uint64_t registered_proof = 0, sector_bytes = 0, num_aux = 0, num_constraints = 0, num_inputs = 0;

  explicit PostVector(const std::string& name) {
    const std::string folder = std::string(CUZK_GOLDEN_DIR) + "/";
    simdjson::dom::parser parser;
    const simdjson::dom::element json = parser.load(folder + name + ".json");
    const auto text = [](simdjson::dom::element e, const char* key) {
      return std::string(e[key].get_string().value());
    };
    for (const simdjson::dom::element s : json["sectors"].get_array()) {
      std::ifstream file(folder + text(s, "file"), std::ios::binary);
      blobs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
      EXPECT_EQ(blobs.back().size(), s["bytes"].get_uint64().value()) << text(s, "file");
      Sector& sector = sectors.emplace_back(Sector{s["sector_number"].get_uint64(), text(s, "comm_r"), {}});
      for (const simdjson::dom::element x : s["challenges"].get_array()) sector.challenges.push_back(x.get_uint64());
    }
    views.assign(blobs.begin(), blobs.end());
    randomness = *from_hex(text(json, "randomness"));
    sha256_input_assignment = text(json, "sha256_input_assignment");
    sha256_aux_assignment = text(json, "sha256_aux_assignment");
    registered_proof = json["registered_post_proof"].get_uint64();
    sector_bytes = json["sector_size"].get_uint64();
    num_aux = json["num_aux"].get_uint64();
    num_constraints = json["num_constraints"].get_uint64();
    num_inputs = json["num_inputs_with_one"].get_uint64();
    for (const simdjson::dom::element x : json["public_inputs"].get_array()) {
      public_inputs.emplace_back(x.get_string().value());
    }
  }
  PostVector(const PostVector&) = delete;
  PostVector& operator=(const PostVector&) = delete;

  // Views of this.
  PostVanillaRequest request() const& {
    PostVanillaRequest out;
    out.registered_proof = registered_proof;
    out.sector_bytes = sector_bytes;
    out.randomness = randomness;
    out.vanilla_proofs = views;
    return out;
  }
};

}  // namespace cuzk::test
