#include "format/sector_files.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "filecoin/porep.hpp"

namespace cuzk {
namespace {

TreeShape tree_of(const char* circuit_id) { return porep_shape_by_circuit_id(circuit_id)->tree(); }

TEST(PAux, SixtyFourBytes) {
  const PAux p_aux{Fr::from_u64(7), Fr::from_u64(9)};
  std::vector<uint8_t> bytes = write_p_aux(p_aux);
  ASSERT_EQ(bytes.size(), kPAuxBytes);
  EXPECT_EQ(bytes[0], 7);
  EXPECT_EQ(bytes[32], 9);
  EXPECT_EQ(*read_p_aux(bytes), p_aux);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Error error = read_p_aux(std::span(bytes).first(size)).error();
    EXPECT_EQ(error.error_class, ErrorClass::kCorrupt);
    EXPECT_EQ(error.field, size < 32 ? "comm_c" : "comm_r_last");
  }
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  EXPECT_EQ(read_p_aux(longer).error().offset, 64u);
  bytes[63] = 0xff;
  EXPECT_EQ(read_p_aux(bytes).error().field, "comm_r_last");
  EXPECT_EQ(read_p_aux(bytes).error().offset, 32u);
}

TEST(TAux, ValuesOf32GiB) {
  const TAux t_aux = make_t_aux("/cache", tree_of("porep-32g"), 11);
  ASSERT_EQ(t_aux.labels.size(), 11u);
  EXPECT_EQ(t_aux.labels[10], (StoreConfig{"/cache", "layer-11", 1073741824, 0}));
  EXPECT_EQ(t_aux.tree_d, (StoreConfig{"/cache", "tree-d", 2147483647, 0}));
  EXPECT_EQ(t_aux.tree_r_last, (StoreConfig{"/cache", "tree-r-last", 153391689, 2}));
  EXPECT_EQ(t_aux.tree_c, (StoreConfig{"/cache", "tree-c", 153391689, 0}));
  EXPECT_EQ(make_t_aux("", tree_of("porep-2k"), 2).tree_r_last.rows_to_discard, 1u);
  EXPECT_EQ(make_t_aux("", tree_of("porep-8m"), 2).tree_r_last, (StoreConfig{"", "tree-r-last", 299593, 2}));
}

TEST(TAux, ReadsWhatIsWrittenAndNothingCutOrLonger) {
  TAux t_aux = make_t_aux("a folder", tree_of("porep-8m"), 2);
  t_aux.tree_c.size.reset();
  std::vector<uint8_t> bytes = write_t_aux(t_aux);
  EXPECT_EQ(*read_t_aux(bytes), t_aux);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Error error = read_t_aux(std::span(bytes).first(size)).error();
    EXPECT_EQ(error.error_class, ErrorClass::kCorrupt);
    EXPECT_FALSE(error.field.empty());
    EXPECT_LE(error.offset.value(), size);
  }
  bytes.push_back(0);
  EXPECT_FALSE(read_t_aux(bytes).ok());
}

// No length that a file states makes the reader allocate.
TEST(TAux, LimitsEveryLength) {
  const TAux good = make_t_aux("p", tree_of("porep-2k"), 2);
  const auto changed = [&](size_t at, uint8_t value) {
    std::vector<uint8_t> bytes = write_t_aux(good);
    bytes[at] = value;
    return read_t_aux(bytes);
  };
  for (const uint8_t labels : {0, 12, 255}) EXPECT_EQ(changed(0, labels).error().field, "labels");
  EXPECT_EQ(changed(7, 1).error().field, "labels");
  EXPECT_EQ(changed(8 + 1, 0x11).error().field, "labels[0].path");  // 4353
  EXPECT_EQ(changed(8 + 7, 0x7f).error().field, "labels[0].path");
  EXPECT_EQ(changed(8 + 8 + 1 + 1, 1).error().field, "labels[0].id");  // 256 more
  EXPECT_EQ(changed(8 + 8 + 1 + 8 + 7, 2).error().field, "labels[0].size");
}

TEST(SectorNames, AsUpstream) {
  EXPECT_EQ(store_file_name("tree-d"), "sc-02-data-tree-d.dat");
  EXPECT_EQ(tree_file_names("tree-c", 1), std::vector<std::string>{"sc-02-data-tree-c.dat"});
  const std::vector<std::string> names = tree_file_names("tree-r-last", 16);
  ASSERT_EQ(names.size(), 16u);
  EXPECT_EQ(names[15], "sc-02-data-tree-r-last-15.dat");
  EXPECT_EQ(sealed_paths("d", 1000, 7).replica, "d/sealed/s-t01000-7");
  EXPECT_EQ(sealed_paths("d", 1000, 7).cache, "d/cache/s-t01000-7");
  EXPECT_EQ(updated_paths("d", 1000, 7).replica, "d/update/s-t01000-7");
  EXPECT_EQ(updated_paths("d", 1000, 7).cache, "d/update-cache/s-t01000-7");
}

// File sizes of the specification, and that they tell how many rows are left out.
TEST(StoredTree, SizesOfUpperRows) {
  const struct {
    const char* id;
    uint32_t trees, discarded;
    uint64_t bytes;
  } kCases[] = {{"porep-2k", 1, 1, 32},        {"porep-4k", 2, 1, 32},      {"porep-16k", 8, 1, 32},
                {"porep-32k", 16, 1, 32},      {"porep-8m", 1, 2, 18720},   {"porep-16m", 2, 2, 18720},
                {"porep-512m", 1, 2, 1198368}, {"porep-1g", 2, 2, 1198368}, {"porep-32g", 8, 2, 9586976},
                {"porep-64g", 16, 2, 9586976}};
  for (const auto& c : kCases) {
    const TreeShape tree = tree_of(c.id);
    EXPECT_EQ(base_trees(tree), c.trees) << c.id;
    EXPECT_EQ(default_rows_to_discard(tree), c.discarded) << c.id;
    EXPECT_EQ(cached_nodes(tree, c.discarded) * 32, c.bytes) << c.id;
    for (uint32_t d = 0; d < tree.base_levels; ++d) {
      EXPECT_EQ(rows_to_discard_of_bytes(tree, cached_nodes(tree, d) * 32), d) << c.id;
    }
    EXPECT_FALSE(rows_to_discard_of_bytes(tree, c.bytes + 32)) << c.id;
    EXPECT_FALSE(rows_to_discard_of_bytes(tree, 0)) << c.id;
  }
}

}  // namespace
}  // namespace cuzk
