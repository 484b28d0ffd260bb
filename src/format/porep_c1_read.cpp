#include <algorithm>
#include <cstring>
#include <limits>

#include "filecoin/porep.hpp"
#include "format/base64.hpp"
#include "format/json_reader.hpp"
#include "format/porep_c1.hpp"

namespace cuzk {
namespace {

using Value = JsonReader::Value;

constexpr std::array<JsonKey, 3> kWrapperKeys = {{{"SectorNum"}, {"Phase1Out"}, {"SectorSize"}}};
constexpr std::array<JsonKey, 7> kInnerKeys = {
    {{"registered_proof"}, {"vanilla_proofs"}, {"comm_r"}, {"comm_d"}, {"replica_id"}, {"seed"}, {"ticket"}}};
constexpr std::array<JsonKey, 5> kProofKeys = {
    {{"comm_d_proofs"}, {"comm_r_last_proof"}, {"replica_column_proofs"}, {"labeling_proofs"}, {"encoding_proof"}}};
constexpr std::array<JsonKey, 3> kColumnsKeys = {{{"c_x"}, {"drg_parents"}, {"exp_parents"}}};
constexpr std::array<JsonKey, 2> kColumnProofKeys = {{{"column"}, {"inclusion_proof"}}};
// "_h" is a phantom field; upstream demands it, we do not.
constexpr std::array<JsonKey, 2> kColumnKeys = {{{"index"}, {"rows"}}};
constexpr std::array<JsonKey, 3> kLabelingKeys = {{{"parents"}, {"layer_index"}, {"node"}}};
constexpr std::array<JsonKey, 1> kDataKeys = {{{"data"}}};
constexpr std::array<JsonKey, 3> kVariants = {{{"Single", false}, {"Sub", false}, {"Top", false}}};
// By variant: which of these a proof has. root and leaf come first.
constexpr std::array<JsonKey, 3> kSingleKeys = {{{"root"}, {"leaf"}, {"path"}}};
constexpr std::array<JsonKey, 4> kSubKeys = {{{"root"}, {"leaf"}, {"base_proof"}, {"sub_proof"}}};
constexpr std::array<JsonKey, 5> kTopKeys = {{{"root"}, {"leaf"}, {"base_proof"}, {"sub_proof"}, {"top_proof"}}};
constexpr std::array<JsonKey, 1> kPathKeys = {{{"path"}}};
constexpr std::array<JsonKey, 2> kElementKeys = {{{"hashes"}, {"index"}}};

// How the openings of one tree are laid out.
struct TreeForm {
  struct Level {
    uint32_t arity;
    uint32_t first_sibling;  // among the values of the opening: root, leaf, siblings
    uint32_t index_shift;    // of its index within the leaf index
  };
  size_t variant = 0;  // index into kVariants
  uint32_t base_levels = 0;
  std::vector<Level> levels;

  void push(uint32_t arity) {
    Level next{arity, 2, 0};
    if (!levels.empty()) {
      const Level& last = levels.back();
      next.first_sibling = last.first_sibling + last.arity - 1;
      next.index_shift = last.index_shift + static_cast<uint32_t>(__builtin_ctz(last.arity));
    }
    levels.push_back(next);
  }
};

TreeForm tree_d_form(const PorepShape& shape) {
  TreeForm form;
  form.base_levels = shape.log2_nodes;
  for (uint32_t level = 0; level < shape.log2_nodes; ++level) form.push(2);
  return form;
}

TreeForm replica_tree_form(const PorepShape& shape) {
  TreeForm form;
  form.variant = shape.top_arity != 0 ? 2 : shape.sub_arity != 0 ? 1 : 0;
  form.base_levels = shape.base_levels;
  for (uint32_t level = 0; level < shape.path_levels(); ++level) form.push(shape.path_arity(level));
  return form;
}

class C1Reader {
 public:
  Result<PorepC1> read(const PaddedBuffer& inner);

 private:
  bool read_document();
  bool find_registered_proof();
  bool read_registered_proof(Value value, const JsonPath& path, const RegisteredSealProof*& out);
  bool read_vanilla_proofs(Value value, const JsonPath& path);
  bool read_challenge(Value value, const JsonPath& path, PorepPartition& partition, uint32_t i);
  bool read_columns(Value value, const JsonPath& path, PorepPartition& partition, uint32_t i);
  bool read_column(Value value, const JsonPath& path, PorepPartition& partition, uint32_t i, uint32_t column);
  bool read_labeling(Value value, const JsonPath& path, uint32_t layer, NodeBytes* parents, uint64_t& node);
  bool read_proof(Value value, const JsonPath& path, const TreeForm& form, Fr* values, uint64_t& leaf_index);
  template <size_t N>
  bool read_proof_data(Value value, const JsonPath& path, const TreeForm& form, const std::array<JsonKey, N>& keys,
                       Fr* values, uint64_t& leaf_index);
  bool read_path(Value value, const JsonPath& path, const TreeForm& form, size_t first_level, size_t num_levels,
                 Fr* values, uint64_t& leaf_index);
  bool read_fr(Value value, const JsonPath& path, Fr& out);
  bool read_commitment(Value value, const JsonPath& path, Fr& out);
  bool check_roots();

  JsonReader json_;
  PorepC1 c1_;
  const PorepShape* shape_ = nullptr;
  TreeForm tree_d_, replica_tree_;
  std::optional<uint32_t> partition_;  // the one being read
};

Result<PorepC1> C1Reader::read(const PaddedBuffer& inner) {
  if (json_.open(inner) && find_registered_proof() && read_document() && json_.expect_end() && check_roots()) {
    return std::move(c1_);
  }
  Error error = json_.take_error();
  error.partition = partition_;
  return error;
}

bool C1Reader::read_registered_proof(Value value, const JsonPath& path, const RegisteredSealProof*& out) {
  std::string_view name;
  if (!json_.read_string(value, path, name)) return false;
  out = registered_seal_proof_by_name(name);
  return out != nullptr || json_.fail(path, "no registered seal proof has this name");
}

// The proof decides every count, and may stand behind the proofs: it is looked up first.
bool C1Reader::find_registered_proof() {
  JsonReader::Object root;
  if (!json_.root_object(root)) return false;
  const JsonPath top;
  const JsonPath path = top.at("registered_proof");
  Value value;
  const auto e = root.find_field_unordered("registered_proof").get(value);
  if (e == simdjson::NO_SUCH_FIELD) return json_.fail(path, "the key is missing");
  if (e != simdjson::SUCCESS) return json_.fail_json(path, e);
  if (!read_registered_proof(value, path, c1_.proof)) return false;
  shape_ = c1_.proof->shape;
  tree_d_ = tree_d_form(*shape_);
  replica_tree_ = replica_tree_form(*shape_);
  json_.rewind();
  return true;
}

bool C1Reader::read_document() {
  JsonReader::Object root;
  if (!json_.root_object(root)) return false;
  return json_.read_fields(root, JsonPath(), kInnerKeys, [&](size_t key, Value value, const JsonPath& path) {
    switch (key) {
      case 0: {
        const RegisteredSealProof* again = nullptr;
        if (!read_registered_proof(value, path, again)) return false;
        // The first look-up compares keys without unescaping, so two spellings could name two proofs.
        return again == c1_.proof || json_.fail(path, "the key is repeated");
      }
      case 1: return read_vanilla_proofs(value, path);
      case 2: return read_commitment(value, path, c1_.comm_r);
      case 3: return read_commitment(value, path, c1_.comm_d);
      case 4: return read_fr(value, path, c1_.replica_id);
      case 5:
        if (!json_.read_bytes(value, path, c1_.seed)) return false;
        // Non-interactive proofs have no seed.
        return c1_.proof->feature == PorepFeature::kNonInteractive || c1_.seed != NodeBytes{} ||
               json_.fail(path, "the challenge seed is all zero");
      default: return json_.read_bytes(value, path, c1_.ticket);
    }
  });
}

bool C1Reader::read_vanilla_proofs(Value value, const JsonPath& path) {
  const std::string tag = c1_.proof->vanilla_tag();
  bool seen = false;
  // The enum's tag is the only key, so this object has no room for unknown ones.
  simdjson::ondemand::object object;
  if (const auto e = value.get_object().get(object); e != simdjson::SUCCESS)
    return json_.fail_type(path, e, "an object");
  for (auto item : object) {
    simdjson::ondemand::field entry;
    if (const auto e = std::move(item).get(entry); e != simdjson::SUCCESS) return json_.fail_json(path, e);
    std::string_view key;
    if (const auto e = entry.unescaped_key().get(key); e != simdjson::SUCCESS) return json_.fail_json(path, e);
    if (key != tag) {
      return json_.fail(
          path, "the key is not \"" + tag + "\", as the registered proof " + std::string(c1_.proof->name) + " demands");
    }
    if (seen) return json_.fail(path, "the key is repeated");
    seen = true;
    const auto read_partition = [&](size_t k, Value partition_value) {
      partition_ = static_cast<uint32_t>(k);
      const JsonPath here = path.at(k);
      c1_.partitions.emplace_back(*shape_, shape_->challenges);
      PorepPartition& partition = c1_.partitions.back();
      const auto read_one = [&](size_t i, Value challenge) {
        return read_challenge(challenge, here.at(i), partition, static_cast<uint32_t>(i));
      };
      if (!json_.read_array(partition_value, here, shape_->challenges, read_one)) return false;
      partition_.reset();
      return true;
    };
    if (!json_.read_array(entry.value(), path, c1_.proof->partitions(), read_partition)) return false;
  }
  return seen || json_.fail(path, "has no \"" + tag + "\"");
}

bool C1Reader::read_challenge(Value value, const JsonPath& path, PorepPartition& partition, uint32_t i) {
  const PorepChallengeLayout& layout = partition.layout();
  const std::span<Fr> values = partition.values(i);
  const std::span<uint64_t> indices = partition.indices(i);
  const std::span<NodeBytes> parents = partition.parents(i);
  uint64_t encoding_node = 0;
  const auto read_layer = [&](Value labeling, const JsonPath& here, size_t l) {
    uint64_t node = 0;
    if (!read_labeling(labeling, here, static_cast<uint32_t>(l + 1), &parents[l * kPorepHashedParents], node))
      return false;
    if (l == 0) indices[0] = node;
    return node == indices[0] || json_.fail(here.at("node"), "differs from labeling_proofs[0].node");
  };
  const bool ok = json_.read_object(value, path, kProofKeys, [&](size_t key, Value field, const JsonPath& here) {
    switch (key) {
      case 0: return read_proof(field, here, tree_d_, &values[layout.comm_d()], indices[1]);
      case 1: return read_proof(field, here, replica_tree_, &values[layout.comm_r_last()], indices[2]);
      case 2: return read_columns(field, here, partition, i);
      case 3:
        return json_.read_array(field, here, layout.layers,
                                [&](size_t l, Value labeling) { return read_layer(labeling, here.at(l), l); });
      default:
        return read_labeling(field, here, layout.layers, &parents[layout.layers * kPorepHashedParents], encoding_node);
    }
  });
  if (!ok) return false;
  return encoding_node == indices[0] ||
         json_.fail(path.at("encoding_proof").at("node"), "differs from labeling_proofs[0].node");
}

bool C1Reader::read_columns(Value value, const JsonPath& path, PorepPartition& partition, uint32_t i) {
  return json_.read_object(value, path, kColumnsKeys, [&](size_t key, Value field, const JsonPath& here) {
    if (key == 0) return read_column(field, here, partition, i, 0);
    const uint32_t first = key == 1 ? 1 : 1 + kPorepBaseParents;
    const uint32_t count = key == 1 ? kPorepBaseParents : kPorepExpanderParents;
    return json_.read_array(field, here, count, [&](size_t m, Value column) {
      return read_column(column, here.at(m), partition, i, first + static_cast<uint32_t>(m));
    });
  });
}

bool C1Reader::read_column(Value value, const JsonPath& path, PorepPartition& partition, uint32_t i, uint32_t column) {
  const PorepChallengeLayout& layout = partition.layout();
  Fr* values = &partition.values(i)[layout.column(column)];
  uint64_t* indices = &partition.indices(i)[3 + 2 * column];
  const auto read_part = [&](size_t part, Value field, const JsonPath& here) {
    if (part == 0) return json_.read_uint(field, here, shape_->nodes() - 1, indices[0]);
    return json_.read_array(field, here, layout.layers,
                            [&](size_t l, Value row) { return read_fr(row, here.at(l), values[l]); });
  };
  return json_.read_object(value, path, kColumnProofKeys, [&](size_t key, Value field, const JsonPath& here) {
    if (key == 0) return json_.read_object(field, here, kColumnKeys, read_part);
    return read_proof(field, here, replica_tree_, values + layout.layers, indices[1]);
  });
}

bool C1Reader::read_labeling(Value value, const JsonPath& path, uint32_t layer, NodeBytes* parents, uint64_t& node) {
  return json_.read_object(value, path, kLabelingKeys, [&](size_t key, Value field, const JsonPath& here) {
    if (key == 0) {
      return json_.read_array(field, here, kPorepHashedParents,
                              [&](size_t m, Value parent) { return json_.read_bytes(parent, here.at(m), parents[m]); });
    }
    if (key == 2) return json_.read_uint(field, here, shape_->nodes() - 1, node);
    uint64_t index = 0;
    if (!json_.read_uint(field, here, std::numeric_limits<uint32_t>::max(), index)) return false;
    return index == layer || json_.fail(here, "is " + std::to_string(index) + ", needs to be " + std::to_string(layer));
  });
}

bool C1Reader::read_proof(Value value, const JsonPath& path, const TreeForm& form, Fr* values, uint64_t& leaf_index) {
  const auto read_variant = [&](size_t variant, Value data, const JsonPath& here) {
    if (variant != form.variant) {
      return json_.fail(here, "the tree's openings are of the form " + std::string(kVariants[form.variant].name));
    }
    switch (variant) {
      case 0: return read_proof_data(data, here, form, kSingleKeys, values, leaf_index);
      case 1: return read_proof_data(data, here, form, kSubKeys, values, leaf_index);
      default: return read_proof_data(data, here, form, kTopKeys, values, leaf_index);
    }
  };
  std::array<JsonKey, 3> variants = kVariants;
  variants[form.variant].required = true;
  return json_.read_object(value, path, kDataKeys, [&](size_t, Value data, const JsonPath& here) {
    return json_.read_object(data, here, variants, read_variant);
  });
}

template <size_t N>
bool C1Reader::read_proof_data(Value value, const JsonPath& path, const TreeForm& form,
                               const std::array<JsonKey, N>& keys, Fr* values, uint64_t& leaf_index) {
  leaf_index = 0;
  return json_.read_object(value, path, keys, [&](size_t key, Value field, const JsonPath& here) {
    if (key < 2) return read_fr(field, here, values[key]);
    if (key == 2) return read_path(field, here, form, 0, form.base_levels, values, leaf_index);
    return read_path(field, here, form, form.base_levels + key - 3, 1, values, leaf_index);
  });
}

bool C1Reader::read_path(Value value, const JsonPath& path, const TreeForm& form, size_t first_level, size_t num_levels,
                         Fr* values, uint64_t& leaf_index) {
  const auto read_element = [&](const TreeForm::Level& level, size_t key, Value field, const JsonPath& here) {
    if (key == 0) {
      return json_.read_array(field, here, level.arity - 1, [&](size_t s, Value hash) {
        return read_fr(hash, here.at(s), values[level.first_sibling + s]);
      });
    }
    uint64_t index = 0;
    if (!json_.read_uint(field, here, level.arity - 1, index)) return false;
    leaf_index |= index << level.index_shift;
    return true;
  };
  return json_.read_object(value, path, kPathKeys, [&](size_t, Value elements, const JsonPath& here) {
    return json_.read_array(elements, here, num_levels, [&](size_t i, Value element) {
      const TreeForm::Level& level = form.levels[first_level + i];
      return json_.read_object(element, here.at(i), kElementKeys, [&](size_t key, Value field, const JsonPath& place) {
        return read_element(level, key, field, place);
      });
    });
  });
}

bool C1Reader::read_fr(Value value, const JsonPath& path, Fr& out) {
  NodeBytes bytes;
  if (!json_.read_bytes(value, path, bytes)) return false;
  Fr::Limbs plain;
  static_assert(sizeof plain == sizeof bytes && std::endian::native == std::endian::little);
  std::memcpy(&plain, &bytes, sizeof plain);
  const std::optional<Fr> element = Fr::from_plain_checked(plain);
  if (!element) return json_.fail(path, "not a canonical field element");
  out = *element;
  return true;
}

bool C1Reader::read_commitment(Value value, const JsonPath& path, Fr& out) {
  if (!read_fr(value, path, out)) return false;
  return !out.is_zero() || json_.fail(path, "the commitment is all zero");
}

// Every tree of the file has one root: comm_d, comm_r_last and comm_c.
bool C1Reader::check_roots() {
  const PorepChallengeView first = c1_.partitions[0].challenge(0);
  const Fr comm_c = first.c_x().inclusion.root;
  const Fr comm_r_last = first.comm_r_last().root;
  const JsonPath top;
  const JsonPath proofs = top.at("vanilla_proofs");
  for (size_t k = 0; k < c1_.partitions.size(); ++k) {
    partition_ = static_cast<uint32_t>(k);
    const JsonPath in_partition = proofs.at(k);
    for (uint32_t i = 0; i < c1_.partitions[k].challenges(); ++i) {
      const PorepChallengeView challenge = c1_.partitions[k].challenge(i);
      const JsonPath here = in_partition.at(i);
      if (challenge.comm_d().root != c1_.comm_d) return json_.fail(here.at("comm_d_proofs"), "the root is not comm_d");
      if (challenge.comm_r_last().root != comm_r_last) {
        return json_.fail(here.at("comm_r_last_proof"), "the root is not that of the first challenge, comm_r_last");
      }
      for (uint32_t column = 0; column < PorepChallengeLayout::kColumns; ++column) {
        if (challenge.column(column).inclusion.root == comm_c) continue;
        const JsonPath columns = here.at("replica_column_proofs");
        const JsonPath c_x = columns.at("c_x"), drg = columns.at("drg_parents"), exp = columns.at("exp_parents");
        const JsonPath place = column == 0                   ? c_x
                               : column <= kPorepBaseParents ? drg.at(column - 1)
                                                             : exp.at(column - 1 - kPorepBaseParents);
        return json_.fail(place.at("inclusion_proof"), "the root is not that of the first challenge, comm_c");
      }
    }
  }
  partition_.reset();
  return true;
}

// The key that comes first and is known decides between wrapper and inner document.
Result<bool> is_wrapper(JsonReader& json) {
  JsonReader::Object root;
  if (!json.root_object(root)) return json.take_error();
  const JsonPath top;
  for (auto item : root) {
    simdjson::ondemand::field entry;
    std::string_view key;
    auto e = std::move(item).get(entry);
    if (e == simdjson::SUCCESS) e = entry.unescaped_key().get(key);
    if (e != simdjson::SUCCESS) {
      json.fail_json(top, e);
      return json.take_error();
    }
    for (const JsonKey& k : kWrapperKeys) {
      if (k.name == key) return true;
    }
    for (const JsonKey& k : kInnerKeys) {
      if (k.name == key) return false;
    }
  }
  json.fail(top, "neither a C1 wrapper (\"Phase1Out\") nor a C1 document (\"vanilla_proofs\")");
  return json.take_error();
}

struct Wrapper {
  uint64_t sector_number = 0;
  uint64_t sector_bytes = 0;
  std::string_view text;  // base64, inside the document or `unescaped`
  std::string unescaped;  // where the string has escapes
  uint64_t offset = 0;    // of text in the document
  bool exact_offset = true;
};

bool read_wrapper(JsonReader& json, const PaddedBuffer& document, Wrapper& out) {
  JsonReader::Object root;
  json.rewind();
  if (!json.root_object(root)) return false;
  const auto field = [&](size_t key, Value value, const JsonPath& path) {
    // Go's SectorNumber is signed.
    if (key == 0) return json.read_uint(value, path, std::numeric_limits<int64_t>::max(), out.sector_number);
    if (key == 2) return json.read_uint(value, path, std::numeric_limits<uint64_t>::max(), out.sector_bytes);
    std::string_view raw = value.raw_json_token();
    if (raw.empty() || raw.front() != '"') return json.fail(path, "not a string");
    out.offset = static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(raw.data()) - document.data()) + 1;
    const size_t end = raw.rfind('"');
    if (end == 0) return json.fail(path, "not well-formed JSON");
    out.text = raw.substr(1, end - 1);
    // Unread, the value is stepped over: 50 MB are not copied.
    if (out.text.find('\\') == std::string_view::npos) return true;
    std::string_view text;
    if (!json.read_string(value, path, text)) return false;
    out.unescaped = text;
    out.text = out.unescaped;
    out.exact_offset = false;
    return true;
  };
  return json.read_fields(root, JsonPath(), kWrapperKeys, field) && json.expect_end();
}

constexpr std::string_view kSpace = " \t\n\r";

// Behind the quote that ends the string whose first character is at `at`; npos where it does not end.
size_t end_of_string(std::string_view text, size_t at) {
  for (; at < text.size(); at += text[at] == '\\' ? 2 : 1) {
    if (text[at] == '"') return at + 1;
  }
  return std::string_view::npos;
}

// What follows the opening quote of the string that the outermost object has under `key`. Empty where `text`, which may
// be cut anywhere, does not tell. What is no JSON is not noticed: somebody else reads it all.
std::string_view string_in_head(std::string_view text, std::string_view key) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || c == '[') {
      ++depth;
    } else if (depth == 0) {
      if (kSpace.find(c) == std::string_view::npos) return {};
    } else if (c == '}' || c == ']') {
      if (--depth == 0) return {};
    } else if (c == '"') {
      const size_t end = end_of_string(text, i + 1);
      if (end == std::string_view::npos) return {};
      const bool is_key = depth == 1 && text.substr(i + 1, end - i - 2) == key;
      i = end - 1;
      const size_t colon = text.find_first_not_of(kSpace, end);
      if (!is_key || colon == std::string_view::npos || text[colon] != ':') continue;
      const size_t value = text.find_first_not_of(kSpace, colon + 1);
      return value == std::string_view::npos || text[value] != '"' ? std::string_view() : text.substr(value + 1);
    }
  }
  return {};
}

const RegisteredSealProof* proof_in_head(std::string_view inner) {
  const std::string_view name = string_in_head(inner, kInnerKeys[0].name);
  const size_t end = name.find('"');
  return end == std::string_view::npos ? nullptr : registered_seal_proof_by_name(name.substr(0, end));
}

}  // namespace

const RegisteredSealProof* porep_c1_proof_in_head(std::span<const uint8_t> document) {
  constexpr size_t kMostHead = 16 << 10;
  const std::string_view head(reinterpret_cast<const char*>(document.data()), std::min(document.size(), kMostHead));
  std::string_view base64 = string_in_head(head, kWrapperKeys[1].name);
  if (base64.empty()) return proof_in_head(head);
  base64 = base64.substr(0, base64.find_first_of("\"\\"));
  base64 = base64.substr(0, base64.size() / 4 * 4);
  std::vector<uint8_t> inner(base64_decoded_size(base64));
  const Result<size_t> decoded = base64_decode(base64, inner);
  if (!decoded.ok()) return nullptr;
  return proof_in_head({reinterpret_cast<const char*>(inner.data()), *decoded});
}

uint64_t max_porep_c1_bytes(std::span<const uint8_t> head) {
  return json_begins_with(head, '{') ? kMaxPorepC1Bytes : uint64_t{1} << 20;
}

Result<PorepC1> read_porep_c1(const PaddedBuffer& document) {
  JsonReader outer;
  if (!outer.open(document)) return outer.take_error();
  CUZK_ASSIGN(const bool wrapped, is_wrapper(outer));
  if (!wrapped) {
    C1Reader reader;
    return reader.read(document);
  }
  Wrapper wrapper;
  if (!read_wrapper(outer, document, wrapper)) return outer.take_error();
  const auto outer_offset = [&](uint64_t inner) {
    return wrapper.exact_offset ? wrapper.offset + inner : wrapper.offset;
  };
  PaddedBuffer inner(base64_decoded_size(wrapper.text));
  const Result<size_t> decoded = base64_decode(wrapper.text, {inner.data(), inner.size()});
  if (!decoded.ok()) {
    Error error = decoded.error();
    error.field = "Phase1Out";
    error.offset = outer_offset(error.offset.value_or(0));
    return std::move(error).of_sector(wrapper.sector_number);
  }
  C1Reader reader;
  Result<PorepC1> result = reader.read(inner);
  if (!result.ok()) {
    if (result.error().offset) result.error().offset = outer_offset(*result.error().offset / 3 * 4);
    result.error().sector = wrapper.sector_number;
    return result;
  }
  if (wrapper.sector_bytes != result->shape().sector_bytes()) {
    return Error(ErrorClass::kInvalidInput, "is " + std::to_string(wrapper.sector_bytes) + ", but " +
                                                std::string(result->proof->name) + " is for sectors of " +
                                                std::to_string(result->shape().sector_bytes()) + " bytes")
        .at_field("SectorSize")
        .of_sector(wrapper.sector_number);
  }
  result->sector_number = wrapper.sector_number;
  return result;
}

Result<PorepC1> read_porep_c1(std::span<const uint8_t> document) { return read_porep_c1(PaddedBuffer(document)); }

}  // namespace cuzk
