// What a person must know where this process finds no GPU that it can use. Plain C++: statuses are the numbers of
// cudaError_t.
#pragma once

#include <optional>
#include <string_view>

#include "base/error.hpp"

namespace cuzk::gpu {

// Where the first CUDA call of a process found no usable GPU, what a person must know, in one line: kNotFound where
// there is no driver or it shows none, as on a machine without GPUs; kDeviceUnusable where a driver is too old or
// broken. Versions are those of CUDA as cudaDriverGetVersion (0: no driver) and cudaRuntimeGetVersion give them.
// Nothing for other statuses.
std::optional<Error> startup_error(int cuda_status, int driver_version, int runtime_version);

// The same where a device's name and compute capability are known and a kernel of this build was asked for.
std::optional<Error> kernel_error(int cuda_status, std::string_view device, int major, int minor);

}  // namespace cuzk::gpu
