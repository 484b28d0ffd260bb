// Every limit of the engine. Defaults are those of the configuration.
#pragma once

#include <chrono>
#include <cstdint>

#include "queue/job_table.hpp"

namespace cuzk {

struct EngineOptions {
  // Unfinished jobs, results, the grace time without watchers. jobs.max_bytes is bounded further by the budget: beside
  // the requests there is always room for the largest of their proofs.
  JobLimits jobs;

  // A part of the budget that ordinary work leaves to requests that are on their way: uploads hold no more than it
  // while somebody waits for memory, so that neither starves the other.
  uint64_t upload_room_bytes = 0;

  // Witnesses that wait for a device or are being made, for each device and priority; at least 1. A task counts those
  // of its own priority and higher ones, so a device that ends a partition finds the next one ready at any priority.
  // Where devices prove partitions of a job together, for jobs of several, as many as these, if memory is free.
  uint32_t witnesses_ahead = 2;

  // Partitions of one job that a device proves together, at most (1 to kMostTogether): a GPU, and any other device.
  uint32_t gpu_group = 10, other_group = 1;

  // How often a partition is tried again after its device failed under it (a crash, a hang, memory); elsewhere if
  // there is another device.
  uint32_t max_fault_retries = 3;
  // How often a partition is proved again because its proof was wrong.
  uint32_t max_wrong_retries = 1;
  // A device whose proofs were wrong in so many checks in a row gets a new process each time that the number is
  // reached again; from the second number on it is out of use for a time after each. A good proof begins anew.
  uint32_t wrong_to_restart = 3, wrong_to_give_up = 6;

  // Parameters idle for less are not given up for what can wait.
  std::chrono::milliseconds evict_min_idle = std::chrono::minutes(5);
  // How long the first task may be passed over by others of its priority whose parameters are on the device already.
  // After that its own are loaded, whatever has to go for them.
  std::chrono::milliseconds swap_patience = std::chrono::seconds(30);
  // How long a preload waits for memory, and others for it, before it is given up on that device.
  std::chrono::milliseconds preload_patience = std::chrono::seconds(30);
  // How long a device is kept free for a CRITICAL job that is being checked or whose witness is being made.
  std::chrono::milliseconds critical_hold = std::chrono::seconds(2);
  // Files of a circuit are looked at again before a load when the last look is older.
  std::chrono::milliseconds recheck_files = std::chrono::seconds(30);
  // A device that could not load a circuit is not asked again for so long.
  std::chrono::milliseconds refused_load_pause = std::chrono::seconds(10);

  // Ended jobs stay in the status for so long.
  std::chrono::milliseconds show_ended = std::chrono::seconds(30);
};

}  // namespace cuzk
