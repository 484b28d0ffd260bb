// The subcommands and what they share: --json, --threads, --quiet, examples in --help, one place that runs them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuzk/console.hpp"

namespace cuzk::app {

class CommandLine {
 public:
  using Action = std::function<Result<Outcome>(Console&)>;

  CommandLine();

  // A group of subcommands ("params"), which does nothing by itself; of the program, or of another group.
  CLI::App* add_group(const std::string& name, const std::string& description, CLI::App* parent = nullptr);
  // A subcommand of `parent` (nullptr: of the program); the caller adds its options to what is returned.
  CLI::App* add(CLI::App* parent, const std::string& name, const std::string& description, const std::string& examples,
                Action action);

  // Parses, runs the chosen action, and returns the exit status. What is thrown ends here.
  int run(const std::vector<std::string>& arguments);

 private:
  struct Chosen {
    std::string name;
    Action action;
  };
  int usage_error(const CLI::ParseError& error, bool json);
  int run_chosen();

  CLI::App app_;
  ConsoleOptions console_options_;
  unsigned threads_ = 0;
  Chosen chosen_;
};

// What is wrong with an option's value that must be a decimal number below 2^64, empty if nothing: CLI11 itself takes
// "-1" for 2^64 - 1.
std::string decimal_error(const std::string& text);

void add_setup_command(CommandLine& line);
void add_prove_command(CommandLine& line);
void add_verify_command(CommandLine& line);
void add_params_commands(CommandLine& line);
void add_circuit_commands(CommandLine& line);
void add_plan_command(CommandLine& line);
void add_doctor_command(CommandLine& line);
CLI::App* add_bench_commands(CommandLine& line);  // the group, for others to add to
void add_version_command(CommandLine& line);

}  // namespace cuzk::app
