// Parameter generation with the points made on a CUDA device, where they stay. Plain C++; in builds with CUZK_CUDA
// only.
#pragma once

#include "base/progress.hpp"
#include "base/result.hpp"
#include "circuit/compiled_circuit.hpp"
#include "gpu/device.hpp"
#include "groth16/device_srs.hpp"
#include "groth16/toxic_waste.hpp"

namespace cuzk {

struct DeviceParameters {
  VerifyingKey vk;
  SrsShape shape;
  DeviceSrs srs;
};

// The same points as setup() of setup.hpp, in the order of `queries` (those of the circuit). The exponents are made on
// the host, as there, and cross the bus in batches; memory: DeviceSrs::resident_bytes() of `memory`, and
// setup_scratch_bytes() of the device's arena meanwhile, which is cleared. Errors: as setup(); kResource.
Result<DeviceParameters> setup_on_device(const CompiledCircuit& circuit, const ToxicWaste& toxic,
                                         const PackedQueries& queries, const DeviceSrsOptions& options,
                                         const gpu::Device& device, gpu::Reservation& memory, const gpu::Stream& stream,
                                         Progress& progress);
uint64_t setup_scratch_bytes();

}  // namespace cuzk
