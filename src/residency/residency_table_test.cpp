// The table of what lies where: its bookkeeping, and whom it gives up, against a search of all subsets.
#include "residency/residency_table.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cuzk {
namespace {

using namespace std::chrono_literals;
using Table = ResidencyTable;

const CircuitSpec& circuit(size_t k) { return circuit_specs()[k]; }
Table::TimePoint at(std::chrono::seconds s) { return Table::TimePoint(s); }

// Loaded at `time` with `bytes` of parameters.
void load(Table& table, uint32_t device, size_t which, uint64_t bytes, std::chrono::seconds time) {
  table.begin_load(device, circuit(which), bytes, 0, at(time));
  table.end_load(device, circuit(which), {.parameter_bytes = bytes, .circuit_bytes = 0, .load_ms = 1}, at(time));
}

std::vector<std::string_view> ids(const Table::Victims& victims) {
  std::vector<std::string_view> out;
  for (const Table::Entry& entry : victims.entries) out.push_back(entry.circuit->id());
  return out;
}

TEST(ResidencyTable, LifeOfAnEntry) {
  Table table(60s);
  EXPECT_EQ(table.find(0, circuit(0)), nullptr);
  table.begin_load(0, circuit(0), 100, 20, at(1s));
  EXPECT_FALSE(table.resident(0, circuit(0)));
  EXPECT_EQ(table.bytes(), 120);
  table.end_load(0, circuit(0), {.parameter_bytes = 90, .circuit_bytes = 30, .load_ms = 5}, at(2s));
  EXPECT_TRUE(table.resident(0, circuit(0)));
  EXPECT_FALSE(table.resident(1, circuit(0)));
  EXPECT_FALSE(table.resident(0, circuit(1)));
  table.use(0, circuit(0));
  table.use(0, circuit(0));
  table.release(0, circuit(0), at(3s));
  EXPECT_EQ(table.find(0, circuit(0))->in_use, 1);
  table.release(0, circuit(0), at(9s));
  const Table::Entry entry = *table.find(0, circuit(0));
  EXPECT_EQ(entry.last_used, at(9s));
  EXPECT_EQ(entry.circuit, circuit_spec_by_id(circuit(0).id()));
  EXPECT_EQ(entry.parameter_bytes, 90);
  EXPECT_EQ(entry.circuit_bytes, 30);
  table.begin_unload(0, circuit(0));
  EXPECT_FALSE(table.resident(0, circuit(0)));
  EXPECT_EQ(table.bytes(), 120) << "until it is gone";
  table.erase(0, circuit(0));
  EXPECT_EQ(table.find(0, circuit(0)), nullptr);
  EXPECT_EQ(table.bytes(), 0);
}

TEST(ResidencyTable, DevicesAreApart) {
  Table table(0s);
  load(table, 0, 0, 10, 1s);
  load(table, 1, 0, 20, 1s);
  load(table, 1, 1, 40, 1s);
  EXPECT_EQ(table.bytes(0), 10);
  EXPECT_EQ(table.bytes(1), 60);
  EXPECT_EQ(table.bytes(2), 0);
  const auto gone = table.erase_device(1);
  ASSERT_EQ(gone.size(), 2);
  EXPECT_EQ(gone[0].bytes() + gone[1].bytes(), 60);
  EXPECT_EQ(table.bytes(), 10);
  EXPECT_TRUE(table.erase_device(1).empty());
}

TEST(ResidencyTable, LeastRecentlyUsedGoesFirst) {
  Table table(10s);
  load(table, 0, 0, 10, 5s);
  load(table, 0, 1, 10, 1s);
  load(table, 0, 2, 10, 3s);
  EXPECT_EQ(ids(table.victims({.bytes = 1, .device = 0}, at(100s))), std::vector{circuit(1).id()});
  EXPECT_EQ(ids(table.victims({.bytes = 11, .device = 0}, at(100s))), (std::vector{circuit(1).id(), circuit(2).id()}));
  table.use(0, circuit(1));
  table.release(0, circuit(1), at(50s));
  EXPECT_EQ(ids(table.victims({.bytes = 10, .device = 0}, at(100s))), std::vector{circuit(2).id()});
  EXPECT_TRUE(table.victims({.bytes = 0, .device = 0}, at(100s)).enough);
  EXPECT_TRUE(table.victims({.bytes = 0, .device = 0}, at(100s)).entries.empty());
}

TEST(ResidencyTable, NeverWhatIsUsedOrLoadedOrIdleForTooShort) {
  Table table(10s);
  load(table, 0, 0, 10, 1s);
  load(table, 0, 1, 10, 2s);
  table.begin_load(0, circuit(2), 10, 0, at(3s));
  table.use(0, circuit(0));
  for (const bool urgent : {false, true}) {
    const auto victims = table.victims({.bytes = 11, .device = 0, .urgent = urgent}, at(1000s));
    EXPECT_FALSE(victims.enough) << urgent;
    EXPECT_TRUE(victims.entries.empty()) << "nothing in vain";
    EXPECT_EQ(victims.bytes, 0);
    EXPECT_FALSE(victims.ask_again) << "time alone does not help";
  }
  EXPECT_EQ(ids(table.victims({.bytes = 10, .device = 0}, at(12s))), std::vector{circuit(1).id()});
  const auto early = table.victims({.bytes = 10, .device = 0}, at(11s));
  EXPECT_FALSE(early.enough);
  EXPECT_EQ(early.ask_again, at(12s));
  const auto urgent = table.victims({.bytes = 10, .device = 0, .urgent = true}, at(11s));
  EXPECT_EQ(ids(urgent), std::vector{circuit(1).id()});
  EXPECT_FALSE(urgent.ask_again);
}

TEST(ResidencyTable, Evictable) {
  Table table(10s);
  load(table, 0, 0, 10, 1s);
  const auto evictable = [&](std::chrono::seconds now) { return table.evictable(*table.find(0, circuit(0)), at(now)); };
  EXPECT_FALSE(evictable(10s));
  EXPECT_TRUE(evictable(11s));
  table.use(0, circuit(0));
  EXPECT_FALSE(evictable(100s));
  table.release(0, circuit(0), at(100s));
  EXPECT_FALSE(evictable(109s));
  EXPECT_TRUE(evictable(110s));
  table.begin_unload(0, circuit(0));
  EXPECT_FALSE(evictable(110s));
}

TEST(ResidencyTable, AskAgainIsWhenTheLastOneNeededIsIdleLongEnough) {
  Table table(10s);
  load(table, 0, 0, 10, 1s);
  load(table, 0, 1, 10, 5s);
  load(table, 0, 2, 10, 9s);
  const auto victims = table.victims({.bytes = 20, .device = 0}, at(12s));
  EXPECT_FALSE(victims.enough);
  EXPECT_EQ(victims.ask_again, at(15s));
  EXPECT_TRUE(table.victims({.bytes = 20, .device = 0}, at(15s)).enough);
}

TEST(ResidencyTable, WhatIsLeavingCounts) {
  Table table(0s);
  load(table, 0, 0, 10, 1s);
  load(table, 0, 1, 10, 2s);
  table.begin_unload(0, circuit(0));
  const auto covered = table.victims({.bytes = 10, .device = 0}, at(9s));
  EXPECT_TRUE(covered.enough);
  EXPECT_TRUE(covered.entries.empty());
  EXPECT_EQ(covered.leaving, 10);
  EXPECT_EQ(ids(table.victims({.bytes = 11, .device = 0}, at(9s))), std::vector{circuit(1).id()});
}

TEST(ResidencyTable, SharedMemoryIsFreedOnAnyDevice) {
  Table table(0s);
  load(table, 0, 0, 10, 5s);
  load(table, 1, 0, 10, 1s);
  const auto victims = table.victims({.bytes = 10}, at(9s));
  ASSERT_EQ(victims.entries.size(), 1);
  EXPECT_EQ(victims.entries[0].device, 1);
}

TEST(ResidencyTable, SmallOnesStayWhereALargeOneIsEnough) {
  Table table(0s);
  load(table, 0, 0, 5, 1s);
  load(table, 0, 1, 5, 2s);
  load(table, 0, 2, 100, 3s);
  EXPECT_EQ(ids(table.victims({.bytes = 50, .device = 0}, at(9s))), std::vector{circuit(2).id()});
  EXPECT_EQ(ids(table.victims({.bytes = 103, .device = 0}, at(9s))), (std::vector{circuit(0).id(), circuit(2).id()}));
}

// Whatever the table holds: enough exactly where the sum of what may go is; no victim too many; no forbidden one.
TEST(ResidencyTable, RandomTables) {
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int round = 0; round < 3000; ++round) {
    Table table(10s);
    for (uint32_t k = 0; k < 6; ++k) {
      const uint32_t device = below(2);
      if (below(4) == 0) {
        table.begin_load(device, circuit(k), 1 + below(30), below(5), at(0s));
        continue;
      }
      load(table, device, k, 1 + below(30), std::chrono::seconds(below(20)));
      if (below(4) == 0)
        table.use(device, circuit(k));
      else if (below(5) == 0)
        table.begin_unload(device, circuit(k));
    }
    const Table::Need need{.bytes = below(90),
                           .device = below(2) == 0 ? std::nullopt : std::optional<uint32_t>(below(2)),
                           .urgent = below(2) == 0};
    const auto now = at(std::chrono::seconds(20));
    const auto victims = table.victims(need, now);
    uint64_t may_go = 0, leaving = 0, later = 0;
    for (const Table::Entry& entry : table.entries()) {
      if (need.device && entry.device != *need.device) continue;
      if (entry.state == Table::State::kUnloading) leaving += entry.bytes();
      if (entry.state != Table::State::kResident || entry.in_use > 0) continue;
      (need.urgent || now - entry.last_used >= 10s ? may_go : later) += entry.bytes();
    }
    ASSERT_EQ(victims.leaving, leaving);
    ASSERT_EQ(victims.enough, may_go + leaving >= need.bytes);
    ASSERT_EQ(victims.ask_again.has_value(), !victims.enough && may_go + later + leaving >= need.bytes);
    uint64_t sum = 0;
    for (const Table::Entry& entry : victims.entries) {
      sum += entry.bytes();
      ASSERT_EQ(entry.state, Table::State::kResident);
      ASSERT_EQ(entry.in_use, 0);
      ASSERT_TRUE(need.urgent || table.evictable(entry, now));
      ASSERT_TRUE(!need.device || entry.device == *need.device);
    }
    ASSERT_EQ(victims.bytes, sum);
    for (const Table::Entry& entry : victims.entries)
      ASSERT_LT(sum - entry.bytes() + leaving, need.bytes) << "too many";
    ASSERT_TRUE(victims.enough || victims.entries.empty());
    ASSERT_TRUE(!victims.ask_again || *victims.ask_again > now);
  }
}

TEST(ResidencyTableDeathTest, LifeOutOfOrder) {
  Table table(0s);
  load(table, 0, 0, 10, 1s);
  EXPECT_DEATH(table.begin_load(0, circuit(0), 1, 1, at(2s)), "");
  EXPECT_DEATH(table.release(0, circuit(0), at(2s)), "");
  EXPECT_DEATH(table.erase(0, circuit(1)), "");
  table.use(0, circuit(0));
  EXPECT_DEATH(table.begin_unload(0, circuit(0)), "");
}

}  // namespace
}  // namespace cuzk
