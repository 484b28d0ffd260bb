#include "telemetry/log.hpp"

#include <spdlog/async.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/overloaded.hpp"
#include "telemetry/escape.hpp"

namespace cuzk {
namespace {

constexpr size_t kMaxWaitingLines = 8192;
constexpr size_t kMaxFieldBytes = 2000;

std::string now_utc() {
  using namespace std::chrono;
  const auto now = floor<milliseconds>(system_clock::now());
  const auto seconds = system_clock::to_time_t(now);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     (now.time_since_epoch() % 1000ms).count());
}

std::string text_line(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  std::string line = now_utc() + " " + std::string(to_string(level)) + " " + escaped(message, "", kMaxFieldBytes);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.name;
    line += '=';
    std::visit(Overloaded{[&](const std::string& text) {
                            const std::string safe = escaped(text, "\"", kMaxFieldBytes);
                            const bool quote = safe.empty() || safe.find_first_of(" =") != std::string::npos;
                            if (quote) line += '"';
                            line += safe;
                            if (quote) line += '"';
                          },
                          [&](bool value) { line += value ? "true" : "false"; },
                          [&](auto number) { line += fmt::format("{}", number); }},
               field.value);
  }
  return line;
}

std::string json_line(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  nlohmann::ordered_json line;
  line["time"] = now_utc();
  line["level"] = to_string(level);
  line["message"] = escaped(message, "", kMaxFieldBytes);
  for (const LogField& field : fields) {
    std::visit(
        Overloaded{[&](const std::string& text) { line[std::string(field.name)] = escaped(text, "", kMaxFieldBytes); },
                   [&](auto value) { line[std::string(field.name)] = value; }},
        field.value);
  }
  return line.dump();
}

}  // namespace

std::optional<LogLevel> log_level_by_name(std::string_view name) {
  if (name == "trace" || name == "debug") return LogLevel::kDebug;
  if (name == "info") return LogLevel::kInfo;
  if (name == "warn" || name == "warning") return LogLevel::kWarn;
  if (name == "error") return LogLevel::kError;
  return std::nullopt;
}

Result<std::unique_ptr<Log>> Log::open(const LogOptions& options) {
  spdlog::sink_ptr sink;
  if (options.file.empty()) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  } else {
    try {
      sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(options.file, options.max_file_bytes,
                                                                    options.max_files);
    } catch (const spdlog::spdlog_ex& failure) {
      return Error(ErrorClass::kIo, std::string("the log cannot be written: ") + failure.what()).in_file(options.file);
    }
  }
  std::unique_ptr<Log> log(new Log(options));
  log->writer_ = std::make_shared<spdlog::details::thread_pool>(kMaxWaitingLines, 1);
  log->logger_ =
      std::make_shared<spdlog::async_logger>("cuzk", sink, log->writer_, spdlog::async_overflow_policy::overrun_oldest);
  log->logger_->set_formatter(std::make_unique<spdlog::pattern_formatter>("%v"));
  log->logger_->set_level(spdlog::level::trace);
  log->logger_->flush_on(spdlog::level::trace);
  log->logger_->set_error_handler([](const std::string&) {});  // a full disk must not print, nor stop the daemon
  return log;
}

Log::~Log() = default;  // the writer's destructor writes what waits

void Log::write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (!enabled(level)) return;
  raw_line(options_.json ? json_line(level, message, fields) : text_line(level, message, fields));
}

void Log::raw_line(const std::string& line) { logger_->log(spdlog::level::info, line); }

uint64_t Log::dropped() const { return writer_->overrun_counter(); }

}  // namespace cuzk
