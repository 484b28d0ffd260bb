#include "base/secret.hpp"

#include <cstring>

namespace cuzk {

void secure_clear(void* data, size_t size_bytes) {
  if (size_bytes == 0) return;  // data may be null then
  std::memset(data, 0, size_bytes);
  // The barrier makes the stores observable, so they are not dead.
  __asm__ __volatile__("" : : "r"(data) : "memory");
}

}  // namespace cuzk
