// Upstream's vectors of sector updates (tests/golden/snap-*): a vanilla proof in bytes, and what follows from it.
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
#include "format/snap_vanilla_format.hpp"

namespace cuzk::test {

struct SnapVector {
  std::vector<uint8_t> blob;
  std::vector<std::span<const uint8_t>> blobs;  // of `blob`
  std::vector<uint8_t> comm_r_old, comm_d_new, comm_r_new;
  std::vector<uint64_t> challenges;
  std::vector<std::string> public_inputs;  // hex, little-endian
  std::string phi, sha256_input_assignment, sha256_aux_assignment;
  uint64_t registered_proof = 0, num_aux = 0, num_constraints = 0;

  explicit SnapVector(const std::string& name) {
    const std::string path = std::string(CUZK_GOLDEN_DIR) + "/" + name;
    std::ifstream file(path + ".bin", std::ios::binary);
    blob.assign(std::istreambuf_iterator<char>(file), {});
    EXPECT_FALSE(blob.empty()) << path;
    blobs = {blob};
    simdjson::dom::parser parser;
    const simdjson::dom::element json = parser.load(path + ".json");
    const auto text = [&](const char* key) { return std::string(json[key].get_string().value()); };
    comm_r_old = *from_hex(text("comm_r_old"));
    comm_d_new = *from_hex(text("comm_d_new"));
    comm_r_new = *from_hex(text("comm_r_new"));
    phi = text("phi");
    sha256_input_assignment = text("sha256_input_assignment");
    sha256_aux_assignment = text("sha256_aux_assignment");
    registered_proof = json["registered_update_proof"].get_uint64();
    num_aux = json["num_aux"].get_uint64();
    num_constraints = json["num_constraints"].get_uint64();
    for (const simdjson::dom::element x : json["challenges"].get_array()) challenges.push_back(x.get_uint64());
    for (const simdjson::dom::element x : json["public_inputs"].get_array()) {
      public_inputs.emplace_back(x.get_string().value());
    }
  }
  SnapVector(const SnapVector&) = delete;
  SnapVector& operator=(const SnapVector&) = delete;

  // Views of this; a whole request where the sector has one partition.
  SnapRequest request() const& {
    SnapRequest out;
    out.registered_proof = registered_proof;
    out.comm_r_old = comm_r_old;
    out.comm_d_new = comm_d_new;
    out.comm_r_new = comm_r_new;
    out.vanilla_proofs = blobs;
    return out;
  }
};

}  // namespace cuzk::test
