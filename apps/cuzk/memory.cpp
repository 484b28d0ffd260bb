#include "cuzk/memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <string>

#include "base/memory_limit.hpp"
#include "filecoin/compiled_figures.hpp"
#include "groth16/cpu_backend.hpp"
#include "groth16/device_memory.hpp"
#include "groth16/setup.hpp"
#include "parallel/parallel.hpp"
#include "srs/params_file.hpp"

namespace cuzk::app {
namespace {

// The program itself, its libraries (most of it: those of the daemon) and threads: measured, 15.3 MB after start, 17 to
// 20 MB when the code of a setup or a proof has run.
constexpr uint64_t kProgramBytes = 18'000'000;

std::string of(const char* work, const CircuitSpec& circuit) { return work + std::string(circuit.id()); }

void append(std::vector<StepMemory>& to, const std::vector<StepMemory>& steps, uint64_t held_bytes) {
  for (const StepMemory& step : steps) to.push_back({step.name, held_bytes + step.bytes});
}

}  // namespace

void return_freed_memory() {
#if defined(M_MMAP_THRESHOLD)
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

std::vector<StepMemory> prove_memory(const CircuitSpec& circuit, size_t threads) {
  const CircuitSizes sizes = sizes_of(circuit);
  const uint64_t with_circuit = kProgramBytes + sizes.compiled_bytes;
  const uint64_t with_parameters = with_circuit + srs_bytes(sizes.srs_shape());
  const uint64_t with_witness = with_parameters + sizes.witness_bytes();
  std::vector<StepMemory> out = {
      {"circuit", kProgramBytes + compiled_figures(circuit).compiling_bytes()},
      {"parameters", with_parameters + read_params_scratch_bytes(threads)},
      {"witness", with_witness + sizes.bits / 8},  // bits are copied once
  };
  append(out, CpuBackend::memory(sizes, threads), with_witness);
  append(out, {{"assemble", 0}, {"self-check", 0}}, with_witness);
  return out;
}

std::vector<StepMemory> setup_memory(const CircuitSpec& circuit, size_t threads) {
  const CircuitSizes sizes = sizes_of(circuit);
  std::vector<StepMemory> out = {{"circuit", kProgramBytes + compiled_figures(circuit).compiling_bytes()}};
  append(out, cuzk::setup_memory(sizes, threads), kProgramBytes + sizes.compiled_bytes);
  return out;
}

Status check_prove_memory(const CircuitSpec& circuit) {
  return check_memory(peak_bytes(prove_memory(circuit, parallel_threads())), of("proving on the CPU ", circuit));
}

Result<GpuMemory> gpu_memory(const CircuitSpec& circuit, unsigned multiprocessors, const DeviceTables& tables) {
  const CircuitSizes sizes = sizes_of(circuit);
  CUZK_ASSIGN(const DeviceMemory device, device_memory(sizes, multiprocessors, 1, tables));
  const DeviceHostMemory host = device_host_memory(sizes);
  // The circuit is compiled, or read, in the process; a witness is there, and copied.
  const uint64_t work =
      std::max({compiled_figures(circuit).compiling_bytes(), host.load_bytes, 2 * sizes.witness_bytes()});
  return GpuMemory{device.resident_bytes, device.scratch_bytes, kProgramBytes + host.process_bytes + work};
}

Status check_device_prove_memory(const CircuitSpec& circuit) {
  CUZK_ASSIGN(const GpuMemory memory, gpu_memory(circuit, kLargeGpu));
  return check_memory(memory.host_bytes, of("proving on a GPU ", circuit));
}

Status check_setup_memory(const CircuitSpec& circuit) {
  return check_memory(peak_bytes(setup_memory(circuit, parallel_threads())), of("setup of ", circuit));
}

Status check_parameters_memory(const SrsShape& points) {
  return check_memory(kProgramBytes + srs_bytes(points) + read_params_scratch_bytes(parallel_threads()),
                      "checking these parameters");
}

}  // namespace cuzk::app
