#include <array>
#include <bit>
#include <string_view>

#include "filecoin/porep.hpp"
#include "format/base64.hpp"
#include "format/porep_c1.hpp"

namespace cuzk {
namespace {

class C1Writer {
 public:
  explicit C1Writer(const PorepC1& c1) : c1_(c1), shape_(c1.shape()) {}
  std::string write();

 private:
  // One byte array as decimal numbers.
  void bytes(const NodeBytes& value);
  void fr(const Fr& value) { bytes(value.to_bytes_le()); }
  template <class F>
  void list(size_t count, F&& element) {
    out_ += '[';
    for (size_t i = 0; i < count; ++i) {
      if (i != 0) out_ += ',';
      element(i);
    }
    out_ += ']';
  }
  void challenge(const PorepChallengeView& view);
  void column(const ColumnProofView& view);
  void labeling(const PorepChallengeView& view, uint32_t layer);
  void tree_d_proof(const MerkleProofView& view);
  void replica_tree_proof(const MerkleProofView& view);
  // {"path":[...]} of levels [first, last); arity(level) of each.
  template <class Arity>
  void path(const MerkleProofView& view, uint32_t first, uint32_t last, Arity&& arity);
  void root_and_leaf(const MerkleProofView& view);

  const PorepC1& c1_;
  const PorepShape& shape_;
  std::string out_;
};

void C1Writer::bytes(const NodeBytes& value) {
  list(kNodeBytes, [&](size_t i) { out_ += std::to_string(value[i]); });
}

void C1Writer::root_and_leaf(const MerkleProofView& view) {
  out_ += "\"root\":";
  fr(view.root);
  out_ += ",\"leaf\":";
  fr(view.leaf);
}

template <class Arity>
void C1Writer::path(const MerkleProofView& view, uint32_t first, uint32_t last, Arity&& arity) {
  uint32_t sibling = 0, shift = 0;
  for (uint32_t level = 0; level < first; ++level) {
    sibling += arity(level) - 1;
    shift += static_cast<uint32_t>(std::countr_zero(arity(level)));
  }
  out_ += "{\"path\":";
  list(last - first, [&](size_t i) {
    const uint32_t n = arity(first + static_cast<uint32_t>(i));
    out_ += "{\"hashes\":";
    list(n - 1, [&](size_t s) { fr(view.siblings[sibling + s]); });
    out_ += ",\"index\":" + std::to_string(view.leaf_index >> shift & (n - 1)) + "}";
    sibling += n - 1;
    shift += static_cast<uint32_t>(std::countr_zero(n));
  });
  out_ += '}';
}

void C1Writer::tree_d_proof(const MerkleProofView& view) {
  out_ += "{\"data\":{\"Single\":{";
  root_and_leaf(view);
  out_ += ",\"path\":";
  path(view, 0, shape_.log2_nodes, [](uint32_t) { return uint32_t{2}; });
  out_ += "}}}";
}

void C1Writer::replica_tree_proof(const MerkleProofView& view) {
  const auto arity = [&](uint32_t level) { return shape_.path_arity(level); };
  const uint32_t base = shape_.base_levels;
  if (shape_.sub_arity == 0) {
    out_ += "{\"data\":{\"Single\":{";
    root_and_leaf(view);
    out_ += ",\"path\":";
    path(view, 0, base, arity);
    out_ += "}}}";
    return;
  }
  out_ += shape_.top_arity == 0 ? "{\"data\":{\"Sub\":{" : "{\"data\":{\"Top\":{";
  out_ += "\"base_proof\":";
  path(view, 0, base, arity);
  out_ += ",\"sub_proof\":";
  path(view, base, base + 1, arity);
  if (shape_.top_arity != 0) {
    out_ += ",\"top_proof\":";
    path(view, base + 1, base + 2, arity);
  }
  out_ += ',';
  root_and_leaf(view);
  out_ += "}}}";
}

void C1Writer::column(const ColumnProofView& view) {
  out_ += "{\"column\":{\"index\":" + std::to_string(view.index) + ",\"rows\":";
  list(view.rows.size(), [&](size_t l) { fr(view.rows[l]); });
  out_ += ",\"_h\":null},\"inclusion_proof\":";
  replica_tree_proof(view.inclusion);
  out_ += '}';
}

void C1Writer::labeling(const PorepChallengeView& view, uint32_t layer) {
  const std::span<const NodeBytes> parents = view.labeling_parents(layer);
  out_ += "{\"parents\":";
  list(parents.size(), [&](size_t m) { bytes(parents[m]); });
  // The encoding proof, stored behind the last layer, states the last layer's index.
  out_ += ",\"layer_index\":" + std::to_string(layer > shape_.layers ? shape_.layers : layer) +
          ",\"node\":" + std::to_string(view.node()) + "}";
}

void C1Writer::challenge(const PorepChallengeView& view) {
  out_ += "{\"comm_d_proofs\":";
  tree_d_proof(view.comm_d());
  out_ += ",\"comm_r_last_proof\":";
  replica_tree_proof(view.comm_r_last());
  out_ += ",\"replica_column_proofs\":{\"c_x\":";
  column(view.c_x());
  out_ += ",\"drg_parents\":";
  list(kPorepBaseParents, [&](size_t m) { column(view.base_parent(static_cast<uint32_t>(m))); });
  out_ += ",\"exp_parents\":";
  list(kPorepExpanderParents, [&](size_t m) { column(view.expander_parent(static_cast<uint32_t>(m))); });
  out_ += "},\"labeling_proofs\":";
  list(shape_.layers, [&](size_t l) { labeling(view, static_cast<uint32_t>(l + 1)); });
  out_ += ",\"encoding_proof\":";
  labeling(view, shape_.layers + 1);
  out_ += '}';
}

std::string C1Writer::write() {
  out_ = "{\"registered_proof\":\"" + std::string(c1_.proof->name) + "\",\"vanilla_proofs\":{\"" +
         c1_.proof->vanilla_tag() + "\":";
  list(c1_.partitions.size(), [&](size_t k) {
    const PorepPartition& partition = c1_.partitions[k];
    list(partition.challenges(), [&](size_t i) { challenge(partition.challenge(static_cast<uint32_t>(i))); });
  });
  out_ += "},\"comm_r\":";
  fr(c1_.comm_r);
  out_ += ",\"comm_d\":";
  fr(c1_.comm_d);
  out_ += ",\"replica_id\":";
  fr(c1_.replica_id);
  out_ += ",\"seed\":";
  bytes(c1_.seed);
  out_ += ",\"ticket\":";
  bytes(c1_.ticket);
  out_ += '}';
  return std::move(out_);
}

}  // namespace

std::string write_porep_c1_inner(const PorepC1& c1) { return C1Writer(c1).write(); }

std::string write_porep_c1_wrapper(std::span<const uint8_t> inner, uint64_t sector_number, uint64_t sector_bytes) {
  return "{\"SectorNum\":" + std::to_string(sector_number) + ",\"Phase1Out\":\"" + base64_encode(inner) +
         "\",\"SectorSize\":" + std::to_string(sector_bytes) + "}";
}

}  // namespace cuzk
