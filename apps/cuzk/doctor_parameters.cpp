#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cuzk/doctor.hpp"
#include "residency/circuit_store.hpp"
#include "residency/parameter_files.hpp"

namespace cuzk::app {
namespace {

constexpr double kDigestBytesPerSecond = 1e9;  // srs/digest.hpp

uint64_t file_bytes(const std::string& path) {
  std::error_code failure;
  const uintmax_t bytes = std::filesystem::file_size(path, failure);
  return failure ? 0 : bytes;
}

std::string setup_advice(const CircuitSpec& circuit, const std::string& directory) {
  const std::string setup =
      "`cuzk setup --circuit " + std::string(circuit.id()) + " --dir " + directory + "` makes some for development";
  if (!circuit.published()) return setup;
  return "fetch Filecoin's published file of that name into the folder (lotus fetch-params, curio fetch-params); " +
         setup;
}

Finding about_circuit(const CircuitSpec& circuit, const std::string& file) {
  Finding finding{.check = "parameters"};
  finding.details = {{"circuit", std::string(circuit.id())}, {"file", file}};
  return finding;
}

// Of a circuit whose file is there.
Finding check_circuit(const CircuitSpec& circuit, CircuitStore& store, const std::string& file, Progress& progress) {
  Finding finding = about_circuit(circuit, file);
  const std::string id(circuit.id());
  if (const Status checked = store.check_parameters(circuit, progress); !checked.ok()) {
    finding.health = Health::kBad;
    finding.error_class = checked.error().error_class;
    finding.message = id + ": " + checked.error().describe();
    finding.advice = finding.error_class == ErrorClass::kCorrupt
                         ? "remove the file; " + setup_advice(circuit, store.options().params_directory)
                         : "see that the file can be read by the daemon's user";
    return finding;
  }
  const uint64_t bytes = file_bytes(file);
  const auto published = published_digest(circuit);
  finding.details["bytes"] = bytes;
  finding.message = id + ": " + human_bytes(bytes) + ", counts and verifying key are sound";
  if (!published || !published->binding) {
    finding.message += "; development size, so any digest will do";
    finding.details["digest"] = "not binding";
  } else if (store.has_published_digest(circuit)) {
    finding.message += ", and the digest is the published one";
    finding.details["digest"] = "published";
  } else {
    finding.health = Health::kNote;
    finding.message += "; the digest was never made";
    finding.advice = "`cuzk doctor --digests` makes it, in " +
                     human_seconds(static_cast<double>(bytes) / kDigestBytesPerSecond) +
                     " or so; else the daemon does before the first use";
    finding.details["digest"] = "unknown";
  }
  return finding;
}

// Names that a download or a killed process left.
std::vector<Finding> check_leftovers(const std::string& directory) {
  uint64_t bytes = 0;
  std::vector<std::string> names;
  std::error_code failure;
  for (std::filesystem::directory_iterator entry(directory, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (name.find(".tmp-") == std::string::npos) continue;
    names.push_back(name);
    bytes += file_bytes(entry->path().string());
  }
  if (names.empty()) return {};
  Finding finding{.health = Health::kNote,
                  .check = "parameters",
                  .message = std::to_string(names.size()) + " temporary file(s) of processes that were killed take " +
                             human_bytes(bytes),
                  .advice = "remove *.tmp-* in " + directory + ", unless `cuzk setup` is running"};
  finding.details = {{"temporary_files", names}};
  return {finding};
}

// One reader's share: blocks of `file` from a common counter until the time is over. Adds up what was read.
class DiskReader {
 public:
  static constexpr uint64_t kBlock = uint64_t{4} << 20;
  static constexpr uint64_t kMost = uint64_t{2} << 30;

  DiskReader(int fd, uint64_t bytes) : fd_(fd), blocks_(std::min(bytes, kMost) / kBlock) {}
  void run() {
    void* memory = nullptr;
    if (posix_memalign(&memory, 4096, kBlock) != 0) return;
    while (std::chrono::steady_clock::now() < end_) {
      const uint64_t block = next_++;
      if (block >= blocks_) break;
      const ssize_t got = pread(fd_, memory, kBlock, static_cast<off_t>(block * kBlock));
      if (got < 0) break;
      read_ += static_cast<uint64_t>(got);
    }
    std::free(memory);
  }
  uint64_t bytes() const { return read_; }

 private:
  const int fd_;
  const uint64_t blocks_;
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  std::atomic<uint64_t> next_{0}, read_{0};
};

// Bytes a second, by four readers as the loader has them; 0 where it cannot be measured.
double disk_speed(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  if (fd < 0) return 0;
  const auto start = std::chrono::steady_clock::now();
  DiskReader reader(fd, file_bytes(path));
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back([&] { reader.run(); });
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  close(fd);
  return static_cast<double>(reader.bytes()) / took.count();
}

}  // namespace

ParameterFindings check_parameter_folder(const std::vector<const CircuitSpec*>& required, bool others,
                                         const std::string& directory, const std::string& cache, bool digests,
                                         Progress& progress) {
  ParameterFindings out;
  std::error_code failure;
  if (!std::filesystem::is_directory(directory, failure)) {
    Finding finding{
        .health = Health::kBad,
        .check = "parameters",
        .message = "there is no folder " + directory +
                   (failure && failure != std::errc::no_such_file_or_directory ? ": " + failure.message() : ""),
        .advice = "name the folder of the parameters with --dir, or set FIL_PROOFS_PARAMETER_CACHE",
        .error_class = ErrorClass::kNotFound};
    finding.details = {{"folder", directory}};
    out.findings.push_back(std::move(finding));
    out.circuits = required;
    return out;
  }
  CircuitStore store({.params_directory = directory, .cache_directory = cache, .check_digests = digests});
  for (const CircuitSpec& circuit : circuit_specs()) {
    const bool wanted = std::find(required.begin(), required.end(), &circuit) != required.end();
    const std::string file = parameter_files(circuit, directory).params;
    const bool there = std::filesystem::exists(std::filesystem::symlink_status(file, failure));
    if (!wanted && !(others && there)) continue;
    out.circuits.push_back(&circuit);
    if (there) {
      out.findings.push_back(check_circuit(circuit, store, file, progress));
      continue;
    }
    Finding finding = about_circuit(circuit, file);
    finding.health = Health::kBad;
    finding.error_class = ErrorClass::kNotFound;
    finding.message = std::string(circuit.id()) + ": there is no " + file;
    finding.advice = setup_advice(circuit, directory);
    out.findings.push_back(std::move(finding));
  }
  if (out.circuits.empty()) {
    Finding finding{.health = Health::kBad,
                    .check = "parameters",
                    .message = "no parameters of any circuit are in " + directory,
                    .advice =
                        "name the folder with --dir, or fetch Filecoin's published files into it (lotus "
                        "fetch-params, curio fetch-params)",
                    .error_class = ErrorClass::kNotFound};
    finding.details = {{"folder", directory}};
    out.findings.push_back(std::move(finding));
  }
  for (Finding& finding : check_leftovers(directory)) out.findings.push_back(std::move(finding));
  return out;
}

std::vector<Finding> check_disk(const std::vector<const CircuitSpec*>& circuits, const std::string& directory,
                                Progress& progress) {
  constexpr uint64_t kLeastBytes = 64'000'000;  // below, it says nothing
  constexpr double kSlow = 500e6;               // a 32 GiB PoRep's parameters would take more than a minute and a half
  std::string largest;
  uint64_t largest_bytes = 0, all_bytes = 0;
  for (const CircuitSpec* circuit : circuits) {
    const std::string file = parameter_files(*circuit, directory).params;
    const uint64_t bytes = file_bytes(file);
    all_bytes += bytes;
    if (bytes > largest_bytes) {
      largest = file;
      largest_bytes = bytes;
    }
  }
  Finding finding{.health = Health::kNote, .check = "disk"};
  if (largest_bytes < kLeastBytes) {
    finding.message = "no parameter file is large enough to measure how fast they can be read";
    return {finding};
  }
  const ScopedStage stage(progress, "reading from the disk");
  const double speed = disk_speed(largest);
  finding.details = {{"file", largest}, {"bytes_per_second", static_cast<uint64_t>(speed)}};
  if (speed == 0) {
    finding.message =
        "the file system of " + directory + " cannot be read past the page cache, so its speed is not known";
    return {finding};
  }
  finding.health = speed < kSlow ? Health::kWarning : Health::kGood;
  finding.message = "parameters are read with " + human_bytes(static_cast<uint64_t>(speed)) +
                    "/s: " + human_seconds(static_cast<double>(all_bytes) / speed) + " for all that are there (" +
                    human_bytes(all_bytes) + ")";
  if (speed < kSlow) finding.advice = "put the parameters on an NVMe disk: until they are loaded nothing is proved";
  return {finding};
}

}  // namespace cuzk::app
