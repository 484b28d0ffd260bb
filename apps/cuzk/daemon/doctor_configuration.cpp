#include "cuzk/daemon/config_options.hpp"
#include "cuzk/daemon/serve_parts.hpp"
#include "cuzk/doctor.hpp"
#include "engine/read_submission.hpp"

namespace cuzk::app {
namespace {

constexpr const char* kAdvice = "correct it, as `cuzk config print --origin` and docs/config.md tell";

Finding wrong(Health health, ErrorClass error_class, std::string message) {
  return {.health = health,
          .check = "config",
          .message = std::move(message),
          .advice = kAdvice,
          .error_class = error_class};
}

// What the command line leaves open.
void take(const Config& config, DoctorOptions& options, std::vector<Finding>& findings) {
  if (options.circuits.empty()) {
    for (const std::string& name : config.residency_preload) {
      if (const CircuitSpec* circuit = circuit_by_any_name(name)) {
        options.circuits.emplace_back(circuit->id());
      } else {
        findings.push_back(wrong(Health::kBad, ErrorClass::kUsage, "residency.preload: there is no circuit " + name));
      }
    }
  }
  if (options.parameters.empty()) options.parameters = config.srs_param_cache;
  if (options.cache.directory.empty()) options.cache.directory = cache_folder_of(config);
  if (options.addresses.empty()) {
    options.addresses = config.daemon_listen;
    if (!config.daemon_status_listen.empty()) options.addresses.push_back(config.daemon_status_listen);
  }
  if (config.memory_total_budget) options.budget.total_bytes = config.memory_total_budget->bytes;
  options.budget.margin_bytes = config.memory_safety_margin.bytes;
  options.state = state_folder_of(config);
  const std::pair<const char*, const std::string&> files[] = {{"tls.certificate", config.tls_certificate},
                                                              {"tls.key", config.tls_key},
                                                              {"tls.client_ca", config.tls_client_ca},
                                                              {"auth.tokens", config.auth_tokens}};
  for (const auto& [key, path] : files) {
    if (!path.empty()) options.files.emplace_back(key, path);
  }
}

}  // namespace

std::vector<Finding> check_configuration(DoctorOptions& options) {
  const Result<LoadedConfig> loaded = read_config({.file = options.configuration, .values = {}});
  if (!loaded.ok()) return {wrong(Health::kBad, loaded.error().error_class, loaded.error().describe())};
  std::vector<Finding> findings;
  for (const ConfigFinding& finding : loaded.value().findings) {
    const bool error = finding.severity == ConfigFinding::Severity::kError;
    findings.push_back(wrong(error ? Health::kBad : Health::kWarning, ErrorClass::kInvalidInput, finding.text()));
  }
  if (!loaded.value().ok()) return findings;
  size_t given = 0;
  for (const auto& [key, origin] : loaded.value().origins) given += origin.given() ? 1 : 0;
  findings.push_back({.check = "config",
                      .message = "the configuration can be used: " + std::to_string(given) + " of " +
                                 std::to_string(loaded.value().origins.size()) + " keys are given"});
  take(loaded.value().config, options, findings);
  return findings;
}

}  // namespace cuzk::app
