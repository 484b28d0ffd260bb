// Puts a configuration together: flags before environment before file before defaults, with the origin of every value.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "config/keys.hpp"

namespace cuzk {

struct ConfigSources {
  std::string file_name;  // as findings name it; empty: no file
  std::string file_text;
  // Of the environment, at least what begins with CUZK_ and the other_variable of every key.
  std::map<std::string, std::string> environment;
  std::vector<std::pair<std::string, std::string>> flags;  // name of the key, value
};

// Something about a source. Errors leave no usable configuration; warnings are to be told.
struct ConfigFinding {
  enum class Severity : uint8_t { kWarning, kError };
  Severity severity = Severity::kError;
  std::string where;  // "/etc/cuzk.toml:12:3", "environment variable CUZK_X", "option --daemon.listen"
  std::string key;    // empty where it is about none
  std::string message;
  std::string text() const { return where.empty() ? message : where + ": " + message; }
};

struct ConfigOrigin {
  std::string text = "default";  // or "/etc/cuzk.toml:12", "CUZK_X", "--daemon.listen"
  bool given() const { return text != "default"; }
};

struct LoadedConfig {
  Config config;
  std::vector<ConfigFinding> findings;          // all of them, not only the first
  std::map<std::string, ConfigOrigin> origins;  // of every key
  std::map<std::string, std::string> values;    // of every key, as TOML

  bool ok() const;
};

LoadedConfig load_config(const ConfigSources& sources);

// The whole configuration as a TOML file that gives the same again; keys without effect only where they were given.
// With origins, each line says where its value comes from.
std::string print_config(const LoadedConfig& loaded, bool origins);

// The tables of docs/config.md, made of the keys.
std::string keys_markdown();

}  // namespace cuzk
