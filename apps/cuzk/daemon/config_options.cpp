#include "cuzk/daemon/config_options.hpp"

#include <cstdlib>
#include <filesystem>

#include "base/random_access_file.hpp"
#include "cuzk/worker_command.hpp"
#include "server/listen_address.hpp"

namespace cuzk::app {
namespace {

constexpr const char* kFileVariable = "CUZK_CONFIG";
constexpr const char* kReferenceFile = "/data/zk/cuzk.toml";
constexpr uint64_t kMaxFileBytes = uint64_t{1} << 20;

std::map<std::string, std::string> variables() {
  std::map<std::string, std::string> out;
  for (const std::string& text : environment()) {
    const size_t equals = text.find('=');
    if (equals != std::string::npos) out[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return out;
}

// Empty: none is asked for, and the reference's is not there.
std::string file_to_read(const ConfigOptions& options) {
  if (!options.file.empty()) return options.file;
  const char* variable = std::getenv(kFileVariable);
  if (variable != nullptr && *variable != '\0') return variable;
  std::error_code ignored;
  return std::filesystem::exists(kReferenceFile, ignored) ? kReferenceFile : "";
}

Result<std::string> read_text(const std::string& path) {
  CUZK_ASSIGN(const RandomAccessFile file, RandomAccessFile::open(path));
  if (file.size() > kMaxFileBytes) {
    return Error(ErrorClass::kInvalidInput, "is too long for a configuration").in_file(path);
  }
  std::string text(file.size(), '\0');
  CUZK_TRY(file.read_at(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()}));
  return text;
}

// What the server would refuse, with the keys that change it.
void check_address(const std::string& key, const std::string& text, bool tls, LoadedConfig& loaded) {
  const auto complain = [&](const std::string& message) {
    const ConfigOrigin& origin = loaded.origins.at(key);
    loaded.findings.push_back(
        {ConfigFinding::Severity::kError, origin.given() ? origin.text : "", key, key + ": " + message});
  };
  const Result<ListenAddress> address = parse_listen_address(text);
  if (!address.ok()) return complain(address.error().message);
  const Result<bool> local = is_local_only(*address);
  if (!local.ok()) return complain(local.error().message);
  if (*local || tls || loaded.config.daemon_allow_insecure) return;
  complain("other machines can reach " + text + ", and it has no TLS; use a Unix socket or 127.0.0.1, " +
           (key == "daemon.listen" ? "or tls.certificate and tls.key, " : "") +
           "or, where that is meant, set daemon.allow_insecure");
}

void check_addresses(LoadedConfig& loaded) {
  const Config& config = loaded.config;
  for (const std::string& text : config.daemon_listen) {
    check_address("daemon.listen", text, !config.tls_certificate.empty(), loaded);
  }
  if (config.daemon_status_listen.empty()) return;
  check_address("daemon.status_listen", config.daemon_status_listen, false, loaded);  // the pages never have TLS
}

}  // namespace

void add_config_options(CLI::App* command, ConfigOptions& options) {
  command->add_option("-c,--config", options.file,
                      "TOML file; default: $CUZK_CONFIG, else /data/zk/cuzk.toml where that is");
  for (const ConfigKey& key : config_keys()) {
    std::string names = key.flag();
    if (!key.short_flag.empty()) names += "," + std::string(key.short_flag);
    std::string doc(key.doc);
    std::erase(doc, '`');
    CLI::Option* option = command->add_option(names, options.values[std::string(key.name)], doc);
    option->type_name(key.type_name())->allow_extra_args(false)->group("[" + std::string(key.table()) + "]");
    if (key.use != KeyUse::kUsed) option->group("");  // taken, and not shown
  }
}

Result<LoadedConfig> read_config(const ConfigOptions& options) {
  ConfigSources sources;
  sources.environment = variables();
  sources.file_name = file_to_read(options);
  if (!sources.file_name.empty()) {
    CUZK_ASSIGN(sources.file_text, read_text(sources.file_name));
  }
  for (const auto& [name, values] : options.values) {
    if (values.empty()) continue;
    const ConfigKey& key = *config_key(name);
    const bool list = std::holds_alternative<std::vector<std::string> Config::*>(key.member) ||
                      std::holds_alternative<DeviceNames Config::*>(key.member);
    if (values.size() > 1 && !list) return Error(ErrorClass::kUsage, key.flag() + " is given more than once");
    std::string joined;
    for (const std::string& value : values) joined += (joined.empty() ? "" : ",") + value;
    sources.flags.emplace_back(name, joined);
  }
  LoadedConfig loaded = load_config(sources);
  check_addresses(loaded);
  return loaded;
}

Result<Config> usable_config(const ConfigOptions& options, Console& console) {
  CUZK_ASSIGN(const LoadedConfig loaded, read_config(options));
  size_t errors = 0;
  std::string first;
  for (const ConfigFinding& finding : loaded.findings) {
    const bool is_error = finding.severity == ConfigFinding::Severity::kError;
    console.warn((is_error ? "error: " : "warning: ") + finding.text());
    if (is_error && errors++ == 0) first = finding.text();
  }
  if (errors == 0) return loaded.config;
  return Error(ErrorClass::kInvalidInput, "the configuration has " + std::to_string(errors) +
                                              (errors == 1 ? " error: " : " errors, the first: ") + first);
}

}  // namespace cuzk::app
