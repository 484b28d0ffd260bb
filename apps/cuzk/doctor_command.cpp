#include <algorithm>

#include "cuzk/command_line.hpp"
#include "cuzk/doctor.hpp"
#include "cuzk/exit_status.hpp"
#include "cuzk/parameters.hpp"

namespace cuzk::app {
namespace {

constexpr const char* kDefaultAddress = "unix:///run/curio/cuzk.sock";

size_t count(const std::vector<Finding>& findings, Health health) {
  return static_cast<size_t>(
      std::count_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.health == health; }));
}

std::string text_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += padded(to_string(finding.health), 9) + padded(finding.check, 12) + printable(finding.message) + "\n";
    if (!finding.advice.empty()) text += std::string(9 + 12, ' ') + "-> " + printable(finding.advice) + "\n";
  }
  const size_t bad = count(findings, Health::kBad), warnings = count(findings, Health::kWarning);
  const auto number = [](size_t n, const char* one, const char* many) {
    return std::to_string(n) + " " + (n == 1 ? one : many);
  };
  if (bad == 0 && warnings == 0) return text + "all is well";
  return text + number(bad, "thing is bad", "things are bad") + ", " + number(warnings, "warning", "warnings");
}

Json json_of(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    Json entry = {{"health", to_string(finding.health)}, {"check", finding.check}, {"message", finding.message}};
    if (!finding.advice.empty()) entry["advice"] = finding.advice;
    if (finding.health == Health::kBad) entry["class"] = cuzk::to_string(finding.error_class);
    entry.update(finding.details);
    list.push_back(std::move(entry));
  }
  return list;
}

void append(std::vector<Finding>& to, std::vector<Finding> from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

Result<Outcome> run_doctor(DoctorOptions options, Console& console) {
  std::vector<Finding> findings = check_program();
  for (const std::string& id : options.circuits) CUZK_TRY(circuit_by_id(id));
#if CUZK_DAEMON
  append(findings, check_configuration(options));
#endif
  std::vector<const CircuitSpec*> required;
  for (const std::string& id : options.circuits) {
    CUZK_ASSIGN(const CircuitSpec* circuit, circuit_by_id(id));
    required.push_back(circuit);
  }
  if (options.addresses.empty()) options.addresses = {kDefaultAddress};
  const std::string folder = parameter_directory(options.parameters), cache = cache_directory(options.cache);
  append(findings, check_devices());
  ParameterFindings parameters =
      check_parameter_folder(required, options.other_circuits, folder, cache, options.digests, console.progress());
  append(findings, std::move(parameters.findings));
  append(findings, check_disk(parameters.circuits, folder, console.progress()));
  append(findings, check_cache(cache));
  append(findings, check_state(options));
  append(findings, check_memory_for(parameters.circuits, options.budget));
  append(findings, check_limits());
  for (const std::string& address : options.addresses) append(findings, check_address(address));

  Outcome outcome;
  outcome.text = text_of(findings);
  outcome.json = {{"bad", count(findings, Health::kBad)},
                  {"warnings", count(findings, Health::kWarning)},
                  {"findings", json_of(findings)}};
  for (const Finding& finding : findings) {
    if (finding.health != Health::kBad) continue;
    outcome.status = exit_status(finding.error_class);
    break;
  }
  return outcome;
}

}  // namespace

const char* to_string(Health health) {
  switch (health) {
    case Health::kGood: return "ok";
    case Health::kNote: return "note";
    case Health::kWarning: return "warning";
    case Health::kBad: break;
  }
  return "bad";
}

void add_doctor_command(CommandLine& line) {
  const auto options = std::make_shared<DoctorOptions>();
  CLI::App* command =
      line.add(nullptr, "doctor", "Looks at all that a daemon needs on this machine, and says what to do",
               "  cuzk doctor\n  cuzk doctor --circuit porep-32g --circuit winning-32g --dir D --digests\n"
               "  cuzk doctor --listen unix:///run/curio/cuzk.sock --listen 127.0.0.1:9820 --json\n",
               [options](Console& console) {
                 options->other_circuits = options->circuits.empty();
                 return run_doctor(*options, console);
               });
#if CUZK_DAEMON
  command->add_option("-c,--config", options->configuration,
                      "The daemon's configuration; default: as `cuzk serve` finds it. Options here go before it");
#endif
  command->add_option("--circuit", options->circuits,
                      "A circuit that must be provable here; may be repeated. Default: those to be preloaded, and all "
                      "whose parameters are there");
  command->add_option("--dir", options->parameters,
                      "Folder of the parameters; default: the configuration's, or without the daemon "
                      "$FIL_PROOFS_PARAMETER_CACHE, else upstream's default");
  add_cache_options(command, options->cache);
  command->add_option(
      "--listen", options->addresses,
      std::string("Where the daemon shall listen; may be repeated. Default: the configuration's, ") + kDefaultAddress);
  command->add_flag("--digests", options->digests,
                    "Reads whole parameter files and compares their digests with the published ones, where that was "
                    "not done before: a second for each GB");
}

}  // namespace cuzk::app
