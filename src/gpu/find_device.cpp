#include <algorithm>
#include <cctype>
#include <charconv>

#include "gpu/device.hpp"

namespace cuzk::gpu {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out.starts_with("gpu-") ? out.substr(4) : out;
}

}  // namespace

Result<DeviceInfo> find_device(std::span<const DeviceInfo> devices, std::string_view name) {
  int index = -1;
  const auto [end, parse_error] = std::from_chars(name.data(), name.data() + name.size(), index);
  const bool is_number = parse_error == std::errc() && end == name.data() + name.size();
  const DeviceInfo* found = nullptr;
  size_t matches = 0;
  for (const DeviceInfo& device : devices) {
    // Eight digits of a UUID may be decimal; no machine has so many devices.
    const bool by_number = is_number && device.index == index;
    const std::string wanted = lower(name);
    const bool by_uuid = wanted.size() >= 8 && lower(device.uuid).starts_with(wanted);
    if (by_number || by_uuid) {
      found = &device;
      ++matches;
    }
  }
  if (matches == 1) return *found;
  std::string known;
  for (const DeviceInfo& device : devices) {
    known += (known.empty() ? "" : ", ") + std::to_string(device.index) + " " + device.uuid + " (" + device.name + ")";
  }
  return Error(ErrorClass::kNotFound, (matches == 0 ? "no GPU is called '" : "more than one GPU is called '") +
                                          std::string(name) + "'; there are: " + (known.empty() ? "none" : known));
}

}  // namespace cuzk::gpu
