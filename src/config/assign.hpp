// internal: a value out of a file, a variable or a flag, checked against its key.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "config/document.hpp"
#include "config/keys.hpp"

namespace cuzk {

using ConfigValue = std::variant<TomlScalar, std::vector<TomlScalar>>;

// `text` as its key's type has it in TOML: numbers and truth values read, lists split at commas. What cannot be read
// stays text, for assign() to refuse.
ConfigValue value_of_text(const ConfigKey& key, const std::string& text);

// Errors: kInvalidInput, what is wrong with the value and what would be right.
Status assign(Config& config, const ConfigKey& key, const ConfigValue& value);

// What no single key shows.
struct ConfigContradiction {
  std::string key, message;
};
std::vector<ConfigContradiction> contradictions(const Config& config);

}  // namespace cuzk
