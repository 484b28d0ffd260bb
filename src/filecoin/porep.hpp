// StackedDRG proof of replication: sector shapes, registered proofs, sizes of the circuit, parameter file names.
// Source: filecoin-proofs constants.rs and parameters.rs, rust-filecoin-proofs-api registry.rs,
// storage-proofs-core parameter_cache.rs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filecoin/circuit_counts.hpp"
#include "filecoin/merkle.hpp"

namespace cuzk {

inline constexpr uint32_t kPorepBaseParents = 6;
inline constexpr uint32_t kPorepExpanderParents = 8;
inline constexpr uint32_t kPorepParents = kPorepBaseParents + kPorepExpanderParents;
// Parents are repeated to this many for hashing a label.
inline constexpr uint32_t kPorepHashedParents = 37;
inline constexpr uint32_t kNodeBytes = 32;

using NodeBytes = std::array<uint8_t, kNodeBytes>;

// What a sector size fixes. Trees C and R have the shape base-sub-top: base trees of base_levels levels, then one
// level of sub_arity, then one of top_arity (0: absent).
struct PorepShape {
  std::string_view name;        // "32GiB", as in registered proofs
  std::string_view circuit_id;  // "porep-32g"
  uint32_t log2_nodes = 0;      // also the number of levels of tree D
  uint32_t layers = 0;
  uint32_t base_arity = 8;
  uint32_t base_levels = 0;
  uint32_t sub_arity = 0;
  uint32_t top_arity = 0;
  uint32_t partitions = 1;      // of interactive and synthetic proofs
  uint32_t partitions_ni = 13;  // of non-interactive proofs
  uint32_t challenges = 2;      // per partition, all features
  bool published = false;       // parameters were published, and registered proofs exist

  constexpr uint64_t nodes() const { return uint64_t{1} << log2_nodes; }
  constexpr uint64_t sector_bytes() const { return nodes() * kNodeBytes; }
  // Of trees C and R.
  constexpr TreeShape tree() const { return {log2_nodes, base_arity, base_levels, sub_arity, top_arity}; }
  constexpr uint32_t path_levels() const { return base_levels + (sub_arity != 0) + (top_arity != 0); }
  // Arity of level `level` of a path in tree C or R, counted from the leaf; level < path_levels().
  constexpr uint32_t path_arity(uint32_t level) const {
    if (level < base_levels) return base_arity;
    return level == base_levels && sub_arity != 0 ? sub_arity : top_arity;
  }
  // Sibling hashes in one path of tree C or R.
  constexpr uint32_t path_siblings() const {
    uint32_t total = 0;
    for (uint32_t level = 0; level < path_levels(); ++level) total += path_arity(level) - 1;
    return total;
  }
};

// All sector sizes, smallest first.
std::span<const PorepShape> porep_shapes();
// nullptr where no shape has this circuit id, or sector size.
const PorepShape* porep_shape_by_circuit_id(std::string_view circuit_id);
const PorepShape* porep_shape_by_sector_bytes(uint64_t sector_bytes);

enum class PorepApiVersion : uint8_t { kV1_0_0, kV1_1_0, kV1_2_0 };
enum class PorepFeature : uint8_t { kNone, kSynthetic, kNonInteractive };

// One of the 20 registered seal proofs. The circuit and its parameters depend on the shape alone.
struct RegisteredSealProof {
  uint32_t number = 0;
  std::string_view name;  // the Rust name, as in JSON
  const PorepShape* shape = nullptr;
  PorepApiVersion api_version = PorepApiVersion::kV1_0_0;
  PorepFeature feature = PorepFeature::kNone;

  uint32_t partitions() const {
    return feature == PorepFeature::kNonInteractive ? shape->partitions_ni : shape->partitions;
  }
  // number as u64 little-endian, nonce 0 as u64, 16 zero bytes.
  NodeBytes porep_id() const;
  // Key of the "vanilla_proofs" object: "StackedDrg<size>V1" whatever the version and feature.
  std::string vanilla_tag() const;
};

// The 20 proofs, index = number.
std::span<const RegisteredSealProof> registered_seal_proofs();
// nullptr where there is none. The Go spelling of 15-19 ("..._Feat_NiPoRep") is read too.
const RegisteredSealProof* registered_seal_proof_by_name(std::string_view name);

// Of one partition with so many challenges; shape.challenges in production.
CircuitCounts porep_circuit_counts(const PorepShape& shape, uint32_t challenges);

// The string whose SHA-256 names the parameter files.
std::string porep_parameter_identifier(const PorepShape& shape);
// "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-<sha256>"; append ".params"/".vk".
std::string porep_parameter_file_stem(const PorepShape& shape);

// 32 bytes for miner actor id `miner_id`: its unsigned LEB128 encoding, zero padded.
NodeBytes prover_id_of_miner(uint64_t miner_id);

// trim(SHA-256(prover_id || sector_id big-endian || ticket || comm_d || porep_id)).
NodeBytes porep_replica_id(const NodeBytes& prover_id, uint64_t sector_id, const NodeBytes& ticket,
                           const NodeBytes& comm_d, const NodeBytes& porep_id);

// Clears the two top bits of the last byte, so that the bytes are a canonical field element.
inline void trim_to_fr(NodeBytes& bytes) { bytes[31] &= 0x3f; }

}  // namespace cuzk
