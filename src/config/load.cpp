#include "config/load.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "config/assign.hpp"
#include "config/document.hpp"
#include "config/nearest.hpp"

namespace cuzk {
namespace {

using Severity = ConfigFinding::Severity;

// Variables of cuzk that are no twins, so that nobody is told to have misspelt them.
constexpr std::array kOtherVariables = {"CUZK_CONFIG", "CUZK_CACHE_DIR", "CUZK_ADDRESS", "CUZK_GPU_THREADS"};
// Those of the reference that do nothing here.
constexpr std::array kReferenceVariables = {"CUZK_DISABLE_SPLIT_PROVE", "CUZK_DISABLE_PCE", "CUZK_VALIDATE_PARTITIONS"};

std::string leaf(std::string_view name) { return std::string(name.substr(name.find('.') + 1)); }

std::string dotted(const std::vector<std::string>& path) {
  std::string out;
  for (const std::string& part : path) out += (out.empty() ? "" : ".") + part;
  return out;
}

class Loader {
 public:
  explicit Loader(const ConfigSources& sources) : sources_(sources) {
    for (const ConfigKey& key : config_keys()) {
      loaded_.origins[std::string(key.name)] = {};
      loaded_.values[std::string(key.name)] = toml_default(key);
    }
  }

  LoadedConfig load() {
    other_variables(false);
    file();
    other_variables(true);
    twins();
    for (const auto& [name, value] : sources_.flags) {
      const ConfigKey& key = *config_key(name);
      set(key, value_of_text(key, value), "option " + key.flag(), key.flag());
    }
    for (const ConfigContradiction& found : contradictions(loaded_.config)) {
      const ConfigOrigin& origin = loaded_.origins[found.key];
      add(Severity::kError, origin.given() ? origin.text : "", found.key, found.key + " " + found.message);
    }
    return std::move(loaded_);
  }

 private:
  void add(Severity severity, std::string where, std::string_view key, std::string message) {
    loaded_.findings.push_back({severity, std::move(where), std::string(key), std::move(message)});
  }

  void set(const ConfigKey& key, const ConfigValue& value, const std::string& where, const std::string& origin,
           Severity severity = Severity::kError) {
    const std::string name(key.name);
    if (const Status status = assign(loaded_.config, key, value); !status.ok()) {
      const std::string ignored = severity == Severity::kWarning ? "; ignored" : "";
      return add(severity, where, name, name + ": " + status.error().message + ignored);
    }
    loaded_.origins[name] = {origin};
    loaded_.values[name] = toml_value(loaded_.config, key);
    if (key.use == KeyUse::kUsed) return;
    std::string doc(key.doc);
    std::erase(doc, '`');
    add(Severity::kWarning, where, name,
        name + (key.use == KeyUse::kDeprecated ? " is deprecated and ignored. " : " has no effect here. ") + doc);
  }

  void other_variables(bool before_file) {
    for (const ConfigKey& key : config_keys()) {
      if (key.other_variable.empty() || key.other_before_file != before_file) continue;
      const auto found = sources_.environment.find(std::string(key.other_variable));
      if (found == sources_.environment.end() || found->second.empty()) continue;
      // It may be meant for another program, so what is wrong with it stops nothing.
      set(key, value_of_text(key, found->second), "environment variable " + found->first, found->first,
          Severity::kWarning);
    }
  }

  void twins() {
    std::set<std::string> known(kOtherVariables.begin(), kOtherVariables.end());
    std::vector<std::string> names;
    for (const ConfigKey& key : config_keys()) {
      names.push_back(key.variable());
      known.insert(key.variable());
      const auto found = sources_.environment.find(key.variable());
      if (found == sources_.environment.end()) continue;
      set(key, value_of_text(key, found->second), "environment variable " + found->first, found->first);
    }
    for (const auto& [name, value] : sources_.environment) {
      if (!name.starts_with("CUZK_") || known.contains(name)) continue;
      const std::string where = "environment variable " + name;
      if (std::ranges::find(kReferenceVariables, name) != kReferenceVariables.end()) {
        add(Severity::kWarning, where, "", "has no effect here");
      } else if (const auto near = nearest_name(name, names); near && edit_distance(name, *near) <= 2) {
        add(Severity::kWarning, where, "", "is not known and ignored; did you mean " + *near + "?");
      }
    }
  }

  void file() {
    if (sources_.file_name.empty()) return;
    const TomlDocument document = read_toml(sources_.file_text);
    if (!document.syntax_error.empty()) {
      return add(Severity::kError, place(document.error_line, document.error_column), "",
                 "is no TOML: " + document.syntax_error);
    }
    for (const TomlEntry& entry : document.entries) {
      const std::string name = dotted(entry.path);
      const ConfigKey* key = entry.path.size() == 2 ? config_key(name) : nullptr;
      const std::string where = place(entry.line, entry.column);
      if (key != nullptr && !entry.is_table) {
        set(*key, entry.value, where, sources_.file_name + ":" + std::to_string(entry.line));
      } else if (key != nullptr) {
        add(Severity::kError, where, name, name + " is no table: must be " + key->type_name());
      } else {
        unknown(entry, where);
      }
    }
  }

  // What was probably meant by `name` of `table`: a key of that table, or else the key of that name in another one.
  static std::string meant(std::string_view table, const std::string& name) {
    std::vector<std::string> here, everywhere;
    for (const ConfigKey& key : config_keys()) {
      if (key.table() == table) here.push_back(leaf(key.name));
      everywhere.push_back(leaf(key.name));
    }
    if (const auto near = nearest_name(name, here)) return std::string(table) + "." + *near;
    const auto near = nearest_name(name, everywhere);
    if (!near) return {};
    const auto found =
        std::ranges::find_if(config_keys(), [&](const ConfigKey& key) { return leaf(key.name) == *near; });
    return std::string(found->name);
  }

  void unknown(const TomlEntry& entry, const std::string& where) {
    const std::string& table = entry.path[0];
    std::vector<std::string> tables;
    for (const ConfigKey& key : config_keys()) {
      if (tables.empty() || tables.back() != key.table()) tables.emplace_back(key.table());
    }
    const bool known_table = std::ranges::find(tables, table) != tables.end();
    if (known_table && entry.path.size() == 1 && entry.is_table) return;  // a table without keys
    const bool in_table = entry.path.size() > 1 || entry.is_table;
    if (!known_table && in_table) {
      if (!told_tables_.insert(table).second) return;  // once, not for every key of it
      const auto near = nearest_name(table, tables);
      std::string hint = near ? "[" + *near + "]" : "";
      if (hint.empty() && entry.path.size() == 2) hint = meant("", entry.path[1]);
      return add(Severity::kError, where, "", "unknown table [" + table + "]" + did_you_mean(hint));
    }
    const std::string name = dotted(entry.path);
    if (known_table && entry.path.size() == 1) {
      return add(Severity::kError, where, name, table + " is a table: write [" + table + "] and its keys below it");
    }
    add(Severity::kError, where, name,
        "unknown key '" + name + "'" +
            did_you_mean(entry.path.size() > 2 ? "" : meant(in_table ? table : "", entry.path.back())));
  }

  static std::string did_you_mean(const std::string& name) {
    return name.empty() ? "" : "; did you mean " + name + "?";
  }

  std::string place(uint32_t line, uint32_t column) const {
    return sources_.file_name + ":" + std::to_string(line) + ":" + std::to_string(column);
  }

  const ConfigSources& sources_;
  LoadedConfig loaded_;
  std::set<std::string> told_tables_;
};

}  // namespace

bool LoadedConfig::ok() const {
  return std::ranges::none_of(findings, [](const ConfigFinding& f) { return f.severity == Severity::kError; });
}

LoadedConfig load_config(const ConfigSources& sources) { return Loader(sources).load(); }

std::string print_config(const LoadedConfig& loaded, bool origins) {
  std::string out;
  std::string_view table;
  for (const ConfigKey& key : config_keys()) {
    const std::string name(key.name);
    const ConfigOrigin& origin = loaded.origins.at(name);
    if (key.use != KeyUse::kUsed && !origin.given()) continue;
    if (key.table() != table) {
      if (!out.empty()) out += "\n";
      table = key.table();
      out += "[" + std::string(table) + "]\n";
    }
    std::string line = leaf(name) + " = " + loaded.values.at(name);
    if (origins) {
      constexpr size_t kColumn = 56;
      line.append(line.size() < kColumn ? kColumn - line.size() : 1, ' ').append("# ").append(origin.text);
      if (key.use != KeyUse::kUsed) line += ", no effect";
    }
    out += line + "\n";
  }
  if (!out.empty()) out.pop_back();
  return out;
}

std::string keys_markdown() {
  std::string out;
  std::string_view table;
  for (const ConfigKey& key : config_keys()) {
    if (key.table() != table) {
      if (!out.empty()) out += "\n";
      table = key.table();
      out += "### [" + std::string(table) +
             "]\n\n| key | type | default | environment | meaning |\n|---|---|---|---|---|\n";
    }
    const std::string text = toml_default(key);
    const std::string prefix = key.use == KeyUse::kDeprecated ? "Deprecated: warned of and ignored. "
                               : key.use == KeyUse::kNoEffect ? "No effect. "
                                                              : "";
    out += "| `" + std::string(key.name) + "` | " + key.type_name() + " | " + (text.empty() ? "" : "`" + text + "`") +
           " | `" + key.variable() + "`" +
           (key.other_variable.empty() ? "" : ", `" + std::string(key.other_variable) + "`") + " | " + prefix +
           std::string(key.doc) + " |\n";
  }
  return out;
}

}  // namespace cuzk
