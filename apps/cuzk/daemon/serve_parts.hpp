// What `cuzk serve` is made of, in the order in which it is made: each part names what is wrong before the next begins,
// and nothing listens before all of them are there.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "budget/host_budget.hpp"
#include "config/config.hpp"
#include "engine/make_engine.hpp"
#include "residency/circuit_store.hpp"
#include "server/options.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"
#include "worker/device_choice.hpp"
#include "worker/worker_process.hpp"

namespace cuzk::app {

// Of tests: faults that the workers make on purpose.
struct WorkerFaults {
  std::string faults;
  uint64_t processes = UINT64_MAX;  // in the first so many of them
};

// The configuration's, else what systemd gives, else (compiled circuits) as the other commands find it; empty: none.
std::string cache_folder_of(const Config& config);
std::string state_folder_of(const Config& config);

struct ServeFolders {
  std::string cache;
  std::string state;  // empty: no journal
};
// Makes sure of the folders. Errors: kNotFound where that of the parameters is missing; kUsage where there is none for
// compiled circuits; kIo.
Result<ServeFolders> serve_folders(const Config& config);

Result<std::unique_ptr<Log>> open_log(const Config& config);
LogLevel log_level(const Config& config);

// Errors: kUsage where a circuit to be preloaded does not exist.
Status check_names(const Config& config);

// The devices of gpus.devices. Errors: those of choose_devices(), naming the key.
Result<std::vector<DeviceChoice>> find_devices(const Config& config);

// Budget, journal, store, workers, engine. `log` and `metrics` outlive it. Errors: those of the parts.
Result<std::unique_ptr<Engine>> assemble_engine(const Config& config, const ServeFolders& folders,
                                                const std::vector<DeviceChoice>& devices, const WorkerFaults& faults,
                                                Log& log, Metrics& metrics);

ServerOptions server_options(const Config& config);

}  // namespace cuzk::app
