// Submissions of 2 KiB sectors as clients send them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "filecoin/porep_synthetic_input.hpp"
#include "filecoin/post_synthetic.hpp"
#include "filecoin/snap_synthetic.hpp"
#include "format/porep_c1.hpp"
#include "format/post_vanilla_format.hpp"
#include "format/snap_vanilla_format.hpp"
#include "queue/submission.hpp"

namespace cuzk::test {

inline std::string text_of(std::span<const uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

// Of registered proof 0 (winning), 5 (window V1) or 10 (window V1_1).
inline Submission post_submission(uint64_t registered_proof, const std::vector<uint64_t>& sectors,
                                  uint32_t partition_index = 0, uint8_t randomness = 9) {
  NodeBytes bytes;
  bytes.fill(randomness);
  const auto request = make_post_request(registered_proof, bytes, partition_index);
  CUZK_ASSERT(request.ok());
  const PostVanilla vanilla = make_synthetic_post(*request, sectors, NodeBytes{});
  Submission out;
  out.kind = request->shape->kind == PostKind::kWinning ? ProofKind::kWinning : ProofKind::kWindow;
  out.sector_size = uint64_t{32} << 30;  // as the reference's bench says of every sector
  out.registered_proof = registered_proof;
  out.miner_id = 1000;
  out.randomness = text_of(bytes);
  out.partition_index = partition_index;
  for (uint32_t i = 0; i < sectors.size(); ++i) {
    out.vanilla_proofs.push_back(text_of(write_post_sector_proof(vanilla, i)));
  }
  return out;
}

inline Submission porep_submission(uint64_t miner, uint64_t sector) {
  PorepSyntheticInput input;
  input.proof = &registered_seal_proofs()[5];
  input.miner_id = miner;
  input.sector_number = sector;
  input.seed.fill(1);
  const auto c1 = make_synthetic_porep(input);
  CUZK_ASSERT(c1.ok());
  const std::string inner = write_porep_c1_inner(*c1);
  Submission out;
  out.kind = ProofKind::kPorep;
  out.registered_proof = 5;
  out.miner_id = miner;
  out.sector_number = sector;
  out.vanilla_proof = write_porep_c1_wrapper({reinterpret_cast<const uint8_t*>(inner.data()), inner.size()}, sector,
                                             c1->shape().sector_bytes());
  return out;
}

inline Submission snap_submission() {
  const SnapInput input = make_synthetic_snap({registered_update_proofs()[0].shape, 42, {}, 0});
  Submission out;
  out.kind = ProofKind::kSnap;
  out.sector_number = 42;
  const auto bytes = [](const Fr& value) {
    const auto node = value.to_bytes_le();
    return text_of(node);
  };
  out.comm_r_old = bytes(input.commitments.comm_r_old);
  out.comm_r_new = bytes(input.commitments.comm_r_new);
  out.comm_d_new = bytes(input.commitments.comm_d_new);
  for (const SnapPartition& partition : input.partitions) {
    out.vanilla_proofs.push_back(text_of(write_snap_partition(*input.shape, partition)));
  }
  return out;
}

}  // namespace cuzk::test
