// Where circuits and parameters lie, made sure of before a device loads them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "filecoin/circuit_spec.hpp"
#include "groth16/verify.hpp"
#include "residency/circuit_cache.hpp"
#include "residency/published_digests.hpp"
#include "residency/remembered_digests.hpp"
#include "worker/device.hpp"

namespace cuzk {

struct CircuitStoreOptions {
  std::string params_directory;
  std::string cache_directory;  // compiled circuits and remembered digests; must be writable
  // Parameters of a circuit whose published digest is binding must have it. Off for development.
  bool check_digests = true;
  // Hears of what is no failure (a cache file made anew). From the threads that prepare.
  Warn warn = {};
  // Another table for tests.
  std::function<std::optional<PublishedDigest>(const CircuitSpec&)> published = published_digest;
};

// Thread safe; two threads that ask for the same circuit wait for one another, others do not.
class CircuitStore {
 public:
  explicit CircuitStore(CircuitStoreOptions options)
      : options_(std::move(options)), digests_(options_.cache_directory) {}

  // The files of a circuit. The first time: the head of the parameter file is checked, its digest where a published one
  // is binding (remembered for the file's name, size, times and inode; 44 GiB are read once), and the circuit is
  // compiled and kept where no good file is there. Later: a stat of the files. A file that was found bad stays bad, for
  // this object, until it changes; only what is right is remembered as right. Errors: kNotFound, kCorrupt, kIo, with
  // the file; kResource; kUsage where there is no cache folder.
  Result<CircuitFiles> prepare(const CircuitSpec& circuit, Progress& progress);

  // Of that, only what is about the parameter file. Errors: kNotFound, kCorrupt, kIo.
  Status check_parameters(const CircuitSpec& circuit, Progress& progress);
  // The digest of the parameter file as it lies there was made once and is the published one. Reads no more than the
  // file of remembered digests.
  bool has_published_digest(const CircuitSpec& circuit) const;

  // Of the circuit's parameter file; read once for each file. Errors: as those of prepare about the file's head.
  Result<std::shared_ptr<const PreparedVerifyingKey>> verifying_key(const CircuitSpec& circuit);

  const CircuitStoreOptions& options() const { return options_; }

 private:
  struct Verdict {
    FileStamp stamp;
    std::optional<Error> error;  // none: good
  };
  struct Slot {
    std::mutex preparing;
    std::optional<Verdict> params;
    std::optional<FileStamp> compiled;
    std::mutex reading_key;
    FileStamp key_stamp;
    std::shared_ptr<const PreparedVerifyingKey> key;
  };
  Slot& slot_of(const CircuitSpec& circuit);
  Status check_params_once(Slot& slot, const CircuitSpec& circuit, const std::string& path, Progress& progress);
  Status check_digest(const CircuitSpec& circuit, const std::string& path, const FileStamp& stamp, Progress& progress);
  Status make_compiled(Slot& slot, const CircuitSpec& circuit, const std::string& path, Progress& progress);
  void warn(const Error& error) const;

  const CircuitStoreOptions options_;
  RememberedDigests digests_;
  std::mutex mutex_;  // of the map, not of the slots
  std::map<std::string_view, std::unique_ptr<Slot>> slots_;
};

}  // namespace cuzk
