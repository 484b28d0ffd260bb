#include "cuzk/plan_rates.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <thread>

#include "base/atomic_file.hpp"
#include "base/overloaded.hpp"
#include "cuzk/memory.hpp"
#include "cuzk/stage_progress.hpp"
#include "filecoin/porep_synthetic_input.hpp"
#include "filecoin/post_synthetic.hpp"
#include "filecoin/proof_request.hpp"
#include "filecoin/snap_synthetic.hpp"
#include "parallel/parallel.hpp"
#include "srs/byte_source.hpp"
#include "srs/params_file.hpp"

namespace cuzk::app {
namespace {

constexpr uint64_t kDiskSampleBytes = 64'000'000;

double cpu_now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <class F>
double cpu_seconds_of(const F& f) {
  const double start = cpu_now();
  f();
  return cpu_now() - start;
}

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
  double compile_cpu_seconds;
};

Sample make_sample(const CircuitSpec& circuit) {
  constexpr uint64_t kMostWires = 2'700'000;
  const CircuitSpec* chosen = &circuit;
  for (const CircuitSpec& spec : circuit_specs()) {
    if (spec.kind() == circuit.kind() && spec.counts().aux <= kMostWires) chosen = &spec;
  }
  Sample out{*chosen, {}, 0};
  out.compile_cpu_seconds = cpu_seconds_of([&] { out.circuit = chosen->compile(); });
  return out;
}

// A second read of what was just read tells memory's speed, not the disk's, which is what a next proof sees too.
Result<double> read_seconds(const std::string& params_file, uint64_t bytes) {
  Result<std::unique_ptr<ByteSource>> source = open_file_source(params_file);
  if (!source.ok() || (*source)->size() == 0) return 0.0;
  constexpr uint64_t kStep = 1'000'000;
  const uint64_t size = (*source)->size(), steps = std::min(size, kDiskSampleBytes) / kStep;
  if (steps == 0) return 0.0;
  std::vector<uint8_t> buffer(kStep);
  Status status;
  const double seconds = seconds_of([&] {
    for (uint64_t i = 0; i < steps && status.ok(); ++i) {
      status = (*source)->read(size / steps * i, buffer);
    }
  });
  CUZK_TRY(std::move(status));
  return seconds * ratio(bytes, steps * kStep);
}

Result<double> write_seconds(const std::string& directory, uint64_t bytes) {
  if (!std::filesystem::is_directory(directory)) return 0.0;
  const std::string path = (std::filesystem::path(directory) / "cuzk-plan-disk-sample").string();
  const std::vector<uint8_t> block(1'000'000, 0x55);
  Status status;
  const double seconds = seconds_of([&] {
    Result<AtomicFile> file = AtomicFile::create(path);
    if (!file.ok()) {
      status = std::move(file).error();
      return;
    }
    for (uint64_t written = 0; written < kDiskSampleBytes && status.ok(); written += block.size()) {
      status = file->write(block);
    }
    if (status.ok()) status = file->commit();
  });
  std::filesystem::remove(path);
  CUZK_TRY(std::move(status));
  return seconds * ratio(bytes, kDiskSampleBytes);
}

}  // namespace

double StageTime::seconds() const {
  const size_t processors = std::max(1u, std::thread::hardware_concurrency());
  const size_t threads = parallel ? std::min(parallel_threads(), processors) : 1;
  return cpu_seconds / static_cast<double>(threads) + disk_seconds;
}

Result<std::vector<StageTime>> prove_times(const CircuitSpec& circuit, const std::string& params_file,
                                           Progress& progress) {
  const ScopedStage stage(progress, "measuring this machine");
  const Sample sample = make_sample(circuit);
  const CircuitSizes sizes = sizes_of(circuit), sample_sizes = sizes_of(sample.spec);
  CUZK_ASSIGN(ProofRequest request, synthetic_request(sample.spec));
  Status valid;
  const double check_seconds = cpu_seconds_of([&] { valid = request.validate(); });
  CUZK_TRY(std::move(valid));
  const double witness_seconds = cpu_seconds_of([&] { (void)request.witness(0); });
  const ProofRates rates = measure_proof_rates(sample.circuit);
  CUZK_ASSIGN(const double disk_seconds, read_seconds(params_file, params_file_bytes(sizes.srs_shape())));

  const double scale = ratio(sizes.aux, sample_sizes.aux);
  std::vector<StageTime> out = {
      {"check the input", check_seconds * scale, true, true},
      {"circuit", sample.compile_cpu_seconds * ratio(sizes.compiled_bytes, sample_sizes.compiled_bytes)},
      {"parameters", read_params_cpu_seconds(sizes.srs_shape(), rates), true, false, disk_seconds},
      {"witness", witness_seconds * scale, false, true},
  };
  for (const StepTime& step : cuzk::prove_times(sizes, rates)) {
    out.push_back({std::string(step.name), step.cpu_seconds, step.parallel, true});
  }
  return out;
}

Result<std::vector<StageTime>> setup_times(const CircuitSpec& circuit, const std::string& directory,
                                           Progress& progress) {
  const ScopedStage stage(progress, "measuring this machine");
  const Sample sample = make_sample(circuit);
  const CircuitSizes sizes = sizes_of(circuit);
  const SrsShape shape = sizes.srs_shape();
  const SetupRates rates = measure_setup_rates(sample.circuit, shape);
  CUZK_ASSIGN(const double disk_seconds, write_seconds(directory, params_file_bytes(shape)));
  std::vector<StageTime> out = {
      {"circuit", sample.compile_cpu_seconds * ratio(sizes.compiled_bytes, sizes_of(sample.spec).compiled_bytes)}};
  for (const StepTime& step : cuzk::setup_times(sizes, rates)) {
    out.push_back({std::string(step.name), step.cpu_seconds, step.parallel});
  }
  out.push_back({"write and flush", 0, false, false, disk_seconds});
  return out;
}

}  // namespace cuzk::app
