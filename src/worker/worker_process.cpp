#include "worker/worker_process.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

#include "base/assert.hpp"
#include "base/memory_reserve.hpp"
#include "base/overloaded.hpp"
#include "worker/child_process.hpp"
#include "worker/protocol.hpp"
#include "worker/shared_witness.hpp"
#include "worker/supervision.hpp"
#include "worker/worker_main.hpp"

namespace cuzk {
namespace {

using Clock = std::chrono::steady_clock;

using LoadDone = std::function<void(Result<LoadReport>)>;
using UnloadDone = std::function<void(Status)>;
using ProveDone = std::function<void(Result<Proofs>)>;

// Something that the process is to do, or does.
struct Task {
  uint64_t number = 0;
  std::string doing;  // "proving porep-2k"
  DeviceState state = DeviceState::kProving;
  WorkerCommand command;
  Witnesses witnesses;  // each until it is sent
  Milliseconds step_limit{0};
  std::variant<LoadDone, UnloadDone, ProveDone> done;
  bool sent = false;
  uint32_t witnesses_sent = 0;
  bool cancel_wanted = false, cancel_sent = false, yield_wanted = false, yield_sent = false;

  bool has_witness_to_send() const { return witnesses_sent < witnesses.size() && !yield_sent && !cancel_sent; }
};

void fail(Task& task, Error error) {
  std::visit([&](auto& done) { done(std::move(error)); }, task.done);
}

// Often enough for the shortest limit, and for Watchdog::kMostPerWake.
Milliseconds tick_of(const WorkerTimes& times) {
  const Milliseconds shortest = std::min({times.start, times.silence, times.load_step, times.prove_step});
  return std::clamp(shortest / 4, Milliseconds(2), Milliseconds(500));
}

void raise(const Descriptor& event) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(event.get(), &one, sizeof one);
}

}  // namespace

// All but the calls of Device runs on one thread, which also starts the processes: one that dies takes them with it.
class WorkerProcess::Supervisor {
 public:
  explicit Supervisor(WorkerProcessOptions options)
      : options_(std::move(options)),
        policy_(options_.times),
        event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        lines_(options_.on_line),
        tick_(tick_of(options_.times)) {
    CUZK_ASSERT(static_cast<bool>(event_));
    info_ = options_.info;
    info_.ordinal = options_.ordinal;
    if (info_.name.empty()) info_.name = options_.device;
    thread_ = std::thread([this] { run(); });
  }

  ~Supervisor() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    raise(event_);
    thread_.join();
  }

  // Takes the task, or has it called back with what is in the way.
  void take(Task task) {
    {
      const std::lock_guard lock(mutex_);
      if (state_ == DeviceState::kIdle && !stopping_) {
        task.number = ++last_number_;
        std::visit([&](auto& command) { command.task = task.number; }, task.command);
        state_ = task.state;
        announce_ = true;
        task_ = std::move(task);
      } else {
        refused_.emplace_back(std::move(task), in_the_way());
      }
    }
    raise(event_);
  }
  void refuse(Task task, Error error) {
    {
      const std::lock_guard lock(mutex_);
      refused_.emplace_back(std::move(task), std::move(error));
    }
    raise(event_);
  }

  void ask(bool Task::*wanted) {
    {
      const std::lock_guard lock(mutex_);
      if (!task_) return;
      (*task_).*wanted = true;
    }
    raise(event_);
  }

  void replace(const std::string& why, bool out_of_use) {
    {
      const std::lock_guard lock(mutex_);
      replacement_ = Replacement{why, out_of_use || (replacement_ && replacement_->out_of_use)};
    }
    raise(event_);
  }

  void on_change(std::function<void()> changed) {
    {
      const std::lock_guard lock(mutex_);
      changed_ = std::move(changed);
      announce_ = true;
    }
    raise(event_);
  }

  template <class T>
  T get(T Supervisor::*member) const {
    const std::lock_guard lock(mutex_);
    return this->*member;
  }
  const WorkerProcessOptions& options() const { return options_; }

 private:
  friend class WorkerProcess;

  Error in_the_way() const {
    switch (state_) {
      case DeviceState::kGivenUp:
        return {ErrorClass::kDeviceUnusable,
                "the device is given up" + (last_fault_ ? ": " + last_fault_->message : std::string())};
      case DeviceState::kStarting:
      case DeviceState::kRestarting:
        return {ErrorClass::kDeviceFault, std::string("the device is ") + to_string(state_)};
      default: break;
    }
    return {ErrorClass::kUsage, std::string("the device is busy: ") + to_string(state_)};
  }

  void run() {
    const UsesReserve uses_reserve;  // a process that nobody watches any more is worth nothing
    while (!get(&Supervisor::stopping_)) {
      call_back();
      replace_process();
      if (!child_) {
        if (Clock::now() >= start_at_) {
          start();
        } else {
          wait();
        }
        continue;
      }
      if (!send_commands()) continue;
      wait();
      read_output();
      if (!read_replies()) continue;
      if (const auto wrong = watchdog_.check(Clock::now())) end_process(*wrong, true);
    }
    shut_down();
  }

  // What others wait for and is not the end of a task.
  void call_back() {
    std::vector<std::pair<Task, Error>> refused;
    std::function<void()> changed;
    {
      const std::lock_guard lock(mutex_);
      refused.swap(refused_);
      if (std::exchange(announce_, false)) changed = changed_;
    }
    for (auto& [task, error] : refused) fail(task, std::move(error));
    if (changed) changed();
  }

  // The process ends because somebody wants another one.
  void replace_process() {
    std::optional<Replacement> wanted;
    {
      const std::lock_guard lock(mutex_);
      wanted.swap(replacement_);
    }
    if (!wanted) return;
    if (child_) {
      end_process(wanted->why, true, wanted->out_of_use);
    } else if (wanted->out_of_use && start_at_ != SteadyTime::max()) {
      start_at_ = std::max(start_at_, Clock::now() + options_.times.give_up);
      set_state(DeviceState::kGivenUp);
      call_back();
    }
  }

  void set_state(DeviceState state) {
    const std::lock_guard lock(mutex_);
    announce_ = announce_ || state_ != state;
    state_ = state;
  }

  void start() {
    if (child_ended_late()) return;
    uint64_t generation = 0;
    {
      const std::lock_guard lock(mutex_);
      generation = ++generation_;
    }
    WorkerOptions worker;
    worker.descriptor = ChildProcess::kSocket;
    worker.device = options_.device;
    worker.ordinal = options_.ordinal;
    worker.threads = options_.threads;
    worker.niceness = options_.niceness;
    worker.memory_bytes = options_.memory_bytes;
    worker.core_dumps = options_.core_dumps;
    worker.beat = options_.times.beat;
    if (generation <= options_.faulty_processes) worker.faults = options_.faults;
    std::vector<std::string> arguments = {"cuzk"};
    arguments.insert(arguments.end(), options_.arguments.begin(), options_.arguments.end());
    for (std::string& argument : to_arguments(worker)) arguments.push_back(std::move(argument));
    lines_ = LineCollector(options_.on_line);
    output_open_ = true;
    ready_ = false;
    Result<ChildProcess> child = ChildProcess::start(options_.program, arguments, options_.environment);
    if (!child.ok()) {
      fall(std::move(child).error(), false, false);
      return;
    }
    child_.emplace(std::move(*child));
    {
      const std::lock_guard lock(mutex_);
      process_id_ = child_->id();
    }
    watchdog_.begin(Clock::now(), options_.times.start, options_.times.start);
  }

  // True where the last process could not even be killed and is still there: its device cannot be used again.
  bool child_ended_late() {
    if (!unkillable_) return false;
    if (!unkillable_->poll_end()) {
      start_at_ = Clock::now() + options_.times.give_up;
      return true;
    }
    unkillable_.reset();
    return false;
  }

  // Until something happens, or it is time to look.
  void wait() {
    std::array<pollfd, 3> on = {{{event_.get(), POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}}};
    Milliseconds most = Milliseconds::max();
    if (child_) {
      on[1].fd = child_->channel().descriptor();
      if (output_open_) on[2].fd = child_->output();
      const std::lock_guard lock(mutex_);
      if (!ready_ || task_) most = tick_;
      if (task_ && task_->has_witness_to_send()) most = Milliseconds(0);
    } else if (start_at_ != SteadyTime::max()) {
      most = std::chrono::ceil<Milliseconds>(std::max(Clock::duration(0), start_at_ - Clock::now()));
    }
    constexpr Milliseconds kLongest{60'000};
    poll(on.data(), on.size(), static_cast<int>(std::min(most, kLongest).count()));
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = read(event_.get(), &count, sizeof count);
  }

  // One witness at a time, so that replies have their turn. False where the process had to be ended.
  bool send_commands() {
    Result<Descriptor> memory = Descriptor();
    bool first = false;
    std::shared_ptr<const PackedWitness> witness;
    {
      const std::lock_guard lock(mutex_);
      if (!task_) return true;
      first = !task_->sent;
      if (task_->has_witness_to_send()) witness = task_->witnesses[task_->witnesses_sent];
    }
    if (witness != nullptr) memory = share_witness(*witness);
    if (!memory.ok() && first) return refuse_task(std::move(memory).error());
    std::vector<std::pair<WorkerCommand, int>> commands;
    {
      const std::lock_guard lock(mutex_);
      if (!std::exchange(task_->sent, true)) commands.emplace_back(task_->command, -1);
      if (witness != nullptr && memory.ok()) {
        commands.emplace_back(TaskWitness{task_->number, task_->witnesses_sent}, memory->get());
        task_->witnesses[task_->witnesses_sent++].reset();
      }
      // Without the next witness it is as if somebody else waited: what was begun ends.
      if ((task_->yield_wanted || !memory.ok()) && !std::exchange(task_->yield_sent, true)) {
        commands.emplace_back(YieldTask{task_->number}, -1);
      }
      if (task_->cancel_wanted && !std::exchange(task_->cancel_sent, true)) {
        commands.emplace_back(CancelTask{task_->number}, -1);
      }
      if (first) watchdog_.begin(Clock::now(), options_.times.silence, task_->step_limit);
    }
    Status sent;
    for (const auto& [command, descriptor] : commands) {
      if (sent.ok()) sent = child_->channel().send(encode(command), descriptor, false);
    }
    if (sent.ok()) return true;
    // Most likely it has ended just now, which says more than that.
    if (const auto end = child_->wait_end(Milliseconds(100))) {
      end_process(*end, false);
    } else {
      end_process("takes no messages", false);
    }
    return false;
  }

  // Before the process has heard of it.
  bool refuse_task(Error error) {
    std::optional<Task> task = end_task();
    set_state(DeviceState::kIdle);
    fail(*task, std::move(error));
    call_back();
    return true;
  }

  void read_output() {
    constexpr int kMostReads = 16;  // then replies have their turn
    std::array<char, 4096> buffer;
    for (int i = 0; i < kMostReads && output_open_; ++i) {
      const ssize_t got = read(child_->output(), buffer.data(), buffer.size());
      if (got > 0) {
        lines_.add({buffer.data(), static_cast<size_t>(got)}, Clock::now());
      } else if (got == 0) {
        output_open_ = false;
      } else {
        return;
      }
    }
  }

  // False where the process has ended, or had to be.
  bool read_replies() {
    for (;;) {
      Result<Channel::Received> received = child_->channel().receive(Channel::Take::kBytesOnly);
      if (!received.ok()) return end_process("sent what is no message (" + received.error().message + ")", false);
      if (std::holds_alternative<Channel::Nothing>(*received)) return true;
      if (std::holds_alternative<Channel::Ended>(*received)) {
        const auto end = child_->wait_end(options_.times.end);
        return end_process(end.value_or("closed its socket"), false);
      }
      const Result<WorkerReply> reply = decode_reply(std::get<Packet>(*received).bytes);
      if (!reply.ok()) return end_process("sent what is no message", false);
      if (!take_reply(*reply)) return false;
    }
  }

  bool take_reply(const WorkerReply& reply) {
    return std::visit(Overloaded{[&](const WorkerReady& m) { return on_ready(m); },
                                 [&](const WorkerUnusable& m) { return ready_ ? unasked() : end_unusable(m.error); },
                                 [&](const WorkerBeat& m) {
                                   if (is_current(m.task)) watchdog_.on_beat(m.steps, m.stage);
                                   return true;
                                 },
                                 [&](const TaskLoaded& m) { return finish<LoadDone>(m.task, m.report); },
                                 [&](const TaskUnloaded& m) { return finish<UnloadDone>(m.task, Status()); },
                                 [&](const TaskProved& m) { return on_proved(m); },
                                 [&](const TaskFailed& m) { return on_failed(m); }},
                      reply);
  }

  bool unasked() { return end_process("sent an answer to nothing", false); }

  bool is_current(uint64_t number) const {
    const std::lock_guard lock(mutex_);
    return task_ && task_->number == number;
  }

  bool on_ready(const WorkerReady& m) {
    if (ready_) return unasked();
    if (m.version != kWorkerProtocolVersion) {
      return end_unusable(Error(ErrorClass::kDeviceUnusable, "the worker program is of another version"));
    }
    ready_ = true;
    watchdog_.end();
    policy_.on_ready(Clock::now());
    {
      const std::lock_guard lock(mutex_);
      info_ = m.device;
      info_.ordinal = options_.ordinal;
    }
    set_state(DeviceState::kIdle);
    call_back();
    return true;
  }

  std::optional<Task> end_task() {
    watchdog_.end();
    const std::lock_guard lock(mutex_);
    std::optional<Task> task = std::move(task_);
    task_.reset();
    return task;
  }

  // Only this thread ends a task, so what it has found current stays so.
  template <class Done, class Value>
  bool finish(uint64_t number, Value value) {
    if (!is_current(number) || !std::holds_alternative<Done>(task_->done)) return unasked();
    std::optional<Task> task = end_task();
    set_state(DeviceState::kIdle);
    std::get<Done>(task->done)(std::move(value));
    call_back();
    return true;
  }

  bool on_proved(const TaskProved& m) {
    const auto answers = [&] { return m.proofs.size() <= std::get<ProveTask>(task_->command).witnesses; };
    if (!is_current(m.task) || !std::holds_alternative<ProveDone>(task_->done) || !answers()) return unasked();
    if (std::any_of(m.proofs.begin(), m.proofs.end(), [](const auto& proof) { return proof.ok(); })) policy_.on_proof();
    return finish<ProveDone>(m.task, m.proofs);
  }

  bool on_failed(const TaskFailed& m) {
    if (!is_current(m.task)) return unasked();
    // Nothing that such a process holds is worth anything any more.
    if (m.error.error_class == ErrorClass::kDeviceFault)
      return end_process("lost its device: " + m.error.message, false);
    if (m.error.error_class == ErrorClass::kDeviceUnusable) return end_unusable(m.error);
    std::optional<Task> task = end_task();
    set_state(DeviceState::kIdle);
    fail(*task, m.error);
    call_back();
    return true;
  }

  // Makes sure that the process is gone. `what` says what was wrong with it, or how it ended. Returns false.
  bool end_process(const std::string& what, bool hung, bool out_of_use = false) {
    std::string doing = ready_ ? "" : " while it was starting";
    {
      const std::lock_guard lock(mutex_);
      if (task_) doing = " while " + task_->doing;
    }
    remove_process();
    std::string message = "the worker process of device " + std::to_string(options_.ordinal) + " " + what + doing;
    if (const std::string words = lines_.last_words(); !words.empty()) message += "; its last words: " + words;
    fall(Error(ErrorClass::kDeviceFault, std::move(message)), hung, false, out_of_use);
    return false;
  }

  bool end_unusable(const Error& error) {
    remove_process();
    const bool for_good =
        error.error_class == ErrorClass::kUnsupported || error.error_class == ErrorClass::kDeviceUnusable;
    fall(error, false, for_good);
    return false;
  }

  void remove_process() {
    child_->close_channel();
    child_->kill();
    if (!child_->wait_end(ChildProcess::kMostKill)) unkillable_.emplace(std::move(*child_));
    if (!unkillable_) read_output();
    lines_.finish(Clock::now());
    child_.reset();
    watchdog_.end();
    const std::lock_guard lock(mutex_);
    process_id_.reset();
  }

  // The process is gone, or was never there.
  void fall(Error error, bool hung, bool for_good, bool out_of_use = false) {
    const RestartPolicy::Decision next = policy_.on_end(Clock::now(), hung);
    const bool long_wait = out_of_use || unkillable_;
    const bool given_up = for_good || next.give_up || long_wait;
    start_at_ = for_good ? SteadyTime::max() : Clock::now() + (long_wait ? options_.times.give_up : next.wait);
    std::optional<Task> task = end_task();
    {
      const std::lock_guard lock(mutex_);
      last_fault_ = error;
    }
    set_state(given_up ? DeviceState::kGivenUp : DeviceState::kRestarting);
    if (options_.on_fault) options_.on_fault(error);
    if (task) {
      // Whatever class the cause has, for the task it is this: it may be done again, by another process.
      error.error_class = for_good ? ErrorClass::kDeviceUnusable : ErrorClass::kDeviceFault;
      fail(*task, std::move(error));
    }
    call_back();
  }

  void shut_down() {
    if (child_) {
      child_->close_channel();
      child_->wait_end(options_.times.end);
      remove_process();
    }
    if (std::optional<Task> task = end_task()) fail(*task, Error(ErrorClass::kDeviceFault, "the device is shut down"));
    call_back();
  }

  const WorkerProcessOptions options_;

  // Of the thread alone.
  RestartPolicy policy_;
  Watchdog watchdog_;
  std::optional<ChildProcess> child_, unkillable_;
  bool ready_ = false, output_open_ = false;
  SteadyTime start_at_{};
  const Descriptor event_;
  LineCollector lines_;
  const Milliseconds tick_;  // between two looks at a process that works

  mutable std::mutex mutex_;
  DeviceState state_ = DeviceState::kStarting;
  DeviceInfo info_;
  uint64_t generation_ = 0, last_number_ = 0;
  std::function<void()> changed_;
  bool announce_ = false, stopping_ = false;
  std::optional<Task> task_;
  std::vector<std::pair<Task, Error>> refused_;
  std::optional<int> process_id_;
  std::optional<Error> last_fault_;
  struct Replacement {
    std::string why;
    bool out_of_use = false;
  };
  std::optional<Replacement> replacement_;

  std::thread thread_;
};

WorkerProcess::WorkerProcess(WorkerProcessOptions options)
    : supervisor_(std::make_unique<Supervisor>(std::move(options))) {}
WorkerProcess::~WorkerProcess() = default;

DeviceInfo WorkerProcess::info() const { return supervisor_->get(&Supervisor::info_); }
DeviceState WorkerProcess::state() const { return supervisor_->get(&Supervisor::state_); }
uint64_t WorkerProcess::generation() const { return supervisor_->get(&Supervisor::generation_); }
std::optional<int> WorkerProcess::process_id() const { return supervisor_->get(&Supervisor::process_id_); }
std::optional<Error> WorkerProcess::last_fault() const { return supervisor_->get(&Supervisor::last_fault_); }
void WorkerProcess::on_change(std::function<void()> changed) { supervisor_->on_change(std::move(changed)); }
void WorkerProcess::cancel() { supervisor_->ask(&Task::cancel_wanted); }
void WorkerProcess::yield() { supervisor_->ask(&Task::yield_wanted); }
void WorkerProcess::replace(const std::string& why, bool out_of_use) { supervisor_->replace(why, out_of_use); }

void WorkerProcess::load(const CircuitFiles& files, LoadDone done) {
  Task task;
  const std::string id(files.spec->id());
  task.doing = "loading " + id;
  task.state = DeviceState::kLoading;
  task.command = LoadTask{0, id, files.params_file, files.circuit_file, files.tables};
  task.step_limit = supervisor_->options().times.load_step;
  task.done = std::move(done);
  for (const std::string* path : {&files.params_file, &files.circuit_file}) {
    if (path->size() <= kMostPathBytes) continue;
    supervisor_->refuse(std::move(task), Error(ErrorClass::kUsage, "the path of a file is too long"));
    return;
  }
  supervisor_->take(std::move(task));
}

void WorkerProcess::unload(const CircuitSpec& circuit, UnloadDone done) {
  Task task;
  const std::string id(circuit.id());
  task.doing = "unloading " + id;
  task.state = DeviceState::kLoading;
  task.command = UnloadTask{0, id};
  task.step_limit = supervisor_->options().times.load_step;
  task.done = std::move(done);
  supervisor_->take(std::move(task));
}

void WorkerProcess::prove(const CircuitSpec& circuit, Witnesses witnesses, ProveDone done) {
  CUZK_ASSERT(!witnesses.empty() && witnesses.size() <= kMostTogether);
  const WorkerTimes& times = supervisor_->options().times;
  Task task;
  const std::string id(circuit.id());
  task.doing = "proving " + id;
  task.command = ProveTask{0, id, static_cast<uint32_t>(witnesses.size())};
  task.witnesses = std::move(witnesses);
  task.step_limit = times.prove_step + std::chrono::duration_cast<Milliseconds>(times.prove_step_per_constraint *
                                                                                circuit.counts().constraints);
  task.done = std::move(done);
  supervisor_->take(std::move(task));
}

}  // namespace cuzk
