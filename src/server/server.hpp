// The daemon's network side: gRPC on its listeners, HTTP pages, and the way down.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/engine.hpp"
#include "server/options.hpp"

namespace cuzk {

// Thread safe. The engine outlives the server.
class Server {
 public:
  // Listens on every address, or on none. Errors: kUsage for addresses, files and settings that must be changed, among
  // them a socket that another daemon serves on and an address that is not safe; kIo.
  static Result<std::unique_ptr<Server>> start(Engine& engine, ServerOptions options, ServerHooks hooks);
  // stop(0) where that was not called.
  ~Server();

  // Where it listens, with the ports that were taken: "unix:///run/cuzk.sock", "127.0.0.1:9820".
  const std::vector<std::string>& addresses() const;
  const std::string& http_address() const;  // empty for none

  // From now on the health service and /readyz say that it does not serve, and Prove and SubmitProof are refused with
  // UNAVAILABLE; everything else goes on. Then drains the engine, whose `done` this passes on.
  void drain(std::chrono::steady_clock::time_point deadline, std::function<void()> done);

  // Answers the calls that still wait (UNAVAILABLE), gives the others `grace` to end, closes everything and removes the
  // sockets. Blocks.
  void stop(std::chrono::milliseconds grace);

  // Reads the tokens again, where they changed; that is also done every second. Errors: as at the start; what was
  // known stays. Certificates are looked at by themselves.
  Status reload();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cuzk
