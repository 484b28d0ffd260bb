#include "format/fr32.hpp"

#include <algorithm>
#include <string>

#include "base/assert.hpp"

namespace cuzk {
namespace {

constexpr uint64_t kNodeBits = 254;

}  // namespace

std::vector<NodeBytes> fr32_pad(std::span<const uint8_t> data, uint64_t nodes) {
  CUZK_ASSERT(nodes % 4 == 0 && data.size() <= fr32_data_bytes(nodes));
  std::vector<NodeBytes> out(nodes);
  const auto byte = [&](uint64_t i) { return i < data.size() ? uint32_t{data[i]} : 0; };
  for (uint64_t node = 0; node < nodes; ++node) {
    const uint64_t first = node * kNodeBits / 8;
    const uint32_t shift = node * kNodeBits % 8;
    if (first >= data.size()) break;
    for (uint64_t i = 0; i < kNodeBytes; ++i) {
      out[node][i] = static_cast<uint8_t>((byte(first + i) | byte(first + i + 1) << 8) >> shift);
    }
    trim_to_fr(out[node]);
  }
  return out;
}

Result<std::vector<NodeBytes>> sector_data(std::span<const uint8_t> content, uint64_t nodes) {
  const uint64_t padded = nodes * kNodeBytes;
  if (content.size() <= fr32_data_bytes(nodes)) return fr32_pad(content, nodes);
  if (content.size() != padded) {
    return Error(ErrorClass::kInvalidInput, "has " + std::to_string(content.size()) + " bytes; a sector takes up to " +
                                                std::to_string(fr32_data_bytes(nodes)) + ", or " +
                                                std::to_string(padded) + " that are fr32-padded already");
  }
  std::vector<NodeBytes> out(nodes);
  for (uint64_t node = 0; node < nodes; ++node) {
    std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(node * kNodeBytes), kNodeBytes, out[node].begin());
    if (out[node][kNodeBytes - 1] < 0x40) continue;
    return Error(ErrorClass::kInvalidInput,
                 "is as long as the sector, but not fr32-padded: this node has more than 254 "
                 "bits")
        .at_offset(node * kNodeBytes);
  }
  return out;
}

}  // namespace cuzk
