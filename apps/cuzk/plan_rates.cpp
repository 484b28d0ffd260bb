#include "cuzk/plan_rates.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <thread>

#include "base/atomic_file.hpp"
#include "base/overloaded.hpp"
#include "circuit/compiled_file.hpp"
#include "cuzk/memory.hpp"
#include "cuzk/stage_progress.hpp"
#include "filecoin/porep_synthetic_input.hpp"
#include "filecoin/post_synthetic.hpp"
#include "filecoin/proof_request.hpp"
#include "filecoin/snap_synthetic.hpp"
#include "parallel/parallel.hpp"
#include "residency/circuit_cache.hpp"
#include "srs/byte_source.hpp"
#include "srs/params_file.hpp"

namespace cuzk::app {
namespace {

constexpr uint64_t kDiskSampleBytes = 64'000'000;

template <class F>
double seconds_of(const F& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double ratio(uint64_t a, uint64_t b) { return static_cast<double>(a) / static_cast<double>(std::max<uint64_t>(1, b)); }

Result<ProofRequest> synthetic_request(const CircuitSpec& circuit) {
  const auto porep = [](const PorepShape* shape) -> Result<ProofRequest> {
    for (const RegisteredSealProof& proof : registered_seal_proofs()) {
      if (proof.shape != shape || proof.feature != PorepFeature::kNone) continue;
      CUZK_ASSIGN(PorepC1 c1, make_synthetic_porep({.proof = &proof}));
      return ProofRequest(std::move(c1));
    }
    return Error(ErrorClass::kInternal, "no registered proof has the circuit " + std::string(shape->circuit_id));
  };
  const auto snap = [](const SnapShape* shape) -> Result<ProofRequest> {
    return ProofRequest(make_synthetic_snap({.shape = shape, .partitions = 1}));
  };
  const auto post = [](const PostShape* shape) -> Result<ProofRequest> {
    const bool winning = shape->kind == PostKind::kWinning;
    const PostRequest request{shape, winning ? PostApiVersion::kV1_0_0 : PostApiVersion::kV1_2_0, {}, 0};
    std::vector<uint64_t> ids(shape->max_real_sectors());
    std::iota(ids.begin(), ids.end(), uint64_t{1});
    return ProofRequest(PostInput{request, make_synthetic_post(request, ids, NodeBytes{})});
  };
  return std::visit(Overloaded{porep, snap, post}, circuit.shape());
}

// A circuit of the same kind, compiled, and how long that took: the largest that this takes a fraction of a second
// for.
struct Sample {
  const CircuitSpec& spec;
  CompiledCircuit circuit;
  Work compiling;
};

const CircuitSpec& sample_for(const CircuitSpec& circuit) {
  constexpr uint64_t kMostWires = 2'700'000;
  const CircuitSpec* chosen = &circuit;
  for (const CircuitSpec& spec : circuit_specs()) {
    if (spec.kind() == circuit.kind() && spec.counts().aux <= kMostWires) chosen = &spec;
  }
  return *chosen;
}

Sample make_sample(const CircuitSpec& spec) {
  Sample out{spec, {}, {}};
  out.compiling = measure_work([&] { out.circuit = spec.compile(); });
  return out;
}

// From the folder that keeps circuits, where it is there; else compiled.
Work circuit_work(const CircuitSpec& circuit, const Sample& sample, const std::string& cache) {
  if (!cache.empty()) {
    Result<CompiledCircuit> kept = CompiledCircuit();
    const Work loading =
        measure_work([&] { kept = load_compiled_circuit(compiled_circuit_path(circuit, cache), circuit.id()); });
    if (kept.ok()) return loading;
  }
  return ratio(sizes_of(circuit).compiled_bytes, sizes_of(sample.spec).compiled_bytes) * sample.compiling;
}

struct FileTime {
  Work work;
  double disk_seconds = 0;
};

// Reads part of it as read_params() does, on all threads. A second read of what was just read tells memory's speed, not
// the disk's, which is what a next proof sees too.
Result<FileTime> read_time(const std::string& params_file, uint64_t bytes) {
  Result<std::unique_ptr<ByteSource>> source = open_file_source(params_file);
  if (!source.ok() || (*source)->size() == 0) return FileTime{};
  constexpr uint64_t kStep = 393'216;
  const uint64_t size = (*source)->size(), steps = std::min(size, kDiskSampleBytes) / kStep;
  if (steps == 0) return FileTime{};
  std::atomic<bool> failed = false;
  FileTime out;
  const double seconds = seconds_of([&] {
    out.work = measure_work([&] {
      parallel_for(steps, 1, [&](size_t begin, size_t) {
        thread_local std::vector<uint8_t> buffer;
        buffer.resize(kStep);
        if (!(*source)->read(size / steps * begin, buffer).ok()) failed = true;
      });
    });
  });
  if (failed) return Error(ErrorClass::kIo, "reading a part of it failed").in_file(params_file);
  const double scale = ratio(bytes, steps * kStep);
  // Of a file in memory, other processes' share of the processors is the only other reason to wait.
  const double waited = seconds - out.work.cpu_seconds;
  if (waited > out.work.cpu_seconds) out.disk_seconds = scale * waited;
  out.work = scale * out.work;
  return out;
}

// Writes a sample as ParamsWriter does, blocks that all threads have just filled, and flushes it.
Result<FileTime> write_time(const std::string& directory, uint64_t bytes) {
  if (!std::filesystem::is_directory(directory)) return FileTime{};
  const std::string path = (std::filesystem::path(directory) / "cuzk-plan-disk-sample").string();
  std::vector<uint8_t> block(4'000'000);
  Status status;
  FileTime out;
  const auto timed = [&](const auto& f) {
    const double seconds = seconds_of([&] { out.work = out.work + measure_work([&] { status = f(); }); });
    out.disk_seconds += seconds;
  };
  Result<AtomicFile> file = AtomicFile::create(path);
  CUZK_TRY(file.ok() ? Status() : Status(file.error()));
  for (uint64_t written = 0; written < kDiskSampleBytes && status.ok(); written += block.size()) {
    parallel_for(block.size(), 100'000, [&](size_t begin, size_t end) {
      std::fill(&block[begin], &block[end - 1] + 1, static_cast<uint8_t>(written));
    });
    timed([&] { return file->write(block); });
  }
  if (status.ok()) timed([&] { return file->commit(); });
  std::filesystem::remove(path);
  CUZK_TRY(std::move(status));
  out.work.serial_seconds = out.work.cpu_seconds;
  out.disk_seconds = std::max(0.0, out.disk_seconds - out.work.cpu_seconds);
  const double scale = ratio(bytes, kDiskSampleBytes);
  return FileTime{scale * out.work, scale * out.disk_seconds};
}

}  // namespace

double StageTime::seconds() const {
  const size_t processors = std::max(1u, std::thread::hardware_concurrency());
  return work.wall_seconds(std::min(parallel_threads(), processors)) + disk_seconds;
}

Result<std::vector<StageTime>> prove_times(const CircuitSpec& circuit, const std::string& params_file,
                                           const std::string& cache, Progress& progress) {
  const ScopedStage stage(progress, "measuring this machine");
  const CircuitSpec& spec = sample_for(circuit);
  // Who hashes first computes constants, as a proof does while it checks its input.
  Result<ProofRequest> request = Error(ErrorClass::kInternal, "not made");
  const Work first = measure_work([&] { request = synthetic_request(spec); });
  const Work second = measure_work([&] { request = synthetic_request(spec); });
  CUZK_TRY(request.ok() ? Status() : Status(request.error()));
  const double constants = std::max(0.0, first.cpu_seconds - second.cpu_seconds);
  const Sample sample = make_sample(spec);
  const CircuitSizes sizes = sizes_of(circuit), sample_sizes = sizes_of(spec);
  Status valid;
  const Work checking = measure_work([&] { valid = request->validate(); });
  CUZK_TRY(std::move(valid));
  PackedWitness witness;
  const Work witness_work = measure_work([&] { witness = request->witness(0); });
  CUZK_ASSIGN(const ProofRates rates, measure_proof_rates(sample.circuit, witness));
  CUZK_ASSIGN(const FileTime file, read_time(params_file, params_file_bytes(sizes.srs_shape())));

  const double scale = ratio(sizes.aux, sample_sizes.aux);
  std::vector<StageTime> out = {
      {"constants of hashes", {constants, constants}},
      {"check the input", scale * checking, true},
      {"circuit", circuit_work(circuit, sample, cache)},
      {"parameters", read_params_work(sizes.srs_shape(), rates) + file.work, false, file.disk_seconds},
      {"witness", scale * witness_work, true},
  };
  for (const StepTime& step : cuzk::prove_times(sizes, rates)) out.push_back({std::string(step.name), step.work, true});
  return out;
}

Result<std::vector<StageTime>> setup_times(const CircuitSpec& circuit, const std::string& directory,
                                           const std::string& cache, Progress& progress) {
  const ScopedStage stage(progress, "measuring this machine");
  const Sample sample = make_sample(sample_for(circuit));
  const SrsShape shape = sizes_of(circuit).srs_shape();
  CUZK_ASSIGN(const SetupRates rates, measure_setup_rates(sample.circuit, shape));
  CUZK_ASSIGN(const FileTime file, write_time(directory, params_file_bytes(shape)));
  std::vector<StageTime> out = {{"circuit", circuit_work(circuit, sample, cache)}};
  for (const StepTime& step : cuzk::setup_times(sizes_of(circuit), rates)) {
    out.push_back({std::string(step.name), step.work});
  }
  out.push_back({"write and flush", file.work, false, file.disk_seconds});
  return out;
}

}  // namespace cuzk::app
