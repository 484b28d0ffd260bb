// The memory of a GPU that is foretold, against sizes counted in compiled circuits; tests/stack/params_cuda_check.cpp
// compares with what a device takes.
#include "groth16/device_memory.hpp"

#include <gtest/gtest.h>

#include <random>

#include "circuit/packed_form.hpp"
#include "groth16/groth16_test_support.hpp"
#include "groth16/packed_query.hpp"
#include "groth16/setup.hpp"
#include "msm/msm_plan.hpp"

namespace cuzk {
namespace {

constexpr unsigned kMultiprocessors = 132;

uint64_t counted_bytes(const CompiledCircuit& circuit) {
  const PackedSystem system = packed_form(circuit);
  uint64_t total = system.coefficients.size_bytes() + system.instances.size() * sizeof(PackedInstance) +
                   system.ports.size() * sizeof(PackedPlace) + system.hash_inputs.size() * sizeof(PackedColumn) +
                   system.jobs.size() * sizeof(PackedHashJob);
  for (const PackedBlock& block : system.blocks) {
    for (const PackedRows& rows : block.matrices) {
      total += rows.row_start.size_bytes() + rows.column.size() * sizeof(PackedColumn) + rows.coefficient.size_bytes();
    }
    total += block.field_runs.size() * sizeof(PackedFieldRun);
  }
  const PackedQueries queries = packed_queries(circuit);
  for (const PackedQuery* query : {&queries.l, &queries.a, &queries.b}) {
    if (query->bits.size() != circuit.num_bits) total += 4 * query->bits.size();
    total += 4 * query->values.size();
  }
  return total + srs_bytes(srs_shape(circuit));
}

TEST(DeviceMemory, CoversWhatIsCounted) {
  std::mt19937_64 rng(11);
  for (const size_t rows : {1, 100, 5000, 40'000}) {
    const test::Instance made = test::random_instance(rng, rows);
    const Result<DeviceMemory> memory = device_memory(sizes_of(made.circuit), kMultiprocessors);
    ASSERT_TRUE(memory.ok());
    const uint64_t counted = counted_bytes(made.circuit);
    EXPECT_GE(memory->resident_bytes, counted) << rows;
    constexpr uint64_t kTwiddlesAndRoundings = (uint64_t{256} << 16) + (uint64_t{8} << 20);
    EXPECT_LE(memory->resident_bytes, counted + counted / 10 + kTwiddlesAndRoundings) << rows;
    EXPECT_GE(memory->scratch_bytes, 3 * 32 * sizes_of(made.circuit).domain()) << rows;
  }
}

TEST(DeviceMemory, GrowsWithTheCircuit) {
  CircuitSizes sizes{
      .inputs = 3, .aux = 1000, .constraints = 900, .bits = 500, .fields = 100, .a_aux = 800, .b_aux = 700};
  uint64_t resident = 0, scratch = 0;
  for (int i = 0; i < 12; ++i) {
    const Result<DeviceMemory> memory = device_memory(sizes, kMultiprocessors);
    ASSERT_TRUE(memory.ok());
    EXPECT_GT(memory->resident_bytes, resident);
    // Points, and an index of four bytes for each of a and b.
    EXPECT_GE(memory->resident_bytes, srs_bytes(sizes.srs_shape()) + 4 * (sizes.a_aux + sizes.b_aux));
    EXPECT_LE(memory->resident_bytes, srs_bytes(sizes.srs_shape()) * 11 / 10 + (uint64_t{80} << 20));
    EXPECT_GE(memory->scratch_bytes, scratch);
    resident = memory->resident_bytes;
    scratch = memory->scratch_bytes;
    for (uint64_t* size : {&sizes.aux, &sizes.constraints, &sizes.bits, &sizes.fields, &sizes.a_aux, &sizes.b_aux}) {
      *size *= 2;
    }
  }
  const DeviceHostMemory host = device_host_memory(sizes);
  EXPECT_GE(host.load_bytes, 8 * (sizes.aux + sizes.a_aux + sizes.b_aux));
  EXPECT_GE(host.prove_bytes, sizes.witness_bytes());
}

constexpr CircuitSizes kPorep32g{.inputs = 23,
                                 .aux = 130'000'000,
                                 .constraints = 130'278'541,
                                 .bits = 125'000'000,
                                 .fields = 500'000,
                                 .a_aux = 100'000'000,
                                 .b_aux = 110'000'000,
                                 .compiled_bytes = 328'000'000};

// Each further witness has its bits and its sums; buckets for all patterns of bits are few beside those.
TEST(DeviceMemory, GrowsWithTheWitnessesThatGoTogether) {
  const uint64_t resident = device_memory(kPorep32g, kMultiprocessors)->resident_bytes;
  uint64_t before = 0;
  for (unsigned together = 1; together <= MsmPlan::kMaxWitnesses; ++together) {
    const Result<DeviceMemory> memory = device_memory(kPorep32g, kMultiprocessors, together);
    ASSERT_TRUE(memory.ok());
    EXPECT_EQ(memory->resident_bytes, resident);
    if (together > 1) {
      EXPECT_GE(memory->scratch_bytes, before + kPorep32g.bits / 8);
      EXPECT_LE(memory->scratch_bytes, before + 3 * kPorep32g.bits / 8 + (uint64_t{64} << 20));
    }
    before = memory->scratch_bytes;
    EXPECT_EQ(device_host_memory(kPorep32g, together).prove_bytes, (together + 1) * kPorep32g.witness_bytes());
  }
  EXPECT_FALSE(device_memory(kPorep32g, kMultiprocessors, MsmPlan::kMaxWitnesses + 1).ok());
}

uint64_t total_of(const CircuitSizes& circuit, const DeviceTables& tables) {
  const Result<DeviceMemory> memory = device_memory(circuit, kMultiprocessors, 1, tables);
  EXPECT_TRUE(memory.ok());
  return memory->resident_bytes + memory->scratch_bytes;
}

TEST(DeviceTables, EachMultipleIsAsLargeAsH) {
  const uint64_t h = sizeof(G1Affine) * kPorep32g.srs_shape().h;
  const uint64_t alone = device_memory(kPorep32g, kMultiprocessors)->resident_bytes;
  for (uint32_t multiples = 1; multiples <= kMostMultiples; ++multiples) {
    EXPECT_EQ(device_memory(kPorep32g, kMultiprocessors, 1, {multiples, 0})->resident_bytes,
              alone + (multiples - 1) * h);
  }
  // 88 bytes an entry.
  const uint64_t more = total_of(kPorep32g, {1, uint64_t{1} << 28}) - total_of(kPorep32g, {1, uint64_t{1} << 27});
  EXPECT_GT(more, 80 * (uint64_t{1} << 27));
}

TEST(DeviceTables, UpToThreeAsLeaveAFifth) {
  uint32_t before = 1;
  for (uint64_t gib = 20; gib <= 300; gib += 5) {
    const uint64_t usable = gib << 30;
    const DeviceTables chosen = choose_tables(kPorep32g, kMultiprocessors, usable, 0);
    EXPECT_GE(chosen.h_multiples, before) << gib;
    before = chosen.h_multiples;
    if (chosen == DeviceTables{}) continue;
    EXPECT_LE(total_of(kPorep32g, chosen), usable / 10 * 8) << gib;
    if (chosen.h_multiples < 3) {
      EXPECT_GT(total_of(kPorep32g, {chosen.h_multiples + 1, 0}), usable / 10 * 8) << gib;
    }
    if (chosen.h_max_entries < uint64_t{1} << 28) {
      EXPECT_GT(total_of(kPorep32g, {chosen.h_multiples, uint64_t{1} << 28}), usable / 10 * 8) << gib;
    }
  }
  EXPECT_EQ(before, 3u);
  EXPECT_EQ(choose_tables(kPorep32g, kMultiprocessors, 0, 0), DeviceTables());
}

TEST(DeviceTables, NoneForSmallCircuits) {
  CircuitSizes small{.inputs = 3, .aux = 2'000'000, .constraints = 2'000'000, .bits = 1'500'000, .a_aux = 1'000'000};
  EXPECT_EQ(choose_tables(small, kMultiprocessors, uint64_t{140} << 30, 0), DeviceTables());
  EXPECT_EQ(choose_tables(small, kMultiprocessors, uint64_t{140} << 30, 4), DeviceTables());
  small.constraints = 3'000'000;
  EXPECT_EQ(choose_tables(small, kMultiprocessors, uint64_t{140} << 30, 0).h_multiples, 3u);
}

TEST(DeviceTables, AsManyAsAreAskedForWhereTheyFit) {
  for (uint32_t multiples = 1; multiples <= kMostMultiples; ++multiples) {
    EXPECT_EQ(choose_tables(kPorep32g, kMultiprocessors, uint64_t{300} << 30, multiples).h_multiples, multiples);
    const uint64_t exactly = total_of(kPorep32g, {multiples, 0});
    EXPECT_EQ(choose_tables(kPorep32g, kMultiprocessors, exactly, multiples), (DeviceTables{multiples, 0}));
    EXPECT_EQ(choose_tables(kPorep32g, kMultiprocessors, exactly - 1, multiples).h_multiples,
              std::max(1u, multiples - 1));
  }
}

TEST(DeviceMemory, TooLargeForADevice) {
  const CircuitSizes sizes{.inputs = 1, .aux = uint64_t{1} << 33, .constraints = uint64_t{1} << 27};
  const Result<DeviceMemory> memory = device_memory(sizes, kMultiprocessors);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.error().error_class, ErrorClass::kUsage);
}

}  // namespace
}  // namespace cuzk
