// Where circuits and parameters lie, made sure of before a device loads them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "filecoin/circuit_spec.hpp"
#include "groth16/verify.hpp"
#include "worker/device.hpp"

namespace cuzk {

struct CircuitStoreOptions {
  std::string params_directory;
  std::string cache_directory;  // compiled circuits and remembered digests; must be writable
  // Parameters of a circuit whose published digest is known must have it. Off for development.
  bool check_digests = true;
};

// Thread safe; two threads that ask for the same circuit wait for one another, others do not.
class CircuitStore {
 public:
  explicit CircuitStore(CircuitStoreOptions options) : options_(std::move(options)) {}

  // The files of a circuit. The first time: the counts of the parameter file are checked, its digest where one is
  // published (remembered for the file's name, size, times and inode; 44 GiB are read once), and the circuit is
  // compiled and kept where no good file is there. Later: a stat of the files. Errors: kNotFound, kCorrupt, kIo, with
  // the file; kResource.
  Result<CircuitFiles> prepare(const CircuitSpec& circuit, Progress& progress);

  // Of the circuit's parameter file; read once for each file.
  Result<std::shared_ptr<const PreparedVerifyingKey>> verifying_key(const CircuitSpec& circuit);

  const CircuitStoreOptions& options() const { return options_; }

 private:
  CircuitStoreOptions options_;
};

}  // namespace cuzk
