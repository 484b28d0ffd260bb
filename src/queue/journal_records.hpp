// The byte forms of what the journal keeps of a job, each with a digest of its own.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "queue/journal.hpp"

namespace cuzk {

// Of an accepted job: everything but the submission's bytes, which lie beside it.
struct PendingRecord {
  std::string head;
  std::string submission;
  std::string digest;  // SHA-256 of both
};
PendingRecord encode_pending(JobKey key, const std::string& job_id, const Submission& submission,
                             const PayloadDigest& digest, std::chrono::system_clock::time_point accepted);
// Errors: kCorrupt, also where it is another key's; kUnsupported.
Result<Journal::PendingJob> decode_pending(JobKey key, std::string_view head, std::string_view submission,
                                           std::string_view digest);

// Of a finished one.
struct EndedRecord {
  std::string record;
  std::string digest;
};
EndedRecord encode_ended(const Journal::EndedJob& job);
Result<Journal::EndedJob> decode_ended(JobKey key, std::string_view record, std::string_view digest);

}  // namespace cuzk
