#include <algorithm>
#include <array>
#include <filesystem>

#include "cuzk/daemon/daemon_commands.hpp"

namespace cuzk::app {

std::vector<std::string> as_ours(std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  const std::string name = std::filesystem::path(arguments[0]).filename().string();
  if (name == "cuzk-bench") {
    arguments.insert(arguments.begin() + 1, "bench");
    return arguments;
  }
  constexpr std::array kDaemonOptions = {"-c", "--config", "-l", "--listen", "--log-level"};
  const bool daemon_option =
      arguments.size() > 1 && std::ranges::any_of(kDaemonOptions, [&](const std::string_view option) {
        const std::string& given = arguments[1];
        return given == option || (given.starts_with(option) && (option.size() == 2 || given[option.size()] == '='));
      });
  if (name == "cuzk-daemon" || daemon_option) arguments.insert(arguments.begin() + 1, "serve");
  return arguments;
}

}  // namespace cuzk::app
