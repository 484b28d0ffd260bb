// Proofs of spacetime (FallbackPoSt): WinningPoSt and WindowPoSt. Shapes, registered proofs, sizes of the circuit,
// parameter file names, challenges and public inputs.
// Source: storage-proofs-post fallback/{vanilla,utils,compound}.rs, filecoin-proofs constants.rs and parameters.rs,
// rust-filecoin-proofs-api registry.rs.
#pragma once

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

enum class PostKind : uint8_t { kWinning, kWindow };
using PostApiVersion = PorepApiVersion;

// What a kind and a sector size fix.
struct PostShape {
  PostKind kind = PostKind::kWindow;
  std::string_view name;        // "32GiB", as in registered proofs
  std::string_view circuit_id;  // "window-32g"
  TreeShape tree;               // of the replica
  uint32_t sectors = 0;         // sectors of the circuit: 66 (winning), or those of a full partition (window)
  uint32_t challenges = 0;      // challenges of each of them: 1 (winning), 10 (window)
  bool published = false;       // parameters were published, and registered proofs exist

  constexpr uint64_t sector_bytes() const { return tree.leaves() * kNodeBytes; }
  // Sectors that one proof is about. A winning circuit has one sector's 66 challenges as 66 sectors of one challenge; a
  // window circuit repeats its last sector where there are fewer than `sectors`.
  constexpr uint32_t max_real_sectors() const { return kind == PostKind::kWinning ? 1 : sectors; }
  // Openings in one sector's vanilla proof.
  constexpr uint32_t paths_per_sector() const { return kind == PostKind::kWinning ? sectors * challenges : challenges; }
};

// All kinds and sizes: winning, then window, each smallest first.
std::span<const PostShape> post_shapes();
// nullptr where there is none.
const PostShape* post_shape_by_circuit_id(std::string_view circuit_id);
const PostShape* post_shape_by_sector_bytes(PostKind kind, uint64_t sector_bytes);

// One of the 15 registered PoSt proofs. The circuit and its parameters depend on the shape alone.
struct RegisteredPostProof {
  uint32_t number = 0;
  std::string_view name;  // as Go and the FFI have it
  const PostShape* shape = nullptr;
  PostApiVersion api_version = PostApiVersion::kV1_0_0;
};
// The 15 proofs, index = number.
std::span<const RegisteredPostProof> registered_post_proofs();
// nullptr where there is none. The Rust spelling of 10-14 ("...V1_2" for "...V1_1") is read too.
const RegisteredPostProof* registered_post_proof_by_name(std::string_view name);

// Of a circuit with `sectors` sectors; shape.sectors where all are meant.
CircuitCounts post_circuit_counts(const PostShape& shape, uint32_t sectors);

// The string whose SHA-256 names the parameter files.
std::string post_parameter_identifier(const PostShape& shape);
// "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-<sha256>"; append ".params"/".vk".
std::string post_parameter_file_stem(const PostShape& shape);

// What a caller asks for, apart from the sectors.
struct PostRequest {
  const PostShape* shape = nullptr;
  PostApiVersion api_version = PostApiVersion::kV1_0_0;
  NodeBytes randomness{};
  // Which chunk of a deadline's sectors these are. Decides challenges before V1_2_0 (window), and nothing else: the
  // circuit always takes the given sectors as they are.
  uint32_t partition_index = 0;
};
// The request of a registered proof. Errors: kInvalidInput where there is no such number, or `randomness` is not 32
// bytes of a canonical field element (the two top bits of the last byte must be clear already).
Result<PostRequest> make_post_request(uint64_t registered_proof, std::span<const uint8_t> randomness,
                                      uint32_t partition_index);
Status check_post_randomness(std::span<const uint8_t> randomness);

// Number of the challenge in the hash: V1_2_0 n alone, before it sector_index * challenges + n.
uint64_t post_challenge_index(PostApiVersion version, uint64_t sector_index, uint32_t challenges, uint32_t n);
// The challenged leaf: SHA-256(randomness || sector_id || challenge_index), first 8 bytes, mod leaves.
uint64_t post_leaf_challenge(const NodeBytes& randomness, uint64_t sector_id, uint64_t challenge_index,
                             uint64_t leaves);
// The leaves that real sector `position` must open, shape->paths_per_sector() of them.
std::vector<uint64_t> post_challenges(const PostRequest& request, uint64_t sector_id, uint32_t position);

// The positions that `count` draws pick among sector_set_size (> 0) sectors; the prover does not need them.
std::vector<uint64_t> winning_post_sectors(const NodeBytes& prover_id, const NodeBytes& randomness,
                                           uint64_t sector_set_size, uint32_t count);

// Partition proofs that this many sectors need, at least 1. Winning: always 1.
uint64_t post_partitions(const PostShape& shape, uint64_t num_sectors);

struct PostPublicSector {
  uint64_t sector_id = 0;
  Fr comm_r;
};
// The public inputs without ONE: per circuit sector comm_r, then its challenges. Computed as a verifier does, from the
// request and the sectors alone; a short partition is padded with its last sector's inputs. 1 to max_real_sectors()
// sectors.
std::vector<Fr> post_public_inputs(const PostRequest& request, std::span<const PostPublicSector> sectors);

}  // namespace cuzk
