#include "format/sector_write.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "filecoin/stored_tree.hpp"

namespace cuzk {
namespace {

Status make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (!failure) return {};
  return Error(ErrorClass::kIo, "cannot make this folder: " + failure.message()).in_file(folder.string());
}

// One file, from its parts.
class NodeFile {
 public:
  static Result<NodeFile> create(const std::string& path) {
    CUZK_ASSIGN(AtomicFile file, AtomicFile::create(path));
    return NodeFile(std::move(file));
  }
  Status add(std::span<const NodeBytes> nodes) {
    return file_.write({reinterpret_cast<const uint8_t*>(nodes.data()), nodes.size() * kNodeBytes});
  }
  Status add(std::span<const Fr> nodes) {
    std::vector<NodeBytes> bytes;
    bytes.reserve(nodes.size());
    for (const Fr& node : nodes) bytes.push_back(node.to_bytes_le());
    return add(std::span<const NodeBytes>(bytes));
  }
  Status commit() { return file_.commit(); }

 private:
  explicit NodeFile(AtomicFile file) : file_(std::move(file)) {}
  AtomicFile file_;
};

template <class Nodes>
Status write_nodes(const std::string& path, Nodes nodes) {
  CUZK_ASSIGN(NodeFile file, NodeFile::create(path));
  CUZK_TRY(file.add(nodes));
  return file.commit();
}

Status write_bytes(const std::string& path, std::span<const uint8_t> bytes) {
  CUZK_ASSIGN(AtomicFile file, AtomicFile::create(path));
  CUZK_TRY(file.write(bytes));
  return file.commit();
}

Status write_tree_d(const std::string& cache, const MemoryTreeD& tree) {
  CUZK_ASSIGN(NodeFile file, NodeFile::create(cache + "/" + store_file_name("tree-d")));
  for (uint32_t row = 0; row <= tree.levels(); ++row) CUZK_TRY(file.add(tree.row(row)));
  return file.commit();
}

// The base trees of C or R, from `first_row` up.
Status write_base_trees(const std::string& cache, const char* id, const MemoryTree& tree, uint32_t first_row) {
  const TreeShape& shape = tree.shape();
  const uint32_t trees = base_trees(shape);
  const std::vector<std::string> names = tree_file_names(id, trees);
  for (uint32_t i = 0; i < trees; ++i) {
    CUZK_ASSIGN(NodeFile file, NodeFile::create(cache + "/" + names[i]));
    for (uint32_t row = first_row; row <= shape.base_levels; ++row) {
      const std::span<const Fr> nodes = tree.row(row);
      const size_t own = nodes.size() / trees;
      CUZK_TRY(file.add(nodes.subspan(i * own, own)));
    }
    CUZK_TRY(file.commit());
  }
  return {};
}

// What both kinds of sectors have.
Status write_common(const SectorPaths& paths, const MemoryTree& tree_r, const MemoryTreeD& tree_d, const Fr& comm_c,
                    uint32_t layers) {
  CUZK_TRY(make_folder(std::filesystem::path(paths.replica).parent_path()));
  CUZK_TRY(make_folder(paths.cache));
  CUZK_TRY(write_nodes(paths.replica, tree_r.row(0)));
  CUZK_TRY(write_tree_d(paths.cache, tree_d));
  CUZK_TRY(write_base_trees(paths.cache, "tree-r-last", tree_r, default_rows_to_discard(tree_r.shape()) + 1));
  CUZK_TRY(write_bytes(paths.cache + "/p_aux", write_p_aux({comm_c, tree_r.root()})));
  return write_bytes(paths.cache + "/t_aux", write_t_aux(make_t_aux(paths.cache, tree_r.shape(), layers)));
}

}  // namespace

Status write_sealed_sector(const PorepSealed& sealed, const SectorPaths& paths) {
  CUZK_TRY(
      write_common(paths, sealed.tree_r, sealed.tree_d, sealed.comm_c(), static_cast<uint32_t>(sealed.labels.size())));
  for (size_t l = 0; l < sealed.labels.size(); ++l) {
    const std::string name = store_file_name("layer-" + std::to_string(l + 1));
    CUZK_TRY(write_nodes(paths.cache + "/" + name, std::span<const NodeBytes>(sealed.labels[l])));
  }
  return write_base_trees(paths.cache, "tree-c", sealed.tree_c, 0);
}

Status write_updated_sector(const SnapUpdated& updated, uint32_t layers, const SectorPaths& paths) {
  return write_common(paths, updated.tree_r_new, updated.tree_d_new, updated.comm_c, layers);
}

}  // namespace cuzk
