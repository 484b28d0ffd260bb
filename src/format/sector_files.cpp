#include "format/sector_files.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/random_access_file.hpp"
#include "format/bincode.hpp"
#include "hash/poseidon.hpp"

namespace cuzk {
namespace {

constexpr uint64_t kMaxLabels = 11;
constexpr uint64_t kMaxPathBytes = 4096;
constexpr uint64_t kMaxIdBytes = 255;

// What is on this machine's disk is damaged, not a request.
Error corrupt(const BincodeReader& reader) {
  Error error = reader.error();
  error.error_class = ErrorClass::kCorrupt;
  return error;
}

bool read_config(BincodeReader& reader, const FieldPath& path, StoreConfig& out) {
  const FieldPath size = path.at("size");
  uint8_t has_size = 0;
  if (!reader.text(path.at("path"), kMaxPathBytes, out.path) || !reader.text(path.at("id"), kMaxIdBytes, out.id)) {
    return false;
  }
  const size_t at = reader.offset();
  if (!reader.u8(size, has_size)) return false;
  if (has_size > 1) return reader.fail(size, at, "the Option is " + std::to_string(has_size) + ", needs 0 or 1");
  if (has_size == 1 && !reader.u64(size, out.size.emplace())) return false;
  return reader.u64(path.at("rows_to_discard"), out.rows_to_discard);
}

void write_text(std::vector<uint8_t>& out, const std::string& text) {
  write_bincode_u64(out, text.size());
  out.insert(out.end(), text.begin(), text.end());
}

void write_config(std::vector<uint8_t>& out, const StoreConfig& config) {
  write_text(out, config.path);
  write_text(out, config.id);
  out.push_back(config.size ? 1 : 0);
  if (config.size) write_bincode_u64(out, *config.size);
  write_bincode_u64(out, config.rows_to_discard);
}

bool read_all(BincodeReader& reader, TAux& out) {
  const FieldPath root, labels = root.at("labels");
  uint64_t count = 0;
  if (!reader.u64(labels, count)) return false;
  if (count == 0 || count > kMaxLabels) {
    return reader.fail(labels, 0, "has " + std::to_string(count) + " layers, needs 1 to " + std::to_string(kMaxLabels));
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (!read_config(reader, labels.at(i), out.labels.emplace_back())) return false;
  }
  return read_config(reader, root.at("tree_d_config"), out.tree_d) &&
         read_config(reader, root.at("tree_r_last_config"), out.tree_r_last) &&
         read_config(reader, root.at("tree_c_config"), out.tree_c) && reader.end(root);
}

// The whole of a small file.
Result<std::vector<uint8_t>> read_small_file(const std::string& path, size_t max_bytes) {
  CUZK_ASSIGN(const RandomAccessFile file, RandomAccessFile::open(path));
  if (file.size() > max_bytes) {
    return Error(ErrorClass::kCorrupt, "has " + std::to_string(file.size()) + " bytes, at most " +
                                           std::to_string(max_bytes) + " are expected")
        .in_file(path);
  }
  std::vector<uint8_t> bytes(file.size());
  CUZK_TRY(file.read_at(0, bytes));
  return bytes;
}

template <class T>
Result<T> in_file(Result<T> result, const std::string& path) {
  if (!result.ok()) result.error().file = path;
  return result;
}

}  // namespace

Result<PAux> read_p_aux(std::span<const uint8_t> bytes) {
  BincodeReader reader(bytes);
  const FieldPath root;
  PAux out;
  if (reader.fr(root.at("comm_c"), out.comm_c) && reader.fr(root.at("comm_r_last"), out.comm_r_last) &&
      reader.end(root)) {
    return out;
  }
  return corrupt(reader);
}

std::vector<uint8_t> write_p_aux(const PAux& p_aux) {
  std::vector<uint8_t> out;
  write_bincode_fr(out, p_aux.comm_c);
  write_bincode_fr(out, p_aux.comm_r_last);
  return out;
}

Result<TAux> read_t_aux(std::span<const uint8_t> bytes) {
  BincodeReader reader(bytes);
  TAux out;
  if (read_all(reader, out)) return out;
  return corrupt(reader);
}

std::vector<uint8_t> write_t_aux(const TAux& t_aux) {
  std::vector<uint8_t> out;
  write_bincode_u64(out, t_aux.labels.size());
  for (const StoreConfig& label : t_aux.labels) write_config(out, label);
  for (const StoreConfig* config : {&t_aux.tree_d, &t_aux.tree_r_last, &t_aux.tree_c}) write_config(out, *config);
  return out;
}

TAux make_t_aux(const std::string& path, const TreeShape& tree, uint32_t layers) {
  const uint32_t discarded = default_rows_to_discard(tree);
  const uint64_t base_leaves = tree.leaves() / base_trees(tree);
  TAux out;
  for (uint32_t l = 1; l <= layers; ++l) out.labels.push_back({path, "layer-" + std::to_string(l), tree.leaves(), 0});
  out.tree_d = {path, "tree-d", 2 * tree.leaves() - 1, 0};
  // Both sizes are those of the whole base tree.
  const uint64_t nodes = base_leaves + cached_nodes(tree, 0);
  out.tree_r_last = {path, "tree-r-last", nodes, discarded};
  out.tree_c = {path, "tree-c", nodes, 0};
  return out;
}

std::string store_file_name(std::string_view id) { return "sc-02-data-" + std::string(id) + ".dat"; }

std::vector<std::string> tree_file_names(std::string_view id, uint32_t trees) {
  if (trees == 1) return {store_file_name(id)};
  std::vector<std::string> out;
  for (uint32_t i = 0; i < trees; ++i) out.push_back(store_file_name(std::string(id) + "-" + std::to_string(i)));
  return out;
}

std::string sector_name(uint64_t miner_id, uint64_t sector_number) {
  return "s-t0" + std::to_string(miner_id) + "-" + std::to_string(sector_number);
}

SectorPaths sealed_paths(const std::string& storage, uint64_t miner_id, uint64_t sector_number) {
  const std::string name = sector_name(miner_id, sector_number);
  return {storage + "/sealed/" + name, storage + "/cache/" + name};
}

SectorPaths updated_paths(const std::string& storage, uint64_t miner_id, uint64_t sector_number) {
  const std::string name = sector_name(miner_id, sector_number);
  return {storage + "/update/" + name, storage + "/update-cache/" + name};
}

Fr comm_r_of(const PAux& p_aux) { return poseidon_hash(std::array<Fr, 2>{p_aux.comm_c, p_aux.comm_r_last}); }

Result<StoredSector> open_sector(const TreeShape& tree, const SectorPaths& paths) {
  CUZK_ASSIGN(const PAux p_aux, read_p_aux_file(paths.cache));
  CUZK_ASSIGN(const std::optional<TAux> t_aux, read_t_aux_file(paths.cache));
  std::vector<std::string> rows = tree_file_names("tree-r-last", base_trees(tree));
  for (std::string& name : rows) name = paths.cache + "/" + name;
  CUZK_ASSIGN(StoredTreeR tree_r, StoredTreeR::open(tree, paths.replica, rows));
  if (t_aux && t_aux->tree_r_last.rows_to_discard != tree_r.rows_to_discard()) {
    return Error(ErrorClass::kCorrupt, "is " + std::to_string(t_aux->tree_r_last.rows_to_discard) + ", but " + rows[0] +
                                           " leaves out " + std::to_string(tree_r.rows_to_discard()) + " rows")
        .at_field("tree_r_last_config.rows_to_discard")
        .in_file(paths.cache + "/t_aux");
  }
  if (tree_r.root() != p_aux.comm_r_last) {
    return Error(ErrorClass::kCorrupt,
                 "is not the root of the tree in " + rows[0] + (rows.size() > 1 ? " and the files after it" : ""))
        .at_field("comm_r_last")
        .in_file(paths.cache + "/p_aux");
  }
  return StoredSector{p_aux, std::move(tree_r)};
}

Result<PAux> read_p_aux_file(const std::string& cache) {
  const std::string path = cache + "/p_aux";
  CUZK_ASSIGN(const std::vector<uint8_t> bytes, read_small_file(path, kPAuxBytes));
  return in_file(read_p_aux(bytes), path);
}

Result<std::optional<TAux>> read_t_aux_file(const std::string& cache) {
  const std::string path = cache + "/t_aux";
  Result<std::vector<uint8_t>> bytes = read_small_file(path, kMaxTAuxBytes);
  if (!bytes.ok()) {
    if (bytes.error().error_class == ErrorClass::kNotFound) return std::optional<TAux>();
    return std::move(bytes).error();
  }
  CUZK_ASSIGN(TAux t_aux, in_file(read_t_aux(*bytes), path));
  return std::optional<TAux>(std::move(t_aux));
}

}  // namespace cuzk
