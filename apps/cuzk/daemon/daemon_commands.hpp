// The commands that are a daemon, or talk to one.
#pragma once

#include "cuzk/command_line.hpp"

namespace cuzk::app {

void add_serve_command(CommandLine& line);
void add_config_commands(CommandLine& line);
void add_job_commands(CommandLine& line);      // submit, await, cancel
void add_control_commands(CommandLine& line);  // status, preload, evict, metrics
// Those of the reference's bench, beside what else `cuzk bench` has.
void add_bench_client_commands(CommandLine& line, CLI::App* bench);

// As the reference's programs are called: "cuzk-daemon ..." and "cuzk --config ..." are `cuzk serve ...`,
// "cuzk-bench ..." is `cuzk bench ...`.
std::vector<std::string> as_ours(std::vector<std::string> arguments);

}  // namespace cuzk::app
