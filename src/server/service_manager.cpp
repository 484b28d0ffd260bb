#include "server/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/memory_reserve.hpp"

namespace cuzk {

ServiceManager::ServiceManager(std::string socket, std::chrono::microseconds watchdog, std::function<bool()> alive)
    : socket_(std::move(socket)), watchdog_(watchdog), alive_(std::move(alive)) {
  if (!socket_.empty() && watchdog_.count() > 0) thread_ = std::thread([this] { watch(); });
}

ServiceManager::~ServiceManager() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ServiceManager::watch() {
  const UsesReserve uses_reserve;
  std::unique_lock lock(mutex_);
  while (!stop_) {
    lock.unlock();
    if (alive_()) (void)notify("WATCHDOG=1");
    lock.lock();
    wake_.wait_for(lock, watchdog_ / 2, [&] { return stop_; });
  }
}

Status ServiceManager::notify(const std::string& message) {
  if (socket_.empty()) return {};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.size() >= sizeof(address.sun_path) || (socket_[0] != '/' && socket_[0] != '@')) {
    return Error(ErrorClass::kUsage, "the service manager's socket must be an absolute path or begin with @");
  }
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const int out = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (out < 0) return Error(ErrorClass::kIo, std::string("socket: ") + std::strerror(errno));
  const ssize_t sent = sendto(out, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                              reinterpret_cast<const sockaddr*>(&address), size);
  const int why = errno;
  close(out);
  if (sent < 0) return Error(ErrorClass::kIo, std::string("the service manager: ") + std::strerror(why));
  return {};
}

}  // namespace cuzk
