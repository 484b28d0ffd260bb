// How much memory this process may use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cuzk {

struct MemoryLimit {
  uint64_t bytes = 0;  // 0: unknown
  std::string source;  // "physical memory", "the limit of the address space, ulimit -v", a control group's file
};

// The least of the machine's memory, the process's limit of its address space, and the limits of the control groups (v2
// and v1) that it is in, those of the groups around them included. `root` is "" but in tests, where it holds copies of
// /proc and /sys.
MemoryLimit memory_limit(const std::string& root);

// kResource where `needed` bytes are more than this process may have, with both numbers; `what` needs them.
Status check_memory(uint64_t needed_bytes, std::string_view what);

}  // namespace cuzk
