// `cuzk serve`: the daemon's life, from its configuration to its end.
#include <signal.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>

#include "base/memory_reserve.hpp"
#include "cuzk/daemon/config_options.hpp"
#include "cuzk/daemon/daemon_commands.hpp"
#include "cuzk/daemon/serve_parts.hpp"
#include "cuzk/interrupt.hpp"
#include "cuzk/version.hpp"
#include "server/server.hpp"
#include "server/service_manager.hpp"
#include "server/telemetry_hooks.hpp"

namespace cuzk::app {
namespace {

using std::chrono::steady_clock;

// What has come in for the main thread to do. The first SIGTERM or SIGINT is a wish; the second is not asked about.
class Wishes {
 public:
  enum class Wish : uint8_t { kStop, kReload, kDrained };

  // From the thread of signals; false: end the process.
  bool on_signal(int number) {
    const UsesReserve uses_reserve;
    const std::lock_guard lock(mutex_);
    if (number != SIGHUP && stopping_) return false;
    if (number != SIGHUP) stopping_ = true;
    wishes_.push_back(number == SIGHUP ? Wish::kReload : Wish::kStop);
    came_.notify_all();
    return true;
  }
  void drained() {
    const std::lock_guard lock(mutex_);
    wishes_.push_back(Wish::kDrained);
    came_.notify_all();
  }
  Wish wait() {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return !wishes_.empty(); });
    const Wish wish = wishes_.front();
    wishes_.pop_front();
    return wish;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Wish> wishes_;
  bool stopping_ = false;
};

// Signals come to `wishes` as long as it lives.
class SignalsFor {
 public:
  explicit SignalsFor(Wishes& wishes) {
    handle_signals([&wishes](int number) { return wishes.on_signal(number); });
  }
  ~SignalsFor() { handle_signals(nullptr); }
  SignalsFor(const SignalsFor&) = delete;
  SignalsFor& operator=(const SignalsFor&) = delete;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The watchdog is meant for this process where WATCHDOG_PID says nothing else.
std::chrono::microseconds watchdog_interval() {
  const std::string pid = variable("WATCHDOG_PID");
  if (!pid.empty() && pid != std::to_string(getpid())) return std::chrono::microseconds(0);
  return std::chrono::microseconds(std::strtoull(variable("WATCHDOG_USEC").c_str(), nullptr, 10));
}

void preload(Engine& engine, const Config& config, Log& log) {
  for (const std::string& circuit : config.residency_preload) {
    engine.preload(circuit, [&log, circuit](Result<Engine::Preloaded> done) {
      if (done.ok()) {
        log.write(LogLevel::kInfo, "preloaded", {{"circuit", circuit}, {"load_ms", done->load_ms}});
      } else {
        log.write(LogLevel::kError, "cannot preload", {{"circuit", circuit}, {"error", done.error().describe()}});
      }
    });
  }
}

void tell_listening(const Server& server, Log& log) {
  for (const std::string& address : server.addresses())
    log.write(LogLevel::kInfo, "serving gRPC", {{"address", address}});
  if (!server.http_address().empty()) {
    log.write(LogLevel::kInfo, "serving HTTP", {{"address", server.http_address()}});
  }
}

// Until a signal says that it is enough and the work is done, or the time for that is up.
void run_until_drained(Server& server, ServiceManager& manager, const Config& config, Wishes& wishes, Log& log) {
  const UsesReserve uses_reserve;
  for (;;) {
    switch (wishes.wait()) {
      case Wishes::Wish::kReload: {
        const Status reloaded = server.reload();
        log.write(reloaded.ok() ? LogLevel::kInfo : LogLevel::kError, "read tokens again",
                  {{"result", reloaded.ok() ? std::string("ok") : reloaded.error().describe()}});
        break;
      }
      case Wishes::Wish::kStop: {
        const std::string limit = format_duration(config.daemon_drain_timeout);
        log.write(LogLevel::kInfo, "draining", {{"limit", limit}});
        server.drain(steady_clock::now() + config.daemon_drain_timeout, [&wishes] { wishes.drained(); });
        (void)manager.stopping();
        (void)manager.status("draining, at most " + limit);
        break;
      }
      case Wishes::Wish::kDrained: return;
    }
  }
}

Result<Outcome> serve(const Config& config, const WorkerFaults& faults, Console& console) {
  CUZK_TRY(check_names(config));
  CUZK_ASSIGN(const std::vector<DeviceChoice> devices, find_devices(config));
  CUZK_ASSIGN(const ServeFolders folders, serve_folders(config));
  CUZK_ASSIGN(const std::unique_ptr<Log> log, open_log(config));
  log->write(LogLevel::kInfo, "cuzk starts",
             {{"version", std::string(kVersion)},
              {"pid", static_cast<uint64_t>(getpid())},
              {"parameters", config.srs_param_cache},
              {"cache", folders.cache}});
  Metrics metrics;
  Wishes wishes;
  const SignalsFor signals(wishes);
  CUZK_ASSIGN(const std::unique_ptr<Engine> engine, assemble_engine(config, folders, devices, faults, *log, metrics));
  console.hint(ErrorClass::kUsage, "`cuzk config print --origin` shows every value and where it comes from");
  CUZK_ASSIGN(const std::unique_ptr<Server> server,
              Server::start(*engine, server_options(config), telemetry_hooks(*log, metrics, kVersion)));
  tell_listening(*server, *log);
  ServiceManager manager(variable("NOTIFY_SOCKET"), watchdog_interval(), [&engine = *engine] {
    (void)engine.status();  // hangs where the engine does
    return true;
  });
  preload(*engine, config, *log);
  if (const Status told = manager.ready(); !told.ok()) {
    log->write(LogLevel::kWarn, "cannot tell the service manager", {{"error", told.error().describe()}});
  }
  run_until_drained(*server, manager, config, wishes, *log);
  constexpr auto kCallsEnd = std::chrono::seconds(2);
  server->stop(kCallsEnd);
  log->write(LogLevel::kInfo, "cuzk ends");
  return Outcome();
}

}  // namespace

void add_serve_command(CommandLine& line) {
  const auto options = std::make_shared<ConfigOptions>();
  const auto faults = std::make_shared<WorkerFaults>();
  CLI::App* command =
      line.add(nullptr, "serve", "The daemon: takes requests for proofs over gRPC",
               "  cuzk serve --config /etc/cuzk/cuzk.toml\n"
               "  cuzk serve --listen unix:///run/curio/cuzk.sock --srs.param_cache /data/zk/params\n"
               "  cuzk serve --listen 127.0.0.1:9820 --daemon.status_listen 127.0.0.1:9821 --log-level debug\n",
               [options, faults](Console& console) -> Result<Outcome> {
                 CUZK_ASSIGN(const Config config, usable_config(*options, console));
                 return serve(config, *faults, console);
               });
  add_config_options(command, *options);
  command->add_option("--worker-faults", faults->faults, "For tests")->group("");
  command->add_option("--worker-faulty-processes", faults->processes, "For tests")->group("");
}

}  // namespace cuzk::app
