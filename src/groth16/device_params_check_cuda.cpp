#include "groth16/device_params.hpp"
#include "groth16/device_params_check.hpp"

namespace cuzk {

Status check_params_on_gpu(const gpu::DeviceInfo& gpu, const ByteSource& source, const SrsShape& shape,
                           PointCheck check, Progress& progress) {
  CUZK_ASSIGN(const gpu::Device device, gpu::Device::open(gpu, {.bytes = 2 * DeviceParamsLoader::staging_bytes()}));
  CUZK_ASSIGN(DeviceParamsLoader loader, DeviceParamsLoader::create(device));
  return loader.check(source, shape, check, progress);
}

}  // namespace cuzk
