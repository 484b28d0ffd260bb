#include "worker/worker_main.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "base/overloaded.hpp"
#include "parallel/parallel.hpp"
#include "worker/backend.hpp"
#include "worker/channel.hpp"
#include "worker/faults.hpp"
#include "worker/protocol.hpp"
#include "worker/witness_inbox.hpp"

namespace cuzk {
namespace {

using Clock = std::chrono::steady_clock;

// Exit statuses; in words in child_process.cpp.
constexpr int kExitOk = 0, kExitInjected = 3, kExitProtocol = 4;

Status check_socket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET) return {};
  return Error(ErrorClass::kUsage,
               "a worker is started by the daemon: descriptor " + std::to_string(fd) + " is not its socket");
}

// What cannot be set is left as it is: none of this decides whether a proof is right.
void settle_process(const WorkerOptions& options) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "cuzk-worker");  // for top and the kernel's log; without it the name is that of the link to itself
  // A terminal and systemd send these to the whole group; the daemon decides when its workers end.
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    signal(number, SIG_IGN);
    sigaddset(&set, number);
  }
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  // Where memory runs out, the kernel should end this process, which is started again, and not the daemon.
  if (const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); fd >= 0) {
    [[maybe_unused]] const ssize_t written = write(fd, "500", 3);
    close(fd);
  }
  if (!options.core_dumps) prctl(PR_SET_DUMPABLE, 0);
  if (options.niceness != 0) setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + options.niceness);
  if (options.memory_bytes > 0) {
    const rlimit limit{options.memory_bytes, options.memory_bytes};
    setrlimit(RLIMIT_DATA, &limit);
  }
  fcntl(options.descriptor, F_SETFD, FD_CLOEXEC);
  if (options.threads > 0) set_parallel_threads(options.threads);
}

// Written by the thread of the task, read by the one that tells the daemon.
class TaskProgress final : public Progress {
 public:
  void begin_task() {
    const std::lock_guard lock(mutex_);
    stage_.clear();
    stop_ = yield_ = false;
  }
  void begin_stage(std::string_view name, uint64_t, std::string_view) override {
    const std::lock_guard lock(mutex_);
    stage_ = name;
    ++steps_;
  }
  void advance(uint64_t) override { ++steps_; }
  void end_stage() override { ++steps_; }
  bool stop_requested() const override { return stop_; }

  bool yield_requested() const override { return yield_; }

  void stop() { stop_ = true; }
  void yield() { yield_ = true; }
  WorkerBeat beat(uint64_t task) const {
    const std::lock_guard lock(mutex_);
    return {task, steps_, stage_};
  }

 private:
  mutable std::mutex mutex_;
  std::string stage_;
  std::atomic<uint64_t> steps_{0};
  std::atomic<bool> stop_{false}, yield_{false};
};

// The faults of a plan, made at the places that a worker has for them.
class FaultMaker {
 public:
  explicit FaultMaker(std::vector<PlannedFault> plan) : plan_(std::move(plan)) {}

  // Before a task; 0: before the process is ready.
  void before(uint64_t task, const Channel& channel, const TaskProgress& progress) const {
    for (const PlannedFault& fault : plan_) {
      if (matches(fault, task)) make(fault, channel, progress);
    }
  }
  // Those that are made elsewhere.
  bool plans(WorkerFault what, uint64_t task) const {
    return std::any_of(plan_.begin(), plan_.end(),
                       [&](const PlannedFault& fault) { return fault.fault == what && matches(fault, task); });
  }
  std::optional<Error> failure(uint64_t task) const {
    if (plans(WorkerFault::kFail, task)) return Error(ErrorClass::kInternal, "failed on purpose");
    if (plans(WorkerFault::kLoseDevice, task)) return Error(ErrorClass::kDeviceFault, "lost on purpose");
    return std::nullopt;
  }

 private:
  static bool matches(const PlannedFault& fault, uint64_t task) {
    return fault.task == task || (fault.task == PlannedFault::kEvery && task > 0);
  }
  static void make(const PlannedFault& fault, const Channel& channel, const TaskProgress& progress) {
    switch (fault.fault) {
      case WorkerFault::kCrash:
        signal(SIGSEGV, SIG_DFL);
        kill(getpid(), SIGSEGV);
        for (;;) pause();
      case WorkerFault::kExit: _exit(kExitInjected);
      case WorkerFault::kHang:
        for (;;) pause();
      case WorkerFault::kFreeze: kill(getpid(), SIGSTOP); break;
      case WorkerFault::kBadAlloc: throw std::bad_alloc();
      case WorkerFault::kSlow: {
        const auto end = Clock::now() + fault.time;
        while (Clock::now() < end && !progress.stop_requested()) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        break;
      }
      case WorkerFault::kGarbage: {
        const std::vector<uint8_t> junk(64, 0xab);
        (void)channel.send(junk, -1, true);
        break;
      }
      case WorkerFault::kShout:
        for (int i = 0; i < 1000; ++i) {
          const std::string line = "line " + std::to_string(i) + "\n";
          [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
        }
        break;
      case WorkerFault::kWrongProof:
      case WorkerFault::kFail:
      case WorkerFault::kLoseDevice:
      case WorkerFault::kTrap: break;
    }
  }

  const std::vector<PlannedFault> plan_;
};

// -A instead of A: a point as good as any other, and no proof.
void spoil(Result<PartitionProof>& proof) {
  if (proof.ok()) proof->proof[0] ^= 0x20;
}

class Worker {
 public:
  Worker(Channel channel, const WorkerOptions& options, std::vector<PlannedFault> faults)
      : channel_(std::move(channel)), options_(options), faults_(std::move(faults)) {}

  int run(const MakeWorkerBackend& make_backend) {
    faults_.before(PlannedFault::kStart, channel_, progress_);
    Result<std::unique_ptr<WorkerBackend>> backend = make_backend(options_.device, options_.ordinal);
    if (!backend.ok()) {
      (void)send(WorkerUnusable{backend.error()});
      return kExitOk;
    }
    backend_ = std::move(*backend);
    if (!send(WorkerReady{kWorkerProtocolVersion, backend_->info()})) return kExitOk;
    std::thread worker([this] { work(); });
    const int status = serve();
    {
      const std::lock_guard lock(mutex_);
      // Nobody waits for what is being done, and it may take minutes.
      if (job_) _exit(status);
      ending_ = true;
    }
    wake_.notify_all();
    worker.join();
    return status;
  }

 private:
  struct Job {
    uint64_t task;
    std::function<WorkerReply(uint64_t task)> run;
    std::shared_ptr<WitnessInbox> witnesses;  // of a proof
  };

  bool send(const WorkerReply& reply, bool wait = true) const { return channel_.send(encode(reply), -1, wait).ok(); }

  // Reads commands and tells how far the task is, until the daemon is gone.
  int serve() {
    auto next_beat = Clock::now();
    for (;;) {
      pollfd ready{channel_.descriptor(), POLLIN, 0};
      const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next_beat - Clock::now()).count();
      if (poll(&ready, 1, static_cast<int>(std::max<int64_t>(0, wait))) < 0 && errno != EINTR) return kExitProtocol;
      if (Clock::now() >= next_beat) {
        next_beat = Clock::now() + options_.beat;
        const uint64_t task = current_task();
        // A daemon that does not read must not keep this thread from noticing its end.
        if (task != 0) send(progress_.beat(task), false);
      }
      if (ready.revents == 0) continue;
      Result<Channel::Received> received = channel_.receive(Channel::Take::kDescriptorToo);
      if (!received.ok()) return kExitProtocol;
      if (std::holds_alternative<Channel::Ended>(*received)) return kExitOk;
      if (Packet* packet = std::get_if<Packet>(&*received)) {
        if (!take(*packet)) return kExitProtocol;
      }
    }
  }

  uint64_t current_task() {
    const std::lock_guard lock(mutex_);
    return job_ ? job_->task : 0;
  }

  // False where the packet breaks the protocol.
  bool take(Packet& packet) {
    Result<WorkerCommand> command = decode_command(packet.bytes);
    if (!command.ok()) return false;
    return std::visit(Overloaded{[&](const LoadTask& m) { return start(m.task, [this, m] { return load(m); }); },
                                 [&](const UnloadTask& m) { return start(m.task, [this, m] { return unload(m); }); },
                                 [&](const ProveTask& m) {
                                   const auto inbox = std::make_shared<WitnessInbox>(m.witnesses, progress_);
                                   return start(
                                       m.task, [this, m, inbox] { return prove(m, *inbox); }, inbox);
                                 },
                                 [&](const CancelTask& m) { return about(m.task, [&](Job&) { progress_.stop(); }); },
                                 [&](const TaskWitness& m) {
                                   bool put = true;
                                   about(m.task, [&](Job& job) {
                                     put = job.witnesses && job.witnesses->put(m.number, std::move(packet.descriptor));
                                   });
                                   return put;
                                 },
                                 [&](const YieldTask& m) { return about(m.task, [&](Job&) { progress_.yield(); }); }},
                      *command);
  }

  // Something about a task that goes on; nothing is wrong where it has ended.
  template <class Tell>
  bool about(uint64_t task, const Tell& tell) {
    const std::lock_guard lock(mutex_);
    if (!job_ || job_->task != task) return true;
    tell(*job_);
    if (job_->witnesses) job_->witnesses->wake();
    return true;
  }

  bool start(uint64_t task, std::function<WorkerReply()> run, std::shared_ptr<WitnessInbox> witnesses = nullptr) {
    const std::lock_guard lock(mutex_);
    if (job_ || task == 0) return false;  // one at a time
    ++count_;
    progress_.begin_task();
    job_ = Job{task, [this, run = std::move(run), k = count_](uint64_t number) { return guarded(number, k, run); },
               std::move(witnesses)};
    wake_.notify_all();
    return true;
  }

  // What is thrown is memory that ran out, or a bug.
  WorkerReply guarded(uint64_t task, uint64_t k, const std::function<WorkerReply()>& run) {
    try {
      faults_.before(k, channel_, progress_);
      if (faults_.plans(WorkerFault::kTrap, k)) backend_->lose_device();
      if (const std::optional<Error> error = faults_.failure(k)) return TaskFailed{task, *error};
      WorkerReply reply = run();
      if (auto* proved = std::get_if<TaskProved>(&reply);
          proved != nullptr && faults_.plans(WorkerFault::kWrongProof, k)) {
        spoil(proved->proofs.front());
      }
      return reply;
    } catch (const std::bad_alloc&) {
      return TaskFailed{task, Error(ErrorClass::kResource, "the worker is out of memory")};
    } catch (const std::exception& exception) {
      return TaskFailed{task, Error(ErrorClass::kInternal, std::string("unexpected: ") + exception.what())};
    }
  }

  void work() {
    for (;;) {
      Job job;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return job_ || ending_; });
        if (ending_) return;
        job = *job_;
      }
      const WorkerReply reply = job.run(job.task);
      {
        // The daemon may send the next task as soon as it has the reply.
        const std::lock_guard lock(mutex_);
        job_.reset();
      }
      job = {};                  // with descriptors of witnesses that were left
      if (!send(reply)) return;  // serve() sees the end too
    }
  }

  static Result<const CircuitSpec*> known(const std::string& id) {
    if (const CircuitSpec* spec = circuit_spec_by_id(id)) return spec;
    return Error(ErrorClass::kUsage, "the worker knows no circuit of that name");
  }

  WorkerReply load(const LoadTask& m) {
    const auto loaded = [&]() -> Result<LoadReport> {
      CUZK_ASSIGN(const CircuitSpec* spec, known(m.circuit));
      return backend_->load({spec, m.params_file, m.circuit_file, m.tables}, progress_);
    }();
    if (!loaded.ok()) return TaskFailed{m.task, loaded.error()};
    return TaskLoaded{m.task, *loaded};
  }

  WorkerReply unload(const UnloadTask& m) {
    const Result<const CircuitSpec*> spec = known(m.circuit);
    if (!spec.ok()) return TaskFailed{m.task, spec.error()};
    backend_->unload(**spec);
    return TaskUnloaded{m.task};
  }

  WorkerReply prove(const ProveTask& m, WitnessInbox& witnesses) {
    const auto start = Clock::now();
    const auto proofs = [&]() -> Result<std::vector<Result<Proof>>> {
      CUZK_ASSIGN(const CircuitSpec* spec, known(m.circuit));
      return backend_->prove(*spec, witnesses, progress_);
    }();
    if (!proofs.ok()) return TaskFailed{m.task, proofs.error()};
    if (proofs->empty()) return TaskFailed{m.task, Error(ErrorClass::kInternal, "no proof was made, and no error")};
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    const uint64_t share_ms = static_cast<uint64_t>(time.count()) / proofs->size();
    TaskProved out{m.task, {}};
    for (const Result<Proof>& proof : *proofs) {
      out.proofs.push_back(proof.ok() ? Result<PartitionProof>(PartitionProof{encode(*proof), share_ms})
                                      : Result<PartitionProof>(proof.error()));
    }
    return out;
  }

  const Channel channel_;
  const WorkerOptions options_;
  const FaultMaker faults_;
  std::unique_ptr<WorkerBackend> backend_;  // of the thread of the tasks, once it runs
  TaskProgress progress_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<Job> job_;  // being worked on
  bool ending_ = false;
  uint64_t count_ = 0;  // of tasks
};

}  // namespace

Result<int> worker_main(const WorkerOptions& options, const MakeWorkerBackend& make_backend) {
  CUZK_TRY(check_socket(options.descriptor));
  CUZK_ASSIGN(std::vector<PlannedFault> faults, parse_faults(options.faults));
  settle_process(options);
  Worker worker(Channel(Descriptor(options.descriptor)), options, std::move(faults));
  return worker.run(make_backend);
}

}  // namespace cuzk
