// A worker's backend on a GPU. In builds without CUDA it is refused (gpu_worker_none.cpp).
#pragma once

#include <memory>
#include <string_view>

#include "worker/backend.hpp"

namespace cuzk {

// The GPU that gpu::find_device() finds by `name`, the first where it is empty. Takes the GPU's memory, all but a
// margin; several circuits share it. Errors: as make_worker_backend().
Result<std::unique_ptr<WorkerBackend>> make_cuda_worker(std::string_view name, uint32_t ordinal);

}  // namespace cuzk
