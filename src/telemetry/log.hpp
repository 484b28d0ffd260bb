// The daemon's log: one line an event, as text or as JSON, with named fields.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.hpp"

namespace spdlog {
class logger;
namespace details {
class thread_pool;
}
}  // namespace spdlog

namespace cuzk {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };
constexpr std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarn: return "warn";
    case LogLevel::kError: return "error";
  }
  return "unknown";
}
// Also "trace" (debug) and "warning"; nothing for other words.
std::optional<LogLevel> log_level_by_name(std::string_view name);

struct LogField {
  std::string_view name;
  std::variant<std::string, uint64_t, double, bool> value;
};

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  bool json = false;
  std::string file;                       // empty: standard error
  uint64_t max_file_bytes = 100'000'000;  // then it becomes file.1, and so on
  uint32_t max_files = 5;
};

// Thread safe. A call formats its line and leaves it to a thread that writes: a reader of the log that is slow or stuck
// holds nobody up, and where 8,192 lines wait the oldest are dropped.
class Log {
 public:
  // Errors: kIo where the file cannot be opened.
  static Result<std::unique_ptr<Log>> open(const LogOptions& options);
  ~Log();

  bool enabled(LogLevel level) const { return level >= options_.level; }
  // "2026-11-30T12:00:00.123Z info job finished job_id=porep-1000-1 total_ms=5800", or
  // {"time":"2026-11-30T12:00:00.123Z","level":"info","message":"job
  // finished","job_id":"porep-1000-1","total_ms":5800}. Text is escaped (telemetry/escape.hpp), and quoted where it has
  // a blank.
  void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});
  // As it is, at any level. For lines with a grammar of their own.
  void raw_line(const std::string& line);
  // Lines that were dropped so far.
  uint64_t dropped() const;

 private:
  explicit Log(const LogOptions& options) : options_(options) {}

  const LogOptions options_;
  std::shared_ptr<spdlog::details::thread_pool> writer_;
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace cuzk
