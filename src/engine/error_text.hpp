// Messages of failed jobs. They begin as those of the reference, which clients may log and search for.
#pragma once

#include <string>

#include "base/error.hpp"
#include "engine/run.hpp"

namespace cuzk {

inline Error with_prefix(std::string prefix, Error error) {
  error.message = std::move(prefix) + error.message;
  return error;
}

inline std::string of_partition(const Run& run, uint32_t partition) {
  return run.partitions.size() > 1 ? "partition " + std::to_string(partition) + " " : "";
}

inline Error synthesis_failed(const Run& run, uint32_t partition, Error error) {
  return with_prefix(of_partition(run, partition) + "synthesis failed: ", std::move(error));
}

inline Error device_failed(const Run& run, uint32_t partition, Error error) {
  return with_prefix(of_partition(run, partition) + "GPU prove failed: ", std::move(error));
}

inline Error verification_failed(const Run& run) {
  const char* kind = "PoRep";
  switch (run.kind) {
    case ProofKind::kPorep: break;
    case ProofKind::kSnap: kind = "SnapDeals"; break;
    case ProofKind::kWindow: kind = "WindowPoSt"; break;
    case ProofKind::kWinning: kind = "WinningPoSt"; break;
  }
  return Error(ErrorClass::kInternal,
               std::string(kind) + " proof self-check failed: assembled proof did not verify (sector=" +
                   std::to_string(run.sector_number) + ", miner=" + std::to_string(run.miner_id) + ")");
}

}  // namespace cuzk
