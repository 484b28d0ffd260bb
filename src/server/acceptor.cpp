#include "server/acceptor.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/memory_reserve.hpp"

namespace cuzk {
namespace {

constexpr int kPauseMs = 100;
constexpr std::chrono::seconds kSayEvery{10};
constexpr int kMaxAtOnce = 256;  // of one listener, before the others are looked at

// The kernel gives the lowest number that is free, so a number this high says that about as many are taken.
int highest_descriptor() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024 - Acceptor::kReserve;
  const int all = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 30));
  return all - std::min(Acceptor::kReserve, all / 4);
}

}  // namespace

Status Acceptor::start() {
  wake_ = Socket(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake_.get() < 0) return Error(ErrorClass::kIo, std::string("eventfd: ") + std::strerror(errno));
  thread_ = std::thread([this] { work(); });
  return {};
}

void Acceptor::stop() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
    thread_.join();
  }
  listeners_.clear();
}

void Acceptor::work() {
  const UsesReserve uses_reserve;
  bool full = false;
  while (true) {
    std::vector<pollfd> polled = {{wake_.get(), POLLIN, 0}};
    if (!full) {
      for (const Listener& listener : listeners_) polled.push_back({listener.socket.get(), POLLIN, 0});
    }
    poll(polled.data(), polled.size(), full ? kPauseMs : -1);
    if (polled[0].revents != 0) return;
    full = false;
    for (const Listener& listener : listeners_) full |= !accept_all(listener);
  }
}

bool Acceptor::accept_all(const Listener& listener) {
  for (int count = 0; count < kMaxAtOnce; ++count) {
    const int socket = accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) {
      if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return true;
      say(std::strerror(errno));
      return false;
    }
    if (socket >= highest_descriptor()) {
      close(socket);
      say("too many connections");
      continue;
    }
    listener.take(socket);
  }
  return true;
}

void Acceptor::say(std::string_view what) {
  const auto now = std::chrono::steady_clock::now();
  if (now - said_ < kSayEvery) return;
  said_ = now;
  hooks_.log(LogLevel::kWarn, "connections are refused", {{"why", std::string(what)}});
}

}  // namespace cuzk
