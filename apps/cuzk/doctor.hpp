// What `cuzk doctor` looks at: each check gives findings, and each finding what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "budget/host_budget.hpp"
#include "cuzk/circuits.hpp"
#include "cuzk/console.hpp"
#include "filecoin/circuit_spec.hpp"

namespace cuzk::app {

enum class Health : uint8_t {
  kGood,
  kNote,     // worth knowing
  kWarning,  // it works, but not as well as it should, or not for long
  kBad,      // something a daemon needs is not there or cannot be used
};
// "ok", "note", "warning", "bad".
const char* to_string(Health health);

struct Finding {
  Health health = Health::kGood;
  std::string check;  // "program", "devices", "parameters", "cache", "memory", "limits", "sockets", "disk"
  std::string message;
  std::string advice;                              // what to do; never empty for warnings and what is bad
  Json details = Json::object();                   // numbers and names, for programs
  ErrorClass error_class = ErrorClass::kInternal;  // of what is bad: the exit status
};

// What to look at, as the command line says it; the daemon's configuration fills in what that leaves open.
struct DoctorOptions {
  std::string configuration;          // its file
  std::vector<std::string> circuits;  // that must be provable
  bool other_circuits = true;         // those whose parameters are there, too
  std::string parameters;             // as --dir says
  CacheOptions cache;
  std::vector<std::string> addresses;
  BudgetOptions budget;
  std::string state;                                       // the journal's folder; empty: none
  std::vector<std::pair<std::string, std::string>> files;  // that must be readable: key of the configuration, path
  bool digests = false;                                    // read whole files
};

#if CUZK_DAEMON
// daemon/doctor_configuration.cpp: what is wrong with the configuration, and what it says.
std::vector<Finding> check_configuration(DoctorOptions& options);
#endif

// doctor_checks.cpp
std::vector<Finding> check_program();
std::vector<Finding> check_devices();
std::vector<Finding> check_cache(const std::string& directory);
// Of this process, against what proving these circuits takes: on a GPU where there is one, else on the CPU.
std::vector<Finding> check_memory_for(const std::vector<const CircuitSpec*>& circuits, const BudgetOptions& budget);
std::vector<Finding> check_limits();
std::vector<Finding> check_state(const DoctorOptions& options);

// doctor_parameters.cpp
struct ParameterFindings {
  std::vector<Finding> findings;
  std::vector<const CircuitSpec*> circuits;  // that are required, or whose parameters are there
};
// `others`: also the circuits that are not required, where their parameters are there; then some must be.
ParameterFindings check_parameter_folder(const std::vector<const CircuitSpec*>& required, bool others,
                                         const std::string& directory, const std::string& cache, bool digests,
                                         Progress& progress);
// How fast the largest of the files can be read from the disk, past the page cache.
std::vector<Finding> check_disk(const std::vector<const CircuitSpec*>& circuits, const std::string& directory,
                                Progress& progress);

// doctor_sockets.cpp
// "unix:///path", "host:port"; whether a daemon could listen there.
std::vector<Finding> check_address(const std::string& address);

}  // namespace cuzk::app
