// A process that is started with a socket and a pipe and nothing else of its parent's, and that leaves no zombie.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "worker/channel.hpp"
#include "worker/descriptor.hpp"

namespace cuzk {

class ChildProcess {
 public:
  // Where the child finds its socket.
  static constexpr int kSocket = 3;
  // The kernel needs seconds to take back 50 GB from a killed process.
  static constexpr std::chrono::seconds kMostKill{30};

  // Starts `program` with these arguments (the name of the program first) and environment ("NAME=value"). It has
  // /dev/null as stdin, a pipe as stdout and stderr, the socket, and no other descriptor; SIGINT, SIGTERM and SIGHUP
  // are blocked until it decides what to do with them. The calling thread must live as long as the child
  // (PR_SET_PDEATHSIG). Errors: kResource; kNotFound and kIo where the program cannot be run.
  static Result<ChildProcess> start(const std::string& program, std::span<const std::string> arguments,
                                    std::span<const std::string> environment);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  // Kills it and waits for its end, kMostKill at most.
  ~ChildProcess();

  pid_t id() const { return id_; }
  const Channel& channel() const { return channel_; }
  void close_channel() { channel_.close(); }
  int output() const { return output_.get(); }

  void kill();
  // How it ended, in words ("ended by signal 11 (Segmentation fault)"), once it has.
  std::optional<std::string> poll_end();
  // Waits for that, asking every few milliseconds; nothing where the time is over before.
  std::optional<std::string> wait_end(std::chrono::milliseconds most);

 private:
  ChildProcess(pid_t id, Channel channel, Descriptor output)
      : id_(id), channel_(std::move(channel)), output_(std::move(output)) {}

  pid_t id_;
  Channel channel_;
  Descriptor output_;  // read without blocking
  std::optional<std::string> end_;
};

}  // namespace cuzk
