#include "format/porep_c1.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <random>
#include <sstream>

#include "base/hex.hpp"
#include "filecoin/porep_dev_sealer.hpp"
#include "format/base64.hpp"
#include "hash/sha256.hpp"

namespace cuzk {
namespace {

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Made by upstream: StackedDrg2KiBV1_1, prover id 32 x 9, sector 7, ticket 32 x 1, seed 32 x 2.
const std::string& golden() {
  static const std::string text = [] {
    std::ifstream file(std::string(CUZK_GOLDEN_DIR) + "/c1-2kib.json", std::ios::binary);
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
  }();
  return text;
}

std::string wrapped(const std::string& inner) { return write_porep_c1_wrapper(bytes_of(inner), 7, 2048); }

Result<PorepC1> read(const std::string& text) { return read_porep_c1(bytes_of(text)); }

// Replaces the first `from` behind `after` (everywhere if empty) in the golden document.
std::string edited(std::string_view from, std::string_view to, std::string_view after = "") {
  std::string text = golden();
  const size_t start = after.empty() ? 0 : text.find(after);
  EXPECT_NE(start, std::string::npos) << after;
  const size_t at = text.find(from, start);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// The document must be refused with this field and a message that contains `message`, bare and wrapped.
void expect_refused(const std::string& text, const std::string& field, const std::string& message,
                    std::optional<uint32_t> partition = {}) {
  for (const bool wrap : {false, true}) {
    const Result<PorepC1> result = read(wrap ? wrapped(text) : text);
    ASSERT_FALSE(result.ok()) << field << ": " << message;
    const Error& error = result.error();
    EXPECT_EQ(error.error_class, ErrorClass::kInvalidInput);
    EXPECT_EQ(error.field, field) << error.describe();
    EXPECT_NE(error.message.find(message), std::string::npos) << error.describe();
    EXPECT_EQ(error.partition, partition) << error.describe();
    if (wrap) {
      EXPECT_EQ(error.sector, 7u);
    }
  }
}

TEST(PorepC1, ReadsUpstreamsFile) {
  EXPECT_EQ(to_hex(sha256(bytes_of(golden()))), "38e2559bc4a986d5502b124120465460646e449cec007bb350e557a11515f0e3");
  const Result<PorepC1> c1 = read(golden());
  ASSERT_TRUE(c1.ok()) << c1.error().describe();
  EXPECT_EQ(c1->proof->number, 5u);
  EXPECT_FALSE(c1->sector_number.has_value());
  EXPECT_EQ(to_hex(c1->comm_d.to_bytes_le()), "d257d50ac2f787ffe9e55f474fa814ad41d66cbcd7e84801edb3d28f8b170120");
  EXPECT_EQ(to_hex(c1->replica_id.to_bytes_le()), "7e49afa520343b89e97483fc455af4d432d5fc2627d9e9e9dca04be4af615406");
  EXPECT_EQ(to_hex(c1->comm_r.to_bytes_le()), "f53f886e35a6ccc447d9437e7e1719c9b0523566b72f8ebbfab4bff0d5779116");
  ASSERT_EQ(c1->partitions.size(), 1u);
  ASSERT_EQ(c1->partitions[0].challenges(), 2u);
  const PorepChallengeView challenge = c1->partitions[0].challenge(0);
  EXPECT_EQ(challenge.node(), 18u);
  EXPECT_EQ(challenge.comm_d().leaf_index, 18u);
  EXPECT_EQ(challenge.base_parent(1).inclusion.leaf_index, 16u);
  EXPECT_EQ(challenge.expander_parent(7).index, 38u);
  EXPECT_EQ(to_hex(challenge.c_x().inclusion.root.to_bytes_le()),
            "0c33c81e6f541777481202b3bfbf9742e0dd90f5e107fed275138b95308ae115");
  EXPECT_TRUE(validate_porep_vanilla(*c1).ok());
}

TEST(PorepC1, ReadsTheWrapper) {
  const Result<PorepC1> c1 = read(wrapped(golden()));
  ASSERT_TRUE(c1.ok()) << c1.error().describe();
  EXPECT_EQ(c1->sector_number, 7u);
  EXPECT_EQ(write_porep_c1_inner(*c1), golden());
  // Other orders, unknown keys, white space, escapes.
  const std::string base64 = base64_encode(bytes_of(golden()));
  std::string escaped;
  for (const char c : base64) escaped += c == '/' ? "\\/" : std::string(1, c);
  for (const std::string& text :
       {"{\"SectorSize\":2048, \"More\":{\"a\":[1,{}]},\n\"SectorNum\" : 0,\"Phase1Out\":\"" + base64 + "\"  }\n",
        "{\"Phase1Out\":\"" + escaped + "\",\"SectorNum\":9223372036854775807,\"SectorSize\":2048}"}) {
    EXPECT_TRUE(read(text).ok()) << text.substr(0, 100);
  }
}

TEST(PorepC1, TheProofIsKnownFromTheBeginning) {
  const auto of = [](const std::string& text) { return porep_c1_proof_in_head(bytes_of(text)); };
  const RegisteredSealProof* const proof = &registered_seal_proofs()[5];
  EXPECT_EQ(of(golden()), proof);
  EXPECT_EQ(of(wrapped(golden())), proof);
  // Cut anywhere behind it, in Go's order, with space, keys that are not known, and the same words where they mean
  // nothing.
  EXPECT_EQ(of(golden().substr(0, 60)), proof);
  EXPECT_EQ(of(wrapped(golden()).substr(0, 150)), proof);
  const std::string go =
      "{ \"comm_d\" : "
      "[1,2],\"x\":{\"registered_proof\":\"StackedDrg32GiBV1\"},\n\"y\":\"registered_proof\",\"z\":\"\\\"\","
      "\"registered_proof\" : \"StackedDrg2KiBV1_1\",\"ticket\":[]}";
  EXPECT_EQ(of(go), proof);
  EXPECT_EQ(of(wrapped(go)), proof);
  EXPECT_EQ(of("{\"SectorSize\":2048, \"SectorNum\" : 0,\"Phase1Out\":\"" + base64_encode(bytes_of(go)) + "\"}"),
            proof);
  // Where it does not tell, or too late.
  const std::string late = "{\"x\":\"" + std::string(16 << 10, ' ') + "\"," + golden().substr(1);
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("}"), std::string("{}"), golden().substr(0, 30),
        wrapped(golden()).substr(0, 40), "x" + golden(), std::string("{\"registered_proof\":5}"),
        std::string("{\"registered_proof\":\"StackedDrg3KiBV1\"}"), std::string("{\"Phase1Out\":\"!!!!\"}"),
        std::string("{\"Phase1Out\":7}"), std::string("{\"registered_proof"), std::string("{\"registered_proof\""),
        std::string("{\"registered_proof\":"), std::string("{\"a\\"), late, wrapped(late)}) {
    EXPECT_EQ(of(text), nullptr) << text.substr(0, 100);
  }
}

TEST(PorepC1, WritesUpstreamsBytes) {
  const Result<PorepC1> c1 = read(golden());
  ASSERT_TRUE(c1.ok());
  EXPECT_EQ(write_porep_c1_inner(*c1), golden());
}

// Everything from the data: graph, labels, trees, commitments, challenges, openings, JSON.
TEST(PorepC1, SealerReproducesUpstreamsFile) {
  std::vector<NodeBytes> data;
  for (uint64_t i = 0; i < 64; ++i) data.push_back(Fr::from_u64(i * 0x010203040506 + 1).to_bytes_le());
  PorepSealInput input;
  input.proof = &registered_seal_proofs()[5];
  input.prover_id.fill(9);
  input.sector_number = 7;
  input.ticket.fill(1);
  input.seed.fill(2);
  input.data = data;
  const Result<PorepSealed> sealed = seal_porep(input);
  ASSERT_TRUE(sealed.ok());
  EXPECT_EQ(write_porep_c1_inner(sealed->c1), golden());
}

// The form that Go writes: keys sorted by its structs, indented or not.
TEST(PorepC1, ReadsAnyKeyOrder) {
  // The top-level order of Go: vanilla_proofs last, registered_proof in the middle.
  const std::string& text = golden();
  const size_t proofs = text.find("\"vanilla_proofs\""), behind = text.find(",\"comm_r\":[", proofs);
  const std::string head = text.substr(1, proofs - 1), vanilla = text.substr(proofs, behind - proofs),
                    tail = text.substr(behind + 1, text.size() - behind - 2);
  const std::string go = "{" + tail + "," + head + vanilla + "}";
  const Result<PorepC1> c1 = read(go);
  ASSERT_TRUE(c1.ok()) << c1.error().describe();
  EXPECT_EQ(write_porep_c1_inner(*c1), text);
  // Without "_h", with unknown keys, with white space everywhere it may be.
  std::string loose;
  bool in_string = false;
  for (const char c : text) {
    if (c == '"') in_string = !in_string;
    loose += c;
    if (!in_string && (c == ',' || c == ':' || c == '[' || c == '{')) loose += c == ',' ? "\r\n\t" : " ";
  }
  for (size_t at; (at = loose.find(",\r\n\t\"_h\": null")) != std::string::npos;) {
    loose.replace(at, std::string(",\r\n\t\"_h\": null").size(),
                  ", \"x\": {\"y\": [true, false, null, 1.5e3, \"\\u0041\"]}");
  }
  const Result<PorepC1> again = read(loose);
  ASSERT_TRUE(again.ok()) << again.error().describe();
  EXPECT_EQ(write_porep_c1_inner(*again), text);
}

TEST(PorepC1, RefusesEveryTruncation) {
  const std::string& text = golden();
  const std::string wrapper = wrapped(text);
  for (const std::string* whole : {&text, &wrapper}) {
    for (size_t n = 0; n < whole->size(); n += n < 2000 || n + 2000 > whole->size() ? 1 : 61) {
      ASSERT_FALSE(read(whole->substr(0, n)).ok()) << n;
    }
  }
  // Truncated inside the base64.
  for (size_t n = 0; n < text.size(); n += 509) ASSERT_FALSE(read(wrapped(text.substr(0, n))).ok()) << n;
}

TEST(PorepC1, RefusesWhatIsNotJson) {
  for (const char* text :
       {"", " ", "null", "[]", "1", "\"Phase1Out\"", "{", "{}", "{]", "{\"a\":1}", "\xff\xfe", "{\"vanilla_proofs\"}",
        "{\"Phase1Out\"", "{\"Phase1Out\":", "{\"Phase1Out\":\"", "{'Phase1Out':''}"}) {
    const Result<PorepC1> result = read(text);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.error().error_class, ErrorClass::kInvalidInput);
  }
  EXPECT_FALSE(read(golden() + "x").ok());
  EXPECT_FALSE(read(golden() + golden()).ok());
  EXPECT_FALSE(read("[" + golden() + "]").ok());
  expect_refused(edited("\"comm_r\":[", "\"comm_r\":[,"), "comm_r[0]", "not an unsigned integer");
  expect_refused(edited("},\"comm_r\":", "}\"comm_r\":"), "", "not well-formed JSON");
}

// One case of every rule, each naming its field.
TEST(PorepC1, RefusesWrongTopLevel) {
  expect_refused(edited("\"StackedDrg2KiBV1_1\"", "\"StackedDrg3KiBV1\""), "registered_proof",
                 "no registered seal proof");
  expect_refused(edited("\"StackedDrg2KiBV1_1\"", "5"), "registered_proof", "not a string");
  expect_refused(edited("\"registered_proof\"", "\"registered-proof\""), "registered_proof", "missing");
  expect_refused(edited("\"ticket\"", "\"tickets\""), "ticket", "missing");
  expect_refused(edited("\"vanilla_proofs\"", "\"vanilla\""), "vanilla_proofs", "missing");
  expect_refused(edited("\"ticket\":", "\"seed\":"), "seed", "repeated");
  expect_refused(edited("{\"registered_proof\":", "{\"registered_proof\":\"StackedDrg2KiBV1_1\",\"registered_proof\":"),
                 "registered_proof", "repeated");
  expect_refused(edited("StackedDrg2KiBV1\"", "StackedDrg8MiBV1\"", "vanilla_proofs"), "vanilla_proofs",
                 "the key is not");
  // Another size or feature than the proofs are made for.
  expect_refused(edited("StackedDrg2KiBV1_1", "StackedDrg8MiBV1_1"), "vanilla_proofs", "the key is not");
  expect_refused(edited("StackedDrg2KiBV1_1", "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep"), "vanilla_proofs",
                 "has 1 elements, needs 13");
  const std::string zeros = "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]";
  const auto zeroed = [&](const std::string& key) {
    std::string text = golden();
    const size_t at = text.find("],\"" + key + "\":[") + 4 + key.size() + 1;
    return text.replace(at, text.find(']', at) + 1 - at, zeros);
  };
  // comm_r follows the proofs' object, the others an array.
  expect_refused(zeroed("comm_d"), "comm_d", "all zero");
  expect_refused(zeroed("seed"), "seed", "all zero");
  EXPECT_TRUE(read(zeroed("ticket")).ok());
  std::string text = golden();
  const size_t at = text.find("},\"comm_r\":[") + 11;
  expect_refused(text.replace(at, text.find(']', at) + 1 - at, zeros), "comm_r", "all zero");
}

TEST(PorepC1, RefusesWrongBytes) {
  const std::string leaf = "vanilla_proofs[0][0].comm_d_proofs.data.Single.leaf";
  expect_refused(edited("\"leaf\":[109,", "\"leaf\":[256,"), leaf + "[0]", "256 is not a byte", 0);
  expect_refused(edited("\"leaf\":[109,", "\"leaf\":[-1,"), leaf + "[0]", "not an unsigned integer", 0);
  expect_refused(edited("\"leaf\":[109,", "\"leaf\":[1.0,"), leaf + "[0]", "not an unsigned integer", 0);
  expect_refused(edited("\"leaf\":[109,", "\"leaf\":[1e1,"), leaf + "[0]", "not an unsigned integer", 0);
  expect_refused(edited("\"leaf\":[109,", "\"leaf\":[\"1\","), leaf + "[0]", "not an unsigned integer", 0);
  expect_refused(edited("\"leaf\":[109,", "\"leaf\":[null,"), leaf + "[0]", "not an unsigned integer", 0);
  expect_refused(edited("\"leaf\":[109,", "\"leaf\":[true,"), leaf + "[0]", "not an unsigned integer", 0);
  expect_refused(edited("\"leaf\":[109,", "\"leaf\":[[],"), leaf + "[0]", "not an unsigned integer", 0);
  expect_refused(edited("\"leaf\":[109,", "\"leaf\":[18446744073709551616,"), leaf + "[0]", "not an unsigned integer",
                 0);
  expect_refused(edited("\"leaf\":[109,", "\"leaf\":[" + std::string(500, '9') + ","), leaf + "[0]",
                 "not an unsigned integer", 0);
  expect_refused(edited("\"leaf\":[109,", "\"leaf\":[010,"), leaf + "[0]", "not an unsigned integer", 0);
  expect_refused(edited("\"leaf\":[109,", "\"leaf\":["), leaf, "has 31 elements, needs 32", 0);
  expect_refused(edited("\"leaf\":[109,", "\"leaf\":[0,109,"), leaf, "more than 32 elements", 0);
  expect_refused(edited("\"leaf\":[109,", "\"leaf\":{},\"x\":[109,"), leaf, "not an array", 0);
  // r - 1 is the largest field element; r is refused.
  const std::string r =
      "1,0,0,0,255,255,255,255,254,91,254,255,2,164,189,83,5,216,161,9,8,216,57,51,72,125,157,41,83,167,237,115";
  std::string text = golden();
  const size_t at = text.find("\"leaf\":[") + 8;
  const size_t length = text.find(']', at) - at;
  EXPECT_TRUE(read(std::string(text).replace(at, length, "0" + r.substr(1))).ok());
  expect_refused(text.replace(at, length, r), leaf, "not a canonical field element", 0);
}

TEST(PorepC1, RefusesWrongShapes) {
  const std::string first = "vanilla_proofs[0][0].";
  const std::string c_x = first + "replica_column_proofs.c_x.";
  // Variants.
  expect_refused(edited("\"Single\"", "\"Sub\""), first + "comm_d_proofs.data.Sub", "of the form Single", 0);
  expect_refused(edited("\"Single\"", "\"Top\"", "comm_r_last_proof"), first + "comm_r_last_proof.data.Top",
                 "of the form Single", 0);
  expect_refused(edited("\"Single\"", "\"Other\""), first + "comm_d_proofs.data.Single", "missing", 0);
  expect_refused(edited("{\"data\":{\"Single\":", "{\"data\":{\"Sub\":{},\"Single\":"),
                 first + "comm_d_proofs.data.Sub", "of the form", 0);
  // Paths.
  expect_refused(edited("\"index\":0}", "\"index\":2}"), first + "comm_d_proofs.data.Single.path.path[0].index",
                 "2 is more than 1", 0);
  expect_refused(edited("\"index\":2}", "\"index\":8}", "comm_r_last_proof"),
                 first + "comm_r_last_proof.data.Single.path.path[0].index", "8 is more than 7", 0);
  expect_refused(edited("{\"hashes\":[[", "{\"hashes\":[],\"index\":0},{\"hashes\":[["),
                 first + "comm_d_proofs.data.Single.path.path[0].hashes", "has 0 elements, needs 1", 0);
  expect_refused(edited("\"path\":{\"path\":[", "\"path\":{\"path\":[],\"x\":["),
                 first + "comm_d_proofs.data.Single.path.path", "has 0 elements, needs 6", 0);
  expect_refused(
      edited("\"hashes\":[[", "\"hashes\":[[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],["),
      first + "comm_d_proofs.data.Single.path.path[0].hashes", "more than 1 elements", 0);
  expect_refused(edited("{\"hashes\"", "{\"hash\""), first + "comm_d_proofs.data.Single.path.path[0].hashes", "missing",
                 0);
  expect_refused(edited("\"root\"", "\"leaf\""), first + "comm_d_proofs.data.Single.leaf", "repeated", 0);
  // Columns.
  expect_refused(edited("\"index\":18,", "\"index\":64,", "c_x"), c_x + "column.index", "64 is more than 63", 0);
  expect_refused(edited("\"index\":18,", "\"index\":-18,", "c_x"), c_x + "column.index", "not an unsigned integer", 0);
  expect_refused(edited("\"rows\":[", "\"rows\":[],\"r\":[", "c_x"), c_x + "column.rows", "has 0 elements, needs 2", 0);
  expect_refused(edited("\"drg_parents\":[", "\"drg_parents\":[],\"d\":["), first + "replica_column_proofs.drg_parents",
                 "has 0 elements, needs 6", 0);
  expect_refused(edited("\"exp_parents\":[", "\"exp_parents\":[{},"),
                 first + "replica_column_proofs.exp_parents[0].column", "missing", 0);
  expect_refused(edited("\"c_x\"", "\"c_y\""), first + "replica_column_proofs.c_x", "missing", 0);
  // Labelings.
  expect_refused(edited("\"layer_index\":1", "\"layer_index\":2"), first + "labeling_proofs[0].layer_index",
                 "needs to be 1", 0);
  expect_refused(edited("\"layer_index\":2", "\"layer_index\":1", "encoding_proof"),
                 first + "encoding_proof.layer_index", "needs to be 2", 0);
  expect_refused(edited("\"layer_index\":1", "\"layer_index\":4294967297"), first + "labeling_proofs[0].layer_index",
                 "is more than 4294967295", 0);
  expect_refused(edited("\"node\":18", "\"node\":64"), first + "labeling_proofs[0].node", "64 is more than 63", 0);
  expect_refused(edited("\"node\":18", "\"node\":17"), first + "labeling_proofs[1].node", "differs", 0);
  expect_refused(edited("\"node\":18", "\"node\":19", "encoding_proof"), first + "encoding_proof.node", "differs", 0);
  expect_refused(edited("\"parents\":[[", "\"parents\":[[],["), first + "labeling_proofs[0].parents[0]",
                 "has 0 elements, needs 32", 0);
  expect_refused(edited("\"labeling_proofs\":[", "\"labeling_proofs\":[],\"l\":["), first + "labeling_proofs",
                 "has 0 elements, needs 2", 0);
}

TEST(PorepC1, RefusesWrongCounts) {
  // A challenge too many, one too few, a partition too many, none.
  const std::string& text = golden();
  const size_t begin = text.find("[[{") + 2, second = text.find("},{\"comm_d_proofs\"") + 1;
  const std::string proof = text.substr(begin, second - begin);
  expect_refused(std::string(text).insert(begin, proof + ","), "vanilla_proofs[0]", "more than 2 elements", 0);
  expect_refused(std::string(text).erase(begin, second + 1 - begin), "vanilla_proofs[0]", "has 1 elements, needs 2", 0);
  expect_refused(edited("[[{", "[[],[{"), "vanilla_proofs[0]", "has 0 elements, needs 2", 0);
  const size_t end = text.find("]]},\"comm_r\"");
  expect_refused(std::string(text).insert(end + 1, ",[]"), "vanilla_proofs", "more than 1 elements");
  expect_refused(std::string(text).replace(begin - 2, end + 2 - (begin - 2), "[]"), "vanilla_proofs",
                 "has 0 elements, needs 1");
  expect_refused(std::string(text).replace(begin - 2, end + 2 - (begin - 2), "null"), "vanilla_proofs", "not an array");
  expect_refused(edited("{\"StackedDrg2KiBV1\":", "{\"StackedDrg2KiBV1\":[],\"StackedDrg2KiBV1\":"), "vanilla_proofs",
                 "has 0 elements, needs 1");
}

// One byte of a root: the tree it belongs to must be named.
TEST(PorepC1, RefusesRootsThatDiffer) {
  const auto root_changed = [](const std::string& after) {
    std::string text = golden();
    const size_t at = text.find("\"root\":[", text.find(after)) + 8;
    const size_t comma = text.find(',', at);
    const bool is_one = text.compare(at, comma - at, "1") == 0;
    return text.substr(0, at) + (is_one ? "2" : "1") + text.substr(comma);
  };
  expect_refused(root_changed("comm_d_proofs"), "vanilla_proofs[0][0].comm_d_proofs", "not comm_d", 0);
  expect_refused(root_changed("\"drg_parents\""),
                 "vanilla_proofs[0][0].replica_column_proofs.drg_parents[0].inclusion_proof", "comm_c", 0);
  expect_refused(root_changed("\"exp_parents\""),
                 "vanilla_proofs[0][0].replica_column_proofs.exp_parents[0].inclusion_proof", "comm_c", 0);
  // The first challenge sets the standard, so the second is the one that differs.
  expect_refused(root_changed("\"comm_r_last_proof\""), "vanilla_proofs[0][1].comm_r_last_proof", "comm_r_last", 0);
}

TEST(PorepC1, RefusesWrongWrappers) {
  const std::string base64 = base64_encode(bytes_of(golden()));
  const auto wrapper = [&](const std::string& number, const std::string& text, const std::string& size) {
    return "{\"SectorNum\":" + number + ",\"Phase1Out\":" + text + ",\"SectorSize\":" + size + "}";
  };
  const auto refused = [&](const std::string& text, const std::string& field, const std::string& message) {
    const Result<PorepC1> result = read(text);
    ASSERT_FALSE(result.ok()) << field;
    EXPECT_EQ(result.error().field, field) << result.error().describe();
    EXPECT_NE(result.error().message.find(message), std::string::npos) << result.error().describe();
  };
  const std::string quoted = "\"" + base64 + "\"";
  EXPECT_TRUE(read(wrapper("7", quoted, "2048")).ok());
  refused(wrapper("7", quoted, "4096"), "SectorSize", "is 4096, but StackedDrg2KiBV1_1");
  refused(wrapper("7", quoted, "-2048"), "SectorSize", "not an unsigned integer");
  refused(wrapper("-7", quoted, "2048"), "SectorNum", "not an unsigned integer");
  refused(wrapper("9223372036854775808", quoted, "2048"), "SectorNum", "is more than");
  refused(wrapper("7", "17", "2048"), "Phase1Out", "not a string");
  refused(wrapper("7", "null", "2048"), "Phase1Out", "not a string");
  refused(wrapper("7", "\"\"", "2048"), "", "not well-formed JSON");
  refused("{\"SectorNum\":7,\"SectorSize\":2048}", "Phase1Out", "missing");
  refused("{\"Phase1Out\":" + quoted + ",\"SectorSize\":2048}", "SectorNum", "missing");
  refused("{\"Phase1Out\":" + quoted + ",\"SectorNum\":1}", "SectorSize", "missing");
  refused("{\"Phase1Out\":\"\",\"Phase1Out\":" + quoted + ",\"SectorNum\":1,\"SectorSize\":2048}", "Phase1Out",
          "repeated");
  refused("{\"More\":1}", "", "neither a C1 wrapper");
  // Base64: the offset is that of the character in the whole document.
  std::string bad = wrapper("7", quoted, "2048");
  bad[1000] = '*';
  refused(bad, "Phase1Out", "not a base64 character");
  EXPECT_EQ(read(bad).error().offset, 1000u);
  refused(wrapper("7", "\"" + base64.substr(0, 1001) + "\"", "2048"), "Phase1Out", "multiple of 4");
  refused(wrapper("7", "\"" + base64 + "\\n\"", "2048"), "Phase1Out", "multiple of 4");
  // Inside, the offset is that of the base64 group.
  const std::string inner = edited("\"leaf\":[109,", "\"leaf\":[300,");
  const Result<PorepC1> result = read(wrapped(inner));
  ASSERT_FALSE(result.ok());
  const size_t at = inner.find("300"), offset = *result.error().offset;
  const size_t start = wrapped(inner).find("Phase1Out") + 12;
  EXPECT_NEAR(static_cast<double>(offset), static_cast<double>(start + at / 3 * 4), 8);
}

TEST(PorepC1, RefusesDeepNesting) {
  for (const char* open : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 100000; ++i) deep += open;
    EXPECT_FALSE(read("{\"x\":" + deep).ok());
    std::string closed = deep + "1";
    for (int i = 0; i < 100000; ++i) closed += open[0] == '[' ? "]" : "}";
    const Result<PorepC1> result = read(edited("{\"registered_proof\"", "{\"x\":" + closed + ",\"registered_proof\""));
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("nested too deeply"), std::string::npos) << result.error().describe();
  }
  std::string fits = "1";
  for (int i = 0; i < 60; ++i) fits = "[" + fits + "]";
  EXPECT_TRUE(read(edited("{\"registered_proof\"", "{\"x\":" + fits + ",\"registered_proof\"")).ok());
}

// Unknown values are ignored, but must be JSON.
TEST(PorepC1, ChecksWhatItSkips) {
  for (const char* good : {"null", "true", "[]", "{}", "-1.5e-7", "\"\\u00e9\\n\"", "[1,[2,{\"a\":[]}]]"}) {
    EXPECT_TRUE(read(edited("{\"registered_proof\"", std::string("{\"x\":") + good + ",\"registered_proof\"")).ok())
        << good;
  }
  for (const char* bad : {"nul", "truex", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":1,}", "{1:2}", "01", "1.", "+1",
                          "\"\\q\"", "\"\\ud800\"", "[}", "'a'", "NaN"}) {
    EXPECT_FALSE(read(edited("{\"registered_proof\"", std::string("{\"x\":") + bad + ",\"registered_proof\"")).ok())
        << bad;
  }
}

// Random damage to a good document: refused, or read as something that is written and read again unchanged.
TEST(PorepC1, SurvivesRandomDamage) {
  std::mt19937 random(7);
  const std::string& text = golden();
  const std::string_view kTokens[] = {"[",   "]",  "{",   "}",    ",",  ":", "\"",   "0",         "255",
                                      "256", "-1", "1e9", "null", "\\", " ", "\xc3", "\"index\":"};
  size_t accepted = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string damaged = text;
    for (unsigned edits = 1 + random() % 3; edits-- > 0;) {
      const size_t at = random() % damaged.size();
      const size_t length = random() % 4 == 0 ? random() % 400 : random() % 3;
      switch (random() % 4) {
        case 0: damaged.erase(at, length); break;
        case 1: damaged.insert(at, kTokens[random() % std::size(kTokens)]); break;
        case 2: damaged.replace(at, length, kTokens[random() % std::size(kTokens)]); break;
        default: damaged.insert(at, text.substr(random() % text.size(), length)); break;
      }
    }
    const Result<PorepC1> result = read(round % 4 == 0 ? wrapped(damaged) : damaged);
    if (!result.ok()) {
      ASSERT_EQ(result.error().error_class, ErrorClass::kInvalidInput);
      continue;
    }
    ++accepted;
    const std::string written = write_porep_c1_inner(*result);
    const Result<PorepC1> again = read(written);
    ASSERT_TRUE(again.ok()) << again.error().describe();
    ASSERT_EQ(write_porep_c1_inner(*again), written);
    // A change of value is found by the check; what is accepted there too is the same document.
    EXPECT_EQ(validate_porep_vanilla(*result).ok(), result->ticket == read(text)->ticket ? written == text : true);
  }
  EXPECT_GT(accepted, 10u);
}

TEST(PorepC1, ReadsFiles) {
  const Result<PaddedBuffer> buffer =
      read_file_padded(std::string(CUZK_GOLDEN_DIR) + "/c1-2kib.json", kMaxPorepC1Bytes);
  ASSERT_TRUE(buffer.ok());
  EXPECT_TRUE(read_porep_c1(*buffer).ok());
  EXPECT_EQ(read_file_padded("no/such/file", 1).error().error_class, ErrorClass::kNotFound);
  EXPECT_EQ(read_file_padded(CUZK_GOLDEN_DIR, 1u << 30).error().error_class, ErrorClass::kIo);
  EXPECT_EQ(read_file_padded(std::string(CUZK_GOLDEN_DIR) + "/c1-2kib.json", 100088).error().error_class,
            ErrorClass::kInvalidInput);
}

}  // namespace
}  // namespace cuzk
