#include "cuzk/daemon/control_commands.hpp"

#include <thread>

#include "base/units.hpp"
#include "config/quantity.hpp"
#include "cuzk/daemon/daemon_commands.hpp"
#include "cuzk/exit_status.hpp"

namespace cuzk::app {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

std::string gpu_line(const v1::GPUStatus& gpu) {
  std::string doing = "idle";
  if (!gpu.current_job_id().empty()) {
    doing =
        "proving " + printable(gpu.current_proof_kind()) + " (" + printable(gpu.current_job_id().substr(0, 8)) + ")";
  } else if (!gpu.state().empty()) {
    doing = printable(gpu.state());
  }
  return "\n  [" + std::to_string(gpu.ordinal()) + "] " + printable(gpu.name()) + " — " +
         std::to_string(gpu.vram_free_bytes() / kMiB) + " MiB / " + std::to_string(gpu.vram_total_bytes() / kMiB) +
         " MiB VRAM — " + doing;
}

std::string status_text(const v1::GetStatusResponse& s) {
  std::string text = "=== cuzk daemon status ===\nuptime:           " + std::to_string(s.uptime_seconds()) +
                     "s\nproofs completed: " + std::to_string(s.total_proofs_completed()) +
                     "\nproofs failed:    " + std::to_string(s.total_proofs_failed()) +
                     "\npinned memory:    " + std::to_string(s.pinned_memory_bytes()) + " / " +
                     std::to_string(s.pinned_memory_limit_bytes()) + " bytes";
  if (!s.version().empty()) {
    text += "\nversion:          " + printable(s.version()) + "\nstate:            " +
            (s.draining() ? "draining"
             : s.ready()  ? "ready"
                          : "not ready");
  }
  if (s.gpus_size() > 0) text += "\n\nGPUs:";
  for (const auto& gpu : s.gpus()) text += gpu_line(gpu);
  if (s.loaded_srs_size() > 0) text += "\n\nLoaded SRS:";
  for (const auto& srs : s.loaded_srs()) {
    text += "\n  " + printable(srs.circuit_id()) + " (tier=" + std::to_string(srs.tier()) +
            ", size=" + std::to_string(srs.size_bytes()) + " bytes, refs=" + std::to_string(srs.ref_count()) + ")";
  }
  if (s.queues_size() > 0) text += "\n\nQueues:";
  for (const auto& queue : s.queues()) {
    text += "\n  " + printable(queue.proof_kind()) + ": pending=" + std::to_string(queue.pending()) +
            ", in_progress=" + std::to_string(queue.in_progress());
  }
  return text;
}

Json status_json(const v1::GetStatusResponse& s) {
  // What the status page says where the daemon is this one; a reference daemon's answer otherwise.
  Json json = Json::parse(s.status_json(), nullptr, false);
  if (!json.is_object()) json = Json::object();
  Json out = {{"uptime_seconds", s.uptime_seconds()},
              {"proofs_completed", s.total_proofs_completed()},
              {"proofs_failed", s.total_proofs_failed()},
              {"pinned_memory_bytes", s.pinned_memory_bytes()},
              {"pinned_memory_limit_bytes", s.pinned_memory_limit_bytes()},
              {"version", s.version()},
              {"ready", s.ready()},
              {"draining", s.draining()}};
  for (const auto& gpu : s.gpus()) {
    out["gpus"].push_back({{"ordinal", gpu.ordinal()},
                           {"name", gpu.name()},
                           {"vram_total_bytes", gpu.vram_total_bytes()},
                           {"vram_free_bytes", gpu.vram_free_bytes()},
                           {"current_job_id", gpu.current_job_id()},
                           {"current_proof_kind", gpu.current_proof_kind()},
                           {"state", gpu.state()}});
  }
  for (const auto& srs : s.loaded_srs()) {
    out["loaded_srs"].push_back({{"circuit_id", srs.circuit_id()},
                                 {"tier", v1::SRSStatus::Tier_Name(srs.tier())},
                                 {"size_bytes", srs.size_bytes()},
                                 {"ref_count", srs.ref_count()}});
  }
  for (const auto& queue : s.queues()) {
    out["queues"].push_back(
        {{"proof_kind", queue.proof_kind()}, {"pending", queue.pending()}, {"in_progress", queue.in_progress()}});
  }
  if (!json.empty()) out["status"] = std::move(json);
  return out;
}

Result<v1::GetStatusResponse> ask(const ConnectOptions& options, const char* default_address, Console& console) {
  CUZK_ASSIGN(const auto client, connect(options, default_address, console));
  return client->status();
}

// Asks again until the daemon is ready or the time is up.
Result<v1::GetStatusResponse> wait_ready(const StatusOptions& options, const char* default_address, Console& console) {
  Result<Duration> limit = parse_duration(options.wait_ready);
  if (!limit.ok()) return Error(ErrorClass::kUsage, "--wait-ready: " + limit.error().message);
  const auto deadline = std::chrono::steady_clock::now() + *limit;
  const ScopedStage stage(console.progress(), "waiting for the daemon");
  for (;;) {
    Result<v1::GetStatusResponse> status = ask(options.connect, default_address, console);
    if (status.ok() && status->ready()) return status;
    if (!status.ok() && status.error().error_class != ErrorClass::kIo) return status;
    if (std::chrono::steady_clock::now() >= deadline) {
      if (!status.ok()) return status;
      return Error(ErrorClass::kResource, "the daemon answers but is not ready");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

Result<Outcome> run_status(const StatusOptions& options, const char* default_address, Console& console) {
  v1::GetStatusResponse status;
  if (!options.wait_ready.empty()) {
    CUZK_ASSIGN(status, wait_ready(options, default_address, console));
  } else {
    CUZK_ASSIGN(status, ask(options.connect, default_address, console));
  }
  Outcome outcome;
  outcome.text = status_text(status);
  outcome.json = status_json(status);
  return outcome;
}

Result<Outcome> run_preload(const CircuitOptions& options, const char* default_address, Console& console) {
  CUZK_ASSIGN(const auto client, connect(options.connect, default_address, console));
  const ScopedStage stage(console.progress(), "loading");
  CUZK_ASSIGN(const v1::PreloadSrsResponse response, client->preload(options.circuit));
  Outcome outcome;
  outcome.text =
      options.circuit +
      (response.already_loaded() ? " already loaded" : " loaded in " + std::to_string(response.load_time_ms()) + " ms");
  outcome.json["circuit"] = options.circuit;
  outcome.json["already_loaded"] = response.already_loaded();
  outcome.json["load_ms"] = response.load_time_ms();
  return outcome;
}

Result<Outcome> run_metrics(const ConnectOptions& options, const char* default_address, Console& console) {
  CUZK_ASSIGN(const auto client, connect(options, default_address, console));
  CUZK_ASSIGN(std::string text, client->metrics());
  Outcome outcome;
  outcome.json["prometheus_text"] = text;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  outcome.text = std::move(text);
  return outcome;
}

namespace {

Result<Outcome> run_evict(const CircuitOptions& options, Console& console) {
  CUZK_ASSIGN(const auto client, connect(options.connect, kDefaultAddress, console));
  CUZK_ASSIGN(const v1::EvictSrsResponse response, client->evict(options.circuit));
  Outcome outcome;
  outcome.text =
      options.circuit +
      (response.was_loaded() ? " evicted, " + human_bytes(response.freed_bytes()) + " freed" : " was not loaded");
  outcome.json["circuit"] = options.circuit;
  outcome.json["was_loaded"] = response.was_loaded();
  outcome.json["freed_bytes"] = response.freed_bytes();
  return outcome;
}

}  // namespace

void add_control_commands(CommandLine& line) {
  const auto status = std::make_shared<StatusOptions>();
  CLI::App* command =
      line.add(nullptr, "status", "Shows what the daemon does and holds",
               "  cuzk status\n  cuzk status --json --addr 127.0.0.1:9820\n  cuzk status --wait-ready 60s\n",
               [status](Console& console) { return run_status(*status, kDefaultAddress, console); });
  add_connect_options(command, status->connect, kDefaultAddress);
  command->add_option("--wait-ready", status->wait_ready, "Waits so long, such as 60s, for it to be ready");

  const auto preload = std::make_shared<CircuitOptions>();
  command =
      line.add(nullptr, "preload", "Loads a circuit's parameters onto every device", "  cuzk preload winning-32g\n",
               [preload](Console& console) { return run_preload(*preload, kDefaultAddress, console); });
  command->add_option("circuit", preload->circuit, "Circuit, such as porep-32g")->required();
  add_connect_options(command, preload->connect, kDefaultAddress);

  const auto evict = std::make_shared<CircuitOptions>();
  command = line.add(nullptr, "evict", "Frees a circuit's parameters", "  cuzk evict snap-32g\n",
                     [evict](Console& console) { return run_evict(*evict, console); });
  command->add_option("circuit", evict->circuit, "Circuit, such as porep-32g")->required();
  add_connect_options(command, evict->connect, kDefaultAddress);

  const auto metrics = std::make_shared<ConnectOptions>();
  command = line.add(nullptr, "metrics", "Shows the daemon's metrics in Prometheus' text format", "  cuzk metrics\n",
                     [metrics](Console& console) { return run_metrics(*metrics, kDefaultAddress, console); });
  add_connect_options(command, *metrics, kDefaultAddress);
}

}  // namespace cuzk::app
