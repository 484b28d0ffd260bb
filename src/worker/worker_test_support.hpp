// A real circuit with parameters of its own, and devices whose processes are this test program.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "circuit/compiled_file.hpp"
#include "filecoin/post_synthetic.hpp"
#include "filecoin/proof_request.hpp"
#include "groth16/setup.hpp"
#include "groth16/verify.hpp"
#include "srs/params_file.hpp"
#include "worker/worker_process.hpp"

namespace cuzk::test {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Long enough for a loaded machine and sanitizers; nothing waits so long where all is well.
inline constexpr seconds kPatience{120};

// Instrumented programs reserve terabytes of addresses, and keep freed memory for a while.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kInstrumented = true;
#else
inline constexpr bool kInstrumented = false;
#endif

// A PoSt of 2 KiB sectors: circuit and parameters as files, a witness, and what its proof is verified with.
class PostFiles {
 public:
  explicit PostFiles(uint32_t registered_number) {
    const RegisteredPostProof& registered = registered_post_proofs()[registered_number];
    PostRequest request{registered.shape, registered.api_version, {}, 0};
    request.randomness.fill(9);
    const uint64_t sector = 77;
    ProofRequest proof_request(PostInput{request, make_synthetic_post(request, std::span(&sector, 1), NodeBytes{})});
    EXPECT_TRUE(proof_request.validate().ok());
    witness = proof_request.witness(0);
    files.spec = &proof_request.circuit();
    const std::string name = stem(getpid()) + std::string(files.spec->id());
    files.params_file = name + ".params";
    files.circuit_file = name + ".circuit";
    const CompiledCircuit circuit = files.spec->compile();
    EXPECT_TRUE(write_compiled_circuit(files.circuit_file, circuit, files.spec->id()).ok());
    NoProgress quiet;
    const auto vk = setup_to_file(circuit, toxic_waste_from_seed({}), files.params_file, quiet);
    EXPECT_TRUE(vk.ok());
    key = std::make_unique<PreparedVerifyingKey>(*vk);
    parameter_bytes = srs_bytes(srs_shape(circuit));
    circuit_bytes = circuit.bytes();
  }
  ~PostFiles() {
    unlink(files.params_file.c_str());
    unlink(files.circuit_file.c_str());
  }
  PostFiles(const PostFiles&) = delete;
  PostFiles& operator=(const PostFiles&) = delete;

  // What the names of a process' files begin with.
  static std::string stem(pid_t process) { return testing::TempDir() + "cuzk-worker-" + std::to_string(process) + "-"; }

  // The cheapest of all circuits, and one of another kind. Made when they are first asked for.
  static const PostFiles& window() {
    static const PostFiles files(10);
    return files;
  }
  static const PostFiles& winning() {
    static const PostFiles files(0);
    return files;
  }

  const CircuitSpec& spec() const { return *files.spec; }
  bool verifies(const PartitionProof& proof) const {
    const auto decoded = decode_proof(proof.proof);
    return decoded.ok() && verify(*key, *decoded, std::span(witness.inputs).subspan(1)).ok();
  }

  CircuitFiles files;
  PackedWitness witness;
  std::unique_ptr<PreparedVerifyingKey> key;
  uint64_t parameter_bytes = 0, circuit_bytes = 0;
};

// Times that tests can wait for, and that a loaded machine keeps all the same.
inline WorkerProcessOptions worker_options(const std::string& faults = "") {
  WorkerProcessOptions options;
  options.faults = faults;
  options.core_dumps = true;  // else /proc of the process is closed to who is not root
  options.threads = 2;
  options.times.beat = milliseconds(20);
  options.times.backoff = milliseconds(10);
  options.times.most_backoff = milliseconds(40);
  return options;
}

// A device that is told from the outside, one call at a time.
class TestDevice {
 public:
  explicit TestDevice(WorkerProcessOptions options) {
    options.on_line = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    };
    options.on_fault = [this](const Error& error) {
      const std::lock_guard lock(mutex_);
      faults_.push_back(error);
    };
    device = std::make_unique<WorkerProcess>(std::move(options));
    device->on_change([this] { ++changes; });
  }

  // Polls, as a hint may be missed.
  bool wait_for(DeviceState state, milliseconds patience = kPatience) const {
    return eventually([&] { return device->state() == state; }, patience);
  }
  template <class Predicate>
  static bool eventually(Predicate predicate, milliseconds patience = kPatience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!predicate()) {
      if (std::chrono::steady_clock::now() >= end) return false;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
  }

  Result<LoadReport> load(const CircuitFiles& files = PostFiles::window().files) {
    return call<LoadReport>([&](auto done) { device->load(files, done); });
  }
  Status unload(const CircuitSpec& spec = PostFiles::window().spec()) {
    return call<void>([&](auto done) { device->unload(spec, done); });
  }
  Result<PartitionProof> prove(const PackedWitness& witness = PostFiles::window().witness,
                               const CircuitSpec& spec = PostFiles::window().spec()) {
    return call<PartitionProof>([&](auto done) { device->prove(spec, witnesses({witness}), only(done)); });
  }
  std::future<Result<PartitionProof>> start_proof(const PackedWitness& witness = PostFiles::window().witness) {
    const auto promise = std::make_shared<std::promise<Result<PartitionProof>>>();
    device->prove(PostFiles::window().spec(), witnesses({witness}),
                  only([promise](Result<PartitionProof> result) { promise->set_value(std::move(result)); }));
    return promise->get_future();
  }
  // Several together.
  Result<Proofs> prove_all(const std::vector<PackedWitness>& of) {
    return call<Proofs>([&](auto done) { device->prove(PostFiles::window().spec(), witnesses(of), done); });
  }
  std::future<Result<Proofs>> start_all(const std::vector<PackedWitness>& of) {
    const auto promise = std::make_shared<std::promise<Result<Proofs>>>();
    device->prove(PostFiles::window().spec(), witnesses(of),
                  [promise](Result<Proofs> result) { promise->set_value(std::move(result)); });
    return promise->get_future();
  }

  static Witnesses witnesses(const std::vector<PackedWitness>& of) {
    Witnesses out;
    for (const PackedWitness& witness : of) out.push_back(std::make_shared<const PackedWitness>(witness));
    return out;
  }
  // Of proofs that are one alone.
  static std::function<void(Result<Proofs>)> only(std::function<void(Result<PartitionProof>)> done) {
    return [done = std::move(done)](Result<Proofs> result) {
      if (!result.ok()) return done(result.error());
      EXPECT_EQ(result->size(), 1u);
      done(result->front());
    };
  }

  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  std::vector<Error> faults() const {
    const std::lock_guard lock(mutex_);
    return faults_;
  }

  std::atomic<int> changes{0};

 private:
  template <class T, class Call>
  Result<T> call(Call start) {
    const auto promise = std::make_shared<std::promise<Result<T>>>();
    auto future = promise->get_future();
    const std::thread::id caller = std::this_thread::get_id();
    start([promise, caller](Result<T> result) {
      EXPECT_NE(std::this_thread::get_id(), caller);
      promise->set_value(std::move(result));
    });
    if (future.wait_for(kPatience) != std::future_status::ready) {
      ADD_FAILURE() << "no answer";
      return Error(ErrorClass::kInternal, "no answer");
    }
    return future.get();
  }

  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  std::vector<Error> faults_;

 public:
  std::unique_ptr<WorkerProcess> device;  // destroyed first
};

// What the open descriptors of a process are.
inline std::vector<std::string> descriptors_of(int pid) {
  std::vector<std::string> out;
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) return out;
  while (const dirent* entry = readdir(directory)) {
    char target[512];
    const ssize_t size = readlink((folder + "/" + entry->d_name).c_str(), target, sizeof target);
    if (size > 0) out.emplace_back(target, static_cast<size_t>(size));
  }
  closedir(directory);
  return out;
}

// A line of /proc/PID/status, in KiB or as a number: "VmRSS", "Threads".
inline long status_of(int pid, const std::string& name) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name + ":")) return std::stol(line.substr(name.size() + 1));
  }
  return -1;
}

}  // namespace cuzk::test
