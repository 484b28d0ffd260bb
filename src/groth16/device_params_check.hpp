// A .params file checked on a GPU. Builds without CUDA refuse it (_none.cpp).
#pragma once

#include "base/progress.hpp"
#include "base/result.hpp"
#include "curve/encoding.hpp"
#include "gpu/device.hpp"
#include "srs/byte_source.hpp"
#include "srs/layout.hpp"

namespace cuzk {

// The points of h, l, a, b_g1 and b_g2 of a file of that shape (inspect_params() found it so), checked as read_params()
// does, with its errors. None is kept: 100 MB of host and of device memory, whatever the size. Errors besides:
// kUnsupported in builds without CUDA; those of gpu::Device::open().
Status check_params_on_gpu(const gpu::DeviceInfo& gpu, const ByteSource& source, const SrsShape& shape,
                           PointCheck check, Progress& progress);

}  // namespace cuzk
