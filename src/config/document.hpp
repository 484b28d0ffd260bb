// A TOML file as a list of its values, each with its place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"

namespace cuzk {

struct TomlScalar {
  // What is neither of these (a date, a table inside an array) is std::monostate.
  std::variant<std::monostate, std::string, int64_t, double, bool> value;
};

struct TomlEntry {
  std::vector<std::string> path;  // "daemon", "listen"
  uint32_t line = 0, column = 0;  // of the name, from 1
  std::variant<TomlScalar, std::vector<TomlScalar>> value;
  bool is_table = false;  // an empty table: it has a name, and no value
};

struct TomlDocument {
  std::vector<TomlEntry> entries;  // in order of their lines
  // Set where the text is no TOML; the entries are then empty.
  std::string syntax_error;
  uint32_t error_line = 0, error_column = 0;
};

TomlDocument read_toml(std::string_view text);

// `text` as a TOML basic string, quotes included.
std::string toml_quoted(std::string_view text);

}  // namespace cuzk
