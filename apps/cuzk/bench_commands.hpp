// The commands under `cuzk bench`: vanilla proofs, synthetic and from sector files, and the development sealer.
#pragma once

#include "cuzk/command_line.hpp"

namespace cuzk::app {

// Each adds its commands to a group.
void add_gen_vanilla_post(CommandLine& line, CLI::App* group);
void add_gen_vanilla_snap(CommandLine& line, CLI::App* group);
void add_gen_vanilla_porep(CommandLine& line, CLI::App* group);
void add_seal_commands(CommandLine& line, CLI::App* group);

}  // namespace cuzk::app
