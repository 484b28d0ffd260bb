#include "filecoin/circuit_spec.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/assert.hpp"
#include "base/overloaded.hpp"
#include "filecoin/porep_prove.hpp"
#include "filecoin/post_circuit.hpp"
#include "filecoin/snap_prove.hpp"

namespace cuzk {
namespace {

struct KindName {
  std::string_view name;
  ProofKind kind;
};
// The reference's spellings beside ours.
constexpr KindName kKindNames[] = {
    {"porep", ProofKind::kPorep},         {"porep-c2", ProofKind::kPorep},  {"seal-commit", ProofKind::kPorep},
    {"snap", ProofKind::kSnap},           {"snap-deals", ProofKind::kSnap}, {"update", ProofKind::kSnap},
    {"window", ProofKind::kWindow},       {"wpost", ProofKind::kWindow},    {"window-post", ProofKind::kWindow},
    {"windowpost", ProofKind::kWindow},   {"winning", ProofKind::kWinning}, {"winning-post", ProofKind::kWinning},
    {"winningpost", ProofKind::kWinning},
};

std::vector<CircuitSpec> make_specs() {
  std::vector<CircuitSpec> out;
  for (const PorepShape& shape : porep_shapes()) out.emplace_back(&shape);
  for (const SnapShape& shape : snap_shapes()) out.emplace_back(&shape);
  for (const PostKind kind : {PostKind::kWindow, PostKind::kWinning}) {
    for (const PostShape& shape : post_shapes()) {
      if (shape.kind == kind) out.emplace_back(&shape);
    }
  }
  return out;
}

}  // namespace

std::string_view to_string(ProofKind kind) {
  switch (kind) {
    case ProofKind::kPorep: return "porep";
    case ProofKind::kSnap: return "snap";
    case ProofKind::kWindow: return "window";
    case ProofKind::kWinning: return "winning";
  }
  return "unknown";
}

std::optional<ProofKind> proof_kind_by_name(std::string_view name) {
  for (const KindName& known : kKindNames) {
    if (known.name == name) return known.kind;
  }
  return std::nullopt;
}

std::string_view CircuitSpec::id() const {
  return std::visit([](const auto* shape) { return shape->circuit_id; }, shape_);
}

ProofKind CircuitSpec::kind() const {
  return std::visit(
      Overloaded{[](const PorepShape*) { return ProofKind::kPorep; }, [](const SnapShape*) { return ProofKind::kSnap; },
                 [](const PostShape* shape) {
                   return shape->kind == PostKind::kWindow ? ProofKind::kWindow : ProofKind::kWinning;
                 }},
      shape_);
}

std::string_view CircuitSpec::sector_size_name() const {
  return std::visit([](const auto* shape) { return shape->name; }, shape_);
}

uint64_t CircuitSpec::sector_bytes() const {
  return std::visit([](const auto* shape) { return shape->sector_bytes(); }, shape_);
}

uint32_t CircuitSpec::partitions() const {
  return std::visit(Overloaded{[](const PorepShape* shape) { return shape->partitions; },
                               [](const SnapShape* shape) { return shape->partitions(); },
                               [](const PostShape*) { return uint32_t{1}; }},
                    shape_);
}

uint32_t CircuitSpec::challenges() const {
  return std::visit(Overloaded{[](const PorepShape* shape) { return shape->challenges; },
                               [](const SnapShape* shape) { return shape->challenges; },
                               [](const PostShape* shape) { return shape->sectors * shape->challenges; }},
                    shape_);
}

bool CircuitSpec::published() const {
  return std::visit([](const auto* shape) { return shape->published; }, shape_);
}

CircuitCounts CircuitSpec::counts() const {
  return std::visit(Overloaded{[](const PorepShape* shape) { return porep_circuit_counts(*shape, shape->challenges); },
                               [](const SnapShape* shape) { return snap_circuit_counts(*shape); },
                               [](const PostShape* shape) { return post_circuit_counts(*shape, shape->sectors); }},
                    shape_);
}

std::string CircuitSpec::parameter_file_stem() const {
  return std::visit(Overloaded{[](const PorepShape* shape) { return porep_parameter_file_stem(*shape); },
                               [](const SnapShape* shape) { return snap_parameter_file_stem(*shape); },
                               [](const PostShape* shape) { return post_parameter_file_stem(*shape); }},
                    shape_);
}

CompiledCircuit CircuitSpec::compile() const {
  return std::visit(Overloaded{[](const PorepShape* shape) { return compile_porep(*shape, shape->challenges); },
                               [](const SnapShape* shape) { return compile_snap(*shape); },
                               [](const PostShape* shape) { return compile_post(*shape, shape->sectors); }},
                    shape_);
}

CircuitSummary CircuitSpec::digest(Progress& progress) const {
  return std::visit(
      Overloaded{[&](const PorepShape* shape) { return porep_digest(*shape, shape->challenges, progress); },
                 [&](const SnapShape* shape) { return snap_digest(*shape, progress); },
                 [&](const PostShape* shape) { return post_digest(*shape, shape->sectors, progress); }},
      shape_);
}

std::span<const CircuitSpec> circuit_specs() {
  static const std::vector<CircuitSpec> specs = make_specs();
  return specs;
}

const CircuitSpec* circuit_spec_by_id(std::string_view id) {
  for (const CircuitSpec& spec : circuit_specs()) {
    if (spec.id() == id) return &spec;
  }
  return nullptr;
}

const CircuitSpec& circuit_spec_of(CircuitSpec::Shape shape) {
  const auto specs = circuit_specs();
  const auto at = std::find(specs.begin(), specs.end(), CircuitSpec(shape));
  CUZK_ASSERT(at != specs.end());
  return *at;
}

}  // namespace cuzk
