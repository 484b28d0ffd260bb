#include "residency/circuit_store.hpp"

#include "residency/parameter_files.hpp"
#include "srs/digest.hpp"
#include "srs/params_file.hpp"

namespace cuzk {

CircuitStore::Slot& CircuitStore::slot_of(const CircuitSpec& circuit) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Slot>& slot = slots_[circuit.id()];
  if (!slot) slot = std::make_unique<Slot>();
  return *slot;
}

void CircuitStore::warn(const Error& error) const {
  if (options_.warn) options_.warn(error);
}

Result<CircuitFiles> CircuitStore::prepare(const CircuitSpec& circuit, Progress& progress) {
  if (options_.cache_directory.empty()) {
    return Error(ErrorClass::kUsage, "there is no cache folder, from which devices load compiled circuits");
  }
  const CircuitSpec& of_catalog = circuit_spec_of(circuit.shape());
  const CircuitFiles files{&of_catalog, parameter_files(circuit, options_.params_directory).params,
                           compiled_circuit_path(circuit, options_.cache_directory)};
  Slot& slot = slot_of(of_catalog);
  const std::lock_guard lock(slot.preparing);
  CUZK_TRY(check_params_once(slot, of_catalog, files.params_file, progress));
  CUZK_TRY(make_compiled(slot, of_catalog, files.circuit_file, progress));
  return files;
}

Status CircuitStore::check_parameters(const CircuitSpec& circuit, Progress& progress) {
  const CircuitSpec& of_catalog = circuit_spec_of(circuit.shape());
  Slot& slot = slot_of(of_catalog);
  const std::lock_guard lock(slot.preparing);
  return check_params_once(slot, of_catalog, parameter_files(circuit, options_.params_directory).params, progress);
}

bool CircuitStore::has_published_digest(const CircuitSpec& circuit) const {
  const std::string path = parameter_files(circuit, options_.params_directory).params;
  const Result<FileStamp> stamp = file_stamp(path);
  const auto published = options_.published(circuit);
  return stamp.ok() && published && digests_.find(path, stamp.value()) == published->digest;
}

Status CircuitStore::check_params_once(Slot& slot, const CircuitSpec& circuit, const std::string& path,
                                       Progress& progress) {
  CUZK_ASSIGN(const FileStamp stamp, file_stamp(path));
  if (slot.params && slot.params->stamp == stamp) {
    if (slot.params->error) return *slot.params->error;
    return {};
  }
  let_stamp_settle(stamp);
  const Status checked = [&]() -> Status {
    CUZK_TRY(check_parameter_head(circuit, path));
    return check_digest(circuit, path, stamp, progress);
  }();
  if (!checked.ok() && checked.error().error_class != ErrorClass::kCorrupt) return checked.error();
  CUZK_ASSIGN(const FileStamp now, file_stamp(path));
  if (now != stamp) return Error(ErrorClass::kIo, "the file was changed while it was being checked").in_file(path);
  slot.params = Verdict{stamp, checked.ok() ? std::nullopt : std::optional(checked.error())};
  return checked;
}

Status CircuitStore::check_digest(const CircuitSpec& circuit, const std::string& path, const FileStamp& stamp,
                                  Progress& progress) {
  if (!options_.check_digests) return {};
  const auto published = options_.published(circuit);
  if (!published || !published->binding) return {};
  if (digests_.find(path, stamp) == published->digest) return {};
  CUZK_ASSIGN(const std::string digest, file_digest(path, progress));
  if (digest != published->digest) {
    return Error(ErrorClass::kCorrupt, "not the published parameters of " + std::string(circuit.id()) +
                                           ": their digest is " + std::string(published->digest) + ", this file's " +
                                           digest)
        .in_file(path);
  }
  // Nothing that was changed meanwhile may be remembered as good.
  CUZK_ASSIGN(const FileStamp now, file_stamp(path));
  if (now != stamp) return {};  // the caller sees it too
  if (Status kept = digests_.remember(path, stamp, digest); !kept.ok()) {
    Error error = std::move(kept).error();
    error.message = "the digest cannot be kept, and will be made again at the next start: " + error.message;
    warn(error);
  }
  return {};
}

Status CircuitStore::make_compiled(Slot& slot, const CircuitSpec& circuit, const std::string& path,
                                   Progress& progress) {
  if (slot.compiled) {
    const Result<FileStamp> stamp = file_stamp(path);
    if (stamp.ok() && stamp.value() == *slot.compiled) return {};
  }
  std::optional<Error> not_kept;
  const auto hear = [&](const Error& error) {
    not_kept = error;  // the last word, if any: that the file cannot be kept
    warn(error);
  };
  CUZK_ASSIGN(const CachedCircuit made, load_or_compile(circuit, options_.cache_directory, hear, progress));
  if (made.source == CachedCircuit::Source::kCompiled) {
    CUZK_ASSERT(not_kept.has_value());
    return *not_kept;
  }
  CUZK_ASSIGN(slot.compiled, file_stamp(path));
  return {};
}

Result<std::shared_ptr<const PreparedVerifyingKey>> CircuitStore::verifying_key(const CircuitSpec& circuit) {
  const CircuitSpec& of_catalog = circuit_spec_of(circuit.shape());
  const std::string path = parameter_files(of_catalog, options_.params_directory).params;
  Slot& slot = slot_of(of_catalog);
  const std::lock_guard lock(slot.reading_key);
  CUZK_ASSIGN(const FileStamp stamp, file_stamp(path));
  if (slot.key && slot.key_stamp == stamp) return slot.key;
  let_stamp_settle(stamp);
  CUZK_TRY(check_parameter_head(of_catalog, path));
  CUZK_ASSIGN(const VerifyingKey key, read_params_vk(path));
  slot.key = std::make_shared<const PreparedVerifyingKey>(key);
  slot.key_stamp = stamp;
  return slot.key;
}

}  // namespace cuzk
