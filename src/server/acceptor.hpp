// Accepts connections for gRPC, whose own listeners stop for ever once the process has had no descriptor left.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "server/options.hpp"
#include "server/sockets.hpp"

namespace cuzk {

// One thread. Where descriptors run out it waits for one to become free, and connections beyond what leaves `kReserve`
// for everything else (workers, files, the journal) are closed at once.
class Acceptor {
 public:
  static constexpr int kReserve = 64;  // and at most a quarter of all
  // Gets the socket of a new connection, and owns it.
  using Take = std::function<void(int socket)>;

  explicit Acceptor(const ServerHooks& hooks) : hooks_(hooks) {}
  ~Acceptor() { stop(); }

  void add(Socket listener, Take take) { listeners_.push_back({std::move(listener), std::move(take)}); }
  // Errors: kIo.
  Status start();
  // Closes the listeners; no connection is taken after it.
  void stop();

 private:
  struct Listener {
    Socket socket;
    Take take;
  };
  void work();
  // False where there is no descriptor for another.
  bool accept_all(const Listener& listener);
  void say(std::string_view what);

  const ServerHooks& hooks_;
  std::vector<Listener> listeners_;
  Socket wake_;
  std::thread thread_;
  std::chrono::steady_clock::time_point said_{};
};

}  // namespace cuzk
