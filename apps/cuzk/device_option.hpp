// --device: what commands compute with.
#pragma once

#include <string>

#include "cuzk/command_line.hpp"
#include "worker/device_choice.hpp"

namespace cuzk::app {

void add_device_option(CLI::App* command, std::string& device);
// The device of that option's value. Errors: those of choose_device().
Result<DeviceChoice> find_device_option(const std::string& device);

}  // namespace cuzk::app
