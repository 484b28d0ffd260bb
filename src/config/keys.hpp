// The table of configuration keys. Reading files, environment and flags, `cuzk config`, docs/config.md and its test,
// and the options of `cuzk serve` all follow from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"

namespace cuzk {

using ConfigMember = std::variant<std::string Config::*, bool Config::*, uint64_t Config::*, Size Config::*,
                                  std::optional<Size> Config::*, Duration Config::*, std::vector<std::string> Config::*,
                                  DeviceNames Config::*>;

enum class KeyUse : uint8_t {
  kUsed,
  kNoEffect,    // of the reference: accepted, and nothing here depends on it
  kDeprecated,  // of the reference, which warns of it
};

struct ConfigKey {
  std::string_view name;  // "memory.total_budget"
  ConfigMember member;
  std::string_view doc;  // a sentence or two, in Markdown
  KeyUse use = KeyUse::kUsed;
  uint64_t min = 0, max = UINT64_MAX;          // of numbers, bytes and milliseconds
  std::vector<std::string_view> choices = {};  // of texts; empty: any
  // A variable that something else made known; it counts where the twin is not set. Before the file, or only before the
  // default.
  std::string_view other_variable = {};
  bool other_before_file = true;
  std::string_view short_flag = {};         // "-l,--listen": beside "--daemon.listen"
  std::string_view reference_default = {};  // of what has no effect here

  std::string variable() const;  // "CUZK_MEMORY_TOTAL_BUDGET"
  std::string flag() const { return "--" + std::string(name); }
  std::string_view table() const { return name.substr(0, name.find('.')); }
  // "text", "size", ... for people
  std::string type_name() const;
};

// In the order of the documentation: keys of one table stand together.
std::span<const ConfigKey> config_keys();
// nullptr where there is none.
const ConfigKey* config_key(std::string_view name);

// The value as TOML has it: `"5GiB"`, `true`, `[0, 1]`.
std::string toml_value(const Config& config, const ConfigKey& key);
// The default as TOML; of what has no effect, the reference's.
std::string toml_default(const ConfigKey& key);

}  // namespace cuzk
