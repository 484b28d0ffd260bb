#include "worker/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace cuzk {
namespace {

// Above the numbers that the child's own get, so that no dup2 below overwrites one that a later dup2 needs.
constexpr int kLowestDescriptor = 10;
constexpr std::chrono::milliseconds kAskEvery{2};

Error system_error(const std::string& what, int number) {
  ErrorClass error_class = ErrorClass::kIo;
  if (number == ENOENT) error_class = ErrorClass::kNotFound;
  if (number == EMFILE || number == ENFILE || number == ENOMEM || number == EAGAIN) {
    error_class = ErrorClass::kResource;
  }
  return {error_class, what + ": " + std::strerror(number)};
}

Result<Descriptor> moved_up(const Descriptor& descriptor) {
  Descriptor out(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kLowestDescriptor));
  if (!out) return system_error("cannot start a worker", errno);
  return out;
}

// The attributes and actions of posix_spawn, which must be destroyed.
struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  int set(int socket, int output) {
    sigset_t blocked, defaults;
    sigemptyset(&blocked);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&blocked, number);
    sigfillset(&defaults);
    // Library-internal signals cannot be set, and posix_spawn would fail for these two.
    sigdelset(&defaults, SIGKILL);
    sigdelset(&defaults, SIGSTOP);
    int failure = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (failure == 0) failure = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (failure == 0) failure = posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    if (failure == 0) failure = posix_spawn_file_actions_adddup2(&actions, socket, ChildProcess::kSocket);
    if (failure == 0) failure = posix_spawn_file_actions_addclosefrom_np(&actions, ChildProcess::kSocket + 1);
    if (failure == 0) failure = posix_spawnattr_setsigmask(&attributes, &blocked);
    if (failure == 0) failure = posix_spawnattr_setsigdefault(&attributes, &defaults);
    if (failure == 0) {
      failure = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    return failure;
  }
};

std::string end_in_words(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const char* name = strsignal(number);
    return "ended by signal " + std::to_string(number) + " (" + (name == nullptr ? "unknown" : name) + ")";
  }
  return "ended with exit status " + std::to_string(WEXITSTATUS(status));
}

std::vector<char*> pointers(std::span<const std::string> texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::string& program, std::span<const std::string> arguments,
                                         std::span<const std::string> environment) {
  CUZK_ASSIGN(auto sockets, Channel::make_pair());
  CUZK_ASSIGN(const Descriptor socket, moved_up(sockets.second));
  sockets.second.reset();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot start a worker", errno);
  Descriptor output(ends[0]);
  CUZK_ASSIGN(const Descriptor written, moved_up(Descriptor(ends[1])));
  // Of this end alone: the child's writes may wait.
  fcntl(output.get(), F_SETFL, O_NONBLOCK);

  const std::vector<char*> argv = pointers(arguments), variables = pointers(environment);
  SpawnSettings settings;
  int failure = settings.set(socket.get(), written.get());
  pid_t id = 0;
  if (failure == 0) {
    failure = posix_spawn(&id, program.c_str(), &settings.actions, &settings.attributes, argv.data(), variables.data());
  }
  if (failure != 0) return system_error("cannot start the worker program " + program, failure);
  return ChildProcess(id, std::move(sockets.first), std::move(output));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : id_(std::exchange(other.id_, 0)),
      channel_(std::move(other.channel_)),
      output_(std::move(other.output_)),
      end_(std::move(other.end_)) {}

ChildProcess::~ChildProcess() {
  if (id_ == 0 || end_) return;
  kill();
  // A process that sits in its driver cannot be killed until that returns. It is left to init then.
  wait_end(kMostKill);
}

void ChildProcess::kill() {
  if (id_ > 0 && !end_) ::kill(id_, SIGKILL);
}

std::optional<std::string> ChildProcess::poll_end() {
  if (end_ || id_ == 0) return end_;
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(id_, &status, WNOHANG)) < 0 && errno == EINTR) {
  }
  if (ended == id_) end_ = end_in_words(status);
  // Somebody else waits for all children, or SIGCHLD is ignored.
  if (ended < 0) end_ = "ended, nobody knows how";
  return end_;
}

std::optional<std::string> ChildProcess::wait_end(std::chrono::milliseconds most) {
  const auto until = std::chrono::steady_clock::now() + most;
  while (!poll_end() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(kAskEvery);
  return end_;
}

}  // namespace cuzk
