#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/memory_limit.hpp"
#include "cuzk/circuits.hpp"
#include "cuzk/command_line.hpp"
#include "cuzk/memory.hpp"
#include "cuzk/parameters.hpp"
#include "cuzk/plan_rates.hpp"
#include "parallel/parallel.hpp"

namespace cuzk::app {
namespace {

struct PlanOptions {
  std::string circuit;
  std::string work = "prove";
  std::string directory;
  uint32_t partitions = 0;  // 0: as many as a request has
  CacheOptions cache;
  bool no_time = false;
};

struct PlannedStage {
  std::string name;
  uint64_t bytes = 0;
  double seconds = 0, cpu_seconds = 0;  // of all partitions
};

// Stages that only one of the two lists has get zero of the other.
std::vector<PlannedStage> joined(const std::vector<StepMemory>& memory, const std::vector<StageTime>& times,
                                 uint32_t partitions) {
  std::vector<PlannedStage> out;
  for (const StageTime& time : times) {
    const double times_done = time.each_partition ? partitions : 1;
    out.push_back({time.name, 0, times_done * time.seconds(), times_done * time.work.cpu_seconds});
  }
  for (const StepMemory& step : memory) {
    auto at = std::find_if(out.begin(), out.end(), [&](const PlannedStage& stage) { return stage.name == step.name; });
    if (at == out.end()) at = out.insert(out.end(), PlannedStage{std::string(step.name)});
    at->bytes = step.bytes;
  }
  return out;
}

double rounded(double seconds) { return std::round(seconds * 1e6) / 1e6; }

Outcome describe(const PlanOptions& options, const CircuitSpec& circuit, uint32_t partitions,
                 const std::vector<PlannedStage>& stages, uint64_t peak) {
  const MemoryLimit limit = memory_limit("");
  const bool fits = limit.bytes == 0 || peak <= limit.bytes;
  const bool timed = !options.no_time;
  double total = 0, cpu_total = 0;
  Json list = Json::array();
  Outcome outcome;
  outcome.text = options.work + " " + std::string(circuit.id()) + ", " + std::to_string(partitions) +
                 (partitions == 1 ? " partition" : " partitions, one after the other") + ", " +
                 std::to_string(parallel_threads()) + " threads\n";
  for (const PlannedStage& stage : stages) {
    total += stage.seconds;
    cpu_total += stage.cpu_seconds;
    Json entry = {{"name", stage.name}, {"bytes", stage.bytes}};
    if (timed) entry["seconds"] = rounded(stage.seconds);
    list.push_back(std::move(entry));
    outcome.text += "  " + padded(stage.name, 25) + padded(stage.bytes == 0 ? "-" : human_bytes(stage.bytes), 12) +
                    (timed ? human_seconds(stage.seconds) : "") + "\n";
  }
  outcome.text += "at most " + human_bytes(peak) + " of memory";
  if (limit.bytes == 0) {
    outcome.text += "; how much there is cannot be told";
  } else {
    outcome.text += ": " + std::string(fits ? "fits" : "does NOT fit") + " into " + human_bytes(limit.bytes) + " (" +
                    limit.source + ")";
  }
  if (timed) {
    outcome.text += "\nabout " + human_seconds(total) + " where nothing else runs; " + human_seconds(cpu_total) +
                    " of processor time";
  }
  outcome.json = {{"circuit", std::string(circuit.id())}, {"for", options.work},           {"partitions", partitions},
                  {"threads", parallel_threads()},        {"plan", std::move(list)},       {"peak_bytes", peak},
                  {"memory_bytes", limit.bytes},          {"memory_source", limit.source}, {"fits", fits}};
  if (timed) {
    outcome.json["estimated_seconds"] = rounded(total);
    outcome.json["estimated_cpu_seconds"] = rounded(cpu_total);
  }
  return outcome;
}

Result<Outcome> run_plan(const PlanOptions& options, Console& console) {
  CUZK_ASSIGN(const CircuitSpec* circuit, circuit_by_id(options.circuit));
  const bool setup = options.work == "setup";
  if (setup && options.partitions != 0) return Error(ErrorClass::kUsage, "setup has no partitions");
  const std::string directory = parameter_directory(options.directory);
  const std::vector<StepMemory> memory =
      setup ? setup_memory(*circuit, parallel_threads()) : prove_memory(*circuit, parallel_threads());
  std::vector<StageTime> times;
  if (!options.no_time) {
    const std::string cache = cache_directory(options.cache);
    CUZK_ASSIGN(times,
                setup ? setup_times(*circuit, directory, cache, console.progress())
                      : prove_times(*circuit, parameter_files(*circuit, directory).params, cache, console.progress()));
  }
  const uint32_t partitions = setup ? 1 : options.partitions == 0 ? circuit->partitions() : options.partitions;
  Outcome outcome = describe(options, *circuit, partitions, joined(memory, times, partitions), peak_bytes(memory));
  if (const Result<GpuMemory> gpu = gpu_memory(*circuit, kLargeGpu); !setup && gpu.ok()) {
    outcome.text += "\non a GPU: " + human_bytes(gpu->resident_bytes) + " of its memory and " +
                    human_bytes(gpu->scratch_bytes) + " more while it proves, at most " + human_bytes(gpu->host_bytes) +
                    " of the host's";
    outcome.json["gpu"] = {{"resident_bytes", gpu->resident_bytes},
                           {"scratch_bytes", gpu->scratch_bytes},
                           {"host_bytes", gpu->host_bytes}};
    // What the daemon may keep besides (gpus.h_multiples): each one as much as the points of h.
    const Result<GpuMemory> most = gpu_memory(*circuit, kLargeGpu, {.h_multiples = kMostMultiples});
    if (most.ok()) {
      const uint64_t bytes = (most->resident_bytes - gpu->resident_bytes) / (kMostMultiples - 1);
      outcome.text += "; each further multiple of the points of h that the daemon keeps there: " + human_bytes(bytes);
      outcome.json["gpu"]["multiple_bytes"] = bytes;
    }
  }
  return outcome;
}

}  // namespace

void add_plan_command(CommandLine& line) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App* command = line.add(nullptr, "plan", "Tells what memory and time a proof or a setup will take here",
                               "  cuzk plan --circuit porep-32g\n"
                               "  cuzk plan --circuit winning-32g --for setup --json\n"
                               "  cuzk plan --circuit porep-32g --partitions 1 --threads 64 --no-time\n",
                               [options](Console& console) { return run_plan(*options, console); });
  command->add_option("--circuit", options->circuit, "porep-2k, winning-32g, ...: see `cuzk circuit list`")->required();
  command->add_option("--for", options->work, "prove (default) or setup")->check(CLI::IsMember({"prove", "setup"}));
  command->add_option("--partitions", options->partitions, "Proofs to make; default: those of one request")
      ->check(CLI::Range(1U, 100000U));
  command->add_option("--dir", options->directory,
                      "Folder of the parameters, whose disk is measured; "
                      "default: $FIL_PROOFS_PARAMETER_CACHE, else "
                      "upstream's default");
  add_cache_options(command, options->cache);
  command->add_flag("--no-time", options->no_time, "Only memory, which needs no measuring");
}

}  // namespace cuzk::app
