// In a simulated world: whether the engine's code runs, or the world's around it.
#pragma once

#include <functional>
#include <utility>

namespace cuzk::test {

// Allocations of the world never fail.
inline thread_local bool in_engine = false;
class Whose {
 public:
  explicit Whose(bool engine) : before_(std::exchange(in_engine, engine)) {}
  ~Whose() { in_engine = before_; }
  Whose(const Whose&) = delete;
  Whose& operator=(const Whose&) = delete;

 private:
  const bool before_;
};
struct EngineCode : Whose {
  EngineCode() : Whose(true) {}
};
struct WorldCode : Whose {
  WorldCode() : Whose(false) {}
};
// A callback of the engine's, for the world to call.
template <class... Arguments>
std::function<void(Arguments...)> of_engine(std::function<void(Arguments...)> callback) {
  if (!callback) return callback;
  return [callback = std::move(callback)](Arguments... arguments) {
    const EngineCode engine;
    callback(std::move(arguments)...);
  };
}

}  // namespace cuzk::test
