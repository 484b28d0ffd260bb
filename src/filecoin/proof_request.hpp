// A request for a proof of any kind, read and ready: what a command line, a daemon and a device work with.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "circuit/packed_witness.hpp"
#include "field/fr.hpp"
#include "filecoin/circuit_spec.hpp"
#include "filecoin/porep_vanilla.hpp"
#include "filecoin/post_vanilla.hpp"
#include "filecoin/snap_vanilla.hpp"

namespace cuzk {

// Counts and shapes of the input are those that its reader guarantees (format/porep_c1.hpp, snap_vanilla_format.hpp,
// post_vanilla_format.hpp), and its shape is one of the tables'. Of an update without partitions (read_snap_statement)
// only public_inputs() may be asked.
class ProofRequest {
 public:
  using Input = std::variant<PorepC1, SnapInput, PostInput>;

  explicit ProofRequest(Input input);

  // For what only one kind has.
  const Input& input() const { return input_; }
  const PorepC1* porep() const { return std::get_if<PorepC1>(&input_); }
  const SnapInput* snap() const { return std::get_if<SnapInput>(&input_); }
  const PostInput* post() const { return std::get_if<PostInput>(&input_); }

  const CircuitSpec& circuit() const { return *circuit_; }
  ProofKind kind() const { return circuit_->kind(); }
  // "StackedDrg32GiBV1_1"; empty for sizes that have no registered proof.
  std::string_view registered_proof() const;
  // Proofs to be made, each of circuit(). Non-interactive PoRep: 126 (13 for small sectors).
  uint32_t partitions() const;
  // The number of the only sector that it is about, where that is known.
  std::optional<uint64_t> sector() const;

  // Everything that can be computed about the vanilla proofs, before expensive work: validate_porep_vanilla,
  // validate_snap_vanilla, validate_post_vanilla. PoSt's hashes are kept for
  // witness(). Errors: kInvalidInput, naming field, sector and partition.
  Status validate();

  // The packed witness of partition k < partitions(). The values decide alone; whether they satisfy the circuit is
  // check's to say.
  PackedWitness witness(uint32_t k) const;
  // Every constraint of partition k; for diagnosis, 32 bytes a wire. Errors: kUnsatisfied, naming the constraint's
  // path.
  Status check(uint32_t k) const;
  // The public inputs of partition k without ONE, as a verifier computes them: from what the request states and not
  // from its openings. docs/operations.md lists what that is for each kind.
  std::vector<Fr> public_inputs(uint32_t k) const;

 private:
  Input input_;
  const CircuitSpec* circuit_;
  std::optional<PostPathHashes> post_hashes_;  // of validate()
};

}  // namespace cuzk
