// What a circuit takes of a GPU's memory, told before it is compiled: a pure function of its sizes. Plain C++, in all
// builds, since a daemon plans with it for workers that it has not started.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "groth16/memory.hpp"

namespace cuzk {

// Upper bounds, a few percent above what CudaBackend says of itself once it is there (resident_bytes(),
// scratch_bytes(); tests/stack/prove_cuda_check.cpp compares).
struct DeviceMemory {
  uint64_t resident_bytes = 0;  // circuit and parameters
  uint64_t scratch_bytes = 0;   // the most of loading them and of proofs, made together
};

// What memory can be given for speed (CudaBackendOptions).
struct DeviceTables {
  uint32_t h_multiples = 1;    // of the points of h, kept in device memory
  uint64_t h_max_entries = 0;  // of the sum over h, sorted and added at a time; 0: by tuning
  friend bool operator==(const DeviceTables&, const DeviceTables&) = default;
};
inline constexpr uint32_t kMostMultiples = 4;

// `multiprocessors`: of the device; `witnesses`: proved together at most, 1 to MsmPlan::kMaxWitnesses. Errors: kUsage
// where a sum is too large for a device.
Result<DeviceMemory> device_memory(const CircuitSizes& circuit, unsigned multiprocessors, unsigned witnesses = 1,
                                   const DeviceTables& tables = {});

// What a device of so much memory for circuits and proofs is to spend on one of large domain (2^22 and more): with
// proving at most eight tenths, and multiples before entries. `h_multiples`, 1 to kMostMultiples: that many, or as many
// as fit at all; 0: up to three, as many as leave a fifth. Measured on an H200 with ten partitions of a 32 GiB PoRep:
// three multiples and 2^28 entries were best, 860 ms a partition, some 60 ms less than with one.
DeviceTables choose_tables(const CircuitSizes& circuit, unsigned multiprocessors, uint64_t usable_bytes,
                           uint32_t h_multiples);

// Host memory of a GPU's worker: of its process, driver and pinned slabs included, at all times; while a circuit is
// loaded, beside that; and while so many proofs are made together: their witnesses on the way to it, and its copy of
// the one that it reads.
struct DeviceHostMemory {
  uint64_t process_bytes = 0, load_bytes = 0, prove_bytes = 0;
};
DeviceHostMemory device_host_memory(const CircuitSizes& circuit, unsigned witnesses = 1);

}  // namespace cuzk
