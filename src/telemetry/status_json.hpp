// The status page's JSON: every key of the reference's, true, and more.
#pragma once

#include <string>
#include <string_view>

#include "engine/status.hpp"

namespace cuzk {

// The reference's keys (contract.md 1.7), and ours: `version`, `ready`, `draining`, `memory.origin`, `memory.reserved`,
// `queued`, in `pipelines` of every started job of every kind `job_key`, `state`, `priority`, `age_secs`, in
// `gpu_workers` what the device is, in `allocations` where. At most 1,000 pipelines (unfinished first) and the first
// 100 queued jobs; `counters` count all. `buffers.aux_in_flight`, `.shells_in_flight` and `.pending_handles` are 0:
// there is nothing of the kind here. Job ids are JSON strings, otherwise as the client gave them.
std::string status_json(const EngineStatus& status, std::string_view version);

}  // namespace cuzk
