// A request as it arrives: bytes and numbers that nobody has looked at. What they mean is engine/read_submission.hpp's.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "filecoin/circuit_spec.hpp"
#include "queue/job.hpp"

namespace cuzk {

// Of everything that decides the proof, or whether there is one: all of a submission but id, priority and deadline.
using PayloadDigest = std::array<uint8_t, 32>;

struct Submission {
  std::string request_id;  // empty: one is made
  ProofKind kind = ProofKind::kPorep;
  std::optional<Priority> priority;  // none: default_priority(kind)
  std::optional<std::chrono::system_clock::time_point> deadline;

  uint64_t sector_size = 0;
  uint64_t registered_proof = 0;
  std::string vanilla_proof;                // PoRep: C1 JSON, with or without its wrapper
  std::vector<std::string> vanilla_proofs;  // PoSt: a sector each; updates: a partition each
  uint64_t sector_number = 0;
  uint64_t miner_id = 0;
  std::string randomness;
  uint32_t partition_index = 0;
  std::string comm_r_old, comm_r_new, comm_d_new;

  friend bool operator==(const Submission&, const Submission&) = default;

  Priority effective_priority() const { return priority.value_or(default_priority(kind)); }
  // Bytes of memory that it holds.
  uint64_t bytes() const;
  // SHA-256 over a prefix-free encoding. 1 GB/s or so where the processor has instructions for it.
  PayloadDigest digest() const;
};

// For the journal: everything, in a form of our own with a version (submission.cpp). Every submission has one encoding
// and every byte string is one submission's or none's. Errors of decode: kCorrupt with field and offset; kUnsupported
// for a version this build does not know.
std::string encode_submission(const Submission& submission);
Result<Submission> decode_submission(std::string_view bytes);

}  // namespace cuzk
