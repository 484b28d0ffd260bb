#include "cuzk/daemon/config_options.hpp"
#include "cuzk/daemon/daemon_commands.hpp"
#include "cuzk/exit_status.hpp"

namespace cuzk::app {
namespace {

Json findings_json(const LoadedConfig& loaded) {
  Json findings = Json::array();
  for (const ConfigFinding& finding : loaded.findings) {
    Json entry = {{"severity", finding.severity == ConfigFinding::Severity::kError ? "error" : "warning"},
                  {"where", finding.where},
                  {"message", finding.message}};
    if (!finding.key.empty()) entry["key"] = finding.key;
    findings.push_back(std::move(entry));
  }
  return findings;
}

std::string findings_text(const LoadedConfig& loaded) {
  std::string text;
  for (const ConfigFinding& finding : loaded.findings) {
    text += finding.severity == ConfigFinding::Severity::kError ? "error: " : "warning: ";
    text += finding.text() + "\n";
  }
  return text;
}

Result<Outcome> run_check(const ConfigOptions& options) {
  CUZK_ASSIGN(const LoadedConfig loaded, read_config(options));
  Outcome outcome;
  outcome.text = findings_text(loaded) + (loaded.ok() ? "the configuration can be used" : "it cannot be used");
  outcome.json["findings"] = findings_json(loaded);
  if (!loaded.ok()) outcome.status = exit_status(ErrorClass::kInvalidInput);
  return outcome;
}

Result<Outcome> run_print(const ConfigOptions& options, bool origins, Console& console) {
  CUZK_TRY(usable_config(options, console));
  CUZK_ASSIGN(const LoadedConfig loaded, read_config(options));
  Outcome outcome;
  outcome.text = print_config(loaded, origins);
  for (const ConfigKey& key : config_keys()) {
    const std::string name(key.name);
    outcome.json["values"][name] = {{"value", loaded.values.at(name)}, {"origin", loaded.origins.at(name).text}};
  }
  outcome.json["findings"] = findings_json(loaded);
  return outcome;
}

Result<Outcome> run_keys(bool markdown) {
  Outcome outcome;
  Json keys = Json::array();
  for (const ConfigKey& key : config_keys()) {
    keys.push_back({{"key", std::string(key.name)},
                    {"type", key.type_name()},
                    {"default", toml_default(key)},
                    {"environment", key.variable()},
                    {"flag", key.flag()},
                    {"use", key.use == KeyUse::kUsed         ? "used"
                            : key.use == KeyUse::kDeprecated ? "deprecated"
                                                             : "no effect"},
                    {"meaning", std::string(key.doc)}});
    if (!markdown) outcome.text += (outcome.text.empty() ? "" : "\n") + std::string(key.name);
  }
  outcome.json["keys"] = std::move(keys);
  if (markdown) {
    outcome.text = keys_markdown();
    outcome.text.pop_back();
  }
  return outcome;
}

}  // namespace

void add_config_commands(CommandLine& line) {
  CLI::App* group = line.add_group("config", "Checks and shows the configuration of `cuzk serve`");
  const auto options = std::make_shared<ConfigOptions>();
  CLI::App* check = line.add(group, "check", "Tells everything that is wrong with a configuration",
                             "  cuzk config check -c /etc/cuzk/cuzk.toml\n"
                             "  CUZK_MEMORY_TOTAL_BUDGET=64GiB cuzk config check --json\n",
                             [options](Console&) { return run_check(*options); });
  add_config_options(check, *options);
  const auto origins = std::make_shared<bool>(false);
  CLI::App* print = line.add(group, "print", "Shows the configuration in force, as a TOML file",
                             "  cuzk config print -c /etc/cuzk/cuzk.toml --origin\n"
                             "  cuzk config print > cuzk.toml\n",
                             [options, origins](Console& console) { return run_print(*options, *origins, console); });
  add_config_options(print, *options);
  print->add_flag("--origin", *origins, "Says of each value where it comes from");
  const auto markdown = std::make_shared<bool>(false);
  CLI::App* keys = line.add(group, "keys", "Lists every key", "  cuzk config keys\n  cuzk config keys --json\n",
                            [markdown](Console&) { return run_keys(*markdown); });
  keys->add_flag("--markdown", *markdown, "As the tables of docs/config.md");
}

}  // namespace cuzk::app
