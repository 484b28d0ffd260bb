// What circuits need on a GPU, by the sizes of all of them.
#include "engine/filecoin_proof_service.hpp"

#include <gtest/gtest.h>

namespace cuzk {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

DeviceInfo gpu(uint64_t usable_bytes) {
  return {.name = "a GPU", .is_gpu = true, .memory_usable_bytes = usable_bytes, .multiprocessors = 132};
}

TEST(FilecoinProofService, MoreTogetherTakeMore) {
  const FilecoinProofService service(nullptr, 2);
  for (const CircuitSpec& circuit : circuit_specs()) {
    DeviceNeeds before = service.device_needs(circuit, gpu(135 * kGiB));
    for (uint32_t together = 2; together <= kMostTogether; together *= 2) {
      const DeviceNeeds needs = service.device_needs(circuit, gpu(135 * kGiB), together);
      EXPECT_EQ(needs.device_resident, before.device_resident) << circuit.id();
      EXPECT_EQ(needs.tables, before.tables) << circuit.id();
      EXPECT_GE(needs.device_scratch, before.device_scratch) << circuit.id();
      EXPECT_GT(needs.prove_scratch, before.prove_scratch) << circuit.id();
      before = needs;
    }
    const uint64_t on_cpu = service.device_needs(circuit, {}).prove_scratch;
    EXPECT_EQ(service.device_needs(circuit, {}, 3).prove_scratch, on_cpu + 2 * service.witness_needs(circuit).witness);
  }
}

// Ten partitions of a sector go together on a large GPU.
TEST(FilecoinProofService, MemoryOfALargeGpuIsSpent) {
  const DeviceInfo large = gpu(135 * kGiB), small = gpu(70 * kGiB);
  const CircuitSpec& porep = *circuit_spec_by_id("porep-32g");
  const FilecoinProofService chosen(nullptr, 2), one(nullptr, 2, 1);
  const DeviceNeeds needs = chosen.device_needs(porep, large, 10);
  EXPECT_EQ(needs.tables, (DeviceTables{3, uint64_t{1} << 28}));
  EXPECT_LE(needs.device_resident + needs.device_scratch, large.memory_usable_bytes);
  EXPECT_EQ(chosen.device_needs(porep, small).tables.h_multiples, 1u);
  const DeviceNeeds plain = one.device_needs(porep, large, 10);
  EXPECT_EQ(plain.tables.h_multiples, 1u);
  EXPECT_EQ(plain.device_resident, chosen.device_needs(porep, small).device_resident);
  EXPECT_GT(needs.device_resident, plain.device_resident + 2 * 96 * (uint64_t{1} << 26));
  EXPECT_EQ(chosen.device_needs(*circuit_spec_by_id("winning-32g"), large).tables, DeviceTables());
}

}  // namespace
}  // namespace cuzk
