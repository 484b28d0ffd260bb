#include "soak/small_daemon.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string_view>
#include <thread>

#include "engine/make_engine.hpp"
#include "parallel/parallel.hpp"
#include "server/server.hpp"
#include "server/telemetry_hooks.hpp"
#include "soak/small_proofs.hpp"
#include "support/failing_allocations.hpp"
#include "telemetry/telemetry_observer.hpp"
#include "worker/worker_main.hpp"
#include "worker/worker_process.hpp"

namespace cuzk::soak {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kAddresses = "/addresses";

uint64_t one_in = 0;
std::atomic<uint64_t> next_seed{1};

// Of threads that are in our code: where memory runs out in gRPC's, it ends the process.
bool fails_at_random(size_t) {
  if (ReserveScope::of_this_thread() == ReserveUse::kUnsaid) return false;
  thread_local uint64_t random = next_seed.fetch_add(1);
  random = random * 6364136223846793005 + 1442695040888963407;
  return (random >> 33) % one_in == 0;
}

void end_for_want_of_memory() { _exit(9); }

// As `cuzk serve` puts them together.
Result<int> serve(const std::string& folder, const Mischief& mischief) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGUSR1);  // nothing fails any more
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  set_parallel_threads(1);
  CUZK_ASSIGN(const std::unique_ptr<Log> log, Log::open({.file = folder + "/log", .max_file_bytes = 20'000'000}));
  Metrics metrics;
  EngineParts parts;
  const auto budget = std::make_shared<HostBudget>(uint64_t{512} << 20, "the test");
  parts.budget = budget;
  parts.service = make_small_service(folder, mischief.leak_bytes);
  for (uint32_t ordinal = 0; ordinal < 2; ++ordinal) {
    WorkerProcessOptions options;
    options.ordinal = ordinal;
    options.threads = 1;
    options.on_fault = [&log](const Error& error) {
      log->write(LogLevel::kError, "worker failed", {{"error", error.describe()}});
    };
    parts.devices.push_back(std::make_unique<WorkerProcess>(options));
  }
  parts.executor = std::make_unique<ThreadExecutor>(2);
  parts.clock = std::make_shared<SystemClock>();
  CUZK_ASSIGN(parts.journal, Journal::open({.file = folder + "/journal.sqlite"}));
  parts.observer = std::make_shared<TelemetryObserver>(*log, metrics, true);
  MemoryReserve::Options reserve;
  reserve.give_up = end_for_want_of_memory;
  CUZK_ASSIGN(parts.reserve, MemoryReserve::make(reserve));
  EngineOptions options;
  options.jobs.max_results = 500;
  options.evict_min_idle = 0ms;
  options.show_ended = 2s;
  options.upload_room_bytes = uint64_t{32} << 20;
  CUZK_ASSIGN(const std::unique_ptr<Engine> engine, make_engine(options, std::move(parts)));
  ServerOptions server_options;
  server_options.listen = {"unix://" + folder + "/sock", "127.0.0.1:0"};
  server_options.http_listen = "127.0.0.1:0";
  server_options.prove_deadline_grace = 100ms;
  CUZK_ASSIGN(const std::unique_ptr<Server> server,
              Server::start(*engine, server_options, telemetry_hooks(*log, metrics, "soak")));
  {
    std::ofstream out(folder + kAddresses + ".tmp");
    for (const std::string& address : server->addresses()) out << address << "\n";
    out << server->http_address() << "\n";
  }
  fs::rename(folder + kAddresses + ".tmp", folder + kAddresses);

  one_in = mischief.failing_allocations;
  if (one_in > 0) test::allocation_fails = fails_at_random;
  const UsesReserve uses_reserve;
  int number = 0;
  while (sigwait(&ends, &number) != 0 || number == SIGUSR1) test::allocation_fails = nullptr;
  std::mutex mutex;
  std::condition_variable done;
  bool drained = false;
  server->drain(std::chrono::steady_clock::now() + 10s, [&] {
    const std::lock_guard lock(mutex);
    drained = true;
    done.notify_all();
  });
  std::unique_lock lock(mutex);
  done.wait(lock, [&] { return drained; });
  test::allocation_fails = nullptr;
  server->stop(2s);
  return 0;
}

int told(const Result<int>& status) {
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.error().describe().c_str());
  return status.ok() ? *status : 2;
}

uint64_t field(const fs::path& file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name) && line[name.size()] == ':') return std::stoull(line.substr(name.size() + 1));
  }
  return 0;
}

fs::path proc(int pid) { return "/proc/" + std::to_string(pid); }

uint64_t entries(const fs::path& folder) {
  std::error_code gone;
  return static_cast<uint64_t>(std::distance(fs::directory_iterator(folder, gone), {}));
}

// Workers are started by several threads.
std::vector<int> children(int pid) {
  std::vector<int> out;
  std::error_code gone;
  for (const auto& task : fs::directory_iterator(proc(pid) / "task", gone)) {
    std::ifstream in(task.path() / "children");
    for (int child; in >> child;) out.push_back(child);
  }
  return out;
}

}  // namespace

int run_as_daemon_or_worker(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) return -1;
  if (arguments[0] == "serve") return told(serve(arguments[1], {std::stoull(arguments[2]), std::stoull(arguments[3])}));
  if (arguments[0] != "worker") return -1;
  const Result<WorkerOptions> options = read_arguments(std::span(arguments).subspan(1));
  return told(options.ok() ? worker_main(*options, make_small_backend) : Result<int>(options.error()));
}

SmallDaemon::SmallDaemon(std::string folder, const Mischief& mischief) : folder_(std::move(folder)) {
  fs::remove(folder_ + kAddresses);
  std::string program = "/proc/self/exe", serve = "serve", folder_argument = folder_;
  std::string leak = std::to_string(mischief.leak_bytes), failing = std::to_string(mischief.failing_allocations);
  char* arguments[] = {program.data(), serve.data(), folder_argument.data(), leak.data(), failing.data(), nullptr};
  if (posix_spawn(&pid_, program.c_str(), nullptr, nullptr, arguments, environ) != 0) return;
  for (int i = 0; i < 500 && !fs::exists(folder_ + kAddresses); ++i) std::this_thread::sleep_for(20ms);
  std::ifstream in(folder_ + kAddresses);
  for (std::string line; std::getline(in, line);) addresses_.push_back(line);
}

SmallDaemon::~SmallDaemon() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Usage SmallDaemon::usage() const {
  Usage out;
  std::vector<int> all = children(pid_);
  for (const int worker : all) {
    out.worker_descriptors += entries(proc(worker) / "fd");
    out.worker_threads += entries(proc(worker) / "task");
  }
  all.push_back(pid_);
  for (const int pid : all) {
    const uint64_t shared_out = field(proc(pid) / "smaps_rollup", "Pss");  // of a worker, told to root only
    out.memory_bytes += 1024 * (shared_out > 0 ? shared_out : field(proc(pid) / "status", "VmRSS"));
  }
  out.processes = all.size();
  out.descriptors = entries(proc(pid_) / "fd");
  out.threads = entries(proc(pid_) / "task");
  for (const char* suffix : {"", "-wal"}) {
    std::error_code missing;
    const uintmax_t bytes = fs::file_size(folder_ + "/journal.sqlite" + suffix, missing);
    if (!missing) out.journal_bytes += bytes;
  }
  return out;
}

void SmallDaemon::mend() const { kill(pid_, SIGUSR1); }

int SmallDaemon::stop() {
  kill(pid_, SIGTERM);
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace cuzk::soak
