// Proofs of a circuit of some hundred constraints, for a daemon that is to make thousands: everything but the circuit
// and the form of a request is what Filecoin's are proved with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/proof_service.hpp"
#include "groth16/verify.hpp"
#include "worker/backend.hpp"

namespace cuzk::soak {

// Two circuits of the catalog lend their names.
inline constexpr const char* kWindow = "window-2k";
inline constexpr const char* kWinning = "winning-2k";

// A request says which number is proved: that whoever proved it knows the way from it to the last of a chain.
Submission submission_of(ProofKind kind, uint64_t number);
// What a verifier computes: the number, and the last of its chain. Shares no code with the circuit.
std::vector<Fr> public_inputs(uint64_t number);

// Parameters and circuits of both names into the folder; the same key for both.
Status make_files(const std::string& folder);
Result<VerifyingKey> read_key(const std::string& folder);

// `leak_bytes`: lost at each request, to see that a test finds it.
std::shared_ptr<ProofService> make_small_service(const std::string& folder, uint64_t leak_bytes);

// The CPU's backend, which takes a circuit whose counts are not those of the catalog.
Result<std::unique_ptr<WorkerBackend>> make_small_backend(std::string_view device, uint32_t ordinal);

}  // namespace cuzk::soak
