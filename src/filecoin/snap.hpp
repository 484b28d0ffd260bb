// SnapDeals (EmptySectorUpdate): replacing the data of a sealed sector. Sector shapes, registered proofs, sizes of the
// circuit, parameter file names, the encoding, challenges and public inputs.
// Source: storage-proofs-update constants.rs, vanilla.rs, challenges.rs, circuit.rs (PublicInputs).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "field/fr.hpp"
#include "filecoin/circuit_counts.hpp"
#include "filecoin/merkle.hpp"
#include "filecoin/porep.hpp"

namespace cuzk {

// Numbers h of high bits of a node index that one circuit serves; h_select says which of them is used.
inline constexpr uint32_t kSnapNumH = 6;

// What a sector size fixes. Tree R is Poseidon of shape tree; tree D is binary SHA-256 of tree.log2_leaves levels, cut
// from the root down into the partition tree (partition_bits levels), an apex tree per partition (apex_bits levels),
// and paths of path_levels() levels from the data to the apex leaves.
struct SnapShape {
  std::string_view name;        // "32GiB", as in registered proofs
  std::string_view circuit_id;  // "snap-32g"
  TreeShape tree;
  uint32_t partition_bits = 0;
  uint32_t challenges = 10;  // per partition
  uint32_t apex_bits = 3;
  std::array<uint32_t, kSnapNumH> hs{};
  bool published = false;  // parameters were published, and registered proofs exist

  constexpr uint32_t log2_nodes() const { return tree.log2_leaves; }
  constexpr uint64_t nodes() const { return tree.leaves(); }
  constexpr uint64_t sector_bytes() const { return nodes() * kNodeBytes; }
  constexpr uint32_t partitions() const { return uint32_t{1} << partition_bits; }
  constexpr uint32_t apex_leaves() const { return uint32_t{1} << apex_bits; }
  // Levels of tree D between a data leaf and its apex leaf.
  constexpr uint32_t path_levels() const { return log2_nodes() - partition_bits - apex_bits; }
  // Random bits of a challenge; the rest of its index is the partition.
  constexpr uint32_t challenge_bits() const { return log2_nodes() - partition_bits; }
  constexpr uint32_t challenges_per_digest() const { return 254 / challenge_bits(); }
  // Digests that the challenges of a partition are cut from.
  constexpr uint32_t digests() const { return (challenges - 1) / challenges_per_digest() + 1; }
  // What production uses, always.
  constexpr uint32_t default_h() const { return hs[3]; }
};

// All sector sizes, smallest first.
std::span<const SnapShape> snap_shapes();
// nullptr where no shape has this circuit id, or sector size.
const SnapShape* snap_shape_by_circuit_id(std::string_view circuit_id);
const SnapShape* snap_shape_by_sector_bytes(uint64_t sector_bytes);

// One of the 5 registered update proofs.
struct RegisteredUpdateProof {
  uint32_t number = 0;
  std::string_view name;  // as Go and the FFI have it
  const SnapShape* shape = nullptr;
};
// The 5 proofs, index = number.
std::span<const RegisteredUpdateProof> registered_update_proofs();
// nullptr where there is none.
const RegisteredUpdateProof* registered_update_proof_by_name(std::string_view name);

// Of one partition.
CircuitCounts snap_circuit_counts(const SnapShape& shape);

// The string whose SHA-256 names the parameter files.
std::string snap_parameter_identifier(const SnapShape& shape);
// "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-<sha256>"; append ".params"/".vk".
std::string snap_parameter_file_stem(const SnapShape& shape);

// 2^i for the first i with hs[i] == h; 0 where the shape has no such h.
uint32_t snap_h_select(const SnapShape& shape, uint32_t h);

// The hash behind challenges, phi and rho: Poseidon of two elements with a tag of its own.
Fr snap_randomness_hash(const Fr& x, const Fr& y);
// Hash of (comm_d_new, comm_r_old), in this order.
Fr snap_phi(const Fr& comm_d_new, const Fr& comm_r_old);
// The factor of all nodes whose index has the h highest bits `high`.
Fr snap_rho(const Fr& phi, uint64_t high);
// The h highest of the bits of a node index; 1 <= h <= log2_nodes.
inline uint64_t snap_high(const SnapShape& shape, uint32_t h, uint64_t node) {
  return node >> (shape.log2_nodes() - h);
}
// The node of the new replica where the old one has `label_r_old` and the new data `label_d_new`.
inline Fr snap_encode(const Fr& label_r_old, const Fr& label_d_new, const Fr& rho) {
  return label_r_old + label_d_new * rho;
}

// The nodes that partition k must open, shape.challenges of them, in order; repetitions occur. All lie in the k-th of
// partitions() equal blocks of nodes. k < partitions().
std::vector<uint64_t> snap_challenges(const SnapShape& shape, const Fr& comm_r_new, uint32_t k);

// What an update is proved for.
struct SnapCommitments {
  Fr comm_r_old, comm_d_new, comm_r_new;
};
// The public inputs of partition k, without ONE: k | h_select << partition_bits, comm_r_old, comm_d_new, comm_r_new. h
// must be one of the shape's.
std::vector<Fr> snap_public_inputs(const SnapShape& shape, uint32_t h, const SnapCommitments& commitments, uint32_t k);

}  // namespace cuzk
