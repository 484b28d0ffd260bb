#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/atomic_file.hpp"
#include "base/memory_limit.hpp"
#include "base/random_access_file.hpp"
#include "budget/host_budget.hpp"
#include "cuzk/doctor.hpp"
#include "cuzk/memory.hpp"
#include "cuzk/version.hpp"
#include "field/cpu_features.hpp"
#include "gpu/device.hpp"
#include "parallel/parallel.hpp"
#include "worker/device_choice.hpp"

namespace cuzk::app {
namespace {

constexpr const char* kDriverFile = "/proc/driver/nvidia/version";
constexpr uint64_t kLeastFiles = 4096;                // connections, files, pipes of workers
constexpr uint64_t kLeastCacheBytes = 1'000'000'000;  // the largest compiled circuits take 0.33 GB each

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Of /proc/meminfo, in bytes; 0 where it is not there.
uint64_t meminfo(std::string_view name) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) return std::strtoull(line.c_str() + name.size(), nullptr, 10) * 1024;
  }
  return 0;
}

// Of proving on the CPU.
Finding cpu_finding(const CircuitSpec& circuit, uint64_t budget) {
  const uint64_t needed = peak_bytes(prove_memory(circuit, parallel_threads()));
  Finding finding{.check = "memory",
                  .message = "proving " + std::string(circuit.id()) + " on the CPU takes " + human_bytes(needed)};
  finding.details = {{"circuit", std::string(circuit.id())}, {"needed_bytes", needed}};
  if (needed > budget) {
    finding.health = Health::kBad;
    finding.error_class = ErrorClass::kResource;
    finding.message += ", more than the budget";
    finding.advice = "give the machine or the control group more memory; `cuzk plan --circuit " +
                     std::string(circuit.id()) + "` tells what it is for";
  }
  return finding;
}

// Of proving on a GPU, against the one with the most memory.
Finding gpu_finding(const CircuitSpec& circuit, const std::vector<gpu::DeviceInfo>& gpus, uint64_t budget) {
  const gpu::DeviceInfo& largest = *std::max_element(
      gpus.begin(), gpus.end(), [](const auto& a, const auto& b) { return a.memory_bytes < b.memory_bytes; });
  const std::string proving = "proving " + std::string(circuit.id()) + " on a GPU";
  // As the daemon has it by itself (gpus.h_multiples).
  const auto multiprocessors = static_cast<unsigned>(largest.multiprocessors);
  const DeviceTables tables = choose_tables(sizes_of(circuit), multiprocessors, usable_gpu_bytes(largest), 0);
  const Result<GpuMemory> memory = gpu_memory(circuit, multiprocessors, tables);
  if (!memory.ok()) {
    return {.health = Health::kBad,
            .check = "memory",
            .message = proving + ": " + memory.error().message,
            .advice = "prove it on the CPU: gpus.devices = [\"cpu\"]",
            .error_class = memory.error().error_class};
  }
  Finding finding{.check = "memory",
                  .message = proving + " takes " + human_bytes(memory->resident_bytes) + " of its memory and " +
                             human_bytes(memory->scratch_bytes) + " more while it proves, and at most " +
                             human_bytes(memory->host_bytes) + " of the host's"};
  finding.details = {{"circuit", std::string(circuit.id())},
                     {"gpu_resident_bytes", memory->resident_bytes},
                     {"gpu_scratch_bytes", memory->scratch_bytes},
                     {"h_multiples", tables.h_multiples},
                     {"needed_bytes", memory->host_bytes}};
  const bool fits_gpu = memory->resident_bytes + memory->scratch_bytes <= usable_gpu_bytes(largest);
  if (fits_gpu && memory->host_bytes <= budget) return finding;
  finding.health = Health::kBad;
  finding.error_class = ErrorClass::kResource;
  finding.message += fits_gpu ? ", more than the budget" : ", more than any GPU here has";
  finding.advice = fits_gpu ? "give the machine or the control group more memory"
                            : "use a GPU with more memory, or prove it on the CPU: gpus.devices = [\"cpu\"]";
  return finding;
}

Json limit_json(rlim_t limit) { return limit == RLIM_INFINITY ? Json("unlimited") : Json(uint64_t{limit}); }

}  // namespace

std::vector<Finding> check_program() {
  const CpuFeatures& cpu = cpu_features();
  const char* form = cpu.avx512_ifma ? "AVX-512 IFMA" : cpu.adx ? "ADX" : "portable code";
  Finding finding{.check = "program",
                  .message = std::string("cuzk ") + kVersion + ", " + std::to_string(parallel_threads()) +
                             " threads, field arithmetic by " + form};
  finding.details = {{"version", kVersion}, {"threads", parallel_threads()}, {"arithmetic", form}};
  if (!cpu.avx512_ifma && !cpu.adx) {
    finding.health = Health::kWarning;
    finding.advice =
        "this processor lacks ADX and BMI2, which all since 2015 (Intel) and 2017 (AMD) have: proving on it "
        "is several times slower";
  }
  return {finding};
}

std::vector<Finding> check_devices() {
  const std::string driver = first_line(kDriverFile);
  const auto devices = gpu::list_devices();
  if (!devices.ok()) {
    Finding finding{.check = "devices", .message = devices.error().message};
    finding.details = {{"driver", driver.empty() ? Json(nullptr) : Json(driver)}, {"gpus", Json::array()}};
    if (devices.error().error_class == ErrorClass::kUnsupported) {
      finding.health = driver.empty() ? Health::kNote : Health::kWarning;
      finding.message += "; proofs are made on the CPU";
      finding.advice = driver.empty() ? "for GPUs, build with `cmake --preset cuda`"
                                      : "there is an NVIDIA driver here: build with `cmake --preset cuda` to use it";
    } else {
      // Without any GPU a daemon proves on the CPU; with one that cannot be used it does not start.
      const bool none = devices.error().error_class == ErrorClass::kNotFound;
      finding.health = none ? Health::kWarning : Health::kBad;
      finding.error_class = devices.error().error_class;
      if (none) finding.message += "; proofs are made on the CPU";
      finding.advice = driver.empty() ? "install NVIDIA's driver, and see that `nvidia-smi` lists the GPUs"
                                      : "see that `nvidia-smi` lists the GPUs; the driver may be older than this build "
                                        "needs, or the device files not readable for this user";
    }
    return {finding};
  }
  std::vector<Finding> findings;
  for (const gpu::DeviceInfo& device : devices.value()) {
    Finding finding{.check = "devices",
                    .message = std::to_string(device.index) + ": " + device.name + ", " +
                               human_bytes(device.memory_bytes) + ", compute capability " +
                               std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor) +
                               ", " + device.uuid};
    finding.details = {{"gpu", device.index},
                       {"name", device.name},
                       {"uuid", device.uuid},
                       {"memory_bytes", device.memory_bytes},
                       {"driver", driver}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> check_cache(const std::string& directory) {
  Finding finding{.check = "cache"};
  if (directory.empty()) {
    finding.health = Health::kBad;
    finding.error_class = ErrorClass::kUsage;
    finding.message =
        "there is no folder for compiled circuits: neither --cache-dir nor CUZK_CACHE_DIR, "
        "XDG_CACHE_HOME or HOME are given";
    finding.advice = "give the daemon a folder that it may write, with a gigabyte free";
    return {finding};
  }
  finding.details = {{"folder", directory}};
  const Status usable = [&]() -> Status {
    CUZK_TRY(make_cache_directory(directory));
    CUZK_ASSIGN(AtomicFile probe, AtomicFile::create(directory + "/doctor"));
    const std::array<uint8_t, 4096> bytes{};
    return probe.write(bytes);  // not committed, so that nothing stays
  }();
  if (!usable.ok()) {
    finding.health = Health::kBad;
    finding.error_class = usable.error().error_class;
    finding.message = "compiled circuits cannot be kept: " + usable.error().describe();
    finding.advice = "make the folder writable for the daemon's user, or name another one (--cache-dir)";
    return {finding};
  }
  struct statvfs disk {};
  const uint64_t free = statvfs(directory.c_str(), &disk) == 0 ? uint64_t{disk.f_bavail} * disk.f_frsize : 0;
  finding.message = directory + " can be written, " + human_bytes(free) + " are free";
  finding.details["free_bytes"] = free;
  if (free < kLeastCacheBytes) {
    finding.health = Health::kWarning;
    finding.advice = "make room: the compiled circuit of a 32 GiB PoRep takes 330 MB";
  }
  return {finding};
}

std::vector<Finding> check_memory_for(const std::vector<const CircuitSpec*>& circuits, const BudgetOptions& options) {
  const Result<BudgetTotal> total = budget_total(options, memory_limit(""));
  if (!total.ok()) {
    return {{.health = Health::kBad,
             .check = "memory",
             .message = total.error().message,
             .advice = "set memory.total_budget in the daemon's configuration",
             .error_class = total.error().error_class}};
  }
  std::vector<Finding> findings;
  const uint64_t budget = total.value().bytes, available = meminfo("MemAvailable:");
  Finding sum{.check = "memory",
              .message = "a budget of " + human_bytes(budget) + " (" + total.value().origin + "); " +
                         human_bytes(available) + " are free or can be freed now"};
  sum.details = {{"budget_bytes", budget}, {"origin", total.value().origin}, {"available_bytes", available}};
  if (available != 0 && available < budget) {
    sum.health = Health::kWarning;
    sum.advice =
        "others use memory here: end them, or set memory.total_budget to what is left, lest the kernel kill "
        "the daemon";
  }
  findings.push_back(std::move(sum));
  const auto gpus = gpu::list_devices();
  const bool has_gpu = gpus.ok() && !gpus.value().empty();
  for (const CircuitSpec* circuit : circuits) {
    findings.push_back(has_gpu ? gpu_finding(*circuit, gpus.value(), budget) : cpu_finding(*circuit, budget));
  }
  return findings;
}

std::vector<Finding> check_limits() {
  rlimit files{}, locked{};
  getrlimit(RLIMIT_NOFILE, &files);
  getrlimit(RLIMIT_MEMLOCK, &locked);
  const auto text = [](rlim_t limit, bool bytes) {
    if (limit == RLIM_INFINITY) return std::string("unlimited");
    return bytes ? human_bytes(limit) : grouped(limit);
  };
  Finding open{.check = "limits", .message = "open files: " + text(files.rlim_cur, false)};
  open.details = {{"limit", "open files"}, {"value", limit_json(files.rlim_cur)}, {"hard", limit_json(files.rlim_max)}};
  if (files.rlim_cur < kLeastFiles) {
    open.health = Health::kWarning;
    open.advice = "each connection takes one: `ulimit -n 65536`, or LimitNOFILE=65536 in the systemd unit";
  }
  Finding memory{.check = "limits", .message = "locked memory: " + text(locked.rlim_cur, true)};
  memory.details = {{"limit", "locked memory"}, {"value", limit_json(locked.rlim_cur)}};
  // The CPU prover locks nothing, and NVIDIA's driver pins memory outside this limit.
  memory.message += ", which proving does not need";
  return {open, memory};
}

std::vector<Finding> check_state(const DoctorOptions& options) {
  std::vector<Finding> findings;
  if (!options.state.empty()) {
    std::error_code ignored;
    std::filesystem::path folder = options.state;
    while (folder.has_relative_path() && !std::filesystem::exists(folder, ignored)) folder = folder.parent_path();
    if (folder.empty()) folder = ".";
    Finding finding{.check = "state", .message = "the journal's folder " + options.state + " can be written"};
    finding.details = {{"folder", options.state}};
    if (!std::filesystem::is_directory(folder, ignored) || access(folder.c_str(), W_OK | X_OK) != 0) {
      finding.health = Health::kBad;
      finding.error_class = ErrorClass::kIo;
      finding.message = "the journal cannot be kept: " + folder.string() + " is no folder that can be written";
      finding.advice =
          "make the folder for the daemon's user (StateDirectory= in the systemd unit), or set "
          "daemon.state_directory to another one";
    }
    findings.push_back(std::move(finding));
  }
  for (const auto& [key, path] : options.files) {
    Finding finding{.check = "files", .message = key + ": " + path + " can be read"};
    finding.details = {{"key", key}, {"file", path}};
    if (const auto file = RandomAccessFile::open(path); !file.ok()) {
      finding.health = Health::kBad;
      finding.error_class = file.error().error_class;
      finding.message = key + ": " + file.error().describe();
      finding.advice = "give the file to the daemon's user to read, or correct the configuration";
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace cuzk::app
