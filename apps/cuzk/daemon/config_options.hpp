// The configuration as the command line gives it: --config, and a flag for every key.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "cuzk/command_line.hpp"

namespace cuzk::app {

struct ConfigOptions {
  std::string file;
  std::map<std::string, std::vector<std::string>> values;  // by key, as often as given
};

// -c/--config, and with flags --daemon.listen and so on.
void add_config_options(CLI::App* command, ConfigOptions& options);

// Reads the file (--config, else CUZK_CONFIG, else the reference's /data/zk/cuzk.toml where that exists) and the
// environment. What is wrong with their content, addresses included, is in the findings. Errors: kNotFound, kIo of the
// file; kUsage where a flag is given twice.
Result<LoadedConfig> read_config(const ConfigOptions& options);

// The same for commands that need a good one: warnings are told; errors too, and one is returned (kInvalidInput).
Result<Config> usable_config(const ConfigOptions& options, Console& console);

}  // namespace cuzk::app
