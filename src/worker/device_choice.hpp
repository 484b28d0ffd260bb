// Which devices to use, from the names that people give them and the GPUs that a machine has. No calls to any driver.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "gpu/device.hpp"
#include "worker/device.hpp"

namespace cuzk {

struct DeviceChoice {
  std::string device;  // for make_worker_backend(): "cpu", "cuda:UUID"
  DeviceInfo info;     // what is known of it before it is in use; ordinals are left at 0
  std::optional<gpu::DeviceInfo> gpu = std::nullopt;
};

// What gpu::list_devices() says.
using FoundGpus = Result<std::vector<gpu::DeviceInfo>>;

// What a worker takes of a GPU that nothing else uses: gpu::ArenaSize's default.
uint64_t usable_gpu_bytes(const gpu::DeviceInfo& gpu);

// The devices of a daemon. Each name is "cpu", the number or the UUID of a GPU (gpu::find_device), or these behind
// "cuda:". Without names all GPUs, and the CPU where this build or this machine has none. Errors: kUsage where a name
// is none or there twice; where a GPU is wanted or there but cannot be used, that of `gpus`.
Result<std::vector<DeviceChoice>> choose_devices(std::span<const std::string> names, const FoundGpus& gpus);

// The device of a command: also "cuda" (the first GPU), and "auto" (the same, or the CPU where there is none).
Result<DeviceChoice> choose_device(std::string_view name, const FoundGpus& gpus);

}  // namespace cuzk
