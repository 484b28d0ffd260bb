// Any bytes are either refused or the exact encoding of the verifying key that was read.
#include <algorithm>

#include "base/assert.hpp"
#include "srs/params_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto vk = cuzk::decode_vk(std::span(data, size));
  if (!vk.ok()) {
    CUZK_ASSERT(vk.error().error_class == cuzk::ErrorClass::kCorrupt && vk.error().offset.has_value());
    return 0;
  }
  const auto encoded = cuzk::encode_vk(*vk);
  CUZK_ASSERT(std::equal(encoded.begin(), encoded.end(), data, data + size));
  return 0;
}
