// Loses a device's context on purpose, for tests of what comes after it. Plain C++; in builds with CUZK_CUDA only.
#pragma once

#include "base/result.hpp"
#include "gpu/device.hpp"

namespace cuzk::gpu {

// A kernel that traps: every later call of this process on the device fails with a sticky error. Errors: none but those
// of a device that is lost already.
Status lose_context(const Device& device);

}  // namespace cuzk::gpu
