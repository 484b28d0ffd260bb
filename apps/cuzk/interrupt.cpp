#include "cuzk/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace cuzk::app {
namespace {

// AtomicFile's names end in ".tmp-" and 16 hexadecimal digits.
bool is_temporary(const std::string& path) {
  constexpr size_t kDigits = 16;
  constexpr std::string_view kMark = ".tmp-";
  if (path.size() < kDigits + kMark.size()) return false;
  const size_t mark = path.size() - kDigits - kMark.size();
  return path.compare(mark, kMark.size(), kMark) == 0 &&
         path.find_first_not_of("0123456789abcdef", mark + kMark.size()) == std::string::npos;
}

// The files that this process has open say exactly which temporaries are its own.
void remove_open_temporaries() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const std::string target = std::filesystem::read_symlink(entry.path(), ignored).string();
    if (!ignored && is_temporary(target)) unlink(target.c_str());
  }
}

[[noreturn]] void end_by_signal(int number) {
  remove_open_temporaries();
  if (isatty(STDERR_FILENO) == 1) std::fputs("\r\x1b[K", stderr);
  std::fputs("cuzk: interrupted; no partial output is left\n", stderr);
  signal(number, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(number);
  _exit(128 + number);
}

struct Handler {
  std::mutex mutex;
  std::function<bool(int)> call;
};
// Never destroyed: a signal may come while the program ends.
Handler& handler() {
  static auto* const only = new Handler;
  return *only;
}

bool handled(int number) {
  const std::lock_guard lock(handler().mutex);
  return handler().call && handler().call(number);
}

}  // namespace

void handle_signals(std::function<bool(int number)> new_handler) {
  const std::lock_guard lock(handler().mutex);
  handler().call = std::move(new_handler);
}

void remove_temporaries_on_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    // One that was ignored from the start (nohup) stays ignored.
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaddset(&set, number);
  }
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::thread([set] {
    for (;;) {
      int number = 0;
      while (sigwait(&set, &number) != 0) {
      }
      if (!handled(number)) end_by_signal(number);
    }
  }).detach();
}

}  // namespace cuzk::app
