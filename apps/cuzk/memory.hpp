// What commands need of the machine's memory, known before they begin: `cuzk plan` shows it, prove and setup refuse
// by it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "filecoin/circuit_spec.hpp"
#include "groth16/device_memory.hpp"
#include "groth16/memory.hpp"
#include "residency/circuit_sizes.hpp"
#include "srs/layout.hpp"

namespace cuzk::app {

// Makes the allocator give blocks of a megabyte and more back when they are freed, always: by default it learns from
// frees to keep up to 64 MiB of them. Call once, at the start.
void return_freed_memory();

// What `cuzk prove` and `cuzk setup` hold during each of their stages, the program itself included: the resident set.
// The request is not counted (150 MB for the largest). Partitions are proved one after the other.
std::vector<StepMemory> prove_memory(const CircuitSpec& circuit, size_t threads);
std::vector<StepMemory> setup_memory(const CircuitSpec& circuit, size_t threads);

// Of a circuit on a GPU with so many multiprocessors: its memory while the circuit is loaded and, beside that, while a
// proof is made; and the host's at most.
struct GpuMemory {
  uint64_t resident_bytes = 0, scratch_bytes = 0, host_bytes = 0;
};
inline constexpr unsigned kLargeGpu = 132;  // multiprocessors of an H100 or H200
// Errors: kUsage where the circuit is too large for a device.
Result<GpuMemory> gpu_memory(const CircuitSpec& circuit, unsigned multiprocessors, const DeviceTables& tables = {});

// Each refuses (kResource) where the command would need more than there is.
Status check_prove_memory(const CircuitSpec& circuit);
Status check_device_prove_memory(const CircuitSpec& circuit);  // of proving on a GPU
Status check_setup_memory(const CircuitSpec& circuit);
// Of reading parameters with this many points.
Status check_parameters_memory(const SrsShape& points);

}  // namespace cuzk::app
