// Internal to the CUDA form of msm/: how entries are written. An entry is a key (set and bucket) and a reference to a
// point, 32 bits each.
#pragma once

#include <cstdint>

#include "msm/msm_plan.hpp"

namespace cuzk::msm_detail {

// In a reference: the point is to be subtracted.
inline constexpr uint32_t kNegative = uint32_t{1} << 31;
// References from here on are sums that the entry's thread made, numbered from zero; below, points of the table.
inline constexpr uint32_t kFirstSlot = static_cast<uint32_t>(MsmPlan::kMaxTable);
// In a key: the entry is the second of a pair.
inline constexpr uint32_t kSecond = uint32_t{1} << 31;
// The key of a list of partial sums where a thread had none.
inline constexpr uint32_t kNoKey = kSecond - 1;

}  // namespace cuzk::msm_detail
