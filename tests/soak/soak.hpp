// A run: a daemon, its clients, and what the daemon took in each quarter of the time.
#pragma once

#include <array>
#include <string>

#include "soak/clients.hpp"
#include "soak/small_daemon.hpp"

namespace cuzk::soak {

struct Quarter {
  double memory_bytes = 0, descriptors = 0, threads = 0, worker_descriptors = 0, worker_threads = 0, journal_bytes = 0;
};

struct SoakResult {
  Tally tally;
  double seconds = 0;
  std::array<Quarter, 4> quarters;  // of the jobs: means
  Usage most;
  // cuzk_proofs_*_total and wrong proofs, as /metrics says when all is done.
  uint64_t completed = 0, cancelled = 0, expired = 0, failed = 0, wrong = 0, device_faults = 0;
  uint64_t shortages = 0;      // of memory: what the reserve carried
  uint64_t held_for_jobs = 0;  // bytes of the budget, when no job is left
  int exit_status = -1;
};

// In a folder of its own that is removed.
SoakResult run_soak(uint32_t clients, uint32_t jobs, const Mischief& mischief = {});
std::string describe(const SoakResult& result);

// What holds for every run: all proofs verify, nobody complains, and nothing is left of jobs.
void expect_right(const SoakResult& result, uint64_t jobs);
// And where nothing fails that is tried again: the daemon counted what the clients saw.
void expect_counted(const SoakResult& result);

}  // namespace cuzk::soak
