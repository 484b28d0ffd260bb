#include "cuzk/console.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "cuzk/exit_status.hpp"

namespace cuzk::app {
namespace {

const char* retry_advice(ErrorClass c) {
  switch (c) {
    case ErrorClass::kUsage: return "no: the command is wrong";
    case ErrorClass::kInvalidInput:
    case ErrorClass::kUnsatisfied: return "no: the same bytes will be refused again";
    case ErrorClass::kBadProof: return "no: the same proof will be refused again";
    case ErrorClass::kNotFound: return "once what is missing is there";
    case ErrorClass::kCorrupt: return "after the file is replaced";
    case ErrorClass::kIo: return "may help";
    case ErrorClass::kResource: return "may help, later or with less";
    case ErrorClass::kUnsupported: return "no: this build or this machine cannot do it";
    case ErrorClass::kDeviceFault: return "may help, in a new process or on another GPU";
    case ErrorClass::kDeviceUnusable: return "no: the GPU or its driver cannot be used as it is";
    case ErrorClass::kInternal: return "may help, on another machine; please report this";
    case ErrorClass::kCancelled: return "the same may be asked for again";
    case ErrorClass::kExpired: return "with a later deadline";
  }
  return "no";
}

// Writes all of `text` to stdout; false where it cannot be written.
bool write_stdout(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

}  // namespace

Console::Console(std::string command, const ConsoleOptions& options)
    : command_(std::move(command)), options_(options), progress_(!options.quiet && terminal_on_stderr()) {}

void Console::warn(std::string_view line) {
  progress_.clear_line();
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

void Console::say(std::string_view line) {
  if (options_.json) return;
  progress_.clear_line();
  write_stdout(std::string(line) + "\n");  // what cannot be written now cannot be at the end, which tells
}

void Console::add_measurements(Json& json) const {
  Json stages = Json::array();
  for (const Stage& stage : progress_.stages()) {
    Json entry = {{"name", stage.name}, {"seconds", std::round(stage.seconds * 1e6) / 1e6}};
    if (stage.total > 0) {
      entry["units"] = stage.total;
      entry["unit"] = stage.unit;
    }
    if (stage.depth > 0) entry["depth"] = stage.depth;
    stages.push_back(std::move(entry));
  }
  json["stages"] = std::move(stages);
  json["seconds"] = std::round(progress_.elapsed_seconds() * 1e6) / 1e6;
  json["peak_rss_bytes"] = peak_rss_bytes();
}

int Console::finish(const Result<Outcome>& result) {
  progress_.stop();
  return result.ok() ? print_success(*result) : print_failure(result.error());
}

int Console::print_success(const Outcome& outcome) {
  std::string text;
  if (options_.json) {
    Json json = {{"ok", outcome.status == kExitOk}, {"command", command_}};
    json.update(outcome.json);
    if (outcome.status != kExitOk) json["exit_status"] = outcome.status;
    add_measurements(json);
    text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  } else {
    if (!outcome.text.empty()) text = outcome.text + "\n";
    if (options_.timing) {
      text += "took " + human_seconds(progress_.elapsed_seconds()) + ", peak memory " + human_bytes(peak_rss_bytes()) +
              "\n";
    }
  }
  if (write_stdout(text)) return outcome.status;
  std::fprintf(stderr, "cuzk %s: cannot write to standard output: %s\n", command_.c_str(), std::strerror(errno));
  return exit_status(ErrorClass::kIo);
}

int Console::print_failure(const Error& error) {
  const int status = exit_status(error.error_class);
  const auto hint = hints_.find(error.error_class);
  std::fprintf(stderr, "cuzk %s: %s: %s [retry: %s]\n", command_.c_str(), to_string(error.error_class),
               printable(error.describe()).c_str(), retry_advice(error.error_class));
  if (hint != hints_.end()) std::fprintf(stderr, "hint: %s\n", printable(hint->second).c_str());
  if (options_.json) {
    Json detail = {{"class", to_string(error.error_class)}, {"message", error.message}};
    if (!error.field.empty()) detail["field"] = error.field;
    if (!error.file.empty()) detail["file"] = error.file;
    if (error.offset) detail["offset"] = *error.offset;
    if (error.sector) detail["sector"] = *error.sector;
    if (error.partition) detail["partition"] = *error.partition;
    detail["retry_helps"] = retry_helps(error.error_class);
    detail["retry"] = retry_advice(error.error_class);
    if (hint != hints_.end()) detail["hint"] = hint->second;
    Json json = {{"ok", false}, {"command", command_}, {"error", detail}, {"exit_status", status}};
    add_measurements(json);
    write_stdout(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  return status;
}

// Of this program: what getrusage says is also the memory of the process that started it, where that was more.
uint64_t peak_rss_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string human_seconds(double seconds) {
  char text[32];
  if (seconds < 1) {
    std::snprintf(text, sizeof text, "%.3g ms", seconds * 1000);
  } else if (seconds < 100) {
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  } else {
    const auto whole = static_cast<uint64_t>(seconds + 0.5);
    std::snprintf(text, sizeof text, "%llu min %02llu s", static_cast<unsigned long long>(whole / 60),
                  static_cast<unsigned long long>(whole % 60));
  }
  return text;
}

bool wants_json(const std::vector<std::string>& arguments) {
  return std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
}

}  // namespace cuzk::app
