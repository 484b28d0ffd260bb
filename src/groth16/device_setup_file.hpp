// Parameter generation into a file with the points made on a GPU. Builds without CUDA refuse it (_none.cpp).
#pragma once

#include <string>

#include "base/progress.hpp"
#include "base/result.hpp"
#include "circuit/compiled_circuit.hpp"
#include "gpu/device.hpp"
#include "groth16/toxic_waste.hpp"
#include "srs/srs.hpp"

namespace cuzk {

// setup_to_file() of setup.hpp, byte for byte: the host makes exponents and encodes and writes points, the device
// multiplies, each at work on another batch. Takes 1 GB of device memory, whatever the size, and clears what is secret
// in it. Host memory: as setup_memory(), less the tables. Errors: as setup_to_file(); kUnsupported in builds without
// CUDA; those of gpu::Device::open().
Result<VerifyingKey> setup_to_file_on_gpu(const gpu::DeviceInfo& gpu, const CompiledCircuit& circuit,
                                          const ToxicWaste& toxic, const std::string& path, Progress& progress);

}  // namespace cuzk
