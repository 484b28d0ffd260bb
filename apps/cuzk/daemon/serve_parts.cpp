#include "cuzk/daemon/serve_parts.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/memory_reserve.hpp"
#include "cuzk/circuits.hpp"
#include "cuzk/console.hpp"
#include "cuzk/exit_status.hpp"
#include "cuzk/version.hpp"
#include "cuzk/worker_command.hpp"
#include "engine/filecoin_proof_service.hpp"
#include "engine/read_submission.hpp"
#include "parallel/parallel.hpp"
#include "telemetry/telemetry_observer.hpp"

namespace cuzk::app {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kDefaultSynthesisThreads = 18, kDefaultAhead = 2;
// Of the budget for requests on their way: room for two of the largest, or a part of small budgets.
constexpr uint64_t kMostUploadRoom = uint64_t{256} << 20, kUploadShare = 16;

// Of a list of folders, as systemd gives it.
std::string first_folder(const char* variable) {
  const char* value = std::getenv(variable);
  const std::string text = value == nullptr ? "" : value;
  return text.substr(0, text.find(':'));
}

Status make_folder(const std::string& path, const std::string& what) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (!failure && fs::is_directory(path, failure)) return {};
  return Error(ErrorClass::kIo, "cannot make the folder of " + what + ": " +
                                    (failure ? failure.message() : "something else has that name"))
      .in_file(path);
}

WorkerProcessOptions worker_options(const Config& config, const DeviceChoice& device, const WorkerFaults& faults,
                                    uint32_t ordinal, Log& log) {
  WorkerProcessOptions options;
  options.ordinal = ordinal;
  options.device = device.device;
  options.info = device.info;
  options.threads = static_cast<unsigned>(config.gpus_gpu_threads);
  options.niceness = static_cast<int>(config.worker_niceness);
  options.environment = environment();
  options.faults = faults.faults;
  options.faulty_processes = faults.processes;
  options.on_line = [&log, ordinal](std::string_view line) {
    log.write(LogLevel::kInfo, "worker says", {{"device", uint64_t{ordinal}}, {"line", std::string(line)}});
  };
  options.on_fault = [&log, ordinal](const Error& error) {
    log.write(LogLevel::kError, "worker failed", {{"device", uint64_t{ordinal}}, {"error", error.describe()}});
  };
  return options;
}

JobLimits job_limits(const Config& config) {
  JobLimits limits;
  limits.max_jobs = config.scheduler_max_jobs;
  limits.max_bytes = config.scheduler_max_bytes.bytes;
  // Of few, most are for everybody.
  limits.critical_jobs = std::min(limits.critical_jobs, limits.max_jobs / 4);
  limits.critical_bytes = std::min(limits.critical_bytes, limits.max_bytes / 4);
  limits.max_results = config.results_keep;
  limits.max_result_bytes = config.results_max_bytes.bytes;
  limits.keep_results = config.results_keep_for;
  limits.grace = config.scheduler_abandoned_after;
  return limits;
}

// The last resort. Workers end with this process, the journal has what it was told, and the service manager starts it
// again. Nothing here allocates.
void end_for_want_of_memory() {
  constexpr std::string_view kLine =
      "cuzk serve: out of memory: the reserve is used up and nothing was given back; the daemon ends (jobs of "
      "SubmitProof are in the journal)\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kLine.data(), kLine.size());
  _exit(exit_status(ErrorClass::kResource));
}

uint32_t or_default(uint64_t value, uint64_t instead) { return static_cast<uint32_t>(value == 0 ? instead : value); }

}  // namespace

std::string cache_folder_of(const Config& config) {
  if (!config.residency_cache_directory.empty()) return config.residency_cache_directory;
  const std::string given = first_folder("CACHE_DIRECTORY");
  return given.empty() ? cache_directory({}) : given;
}

std::string state_folder_of(const Config& config) {
  return config.daemon_state_directory.empty() ? first_folder("STATE_DIRECTORY") : config.daemon_state_directory;
}

Result<ServeFolders> serve_folders(const Config& config) {
  ServeFolders folders;
  std::error_code ignored;
  if (!fs::is_directory(config.srs_param_cache, ignored)) {
    return Error(ErrorClass::kNotFound, "there is no such folder of parameters (srs.param_cache)")
        .in_file(config.srs_param_cache);
  }
  folders.cache = cache_folder_of(config);
  if (folders.cache.empty()) {
    return Error(ErrorClass::kUsage, "there is no folder for compiled circuits: set residency.cache_directory");
  }
  CUZK_TRY(make_folder(folders.cache, "compiled circuits (residency.cache_directory)"));
  folders.state = state_folder_of(config);
  if (!folders.state.empty()) CUZK_TRY(make_folder(folders.state, "the journal (daemon.state_directory)"));
  return folders;
}

LogLevel log_level(const Config& config) { return log_level_by_name(config.logging_level).value_or(LogLevel::kInfo); }

Result<std::unique_ptr<Log>> open_log(const Config& config) {
  return Log::open({.level = log_level(config),
                    .json = config.logging_format == "json",
                    .file = config.logging_file,
                    .max_file_bytes = config.logging_max_file_size.bytes,
                    .max_files = static_cast<uint32_t>(config.logging_max_files)});
}

Status check_names(const Config& config) {
  for (const std::string& circuit : config.residency_preload) {
    if (circuit_by_any_name(circuit) == nullptr) {
      return Error(ErrorClass::kUsage,
                   "residency.preload: there is no circuit '" + circuit + "'; `cuzk circuit list` has them all");
    }
  }
  return {};
}

Result<std::vector<DeviceChoice>> find_devices(const Config& config) {
  const std::vector<std::string>& names = config.gpus_devices.names;
  // A driver that nobody wants is not asked: it takes its time, and may be the trouble.
  const bool cpu_only = names.size() == 1 && names[0] == "cpu";
  Result<std::vector<DeviceChoice>> devices =
      choose_devices(names, cpu_only ? FoundGpus(std::vector<gpu::DeviceInfo>()) : gpu::list_devices());
  if (devices.ok()) return devices;
  Error error = std::move(devices).error();
  error.message = "gpus.devices: " + error.message + (names.empty() ? "; \"cpu\" proves without GPUs" : "");
  return error;
}

Result<std::unique_ptr<Engine>> assemble_engine(const Config& config, const ServeFolders& folders,
                                                const std::vector<DeviceChoice>& devices, const WorkerFaults& faults,
                                                Log& log, Metrics& metrics) {
  if (config.synthesis_threads > 0) set_parallel_threads(static_cast<unsigned>(config.synthesis_threads));
  BudgetOptions budget_options;
  if (config.memory_total_budget) budget_options.total_bytes = config.memory_total_budget->bytes;
  budget_options.margin_bytes = config.memory_safety_margin.bytes;
  EngineParts parts;
  CUZK_ASSIGN(parts.budget, default_budget(budget_options));
  const uint64_t budget_bytes = parts.budget->total();
  log.write(LogLevel::kInfo, "memory budget", {{"bytes", parts.budget->total()}, {"origin", parts.budget->origin()}});
  if (!folders.state.empty()) {
    CUZK_ASSIGN(parts.journal, Journal::open({.file = folders.state + "/journal.sqlite"}));
    log.write(LogLevel::kInfo, "journal open", {{"file", parts.journal->file()}});
  } else {
    log.write(LogLevel::kWarn, "no journal: submitted jobs are lost when this process ends (daemon.state_directory)");
  }
  const auto store = std::make_shared<CircuitStore>(
      CircuitStoreOptions{.params_directory = config.srs_param_cache,
                          .cache_directory = folders.cache,
                          .check_digests = config.srs_check_digests,
                          .warn = [&log](const Error& error) {
                            log.write(LogLevel::kWarn, "warning", {{"error", error.describe()}});
                          }});
  const auto threads = static_cast<uint32_t>(parallel_threads());
  const uint32_t device_threads = or_default(config.gpus_gpu_threads, threads);
  parts.service =
      std::make_shared<FilecoinProofService>(store, device_threads, static_cast<uint32_t>(config.gpus_h_multiples));
  parts.executor = std::make_unique<ThreadExecutor>(
      std::min(threads, or_default(config.pipeline_max_parallel_synthesis, kDefaultSynthesisThreads)));
  parts.clock = std::make_shared<SystemClock>();
  parts.observer = std::make_shared<TelemetryObserver>(log, metrics, config.logging_timeline);
  CUZK_ASSIGN(parts.reserve, MemoryReserve::make({.give_up = end_for_want_of_memory}));
  for (const DeviceChoice& device : devices) {
    const auto ordinal = static_cast<uint32_t>(parts.devices.size());
    log.write(LogLevel::kInfo, "device",
              {{"device", uint64_t{ordinal}}, {"name", device.info.name}, {"uuid", device.info.uuid}});
    parts.devices.push_back(std::make_unique<WorkerProcess>(worker_options(config, device, faults, ordinal, log)));
  }
  EngineOptions options;
  options.jobs = job_limits(config);
  options.witnesses_ahead = or_default(config.pipeline_max_gpu_queue_depth, kDefaultAhead);
  options.gpu_group = or_default(config.gpus_max_group, options.gpu_group);
  options.evict_min_idle = config.memory_eviction_min_idle;
  options.upload_room_bytes = std::min(kMostUploadRoom, budget_bytes / kUploadShare);
  return make_engine(options, std::move(parts));
}

ServerOptions server_options(const Config& config) {
  ServerOptions options;
  options.listen = config.daemon_listen;
  options.unix_mode = static_cast<uint32_t>(std::stoul(config.daemon_socket_mode, nullptr, 8));
  options.http_listen = config.daemon_status_listen;
  options.http_allow_origin = config.daemon_status_allow_origin;
  options.allow_insecure_remote = config.daemon_allow_insecure;
  if (!config.tls_certificate.empty()) {
    options.tls = TlsOptions{
        .certificate_file = config.tls_certificate, .key_file = config.tls_key, .client_ca_file = config.tls_client_ca};
  }
  options.tokens_file = config.auth_tokens;
  options.max_message_bytes = config.daemon_message_limit.bytes;
  options.max_uploads = static_cast<uint32_t>(config.daemon_max_uploads);
  options.prove_deadline_grace = config.scheduler_abandoned_after;
  options.version = kVersion;
  return options;
}

}  // namespace cuzk::app
