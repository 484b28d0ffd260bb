// How much memory this process may use.
#pragma once

#include <cstdint>
#include <string>

namespace cuzk {

struct MemoryLimit {
  uint64_t bytes = 0;  // 0: unknown
  std::string source;  // "physical memory", or the file of the control group that sets less
};

// The least of the machine's memory and the limits of the control groups (v2 and v1) that this process is in, those of
// the groups around them included. `root` is "" but in tests, where it holds copies of /proc and /sys.
MemoryLimit memory_limit(const std::string& root);

}  // namespace cuzk
