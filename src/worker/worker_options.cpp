#include <charconv>
#include <optional>
#include <string_view>

#include "worker/worker_main.hpp"

namespace cuzk {
namespace {

template <class T>
bool read_number(std::string_view text, T& out) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  return !text.empty() && failure == std::errc() && end == text.data() + text.size();
}

bool read_one(std::string_view name, std::string_view value, WorkerOptions& out) {
  if (name == "fd") return read_number(value, out.descriptor) && out.descriptor > 2;
  if (name == "device") return !(out.device = value).empty();
  if (name == "ordinal") return read_number(value, out.ordinal);
  if (name == "threads") return read_number(value, out.threads) && out.threads <= 4096;
  if (name == "nice") return read_number(value, out.niceness);
  if (name == "memory") return read_number(value, out.memory_bytes);
  if (name == "core-dumps") return (out.core_dumps = value == "1") || value == "0";
  if (name == "faults") return !(out.faults = value).empty();
  uint32_t ms = 0;
  if (name != "beat-ms" || !read_number(value, ms) || ms == 0) return false;
  out.beat = std::chrono::milliseconds(ms);
  return true;
}

}  // namespace

std::vector<std::string> to_arguments(const WorkerOptions& options) {
  std::vector<std::string> out = {
      "--fd=" + std::to_string(options.descriptor),         "--device=" + options.device,
      "--ordinal=" + std::to_string(options.ordinal),       "--threads=" + std::to_string(options.threads),
      "--nice=" + std::to_string(options.niceness),         "--memory=" + std::to_string(options.memory_bytes),
      "--core-dumps=" + std::to_string(options.core_dumps), "--beat-ms=" + std::to_string(options.beat.count())};
  if (!options.faults.empty()) out.push_back("--faults=" + options.faults);
  return out;
}

Result<WorkerOptions> read_arguments(std::span<const std::string> arguments) {
  WorkerOptions out;
  bool has_descriptor = false;
  for (const std::string_view argument : arguments) {
    const size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const bool good = name.starts_with("--") && equals != std::string_view::npos &&
                      read_one(name.substr(2), argument.substr(equals + 1), out);
    if (!good) return Error(ErrorClass::kUsage, "a worker has no option '" + std::string(argument) + "'");
    has_descriptor = has_descriptor || name == "--fd";
  }
  if (!has_descriptor) return Error(ErrorClass::kUsage, "a worker is started by the daemon, not by hand");
  return out;
}

}  // namespace cuzk
