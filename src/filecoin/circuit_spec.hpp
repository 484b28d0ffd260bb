// The catalog of circuits: every kind of proof at every sector size, behind one interface.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/progress.hpp"
#include "circuit/compiled_circuit.hpp"
#include "circuit/digester.hpp"
#include "filecoin/circuit_counts.hpp"
#include "filecoin/porep.hpp"
#include "filecoin/post.hpp"
#include "filecoin/snap.hpp"

namespace cuzk {

enum class ProofKind : uint8_t { kPorep, kSnap, kWindow, kWinning };
inline constexpr std::array<ProofKind, 4> kProofKinds = {ProofKind::kPorep, ProofKind::kSnap, ProofKind::kWindow,
                                                         ProofKind::kWinning};
// "porep", "snap", "window", "winning".
std::string_view to_string(ProofKind kind);
// The kind of that name, or of one that the reference's tools read ("porep-c2", "update", "wpost", ...).
std::optional<ProofKind> proof_kind_by_name(std::string_view name);

// One circuit: a kind of proof and a sector size. A value the size of a pointer or two; copies are the same circuit.
class CircuitSpec {
 public:
  using Shape = std::variant<const PorepShape*, const SnapShape*, const PostShape*>;

  // Of shapes that are in the tables of porep.hpp, snap.hpp and post.hpp; circuit_specs() has them all.
  constexpr explicit CircuitSpec(Shape shape) : shape_(shape) {}

  // For what only one kind has.
  const Shape& shape() const { return shape_; }

  std::string_view id() const;  // "porep-32g"
  ProofKind kind() const;
  std::string_view sector_size_name() const;  // "32GiB"
  uint64_t sector_bytes() const;
  // Proofs of a request, each of this circuit; non-interactive PoRep has more: ProofRequest::partitions().
  uint32_t partitions() const;
  // Challenges of one partition, over all its sectors.
  uint32_t challenges() const;
  // Parameters were published, and registered proofs exist.
  bool published() const;

  // Sizes in closed form; counts().srs_shape() are those of the parameters.
  CircuitCounts counts() const;
  // Append ".params" or ".vk".
  std::string parameter_file_stem() const;

  // The matrices of one partition's circuit, equal blocks once. Up to 1 s and 350 MB.
  CompiledCircuit compile() const;
  // Streams the circuit through its digest without keeping it; a stage of `progress`. Up to a minute.
  CircuitSummary digest(Progress& progress) const;

  friend bool operator==(const CircuitSpec&, const CircuitSpec&) = default;

 private:
  Shape shape_;
};

// All circuits, by kind, each smallest first.
std::span<const CircuitSpec> circuit_specs();
// nullptr where there is none.
const CircuitSpec* circuit_spec_by_id(std::string_view id);
// The catalog's entry of a shape; the shape must be one of the tables'.
const CircuitSpec& circuit_spec_of(CircuitSpec::Shape shape);

}  // namespace cuzk
