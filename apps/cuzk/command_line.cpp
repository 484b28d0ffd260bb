#include "cuzk/command_line.hpp"

#include <charconv>
#include <cstdio>
#include <exception>
#include <new>

#include "cuzk/exit_status.hpp"
#include "parallel/parallel.hpp"

namespace cuzk::app {

CommandLine::CommandLine() : app_("Groth16 proofs for Filecoin: proves, verifies, and looks after parameters", "cuzk") {
  app_.require_subcommand(1);
  app_.set_help_flag("-h,--help", "Shows this and exits");
  app_.set_help_all_flag("--help-all", "Shows the help of every command and exits");
  app_.footer(
      "`cuzk COMMAND --help` has examples. Exit status: 0 success, 2 usage, 3 invalid input, 4 unsatisfied circuit,\n"
      "5 proof does not verify, 6 file not found, 7 file damaged, 8 reading or writing failed, 9 out of a resource,\n"
      "10 unsupported, 11 GPU failed, 12 GPU or driver unusable, 20 a daemon's job failed, 21 cancelled, 22 expired,\n"
      "1 anything else.");
}

CLI::App* CommandLine::add_group(const std::string& name, const std::string& description, CLI::App* parent) {
  CLI::App* group = (parent == nullptr ? &app_ : parent)->add_subcommand(name, description);
  group->require_subcommand(1);
  return group;
}

CLI::App* CommandLine::add(CLI::App* parent, const std::string& name, const std::string& description,
                           const std::string& examples, Action action) {
  std::string full_name = name;
  for (const CLI::App* group = parent; group != nullptr && group != &app_; group = group->get_parent()) {
    full_name = group->get_name() + " " + full_name;
  }
  CLI::App* command = (parent == nullptr ? &app_ : parent)->add_subcommand(name, description);
  command->footer("Examples:\n" + examples);
  command->add_flag("--json", console_options_.json, "Prints the result, or the error, as one JSON object on stdout");
  command->add_flag("-q,--quiet", console_options_.quiet, "Draws no progress, even on a terminal");
  command->add_flag("--timing", console_options_.timing, "Tells time and peak memory (--json always does)");
  command->add_option("--threads", threads_, "Threads to use; default: as many as this process may run on")
      ->check(CLI::Range(1U, 4096U));
  command->callback([this, full_name, action = std::move(action)] { chosen_ = {full_name, action}; });
  return command;
}

int CommandLine::usage_error(const CLI::ParseError& error, bool json) {
  std::string message = error.what();
  while (!message.empty() && message.back() == '\n') message.pop_back();
  Console console(chosen_.name.empty() ? "(command line)" : chosen_.name, {.json = json, .quiet = true});
  console.hint(ErrorClass::kUsage, "`cuzk --help` lists the commands, `cuzk COMMAND --help` their options");
  return console.finish(Error(ErrorClass::kUsage, message));
}

int CommandLine::run_chosen() {
  if (threads_ > 0) set_parallel_threads(threads_);
  Console console(chosen_.name, console_options_);
  // The core returns what can be expected; what is thrown is memory that ran out, or a bug.
  try {
    return console.finish(chosen_.action(console));
  } catch (const std::bad_alloc&) {
    return console.finish(Error(ErrorClass::kResource, "out of memory"));
  } catch (const std::exception& exception) {
    return console.finish(Error(ErrorClass::kInternal, std::string("unexpected: ") + exception.what()));
  }
}

int CommandLine::run(const std::vector<std::string>& arguments) {
  // CLI11 takes them last first, without the program's name.
  std::vector<std::string> reversed(arguments.rbegin(), std::prev(arguments.rend()));
  try {
    app_.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    // Success means --help and the like.
    if (error.get_exit_code() == 0) return app_.exit(error);
    return usage_error(error, wants_json(arguments));
  }
  return run_chosen();
}

std::string decimal_error(const std::string& text) {
  uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc() && end == text.data() + text.size() && !text.empty()) return {};
  return "must be a decimal number below 2^64, not '" + text + "'";
}

}  // namespace cuzk::app
