// What the reference calls kinds and circuits where its tools read them.
#pragma once

#include <string>
#include <string_view>

#include "engine/observer.hpp"
#include "filecoin/circuit_spec.hpp"

namespace cuzk {

// In the status JSON, logs and GetStatus: "porep-c2", "snap-update", "window-post", "winning-post".
constexpr std::string_view status_name(ProofKind kind) {
  switch (kind) {
    case ProofKind::kPorep: return "porep-c2";
    case ProofKind::kSnap: return "snap-update";
    case ProofKind::kWindow: return "window-post";
    case ProofKind::kWinning: return "winning-post";
  }
  return "unknown";
}

// As a label of metrics: "porep_c2", "snap_update", "window_post", "winning_post".
constexpr std::string_view metric_name(ProofKind kind) {
  switch (kind) {
    case ProofKind::kPorep: return "porep_c2";
    case ProofKind::kSnap: return "snap_update";
    case ProofKind::kWindow: return "window_post";
    case ProofKind::kWinning: return "winning_post";
  }
  return "unknown";
}

constexpr std::string_view stage_name(Stage stage) {
  switch (stage) {
    case Stage::kCheck: return "check";
    case Stage::kWitness: return "witness";
    case Stage::kDevice: return "device";
    case Stage::kVerify: return "verify";
  }
  return "unknown";
}

// "wpost-32g" for our "window-32g"; the other ids are the same.
inline std::string reference_circuit_name(std::string_view circuit_id) {
  constexpr std::string_view kOurs = "window-";
  if (circuit_id.substr(0, kOurs.size()) != kOurs) return std::string(circuit_id);
  return "wpost-" + std::string(circuit_id.substr(kOurs.size()));
}

}  // namespace cuzk
