#include "base/memory_limit.hpp"

#include <sys/resource.h>

#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

#include "base/units.hpp"

namespace cuzk {
namespace {

std::optional<uint64_t> number_at(std::string_view text) {
  uint64_t number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

// "MemTotal:       16384 kB"
uint64_t physical_bytes(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kName = "MemTotal:";
    if (!line.starts_with(kName)) continue;
    const size_t at = line.find_first_not_of(' ', kName.size());
    return at == std::string::npos ? 0 : number_at(std::string_view(line).substr(at)).value_or(0) * 1024;
  }
  return 0;
}

// Takes the least of `file` in the folder of a group and in those above it. "max", and the 2^63 - 4096 of v1 that means
// the same, are no limit.
void take_least(const std::string& hierarchy, std::string group, const char* file, MemoryLimit& limit) {
  while (true) {
    const std::string path = hierarchy + group + (group.ends_with('/') ? "" : "/") + file;
    std::ifstream stream(path);
    std::string text;
    if (stream && std::getline(stream, text)) {
      const auto bytes = number_at(text);
      if (bytes && *bytes < uint64_t{1} << 62 && (limit.bytes == 0 || *bytes < limit.bytes)) limit = {*bytes, path};
    }
    if (group.empty() || group == "/") return;
    group.resize(group.find_last_of('/'));
  }
}

}  // namespace

MemoryLimit memory_limit(const std::string& root) {
  MemoryLimit limit{physical_bytes(root), "physical memory"};
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY &&
      (limit.bytes == 0 || space.rlim_cur < limit.bytes)) {
    limit = {space.rlim_cur, "the limit of the address space, ulimit -v"};
  }
  // A line a hierarchy: number, controllers, group. In a container the group may be a path that is not mounted; the
  // folders above it, up to the root of the mount, are looked at all the same.
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (!group.starts_with('/')) continue;
    if (controllers.empty()) take_least(root + "/sys/fs/cgroup", group, "memory.max", limit);
    if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      take_least(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", limit);
    }
  }
  return limit;
}

Status check_memory(uint64_t needed_bytes, std::string_view what) {
  const MemoryLimit limit = memory_limit("");
  if (limit.bytes == 0 || needed_bytes <= limit.bytes) return {};
  return Error(ErrorClass::kResource, std::string(what) + " needs about " + human_bytes(needed_bytes) +
                                          " of memory, and there are " + human_bytes(limit.bytes) + " (" +
                                          limit.source + ")");
}

}  // namespace cuzk
