#include "worker/device_choice.hpp"

#include <algorithm>
#include <utility>

#include "worker/backend.hpp"

namespace cuzk {
namespace {

DeviceChoice cpu() {
  DeviceChoice out{"cpu", {}};
  out.info.name = "CPU";
  return out;
}

DeviceChoice on(const gpu::DeviceInfo& gpu) {
  DeviceChoice out{"cuda:" + gpu.uuid, {}};
  out.info.name = gpu.name;
  out.info.uuid = gpu.uuid;
  out.info.is_gpu = true;
  out.info.multiprocessors = static_cast<uint32_t>(gpu.multiprocessors);
  out.info.memory_total_bytes = gpu.memory_bytes;
  out.gpu = gpu;
  out.info.memory_usable_bytes = out.info.memory_free_bytes = usable_gpu_bytes(gpu);
  return out;
}

// Neither this build nor this machine has any; a driver that is too old is something else.
bool are_none(const FoundGpus& gpus) {
  if (gpus.ok()) return gpus->empty();
  return gpus.error().error_class == ErrorClass::kUnsupported || gpus.error().error_class == ErrorClass::kNotFound;
}

Result<DeviceChoice> find(std::string_view name, const FoundGpus& gpus) {
  if (!gpus.ok()) return gpus.error();
  CUZK_ASSIGN(const gpu::DeviceInfo found, gpu::find_device(*gpus, name));
  return on(found);
}

}  // namespace

uint64_t usable_gpu_bytes(const gpu::DeviceInfo& gpu) {
  const uint64_t margin = std::max(uint64_t{512} << 20, gpu.memory_bytes / 32);
  return gpu.memory_bytes - std::min(gpu.memory_bytes, margin);
}

Result<std::vector<DeviceChoice>> choose_devices(std::span<const std::string> names, const FoundGpus& gpus) {
  std::vector<DeviceChoice> out;
  if (names.empty()) {
    if (are_none(gpus)) return std::vector<DeviceChoice>{cpu()};
    if (!gpus.ok()) return gpus.error();
    for (const gpu::DeviceInfo& gpu : *gpus) out.push_back(on(gpu));
    return out;
  }
  for (const std::string& name : names) {
    DeviceChoice choice = cpu();
    if (name != "cpu") {
      Result<DeviceChoice> found = find(cuda_device_name(name).value_or(name), gpus);
      if (!found.ok()) {
        Error error = std::move(found).error();
        if (error.error_class != ErrorClass::kDeviceUnusable) error.error_class = ErrorClass::kUsage;
        return error;
      }
      choice = std::move(found).value();
    }
    const bool twice = std::any_of(out.begin(), out.end(), [&](const auto& o) { return o.device == choice.device; });
    if (twice) return Error(ErrorClass::kUsage, "'" + name + "' names a device that is there already");
    out.push_back(std::move(choice));
  }
  return out;
}

Result<DeviceChoice> choose_device(std::string_view name, const FoundGpus& gpus) {
  if (name == "cpu" || (name == "auto" && are_none(gpus))) return cpu();
  if (name == "auto" || name == "cuda") {
    if (!gpus.ok()) return gpus.error();
    return on(gpus->front());
  }
  if (const auto gpu = cuda_device_name(name)) return find(*gpu, gpus);
  return Error(ErrorClass::kUsage, "there is no device '" + std::string(name) +
                                       "'; devices are auto, cpu, cuda, cuda:NUMBER and cuda:UUID");
}

}  // namespace cuzk
