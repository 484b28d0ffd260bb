#include "cuzk/device_option.hpp"

namespace cuzk::app {

void add_device_option(CLI::App* command, std::string& device) {
  command->add_option("--device", device,
                      "cpu, cuda, cuda:NUMBER or cuda:UUID; default: auto, the first GPU and without one the CPU");
}

Result<DeviceChoice> find_device_option(const std::string& device) {
  // The driver is asked only where that may matter.
  return choose_device(device, device == "cpu" ? FoundGpus(std::vector<gpu::DeviceInfo>()) : gpu::list_devices());
}

}  // namespace cuzk::app
