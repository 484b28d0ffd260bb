#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace cuzk {

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "cuzk: bug: assertion failed: %s (%s:%d)\n", expression, file, line);
  std::abort();
}

}  // namespace cuzk
