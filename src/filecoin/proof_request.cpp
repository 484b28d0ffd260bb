#include "filecoin/proof_request.hpp"

#include <utility>

#include "base/assert.hpp"
#include "base/overloaded.hpp"
#include "filecoin/porep_prove.hpp"
#include "filecoin/post_circuit.hpp"
#include "filecoin/snap_prove.hpp"

namespace cuzk {
namespace {

const CircuitSpec& circuit_of(const ProofRequest::Input& input) {
  return std::visit(
      Overloaded{[](const PorepC1& c1) -> const CircuitSpec& { return circuit_spec_of(&c1.shape()); },
                 [](const SnapInput& snap) -> const CircuitSpec& { return circuit_spec_of(snap.shape); },
                 [](const PostInput& post) -> const CircuitSpec& { return circuit_spec_of(post.request.shape); }},
      input);
}

std::string_view registered_name(const SnapInput& snap) {
  for (const RegisteredUpdateProof& proof : registered_update_proofs()) {
    if (proof.shape == snap.shape) return proof.name;
  }
  return {};
}

std::string_view registered_name(const PostRequest& request) {
  for (const RegisteredPostProof& proof : registered_post_proofs()) {
    if (proof.shape == request.shape && proof.api_version == request.api_version) return proof.name;
  }
  return {};
}

}  // namespace

ProofRequest::ProofRequest(Input input) : input_(std::move(input)), circuit_(&circuit_of(input_)) {}

std::string_view ProofRequest::registered_proof() const {
  return std::visit(Overloaded{[](const PorepC1& c1) { return c1.proof->name; },
                               [](const SnapInput& snap) { return registered_name(snap); },
                               [](const PostInput& post) { return registered_name(post.request); }},
                    input_);
}

uint32_t ProofRequest::partitions() const {
  const PorepC1* c1 = porep();
  return c1 ? c1->proof->partitions() : circuit_->partitions();
}

std::optional<uint64_t> ProofRequest::sector() const {
  return std::visit(Overloaded{[](const PorepC1& c1) { return c1.sector_number; },
                               [](const SnapInput& snap) { return snap.sector_number; },
                               [](const PostInput& post) {
                                 return post.vanilla.sectors() == 1 ? std::optional(post.vanilla.sector(0).sector_id)
                                                                    : std::nullopt;
                               }},
                    input_);
}

Status ProofRequest::validate() {
  return std::visit(Overloaded{[](const PorepC1& c1) { return validate_porep_vanilla(c1); },
                               [](const SnapInput& snap) { return validate_snap_vanilla(snap); },
                               [&](const PostInput& post) -> Status {
                                 CUZK_ASSIGN(PostPathHashes hashes, validate_post_vanilla(post.request, post.vanilla));
                                 post_hashes_ = std::move(hashes);
                                 return {};
                               }},
                    input_);
}

PackedWitness ProofRequest::witness(uint32_t k) const {
  CUZK_ASSERT(k < partitions());
  return std::visit(Overloaded{[&](const PorepC1& c1) { return porep_witness(c1, k); },
                               [&](const SnapInput& snap) { return snap_witness(snap, k); },
                               [&](const PostInput& post) {
                                 return post_hashes_ ? post_witness(post.vanilla, *post_hashes_)
                                                     : post_witness(post.vanilla);
                               }},
                    input_);
}

Status ProofRequest::check(uint32_t k) const {
  CUZK_ASSERT(k < partitions());
  return std::visit(Overloaded{[&](const PorepC1& c1) { return porep_check(c1, k); },
                               [&](const SnapInput& snap) { return snap_check(snap, k); },
                               [](const PostInput& post) { return post_check(post.vanilla); }},
                    input_);
}

std::vector<Fr> ProofRequest::public_inputs(uint32_t k) const {
  CUZK_ASSERT(k < partitions());
  return std::visit(
      Overloaded{[&](const PorepC1& c1) { return porep_public_inputs(c1, k); },
                 [&](const SnapInput& snap) { return snap_public_inputs(*snap.shape, snap.h, snap.commitments, k); },
                 [](const PostInput& post) { return post_public_inputs(post.request, post.vanilla.public_sectors()); }},
      input_);
}

}  // namespace cuzk
