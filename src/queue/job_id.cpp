#include "queue/job_id.hpp"

#include <array>

#include "base/hex.hpp"
#include "base/random.hpp"

namespace cuzk {

Result<std::string> random_uuid() {
  std::array<uint8_t, 16> bytes;
  CUZK_TRY(os_random(bytes));
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | 0x40);  // version
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);  // variant
  std::string uuid = to_hex(bytes);
  for (const size_t dash : {8, 13, 18, 23}) uuid.insert(dash, 1, '-');
  return uuid;
}

}  // namespace cuzk
