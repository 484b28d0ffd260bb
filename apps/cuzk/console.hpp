// What a command says: warnings and errors on stderr, its result on stdout, as lines or as one JSON object.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "cuzk/stage_progress.hpp"

namespace cuzk::app {

// The order of keys is the order of insertion, so that output reads as it was meant to.
using Json = nlohmann::ordered_json;

// What a command that succeeded has to say: the same thing for people and for programs.
struct Outcome {
  std::string text;  // lines, without the last line feed
  Json json = Json::object();
  // Where it found out what nobody hopes for: told as a result, and by this exit status. JSON has "ok": false.
  int status = 0;
};

struct ConsoleOptions {
  bool json = false;
  bool quiet = false;   // no progress, even on a terminal
  bool timing = false;  // stage times in the text too (JSON always has them)
};

class Console {
 public:
  Console(std::string command, const ConsoleOptions& options);

  StageProgress& progress() { return progress_; }
  // A line on stderr, at once.
  void warn(std::string_view line);
  // A line of the result, at once, for what takes long; with --json nothing, as the result is one object.
  void say(std::string_view line);
  // What to do about an error of that class, told after it; a later hint for the same class replaces it.
  void hint(ErrorClass error_class, std::string text) { hints_[error_class] = std::move(text); }

  // Writes the result and returns the exit status, which is not 0 where stdout cannot take it.
  int finish(const Result<Outcome>& result);

 private:
  int print_success(const Outcome& outcome);
  int print_failure(const Error& error);
  void add_measurements(Json& json) const;

  std::string command_;
  ConsoleOptions options_;
  std::map<ErrorClass, std::string> hints_;
  StageProgress progress_;
};

// The largest resident set of this process so far, in bytes.
uint64_t peak_rss_bytes();
// Control characters of untrusted text (file names, field paths, ids) would let it draw on the terminal.
std::string printable(std::string text);
// With blanks at the end up to `width` bytes.
std::string padded(std::string text, size_t width);
// "12.3 s", "850 ms"
std::string human_seconds(double seconds);

// True where `arguments` ask for JSON; used where they cannot be parsed.
bool wants_json(const std::vector<std::string>& arguments);

}  // namespace cuzk::app
