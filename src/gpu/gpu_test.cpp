// The parts of gpu/ that need no GPU.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "gpu/arena_layout.hpp"
#include "gpu/device.hpp"
#include "gpu/error.hpp"
#include "gpu/unusable.hpp"

namespace cuzk::gpu {
namespace {

constexpr uint64_t kGranule = ArenaLayout::kGranularityBytes;

uint64_t offset_of(Result<ArenaLayout::Range> range) { return range.ok() ? range.value().offset : UINT64_MAX; }

TEST(DeviceInfo, FullRateFp64ByCapability) {
  const auto has = [](int major, int minor) {
    DeviceInfo info;
    info.compute_major = major;
    info.compute_minor = minor;
    return info.has_full_rate_fp64();
  };
  EXPECT_TRUE(has(8, 0) && has(9, 0) && has(10, 0));
  EXPECT_FALSE(has(7, 5) || has(8, 6) || has(8, 9) || has(10, 3) || has(12, 0));
}

TEST(ArenaLayout, GivesFromBothEndsAndRoundsUp) {
  ArenaLayout layout(10 * kGranule + 17);
  EXPECT_EQ(layout.capacity_bytes(), 10 * kGranule);
  EXPECT_EQ(offset_of(layout.allocate(1, 1, Placement::kLow)), 0U);
  EXPECT_EQ(offset_of(layout.allocate(kGranule + 1, 1, Placement::kLow)), kGranule);
  EXPECT_EQ(offset_of(layout.allocate(0, 1, Placement::kHigh)), 9 * kGranule);
  EXPECT_EQ(offset_of(layout.allocate(3 * kGranule, 1, Placement::kHigh)), 6 * kGranule);
  EXPECT_EQ(layout.used_bytes(), 7 * kGranule);
  EXPECT_EQ(layout.largest_free_bytes(), 3 * kGranule);
  EXPECT_EQ(layout.ranges_in_use(), 4U);
}

TEST(ArenaLayout, Alignment) {
  ArenaLayout layout(64 * kGranule);
  ASSERT_EQ(offset_of(layout.allocate(1, 1, Placement::kLow)), 0U);
  EXPECT_EQ(offset_of(layout.allocate(1, 16 * kGranule, Placement::kLow)), 16 * kGranule);
  // What alignment skipped stays free.
  EXPECT_EQ(offset_of(layout.allocate(15 * kGranule, 1, Placement::kLow)), kGranule);
  EXPECT_EQ(offset_of(layout.allocate(1, 32 * kGranule, Placement::kHigh)), 32 * kGranule);
  EXPECT_EQ(offset_of(layout.allocate(31 * kGranule, 1, Placement::kHigh)), 33 * kGranule);
}

TEST(ArenaLayout, ExhaustionIsAnErrorThatNamesTheSizes) {
  ArenaLayout layout(4 * kGranule);
  for (const uint64_t bytes : {5 * kGranule, UINT64_MAX, UINT64_MAX - kGranule}) {
    EXPECT_FALSE(layout.allocate(bytes, 1, Placement::kLow).ok());
  }
  ASSERT_EQ(offset_of(layout.allocate(4 * kGranule, 1, Placement::kLow)), 0U);
  const auto full = layout.allocate(1, 1, Placement::kHigh);
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().error_class, ErrorClass::kResource);
  EXPECT_NE(full.error().message.find("1 bytes do not fit; 0 of 1024 are free, 0 in one piece"), std::string::npos);
  layout.release(0, {});
  EXPECT_EQ(layout.used_bytes(), 0U);
  EXPECT_EQ(layout.peak_bytes(), 4 * kGranule);
  EXPECT_EQ(offset_of(layout.allocate(4 * kGranule, 1, Placement::kHigh)), 0U);
  EXPECT_FALSE(ArenaLayout(0).allocate(0, 1, Placement::kLow).ok());
}

TEST(ArenaLayout, FragmentedSpaceIsNotOnePieceUntilNeighboursAreFree) {
  ArenaLayout layout(6 * kGranule);
  for (uint64_t i = 0; i < 6; ++i) ASSERT_EQ(offset_of(layout.allocate(1, 1, Placement::kLow)), i * kGranule);
  for (const uint64_t i : {0, 2, 4}) layout.release(i * kGranule, {});
  EXPECT_EQ(layout.free_bytes(), 3 * kGranule);
  EXPECT_EQ(layout.largest_free_bytes(), kGranule);
  EXPECT_FALSE(layout.allocate(2 * kGranule, 1, Placement::kLow).ok());
  layout.release(3 * kGranule, {});  // between two free ranges
  EXPECT_EQ(layout.largest_free_bytes(), 3 * kGranule);
  layout.release(1 * kGranule, {});
  EXPECT_EQ(layout.largest_free_bytes(), 5 * kGranule);
  layout.release(5 * kGranule, {});  // the last, and nothing is left of any cut
  EXPECT_EQ(layout.largest_free_bytes(), 6 * kGranule);
  EXPECT_EQ(layout.ranges_in_use(), 0U);
}

TEST(ArenaLayout, TicketsFollowTheMemory) {
  ArenaLayout layout(4 * kGranule, {{7, 1}});
  auto first = layout.allocate(2 * kGranule, 1, Placement::kLow);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->after, (std::vector<StreamTicket>{{7, 1}}));
  auto second = layout.allocate(2 * kGranule, 1, Placement::kLow);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->after, (std::vector<StreamTicket>{{7, 1}}));
  const StreamTicket on_one{1, 5}, on_two[] = {{2, 9}, {1, 3}};
  layout.release(0, {&on_one, 1});
  layout.release(2 * kGranule, on_two);
  // Joined: the latest of each stream.
  EXPECT_EQ(layout.tickets(), (std::vector<StreamTicket>{{1, 5}, {2, 9}}));
  auto part = layout.allocate(kGranule, 1, Placement::kHigh);
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->after, (std::vector<StreamTicket>{{1, 5}, {2, 9}}));
  layout.release(part->offset, {});  // what replaced the tickets was used without need to wait
  EXPECT_EQ(layout.tickets(), (std::vector<StreamTicket>{{1, 5}, {2, 9}}));
}

// Any sequence, against a map of bytes.
TEST(ArenaLayout, RandomSequences) {
  std::mt19937_64 rng(1);
  for (int round = 0; round < 20; ++round) {
    constexpr uint64_t kGranules = 200;
    ArenaLayout layout(kGranules * kGranule);
    std::vector<int> owner(kGranules, 0);
    std::map<uint64_t, uint64_t> held;  // offset, granules
    for (int step = 1; step < 600; ++step) {
      if (held.empty() || rng() % 5 < 3) {
        const uint64_t granules = 1 + rng() % 40, alignment = kGranule << (rng() % 4);
        const auto placement = rng() % 2 == 0 ? Placement::kLow : Placement::kHigh;
        const auto range = layout.allocate(granules * kGranule - rng() % kGranule, alignment, placement);
        if (!range.ok()) {  // then there is really no place
          for (uint64_t begin = 0; begin + granules <= kGranules; begin += alignment / kGranule) {
            bool free = true;
            for (uint64_t i = begin; i < begin + granules; ++i) free = free && owner[i] == 0;
            ASSERT_FALSE(free);
          }
          continue;
        }
        ASSERT_EQ(range->offset % alignment, 0U);
        ASSERT_EQ(range->bytes, granules * kGranule);
        const uint64_t begin = range->offset / kGranule;
        ASSERT_LE(begin + granules, kGranules);
        for (uint64_t i = begin; i < begin + granules; ++i) {
          ASSERT_EQ(owner[i], 0);
          owner[i] = step;
        }
        held[range->offset] = granules;
      } else {
        auto victim = std::next(held.begin(), static_cast<std::ptrdiff_t>(rng() % held.size()));
        layout.release(victim->first, {});
        for (uint64_t i = 0; i < victim->second; ++i) owner[victim->first / kGranule + i] = 0;
        held.erase(victim);
      }
      uint64_t used = 0;
      for (const int o : owner) used += o != 0 ? kGranule : 0;
      ASSERT_EQ(layout.used_bytes(), used);
      ASSERT_EQ(layout.ranges_in_use(), held.size());
    }
    for (const auto& [offset, granules] : held) layout.release(offset, {});
    EXPECT_EQ(layout.largest_free_bytes(), layout.capacity_bytes());
  }
}

TEST(ArenaLayoutDeath, ReleasingWhatIsNotHeldIsABug) {
  ArenaLayout layout(4 * kGranule);
  EXPECT_DEATH(layout.release(0, {}), "");
  (void)layout.allocate(1, 1, Placement::kLow);
  layout.release(0, {});
  EXPECT_DEATH(layout.release(0, {}), "");
  EXPECT_DEATH(layout.release(kGranule, {}), "");
}

TEST(GpuError, ClassesByStatus) {
  const auto class_of = [](int status) { return cuda_error(status, "name", "text", "call(x, y)").error_class; };
  EXPECT_EQ(class_of(2), ErrorClass::kResource);
  EXPECT_EQ(class_of(700), ErrorClass::kDeviceFault);
  EXPECT_EQ(class_of(719), ErrorClass::kDeviceFault);
  EXPECT_EQ(class_of(214), ErrorClass::kDeviceFault);
  EXPECT_EQ(class_of(209), ErrorClass::kDeviceUnusable);
  EXPECT_EQ(class_of(35), ErrorClass::kDeviceUnusable);
  EXPECT_EQ(class_of(46), ErrorClass::kInternal);  // cudaErrorDevicesUnavailable: busy, or in exclusive use
  for (const int status : {1, 2, 46, 209, 700}) EXPECT_EQ(remedy_of(class_of(status)), remedy_of_status(status));
  EXPECT_EQ(cuda_error(700, "cudaErrorIllegalAddress", "an illegal memory access", "cudaMemcpyAsync(a, b)").message,
            "cudaMemcpyAsync failed: cudaErrorIllegalAddress (an illegal memory access)");
}

TEST(GpuError, NoUsableGpuIsOneClearLine) {
  const auto startup = [](int status, int driver) -> std::string {
    const auto error = startup_error(status, driver, 13000);
    if (!error) return "";
    const bool none = status == 100 || driver == 0;
    EXPECT_EQ(error->error_class, none ? ErrorClass::kNotFound : ErrorClass::kDeviceUnusable) << status;
    return error->message;
  };
  EXPECT_EQ(startup(0, 13000), "");
  EXPECT_EQ(startup(700, 13000), "");
  EXPECT_EQ(startup(35, 0), "no NVIDIA driver is loaded on this machine");
  EXPECT_EQ(startup(34, 0), startup(35, 0));
  EXPECT_EQ(startup(35, 12080), "the NVIDIA driver is too old: it supports CUDA 12.8, and this build needs 13.0");
  EXPECT_EQ(startup(100, 13000), "the NVIDIA driver shows no GPU (does CUDA_VISIBLE_DEVICES hide them?)");
  for (const int status : {802, 803, 804}) {
    EXPECT_NE(startup(status, 12080).find("NVIDIA driver"), std::string::npos) << status;
    EXPECT_EQ(startup(status, 12080).find('\n'), std::string::npos) << status;
    EXPECT_EQ(remedy_of_status(status), Remedy::kGiveUpDevice) << status;
  }
}

TEST(GpuError, NoCodeForTheDeviceNamesIt) {
  const auto kernel = [](int status) -> std::string {
    const auto error = kernel_error(status, "Tesla V100", 7, 0);
    if (!error) return "";
    EXPECT_EQ(error->error_class, ErrorClass::kDeviceUnusable);
    return error->message;
  };
  EXPECT_EQ(kernel(0), "");
  EXPECT_EQ(kernel(2), "");
  for (const int status : {98, 200, 209}) {
    EXPECT_EQ(kernel(status), "this build has no code for Tesla V100 (compute capability 7.0)") << status;
  }
  EXPECT_EQ(kernel(222),
            "this build has no code for Tesla V100 (compute capability 7.0) but for a newer NVIDIA driver to compile");
}

DeviceInfo device(int index, const char* uuid) {
  DeviceInfo info;
  info.index = index;
  info.uuid = uuid;
  info.name = "GPU";
  return info;
}

TEST(FindDevice, ByNumberAndUuid) {
  const std::vector<DeviceInfo> devices = {device(0, "GPU-12345678-aaaa-0000-0000-000000000000"),
                                           device(1, "GPU-12345678-bbbb-0000-0000-000000000000"),
                                           device(2, "GPU-fedcba98-bbbb-0000-0000-000000000000")};
  const auto index = [&](std::string_view name) {
    const auto found = find_device(devices, name);
    return found.ok() ? found->index : -1;
  };
  EXPECT_EQ(index("0"), 0);
  EXPECT_EQ(index("2"), 2);
  EXPECT_EQ(index("GPU-12345678-bbbb-0000-0000-000000000000"), 1);
  EXPECT_EQ(index("gpu-FEDCBA98"), 2);
  EXPECT_EQ(index("12345678-a"), 0);
  for (const char* wrong : {"", "3", "-1", "1x", "12345678", "fedcba9", "GPU-", "99999999999999999999"}) {
    EXPECT_EQ(index(wrong), -1) << wrong;
  }
  const auto error = find_device(devices, "7").error();
  EXPECT_EQ(error.error_class, ErrorClass::kNotFound);
  EXPECT_NE(error.message.find("no GPU is called '7'; there are: 0 GPU-12345678-aaaa"), std::string::npos);
  EXPECT_NE(find_device(devices, "12345678").error().message.find("more than one"), std::string::npos);
}

TEST(ListDevices, OneLineWhereThereIsNone) {
  const auto devices = list_devices();
  if (devices.ok()) {
    for (size_t i = 0; i < devices->size(); ++i) {
      EXPECT_EQ((*devices)[i].index, static_cast<int>(i));
      EXPECT_TRUE(find_device(*devices, (*devices)[i].uuid).ok());
    }
    return;
  }
  EXPECT_EQ(devices.error().message.find('\n'), std::string::npos);
  EXPECT_FALSE(devices.error().message.empty());
  EXPECT_FALSE(retry_helps(devices.error().error_class));
}

}  // namespace
}  // namespace cuzk::gpu
