// Tells systemd how the daemon is (sd_notify(3), its datagrams only).
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.hpp"

namespace cuzk {

class ServiceManager {
 public:
  // `socket` is NOTIFY_SOCKET's value ("/path" or "@abstract"), empty where nobody is to be told; `watchdog` is
  // WATCHDOG_USEC's, 0 for none. `alive` is asked at half that interval, from a thread: while it returns true the
  // manager is told so, and where it hangs or returns false the manager restarts the daemon.
  ServiceManager(std::string socket, std::chrono::microseconds watchdog, std::function<bool()> alive);
  ~ServiceManager();

  // Errors: kIo; harmless.
  Status ready() { return notify("READY=1"); }
  Status stopping() { return notify("STOPPING=1"); }
  Status status(const std::string& one_line) { return notify("STATUS=" + one_line); }

 private:
  Status notify(const std::string& message);
  void watch();

  const std::string socket_;
  const std::chrono::microseconds watchdog_;
  const std::function<bool()> alive_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace cuzk
