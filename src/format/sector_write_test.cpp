// From data to sectors on disk, and from the files to openings: what comes out is what the trees in memory give, for
// every number of base trees; and what is wrong with a file is said of that file.
#include "format/sector_write.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>

#include "filecoin/post_generate.hpp"
#include "filecoin/snap_generate.hpp"

namespace cuzk {
namespace {

namespace fs = std::filesystem;

std::vector<NodeBytes> random_data(uint64_t nodes, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<NodeBytes> data(nodes);
  for (NodeBytes& node : data) {
    for (uint8_t& byte : node) byte = static_cast<uint8_t>(random());
    trim_to_fr(node);
  }
  return data;
}

constexpr uint64_t kSectorNumber = 42;

// A sealed and updated sector in a folder of its own, and in memory.
class Sector {
 public:
  explicit Sector(const char* porep_id) : Sector(*porep_shape_by_circuit_id(porep_id)) {}
  explicit Sector(const PorepShape& shape_in) : shape_(shape_in), proof_(registered_seal_proofs()[5]) {
    static int count = 0;
    folder_ = testing::TempDir() + "cuzk-sector-" + std::to_string(getpid()) + "-" + std::to_string(count++);
    proof_.shape = &shape_;
    const std::vector<NodeBytes> data = random_data(shape().nodes(), 1);
    PorepSealInput input;
    input.proof = &proof_;
    input.prover_id = prover_id_of_miner(1000);
    input.sector_number = kSectorNumber;
    input.ticket.fill(3);
    input.seed.fill(5);
    input.data = data;
    sealed_.emplace(std::move(seal_porep(input)).value());
    EXPECT_TRUE(write_sealed_sector(*sealed_, sealed_paths()).ok());
    if (snap_shape_by_sector_bytes(shape_.sector_bytes()) == nullptr) return;
    const std::vector<NodeBytes> replaced = random_data(shape().nodes(), 2);
    updated_.emplace(std::move(update_snap({.shape = &snap_shape(),
                                            .h = snap_shape().default_h(),
                                            .comm_c = sealed_->comm_c(),
                                            .old_replica = sealed_->tree_r.row(0),
                                            .data = replaced}))
                         .value());
    EXPECT_TRUE(write_updated_sector(*updated_, shape().layers, updated_paths()).ok());
  }
  ~Sector() { fs::remove_all(folder_); }
  Sector(const Sector&) = delete;

  const PorepShape& shape() const { return shape_; }
  const SnapShape& snap_shape() const { return *snap_shape_by_sector_bytes(shape().sector_bytes()); }
  const PorepSealed& sealed() const { return *sealed_; }
  const SnapUpdated& updated() const { return *updated_; }
  SectorPaths sealed_paths() const { return cuzk::sealed_paths(folder_, 1000, kSectorNumber); }
  SectorPaths updated_paths() const { return cuzk::updated_paths(folder_, 1000, kSectorNumber); }

 private:
  PorepShape shape_;
  RegisteredSealProof proof_;
  std::string folder_;
  std::optional<PorepSealed> sealed_;
  std::optional<SnapUpdated> updated_;
};

void change_byte(const std::string& path, uint64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(byte);
}

class StoredSectors : public testing::TestWithParam<const char*> {};

TEST_P(StoredSectors, EveryOpeningIsThatOfTheTreeInMemory) {
  const Sector sector(GetParam());
  const TreeShape tree = sector.shape().tree();
  std::vector<Fr> expected(2 + tree.siblings()), found(expected.size());
  for (const bool updated : {false, true}) {
    const MemoryTree& memory = updated ? sector.updated().tree_r_new : sector.sealed().tree_r;
    const Result<StoredSector> stored = open_sector(tree, updated ? sector.updated_paths() : sector.sealed_paths());
    ASSERT_TRUE(stored.ok()) << stored.error().describe();
    EXPECT_EQ(stored->p_aux, (PAux{sector.sealed().comm_c(), memory.root()}));
    EXPECT_EQ(stored->tree_r.root(), memory.root());
    const uint64_t step = tree.leaves() > 1024 ? 7919 : 1;
    for (uint64_t i = 0; i < tree.leaves(); i += step) {
      memory.open(i, expected);
      ASSERT_TRUE(stored->tree_r.open_leaf(i, found).ok());
      ASSERT_EQ(found, expected) << i;
    }
  }
}

TEST_P(StoredSectors, PostFromFiles) {
  const Sector sector(GetParam());
  const TreeShape tree = sector.shape().tree();
  const Result<StoredSector> stored = open_sector(tree, sector.sealed_paths());
  ASSERT_TRUE(stored.ok());
  for (const PostKind kind : {PostKind::kWinning, PostKind::kWindow}) {
    PostRequest request{
        post_shape_by_sector_bytes(kind, sector.shape().sector_bytes()), PostApiVersion::kV1_2_0, {}, 0};
    request.randomness.fill(17);
    StoredPostSector source{kSectorNumber, sector.sealed().c1.comm_r, stored->p_aux.comm_c, &stored->tree_r};
    const Result<PostVanilla> vanilla = generate_post(request, {&source, 1});
    ASSERT_TRUE(vanilla.ok()) << vanilla.error().describe();
    ASSERT_TRUE(validate_post_vanilla(request, *vanilla).ok());
    source.comm_r += Fr::one();
    const Error error = generate_post(request, {&source, 1}).error();
    EXPECT_EQ(error.error_class, ErrorClass::kInvalidInput);
    EXPECT_EQ(error.sector, kSectorNumber);
  }
}

TEST_P(StoredSectors, UpdateFromFiles) {
  const Sector sector(GetParam());
  const SnapShape& shape = sector.snap_shape();
  const Result<StoredSector> old_sector = open_sector(shape.tree, sector.sealed_paths());
  const Result<StoredSector> new_sector = open_sector(shape.tree, sector.updated_paths());
  const Result<StoredTreeD> tree_d =
      StoredTreeD::open(shape.log2_nodes(), sector.updated_paths().cache + "/sc-02-data-tree-d.dat");
  ASSERT_TRUE(old_sector.ok() && new_sector.ok() && tree_d.ok());
  StoredUpdate update{&shape,
                      shape.default_h(),
                      kSectorNumber,
                      sector.updated().commitments,
                      old_sector->p_aux.comm_c,
                      &old_sector->tree_r,
                      &new_sector->tree_r,
                      &*tree_d};
  const Result<SnapInput> found = generate_snap(update);
  ASSERT_TRUE(found.ok()) << found.error().describe();
  EXPECT_EQ(found->partitions, open_snap(shape, shape.default_h(), sector.updated()).partitions);
  EXPECT_TRUE(validate_snap_vanilla(*found).ok());
  // Sector key and new replica exchanged.
  std::swap(update.old_tree_r, update.new_tree_r);
  EXPECT_EQ(generate_snap(update).error().error_class, ErrorClass::kInvalidInput);
}

INSTANTIATE_TEST_SUITE_P(BaseTrees, StoredSectors, testing::Values("porep-2k", "porep-4k", "porep-16k", "porep-32k"));

// Files that keep another number of rows than upstream's default.
TEST(StoredTree, OtherRows) {
  const Sector sector("porep-4k");
  const MemoryTree& memory = sector.sealed().tree_r;
  const std::string cache = sector.sealed_paths().cache;
  std::vector<std::string> rows;
  for (uint32_t i = 0; i < 2; ++i) {
    rows.push_back(cache + "/sc-02-data-tree-r-last-" + std::to_string(i) + ".dat");
    std::ofstream file(rows.back(), std::ios::binary);
    for (const uint32_t row : {1u, 2u}) {
      const std::span<const Fr> nodes = memory.row(row);
      for (const Fr& node : nodes.subspan(i * nodes.size() / 2, nodes.size() / 2)) {
        const auto bytes = node.to_bytes_le();
        file.write(reinterpret_cast<const char*>(bytes.data()), 32);
      }
    }
  }
  const Result<StoredTreeR> stored = StoredTreeR::open(memory.shape(), sector.sealed_paths().replica, rows);
  ASSERT_TRUE(stored.ok()) << stored.error().describe();
  EXPECT_EQ(stored->rows_to_discard(), 0u);
  std::vector<Fr> expected(2 + memory.shape().siblings()), found(expected.size());
  for (uint64_t i = 0; i < memory.shape().leaves(); ++i) {
    memory.open(i, expected);
    ASSERT_TRUE(stored->open_leaf(i, found).ok());
    ASSERT_EQ(found, expected) << i;
  }
  // The sector says otherwise, and trees that differ in it do not fit together.
  const Error error = open_sector(memory.shape(), sector.sealed_paths()).error();
  EXPECT_EQ(error.error_class, ErrorClass::kCorrupt);
  EXPECT_EQ(error.file, cache + "/t_aux");
  EXPECT_EQ(error.field, "tree_r_last_config.rows_to_discard");
  fs::resize_file(rows[1], 32);
  EXPECT_EQ(StoredTreeR::open(memory.shape(), sector.sealed_paths().replica, rows).error().file, rows[1]);
}

// One changed byte anywhere in replica or cache is found by an opening that it concerns, and the file is named.
TEST(StoredTree, NamesTheDamagedFile) {
  const Sector sector("porep-16k");
  const TreeShape tree = sector.shape().tree();
  const SectorPaths paths = sector.sealed_paths();
  const std::string rows = paths.cache + "/sc-02-data-tree-r-last-3.dat";
  std::vector<Fr> out(2 + tree.siblings());
  // In the replica: base tree 3 has leaves 192 to 255.
  change_byte(paths.replica, 200 * 32 + 5);
  Result<StoredSector> stored = open_sector(tree, paths);
  ASSERT_TRUE(stored.ok());
  Error error = stored->tree_r.open_leaf(192, out).error();
  EXPECT_EQ(error.error_class, ErrorClass::kCorrupt);
  EXPECT_EQ(error.file, rows);
  EXPECT_NE(error.message.find("nodes 192 to 255 in " + paths.replica), std::string::npos) << error.message;
  EXPECT_TRUE(stored->tree_r.open_leaf(191, out).ok());
  change_byte(paths.replica, 200 * 32 + 5);
  EXPECT_TRUE(stored->tree_r.open_leaf(192, out).ok());
  // Not canonical.
  std::fstream(paths.replica, std::ios::in | std::ios::out | std::ios::binary).seekp(200 * 32 + 31).put('\xff');
  error = stored->tree_r.open_leaf(192, out).error();
  EXPECT_EQ(error.file, paths.replica);
  EXPECT_EQ(error.offset, 200u * 32);
  // In the cache: the root of base tree 3, so the sector's root is another.
  change_byte(rows, 7);
  error = open_sector(tree, paths).error();
  EXPECT_EQ(error.error_class, ErrorClass::kCorrupt);
  EXPECT_EQ(error.file, paths.cache + "/p_aux");
  EXPECT_EQ(error.field, "comm_r_last");
}

TEST(StoredTree, NamesTheDamagedRow) {
  PorepShape shape = *porep_shape_by_circuit_id("porep-2k");
  shape.log2_nodes = 15;
  shape.base_levels = 5;
  const Sector sector(shape);
  const TreeShape tree = shape.tree();
  const SectorPaths paths = sector.sealed_paths();
  const std::string rows = paths.cache + "/sc-02-data-tree-r-last.dat";
  std::vector<Fr> out(2 + tree.siblings()), expected(out.size());
  // Rows of the file: 64 (row 3), 8 and 1 nodes. Node 9 of row 3 is over leaves 4608 to 5119.
  ASSERT_EQ(fs::file_size(rows), 73u * 32);
  change_byte(rows, 9 * 32);
  const Result<StoredSector> stored = open_sector(tree, paths);
  ASSERT_TRUE(stored.ok());
  Error error = stored->tree_r.open_leaf(5000, out).error();
  EXPECT_EQ(error.file, rows);
  EXPECT_EQ(error.offset, 9u * 32);
  // As a sibling.
  error = stored->tree_r.open_leaf(4100, out).error();
  EXPECT_EQ(error.offset, (64u + 1) * 32);
  for (const uint64_t leaf : {uint64_t{0}, uint64_t{20000}, uint64_t{32767}}) {
    ASSERT_TRUE(stored->tree_r.open_leaf(leaf, out).ok());
    sector.sealed().tree_r.open(leaf, expected);
    EXPECT_EQ(out, expected);
  }
  // Tree D, in the same way.
  const std::string tree_d = paths.cache + "/sc-02-data-tree-d.dat";
  const uint64_t row1 = shape.nodes();
  change_byte(tree_d, (row1 + 5) * 32);
  const Result<StoredTreeD> stored_d = StoredTreeD::open(15, tree_d);
  ASSERT_TRUE(stored_d.ok());
  std::vector<Fr> path(2 + 15), expected_d(2 + 15);
  EXPECT_EQ(stored_d->open_leaf(10, path).error().offset, (row1 + 5) * 32);
  EXPECT_EQ(stored_d->open_leaf(8, path).error().offset, (row1 + row1 / 2 + 2) * 32);
  ASSERT_TRUE(stored_d->open_leaf(12, path).ok());
  sector.sealed().tree_d.open(12, expected_d);
  EXPECT_EQ(path, expected_d);
}

TEST(StoredTree, NamesMissingAndTruncatedFiles) {
  const Sector sector("porep-4k");
  const TreeShape tree = sector.shape().tree();
  const SectorPaths paths = sector.sealed_paths();
  const auto error_after = [&](const std::string& path, const std::function<void()>& change) {
    fs::copy_file(path, path + ".saved");
    change();
    const Result<StoredSector> stored = open_sector(tree, paths);
    fs::rename(path + ".saved", path);
    EXPECT_FALSE(stored.ok()) << path;
    return stored.ok() ? Error() : stored.error();
  };
  for (const std::string& path : {paths.replica, paths.cache + "/p_aux", paths.cache + "/sc-02-data-tree-r-last-0.dat",
                                  paths.cache + "/sc-02-data-tree-r-last-1.dat"}) {
    Error error = error_after(path, [&] { fs::remove(path); });
    EXPECT_EQ(error.error_class, ErrorClass::kNotFound);
    EXPECT_EQ(error.file, path);
    error = error_after(path, [&] { fs::resize_file(path, fs::file_size(path) - 1); });
    EXPECT_EQ(error.error_class, ErrorClass::kCorrupt);
    EXPECT_EQ(error.file, path);
    error = error_after(path, [&] { fs::resize_file(path, fs::file_size(path) + 32); });
    EXPECT_EQ(error.error_class, ErrorClass::kCorrupt);
    EXPECT_EQ(error.file, path);
  }
  const std::string t_aux = paths.cache + "/t_aux";
  EXPECT_EQ(error_after(t_aux, [&] { fs::resize_file(t_aux, 50); }).file, t_aux);
  fs::remove(t_aux);
  EXPECT_TRUE(open_sector(tree, paths).ok());
  // Of another size.
  EXPECT_EQ(open_sector(porep_shape_by_circuit_id("porep-2k")->tree(), paths).error().file, paths.replica);
}

}  // namespace
}  // namespace cuzk
