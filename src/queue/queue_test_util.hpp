// Submissions and results out of a seed, for the tests of this module.
#pragma once

#include <time.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "queue/job.hpp"
#include "queue/submission.hpp"

namespace cuzk::queue_test {

using Rng = std::mt19937_64;

inline uint64_t below(Rng& rng, uint64_t bound) { return rng() % bound; }

// Processor time of this thread: what a busy machine does not change.
inline uint64_t cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

// The time that one in a hundred exceeds. Not of none.
inline uint64_t percentile_99(std::vector<uint64_t> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() * 99 / 100];
}

inline std::string random_bytes(Rng& rng, size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(rng());
  return bytes;
}

// Its input has at most `most_bytes`.
inline Submission random_submission(Rng& rng, uint64_t most_bytes = 200) {
  Submission s;
  s.request_id = random_bytes(rng, below(rng, 40));
  s.kind = kProofKinds[below(rng, kProofKinds.size())];
  if (below(rng, 2) != 0) s.priority = static_cast<Priority>(1 + below(rng, 4));
  if (below(rng, 2) != 0) {
    s.deadline = std::chrono::system_clock::time_point(std::chrono::nanoseconds(static_cast<int64_t>(rng())));
  }
  s.sector_size = rng();
  s.registered_proof = below(rng, 20);
  s.sector_number = rng();
  s.miner_id = rng();
  s.partition_index = static_cast<uint32_t>(rng());
  s.randomness = random_bytes(rng, below(rng, 33));
  if (below(rng, 2) != 0) s.comm_r_old = random_bytes(rng, 32);
  if (below(rng, 2) != 0) s.comm_r_new = random_bytes(rng, 32);
  if (below(rng, 2) != 0) s.comm_d_new = random_bytes(rng, 32);
  s.vanilla_proof = random_bytes(rng, below(rng, most_bytes / 2 + 1));
  for (uint64_t n = below(rng, 5); n > 0; --n) {
    s.vanilla_proofs.push_back(random_bytes(rng, below(rng, most_bytes / 10 + 1)));
  }
  return s;
}

inline JobResult random_result(Rng& rng, std::string job_id) {
  JobResult result;
  result.job_id = std::move(job_id);
  result.state = static_cast<JobState>(2 + below(rng, 4));
  if (result.state == JobState::kCompleted) {
    const std::string proof = random_bytes(rng, 192 * (1 + below(rng, 16)));
    result.proof.assign(proof.begin(), proof.end());
  } else {
    Error error(static_cast<ErrorClass>(below(rng, 12)), random_bytes(rng, below(rng, 50)));
    if (below(rng, 2) != 0) error.field = "vanilla_proofs[0]";
    if (below(rng, 2) != 0) error.file = "/a/file";
    if (below(rng, 2) != 0) error.offset = rng();
    if (below(rng, 2) != 0) error.sector = rng();
    if (below(rng, 2) != 0) error.partition = static_cast<uint32_t>(rng());
    result.error = std::move(error);
  }
  result.times = {rng(), rng(), rng(), rng(), rng()};
  return result;
}

inline bool same(const JobResult& a, const JobResult& b) {
  if (a.error.has_value() != b.error.has_value()) return false;
  if (a.error) {
    const Error &x = *a.error, &y = *b.error;
    if (x.error_class != y.error_class || x.message != y.message || x.field != y.field || x.file != y.file)
      return false;
    if (x.offset != y.offset || x.sector != y.sector || x.partition != y.partition) return false;
  }
  const JobTimes &s = a.times, &t = b.times;
  return a.state == b.state && a.job_id == b.job_id && a.proof == b.proof && s.queue_wait_ms == t.queue_wait_ms &&
         s.srs_load_ms == t.srs_load_ms && s.synthesis_ms == t.synthesis_ms && s.gpu_compute_ms == t.gpu_compute_ms &&
         s.total_ms == t.total_ms;
}

}  // namespace cuzk::queue_test
