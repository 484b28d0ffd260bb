#include "engine/read_submission.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/overloaded.hpp"
#include "format/porep_c1.hpp"
#include "format/post_vanilla_format.hpp"
#include "format/snap_vanilla_format.hpp"

namespace cuzk {
namespace {

using Bytes = std::span<const uint8_t>;

Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

Error invalid(std::string field, std::string message) {
  return Error(ErrorClass::kInvalidInput, std::move(message)).at_field(std::move(field));
}

Status check_32_bytes(const char* field, const std::string& bytes) {
  if (bytes.size() == kNodeBytes) return {};
  return invalid(field, std::string(field) + " must be exactly 32 bytes, got " + std::to_string(bytes.size()));
}

const char* prefix_of(ProofKind kind) {
  switch (kind) {
    case ProofKind::kPorep: return "C1 parse failed: ";
    case ProofKind::kSnap: return "SnapDeals parse failed: ";
    case ProofKind::kWindow:
    case ProofKind::kWinning: break;
  }
  return "synthesis failed: ";
}

const RegisteredPostProof* registered_post(const Submission& submission) {
  const auto proofs = registered_post_proofs();
  if (submission.registered_proof >= proofs.size()) return nullptr;
  const RegisteredPostProof& proof = proofs[submission.registered_proof];
  const bool winning = proof.shape->kind == PostKind::kWinning;
  return winning == (submission.kind == ProofKind::kWinning) ? &proof : nullptr;
}

Result<ProofRequest> read_porep(const Submission& submission) {
  CUZK_ASSIGN(PorepC1 c1, read_porep_c1(bytes_of(submission.vanilla_proof)));
  // The sector and the miner that the client names decide, as they did in the reference's check of the finished proof.
  c1.sector_number = submission.sector_number;
  CUZK_TRY(check_porep_replica_id(c1, submission.miner_id, submission.sector_number));
  ProofRequest request(std::move(c1));
  CUZK_TRY(request.validate());
  return request;
}

// Vanilla proofs have the length that their shape says; what follows is not looked at.
std::vector<Bytes> cut_to(const std::vector<std::string>& proofs, size_t bytes) {
  std::vector<Bytes> out;
  for (const std::string& proof : proofs) {
    const Bytes all = bytes_of(proof);
    out.push_back(all.first(std::min(all.size(), bytes)));
  }
  return out;
}

Result<ProofRequest> read_snap(const Submission& submission) {
  CUZK_TRY(check_32_bytes("comm_r_old", submission.comm_r_old));
  CUZK_TRY(check_32_bytes("comm_r_new", submission.comm_r_new));
  CUZK_TRY(check_32_bytes("comm_d_new", submission.comm_d_new));
  const auto proofs = registered_update_proofs();
  if (submission.registered_proof >= proofs.size()) {
    return invalid("registered_proof",
                   "unknown RegisteredUpdateProof value: " + std::to_string(submission.registered_proof));
  }
  const std::vector<Bytes> vanilla =
      cut_to(submission.vanilla_proofs, snap_partition_bytes(*proofs[submission.registered_proof].shape));
  SnapRequest request;
  request.registered_proof = submission.registered_proof;
  if (submission.sector_number != 0) request.sector_number = submission.sector_number;
  request.comm_r_old = bytes_of(submission.comm_r_old);
  request.comm_d_new = bytes_of(submission.comm_d_new);
  request.comm_r_new = bytes_of(submission.comm_r_new);
  request.vanilla_proofs = vanilla;
  CUZK_ASSIGN(SnapInput input, read_snap_request(request));
  ProofRequest out(std::move(input));
  CUZK_TRY(out.validate());
  return out;
}

uint64_t sector_id_of(Bytes proof) {
  uint64_t id = 0;
  for (size_t i = 0; i < std::min<size_t>(8, proof.size()); ++i) id |= uint64_t{proof[i]} << (8 * i);
  return id;
}

Result<ProofRequest> read_post_as(const Submission& submission, std::span<const Bytes> vanilla, uint32_t partition) {
  PostVanillaRequest request;
  request.registered_proof = submission.registered_proof;
  request.randomness = bytes_of(submission.randomness);
  request.partition_index = partition;
  request.vanilla_proofs = vanilla;
  CUZK_ASSIGN(PostInput input, read_post_request(request));
  ProofRequest out(std::move(input));
  CUZK_TRY(out.validate());
  return out;
}

Result<ProofRequest> read_post(const Submission& submission) {
  CUZK_TRY(check_32_bytes("randomness", submission.randomness));
  const RegisteredPostProof* proof = registered_post(submission);
  if (proof == nullptr) {
    return invalid("registered_proof",
                   "unknown RegisteredPoStProof value: " + std::to_string(submission.registered_proof));
  }
  const bool winning = submission.kind == ProofKind::kWinning;
  if (submission.vanilla_proofs.empty()) {
    return invalid("vanilla_proofs", std::string("no ") + (winning ? "WinningPoSt" : "WindowPoSt") + " vanilla proofs");
  }
  std::vector<Bytes> vanilla = cut_to(submission.vanilla_proofs, post_sector_proof_bytes(*proof->shape));
  if (winning) vanilla.resize(1);
  // A verifier sorts the sectors.
  std::stable_sort(vanilla.begin(), vanilla.end(), [](Bytes a, Bytes b) { return sector_id_of(a) < sector_id_of(b); });
  // The circuit takes the given sectors as they are, so the index of their chunk does not matter. Before V1_2 it
  // decides which leaves are challenged; clients that open each chunk as if it were the first are served too.
  Result<ProofRequest> request = read_post_as(submission, vanilla, submission.partition_index);
  if (request.ok() || submission.partition_index == 0 || proof->api_version == PostApiVersion::kV1_2_0) return request;
  Result<ProofRequest> first = read_post_as(submission, vanilla, 0);
  return first.ok() ? std::move(first) : std::move(request);
}

struct OtherName {
  std::string_view name, id;
};
// Of the reference's preload command and of its files; its "wpost-", which GetStatus tells too, is of every size.
constexpr OtherName kOtherNames[] = {
    {"window-post", "window-32g"},
    {"winning-post", "winning-32g"},
    {"snap-deals-32g", "snap-32g"},
    {"snap-deals-64g", "snap-64g"},
};

}  // namespace

Result<ProofRequest> read_submission(const Submission& submission) {
  Result<ProofRequest> request = submission.kind == ProofKind::kPorep  ? read_porep(submission)
                                 : submission.kind == ProofKind::kSnap ? read_snap(submission)
                                                                       : read_post(submission);
  if (!request.ok()) request.error().message = prefix_of(submission.kind) + request.error().message;
  return request;
}

const CircuitSpec* circuit_of_submission(const Submission& submission) {
  switch (submission.kind) {
    case ProofKind::kPorep: {
      const RegisteredSealProof* proof = porep_c1_proof_in_head(bytes_of(submission.vanilla_proof));
      return proof == nullptr ? nullptr : &circuit_spec_of(proof->shape);
    }
    case ProofKind::kSnap: {
      const auto proofs = registered_update_proofs();
      const uint64_t number = submission.registered_proof;
      return number < proofs.size() ? &circuit_spec_of(proofs[number].shape) : nullptr;
    }
    case ProofKind::kWindow:
    case ProofKind::kWinning: {
      const RegisteredPostProof* proof = registered_post(submission);
      return proof == nullptr ? nullptr : &circuit_spec_of(proof->shape);
    }
  }
  return nullptr;
}

const CircuitSpec* circuit_by_any_name(std::string_view name) {
  if (const CircuitSpec* spec = circuit_spec_by_id(name)) return spec;
  constexpr std::string_view kWindow = "wpost-";
  if (name.starts_with(kWindow)) return circuit_spec_by_id("window-" + std::string(name.substr(kWindow.size())));
  for (const OtherName& other : kOtherNames) {
    if (other.name == name) return circuit_spec_by_id(other.id);
  }
  return nullptr;
}

}  // namespace cuzk
