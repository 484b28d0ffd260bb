// The small files of a sector's cache folder, and the names of all of them.
// Source: storage-proofs-porep stacked/vanilla/params.rs (PersistentAux, TemporaryAux), merkletree store/mod.rs
// (StoreConfig).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "field/fr.hpp"
#include "filecoin/merkle.hpp"
#include "filecoin/stored_tree.hpp"

namespace cuzk {

// p_aux: what is kept of a sealing for ever.
struct PAux {
  Fr comm_c, comm_r_last;
  friend bool operator==(const PAux&, const PAux&) = default;
};
inline constexpr size_t kPAuxBytes = 64;
// Exactly 64 bytes, both canonical. Errors: kCorrupt with field and offset.
Result<PAux> read_p_aux(std::span<const uint8_t> bytes);
std::vector<uint8_t> write_p_aux(const PAux& p_aux);

// How a tree or a layer is stored.
struct StoreConfig {
  std::string path;              // the folder at the time of sealing; readers take the one they found the file in
  std::string id;                // "tree-d"
  std::optional<uint64_t> size;  // nodes; of one base tree
  uint64_t rows_to_discard = 0;
  friend bool operator==(const StoreConfig&, const StoreConfig&) = default;
};
// t_aux: what the later phases of a sealing need to find its files.
struct TAux {
  std::vector<StoreConfig> labels;
  StoreConfig tree_d, tree_r_last, tree_c;
  friend bool operator==(const TAux&, const TAux&) = default;
};
// No t_aux that is read is longer: 14 configs with paths of up to 4096 bytes.
inline constexpr size_t kMaxTAuxBytes = 14 * (4096 + 256 + 64) + 8;
// 1 to 11 labels, paths of up to 4096 bytes, ids of up to 255, all UTF-8 or not; nothing may follow. Errors: kCorrupt
// with field and offset.
Result<TAux> read_t_aux(std::span<const uint8_t> bytes);
std::vector<uint8_t> write_t_aux(const TAux& t_aux);
// The t_aux of a sealed sector in `path`.
TAux make_t_aux(const std::string& path, const TreeShape& tree, uint32_t layers);

// "sc-02-data-<id>.dat"
std::string store_file_name(std::string_view id);
// Of the files of all base trees: "<id>" where there is one, "<id>-0" to "<id>-<trees - 1>" otherwise.
std::vector<std::string> tree_file_names(std::string_view id, uint32_t trees);
// Where a sector's files lie.
struct SectorPaths {
  std::string replica, cache;
};
// Under a storage folder: sealed/ and cache/, or update/ and update-cache/.
SectorPaths sealed_paths(const std::string& storage, uint64_t miner_id, uint64_t sector_number);
SectorPaths updated_paths(const std::string& storage, uint64_t miner_id, uint64_t sector_number);
// "s-t01000-7": the name of a sector's files and folders at Curio and lotus.
std::string sector_name(uint64_t miner_id, uint64_t sector_number);

// A sector that can be opened: its replica and what PoSt and updates need of its cache.
struct StoredSector {
  PAux p_aux;
  StoredTreeR tree_r;
};
// tree-r-last, p_aux and, where it is there, t_aux must agree; comm_r is not looked at. Errors, with the file: those of
// StoredTreeR::open, kNotFound, kIo, and kCorrupt where the files are not of one sector.
Result<StoredSector> open_sector(const TreeShape& tree, const SectorPaths& paths);
// P2(comm_c, comm_r_last).
Fr comm_r_of(const PAux& p_aux);

// The two files with their names, from a cache folder; where they are wrong, the error has the path. t_aux may be
// absent (nothing then). Errors: kNotFound (p_aux), kIo, kCorrupt.
Result<PAux> read_p_aux_file(const std::string& cache);
Result<std::optional<TAux>> read_t_aux_file(const std::string& cache);

}  // namespace cuzk
