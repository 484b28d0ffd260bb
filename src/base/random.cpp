#include "base/random.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

namespace cuzk {

Status os_random(std::span<uint8_t> out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = getrandom(out.data() + done, out.size() - done, 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      return Error(ErrorClass::kIo, std::string("the operating system gave no randomness: ") + std::strerror(errno));
    }
    done += static_cast<size_t>(got);
  }
  return {};
}

}  // namespace cuzk
