// PoSt requests in bytes: upstream's vectors from bytes to the assignment, and one case for every rule.
#include "format/post_vanilla_format.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/hex.hpp"
#include "circuit/assignment.hpp"
#include "circuit/checker.hpp"
#include "filecoin/post_circuit.hpp"
#include "filecoin/post_synthetic.hpp"
#include "hash/sha256.hpp"
#include "support/post_vectors.hpp"

namespace cuzk {
namespace {

using test::PostVector;

std::string hex_of(const Fr& x) { return to_hex(x.to_bytes_le()); }

PostInput read_vector(const PostVector& vector) {
  Result<PostInput> input = read_post_request(vector.request());
  EXPECT_TRUE(input.ok()) << input.error().describe();
  return std::move(input).value();
}

void expect_vanilla(const PostVector& vector, const PostInput& input) {
  const PostVanilla& vanilla = input.vanilla;
  ASSERT_EQ(vanilla.sectors(), vector.sectors.size());
  for (uint32_t i = 0; i < vanilla.sectors(); ++i) {
    EXPECT_EQ(vanilla.sector(i).sector_id, vector.sectors[i].number);
    EXPECT_EQ(hex_of(vanilla.sector(i).comm_r), vector.sectors[i].comm_r);
    EXPECT_EQ(post_challenges(input.request, vector.sectors[i].number, i), vector.sectors[i].challenges);
    for (uint32_t n = 0; n < vector.sectors[i].challenges.size(); ++n) {
      EXPECT_EQ(vanilla.path(i, n).leaf_index, vector.sectors[i].challenges[n]);
    }
    EXPECT_EQ(post_sector_proof_bytes(vanilla.shape()), vector.blobs[i].size());
    EXPECT_EQ(write_post_sector_proof(vanilla, i), vector.blobs[i]);
  }
  // The file may list those of the first sectors only.
  const std::vector<Fr> inputs = post_public_inputs(input.request, vanilla.public_sectors());
  ASSERT_EQ(inputs.size() + 1, vector.num_inputs);
  ASSERT_GE(inputs.size(), vector.public_inputs.size());
  for (size_t i = 0; i < vector.public_inputs.size(); ++i) EXPECT_EQ(hex_of(inputs[i]), vector.public_inputs[i]) << i;
}

class PostVectors : public testing::TestWithParam<const char*> {};
TEST_P(PostVectors, FromBytesToAssignment) {
  const PostVector vector(GetParam());
  const PostInput input = read_vector(vector);
  expect_vanilla(vector, input);
  const PostShape& shape = *input.request.shape;
  const Result<PostPathHashes> hashes = validate_post_vanilla(input.request, input.vanilla);
  ASSERT_TRUE(hashes.ok()) << hashes.error().describe();
  const PackedWitness witness = post_witness(input.vanilla, *hashes);
  EXPECT_TRUE(witness == post_witness(input.vanilla));
  EXPECT_EQ(to_hex(digest_of_values(witness.inputs)), vector.sha256_input_assignment);
  const std::vector<Fr> inputs = post_public_inputs(input.request, input.vanilla.public_sectors());
  EXPECT_EQ(std::vector<Fr>(witness.inputs.begin() + 1, witness.inputs.end()), inputs);
  const CompiledCircuit circuit = compile_post(shape, shape.sectors);
  EXPECT_EQ(circuit.num_inputs, vector.num_inputs);
  EXPECT_EQ(circuit.num_aux, vector.num_aux);
  EXPECT_EQ(circuit.num_constraints, vector.num_constraints);
  const Result<std::vector<Fr>> aux = expand_witness(circuit, witness);
  ASSERT_TRUE(aux.ok()) << aux.error().describe();
  EXPECT_EQ(to_hex(digest_of_values(*aux)), vector.sha256_aux_assignment);
  EXPECT_FALSE(first_unsatisfied(circuit, witness.inputs, *aux).has_value());
  EXPECT_TRUE(post_check(input.vanilla).ok());
}
INSTANTIATE_TEST_SUITE_P(Files, PostVectors,
                         testing::Values("winning-2KiB", "winning-32GiB", "window-2KiB-v1", "window-2KiB-v1_1",
                                         "window-2KiB-v1_1-padded"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

// Two sectors in a partition of 2349; the whole assignment is in the slow tests.
TEST(PostVectors32GiB, FromBytesToPackedWitness) {
  const PostVector vector("window-32GiB-v1_1");
  const PostInput input = read_vector(vector);
  EXPECT_EQ(input.request.shape->circuit_id, "window-32g");
  expect_vanilla(vector, input);
  const Result<PostPathHashes> hashes = validate_post_vanilla(input.request, input.vanilla);
  ASSERT_TRUE(hashes.ok()) << hashes.error().describe();
  EXPECT_TRUE(post_check(input.vanilla).ok());
  const PackedWitness witness = post_witness(input.vanilla, *hashes);
  EXPECT_EQ(to_hex(digest_of_values(witness.inputs)), vector.sha256_input_assignment);
  const CircuitCounts counts = post_circuit_counts(*input.request.shape, 2349);
  EXPECT_EQ(counts.aux, vector.num_aux);
  EXPECT_EQ(counts.constraints, vector.num_constraints);
  EXPECT_EQ(witness.bits.size(), counts.bits);
  EXPECT_EQ(witness.fields.size(), counts.fields);
}

// The same sectors under another type, place or randomness.
TEST(PostVectors2KiB, VersionsDifferInTheSecondSector) {
  const PostVector v1("window-2KiB-v1");
  PostVanillaRequest request = v1.request();
  request.registered_proof = 10;
  const Result<PostInput> input = read_post_request(request);
  ASSERT_TRUE(input.ok());
  const Result<PostPathHashes> result = validate_post_vanilla(input->request, input->vanilla);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().sector, 9u);
  EXPECT_TRUE(result.error().field.starts_with("vanilla_proofs[1]")) << result.error().field;
}

// Any partition index is taken where the version does not use it.
TEST(PostVectors2KiB, PartitionIndexIsNotTheCircuits) {
  const PostVector vector("window-2KiB-v1_1");
  PostVanillaRequest request = vector.request();
  request.partition_index = 4000000000;
  const Result<PostInput> input = read_post_request(request);
  ASSERT_TRUE(input.ok());
  const Result<PostPathHashes> hashes = validate_post_vanilla(input->request, input->vanilla);
  ASSERT_TRUE(hashes.ok());
  const PackedWitness witness = post_witness(input->vanilla, *hashes);
  EXPECT_EQ(to_hex(digest_of_values(witness.inputs)), vector.sha256_input_assignment);
}

TEST(PostFormat, SizesMatchUpstream) {
  for (const auto& [id, bytes] : {std::pair{"window-32g", 24960u},
                                  {"winning-32g", 164064u},
                                  {"window-64g", 25520u},
                                  {"winning-64g", 167760u},
                                  {"window-2k", 5680u},
                                  {"winning-2k", 36816u}}) {
    EXPECT_EQ(post_sector_proof_bytes(*post_shape_by_circuit_id(id)), bytes) << id;
  }
  // Every shape's form (Single, Sub, Top), with values that nothing ties together.
  std::mt19937_64 random(1);
  for (const PostShape& shape : post_shapes()) {
    PostVanilla vanilla(shape, shape.max_real_sectors() == 1 ? 1 : 2);
    std::vector<std::vector<uint8_t>> blobs;
    for (uint32_t i = 0; i < vanilla.sectors(); ++i) {
      vanilla.sector(i) = {random(), Fr::from_u64(random()), Fr::from_u64(random()), Fr::from_u64(random())};
      for (uint32_t n = 0; n < shape.paths_per_sector(); ++n) {
        for (Fr& x : vanilla.path_values(i, n)) x = Fr::from_u64(random());
        vanilla.leaf_index(i, n) = random() % shape.tree.leaves();
      }
      blobs.push_back(write_post_sector_proof(vanilla, i));
      EXPECT_EQ(blobs.back().size(), post_sector_proof_bytes(shape)) << shape.circuit_id;
    }
    const std::vector<std::span<const uint8_t>> views(blobs.begin(), blobs.end());
    const Result<PostVanilla> again = read_post_vanilla(shape, views);
    ASSERT_TRUE(again.ok()) << again.error().describe();
    EXPECT_EQ(*again, vanilla) << shape.circuit_id;
  }
}

// Two sectors of 32 KiB: openings of variant Top.
class PostRequestTest : public testing::Test {
 protected:
  PostRequestTest() {
    randomness_.fill(0x21);
    const PostRequest request{&shape_, PostApiVersion::kV1_2_0, randomness_, 0};
    vanilla_ = make_synthetic_post(request, std::array<uint64_t, 2>{41, 42}, NodeBytes{});
    for (uint32_t i = 0; i < 2; ++i) blobs_.push_back(write_post_sector_proof(vanilla_, i));
  }

  Result<PostVanilla> read() {
    views_.assign(blobs_.begin(), blobs_.end());
    return read_post_vanilla(shape_, views_);
  }
  void expect_refused(const std::string& field, std::optional<uint64_t> sector) {
    const Result<PostVanilla> result = read();
    ASSERT_FALSE(result.ok()) << field;
    EXPECT_EQ(result.error().error_class, ErrorClass::kInvalidInput);
    EXPECT_EQ(result.error().field, field) << result.error().describe();
    EXPECT_EQ(result.error().sector, sector) << result.error().describe();
    EXPECT_FALSE(result.error().message.empty());
  }
  // Sector 42 with bytes replaced from `offset`; the error must be at `field` and at the offset or the value it is of.
  void expect_refused(size_t offset, const std::vector<uint8_t>& bytes, const std::string& field,
                      const std::string& message) {
    const std::vector<uint8_t> good = blobs_[1];
    ASSERT_LE(offset + bytes.size(), good.size());
    std::copy(bytes.begin(), bytes.end(), blobs_[1].begin() + static_cast<std::ptrdiff_t>(offset));
    expect_refused("vanilla_proofs[1]." + field, 42);
    const Result<PostVanilla> result = read();
    EXPECT_EQ(result.error().offset, offset) << field;
    EXPECT_NE(result.error().message.find(message), std::string::npos) << result.error().message;
    blobs_[1] = good;
  }
  static std::vector<uint8_t> u64(uint64_t value) {
    std::vector<uint8_t> out;
    for (int i = 0; i < 8; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
    return out;
  }

  // Where things lie: sector_id, comm_r, two counts, then openings of variant, 2 base levels, sub, top, root, leaf.
  static constexpr size_t kSectors = 40, kCount = 48, kFirst = 56, kBase = 8 + 2 * 240, kSub = 248, kTop = 56;
  static constexpr size_t kProof = 4 + kBase + kSub + kTop + 64;

  const PostShape& shape_ = *post_shape_by_circuit_id("window-32k");
  NodeBytes randomness_;
  PostVanilla vanilla_{shape_, 0};
  std::vector<std::vector<uint8_t>> blobs_;
  std::vector<std::span<const uint8_t>> views_;
};

TEST_F(PostRequestTest, IsReadAsWritten) {
  EXPECT_EQ(blobs_[0].size(), kFirst + 10 * kProof + 64);
  const Result<PostVanilla> vanilla = read();
  ASSERT_TRUE(vanilla.ok()) << vanilla.error().describe();
  EXPECT_EQ(*vanilla, vanilla_);
}

TEST_F(PostRequestTest, NumberOfSectors) {
  blobs_.push_back(blobs_[1]);
  expect_refused("vanilla_proofs", {});
  EXPECT_EQ(read().error().message, "has 3 sectors, needs 1 to 2");
  blobs_.clear();
  expect_refused("vanilla_proofs", {});
  // A winning proof is about one sector.
  const PostVector winning("winning-2KiB");
  PostVanillaRequest request = winning.request();
  const std::vector<std::span<const uint8_t>> twice = {winning.blobs[0], winning.blobs[0]};
  request.vanilla_proofs = twice;
  EXPECT_EQ(read_post_request(request).error().message, "has 2 sectors, needs 1");
  request.vanilla_proofs = {};
  EXPECT_EQ(read_post_request(request).error().field, "vanilla_proofs");
  // More than a full partition: refused before anything is read or allocated.
  const std::vector<std::span<const uint8_t>> many(2350, std::span<const uint8_t>());
  EXPECT_EQ(read_post_vanilla(*post_shape_by_circuit_id("window-32g"), many).error().message,
            "has 2350 sectors, needs 1 to 2349");
}

TEST_F(PostRequestTest, RequestFields) {
  const PostVector vector("window-2KiB-v1_1");
  PostVanillaRequest request = vector.request();
  const auto field_of = [&] { return read_post_request(request).error().field; };
  request.sector_bytes = 0;
  EXPECT_TRUE(read_post_request(request).ok());
  request.sector_bytes = 4096;
  EXPECT_EQ(field_of(), "sector_size");
  request.sector_bytes = 2048;
  request.registered_proof = 15;
  EXPECT_EQ(field_of(), "registered_proof");
  // Another size, or winning in place of window.
  request.sector_bytes = 0;
  request.registered_proof = 11;
  EXPECT_EQ(field_of(), "vanilla_proofs[0].vanilla_proof.sectors[0].inclusion_proofs[0].path");
  request.registered_proof = 13;
  EXPECT_EQ(field_of(), "vanilla_proofs[0].vanilla_proof.sectors[0].inclusion_proofs[0]");
  request.registered_proof = 0;
  EXPECT_EQ(field_of(), "vanilla_proofs");
  request.vanilla_proofs = request.vanilla_proofs.first(1);
  EXPECT_EQ(field_of(), "vanilla_proofs[0].vanilla_proof.sectors[0].inclusion_proofs");
  request.registered_proof = 10;
  EXPECT_TRUE(read_post_request(request).ok());
  request.randomness = request.randomness.first(31);
  EXPECT_EQ(field_of(), "randomness");
  const NodeBytes ones = [] {
    NodeBytes out;
    out.fill(0xff);
    return out;
  }();
  request.randomness = ones;
  EXPECT_EQ(field_of(), "randomness");
}

// Cut anywhere (field boundaries and inside fields), the error is at the end of the bytes.
TEST_F(PostRequestTest, Truncation) {
  const std::vector<uint8_t> good = blobs_[1];
  for (size_t size = 0; size < good.size(); size += size < kFirst + kProof + 8 || size + 96 > good.size() ? 1 : 37) {
    blobs_[1].assign(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    const Result<PostVanilla> result = read();
    ASSERT_FALSE(result.ok()) << size;
    EXPECT_NE(result.error().message.find("the bytes end here"), std::string::npos) << result.error().message;
    EXPECT_LE(result.error().offset.value(), size);
    EXPECT_GT(result.error().offset.value() + 32, size);
    EXPECT_EQ(result.error().sector.has_value(), size >= 8);
    EXPECT_TRUE(result.error().field.starts_with("vanilla_proofs[1].")) << result.error().field;
  }
}

TEST_F(PostRequestTest, TrailingBytes) {
  blobs_[0].push_back(0);
  expect_refused("vanilla_proofs[0]", 41);
  EXPECT_EQ(read().error().offset, blobs_[0].size() - 1);
  // A whole second sector.
  blobs_[0].pop_back();
  blobs_[0].insert(blobs_[0].end(), blobs_[1].begin(), blobs_[1].end());
  expect_refused("vanilla_proofs[0]", 41);
}

TEST_F(PostRequestTest, Counts) {
  const std::string inner = "vanilla_proof.sectors[0].", first = inner + "inclusion_proofs[0].";
  const size_t base = kFirst + 4, sub = base + kBase, top = sub + kSub;
  for (const uint64_t bad : {uint64_t{0}, uint64_t{5}, uint64_t{1} << 32, uint64_t{1} << 63, UINT64_MAX}) {
    const std::string has = "has " + std::to_string(bad) + " ";
    expect_refused(kSectors, u64(bad), "vanilla_proof.sectors", has);
    expect_refused(kCount, u64(bad), inner + "inclusion_proofs", has);
    expect_refused(base, u64(bad), first + "base_proof.path", has);
    expect_refused(base + 8, u64(bad), first + "base_proof.path[0].hashes", has);
    expect_refused(base + 248, u64(bad), first + "base_proof.path[1].hashes", has);
    expect_refused(sub, u64(bad), first + "sub_proof.path", has);
    expect_refused(sub + 8, u64(bad), first + "sub_proof.path[0].hashes", has);
    expect_refused(top, u64(bad), first + "top_proof.path", has);
    expect_refused(top + 8, u64(bad), first + "top_proof.path[0].hashes", has);
    const size_t last = kFirst + 9 * kProof;
    expect_refused(last + 4, u64(bad), inner + "inclusion_proofs[9].base_proof.path", has);
  }
  expect_refused(kSectors, u64(2), "vanilla_proof.sectors", "has 2 sectors, needs 1");
  expect_refused(kCount, u64(9), inner + "inclusion_proofs", "has 9 openings, needs 10");
  expect_refused(kCount, u64(11), inner + "inclusion_proofs", "has 11 openings, needs 10");
  expect_refused(base, u64(1), first + "base_proof.path", "needs 2");
  expect_refused(base, u64(3), first + "base_proof.path", "needs 2");
  expect_refused(base + 8, u64(3), first + "base_proof.path[0].hashes", "needs 7");  // arity 4
  expect_refused(base + 8, u64(6), first + "base_proof.path[0].hashes", "needs 7");
  expect_refused(top + 8, u64(7), first + "top_proof.path[0].hashes", "needs 1");
}

TEST_F(PostRequestTest, VariantsAndIndices) {
  const std::string first = "vanilla_proof.sectors[0].inclusion_proofs[0]";
  for (const uint8_t variant : {0, 1, 3, 255}) {
    expect_refused(kFirst, {variant, 0, 0, 0}, first, "is variant " + std::to_string(variant));
  }
  expect_refused(kFirst, {2, 0, 0, 1}, first, "is variant 16777218");
  const size_t base = kFirst + 4, sub = base + kBase, top = sub + kSub;
  for (const uint64_t bad : {uint64_t{8}, uint64_t{1} << 63, UINT64_MAX}) {
    const std::string is = "is " + std::to_string(bad);
    expect_refused(base + 16 + 224, u64(bad), first + ".base_proof.path[0].index", is);
    expect_refused(base + 8 + 240 + 8 + 224, u64(bad), first + ".base_proof.path[1].index", is);
    expect_refused(sub + 16 + 224, u64(bad), first + ".sub_proof.path[0].index", is);
    expect_refused(top + 16 + 32, u64(bad), first + ".top_proof.path[0].index", is);
  }
  expect_refused(top + 16 + 32, u64(2), first + ".top_proof.path[0].index", "must be below 2");
}

TEST_F(PostRequestTest, FieldElementsAreCanonical) {
  const std::string inner = "vanilla_proof.sectors[0].", first = inner + "inclusion_proofs[0].";
  const size_t base = kFirst + 4, sub = base + kBase, top = sub + kSub, root = top + kTop;
  std::vector<uint8_t> ones(32, 0xff), modulus(32);
  for (size_t i = 0; i < 32; ++i) modulus[i] = static_cast<uint8_t>(Fr::kModulus[i / 8] >> (8 * (i % 8)));
  for (const std::vector<uint8_t>& bad : {ones, modulus}) {
    const std::string message = "canonical";
    expect_refused(8, bad, "comm_r", message);
    expect_refused(base + 16, bad, first + "base_proof.path[0].hashes[0]", message);
    expect_refused(base + 16 + 6 * 32, bad, first + "base_proof.path[0].hashes[6]", message);
    expect_refused(sub + 16 + 32, bad, first + "sub_proof.path[0].hashes[1]", message);
    expect_refused(top + 16, bad, first + "top_proof.path[0].hashes[0]", message);
    expect_refused(root, bad, first + "root", message);
    expect_refused(root + 32, bad, first + "leaf", message);
    expect_refused(kFirst + 10 * kProof, bad, inner + "comm_c", message);
    expect_refused(kFirst + 10 * kProof + 32, bad, inner + "comm_r_last", message);
  }
}

// Flipped bits of well-formed bytes are the vanilla check's business; it names sector and place.
TEST_F(PostRequestTest, FlippedHashBytes) {
  const PostRequest request{&shape_, PostApiVersion::kV1_2_0, randomness_, 0};
  const size_t base = kFirst + 7 * kProof + 4, root = base + kBase + kSub + kTop;
  const std::string place = "vanilla_proofs[1].vanilla_proof.sectors[0].inclusion_proofs[7]";
  const std::pair<size_t, std::string> kCases[] = {{8, "vanilla_proofs[1].comm_r"},
                                                   {base + 16, place},
                                                   {base + kBase + 16, place},
                                                   {base + kBase + kSub + 16, place},
                                                   {base + 16 + 224, place + ".index"},
                                                   {root, place + ".root"},
                                                   {root + 32, place},
                                                   {kFirst + 10 * kProof, "vanilla_proofs[1].comm_r"},
                                                   {kFirst + 10 * kProof + 32, "vanilla_proofs[1].comm_r"}};
  for (const auto& [offset, field] : kCases) {
    blobs_[1][offset] ^= 1;
    const Result<PostVanilla> vanilla = read();
    blobs_[1][offset] ^= 1;
    ASSERT_TRUE(vanilla.ok()) << offset << ": " << vanilla.error().describe();
    const Result<PostPathHashes> result = validate_post_vanilla(request, *vanilla);
    ASSERT_FALSE(result.ok()) << offset;
    EXPECT_EQ(result.error().field, field) << result.error().describe();
    EXPECT_EQ(result.error().sector, 42u);
  }
}

// Any damage is read or refused; what is read is written back to the same bytes.
TEST_F(PostRequestTest, RandomDamage) {
  std::mt19937_64 random(1);
  for (int n = 0; n < 2000; ++n) {
    std::vector<uint8_t> bytes = blobs_[0];
    for (uint64_t m = random() % 3 + 1; m > 0; --m) {
      bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1 << random() % 8);
    }
    const std::vector<std::span<const uint8_t>> views = {bytes};
    const Result<PostVanilla> vanilla = read_post_vanilla(shape_, views);
    if (vanilla.ok()) {
      EXPECT_EQ(write_post_sector_proof(*vanilla, 0), bytes);
    } else {
      EXPECT_LE(vanilla.error().offset.value(), bytes.size());
    }
  }
}

TEST_F(PostRequestTest, TheFirstBadBlobIsNamed) {
  const PostShape& shape = *post_shape_by_circuit_id("window-32g");
  const std::vector<uint8_t> empty, short_id(7);
  std::vector<std::span<const uint8_t>> views(2349, short_id);
  const Result<PostVanilla> result = read_post_vanilla(shape, views);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().field, "vanilla_proofs[0].sector_id");
  EXPECT_TRUE(result.error().message.ends_with("vanilla_proofs[7], vanilla_proofs[8] and 2340 more"))
      << result.error().message;
}

}  // namespace
}  // namespace cuzk
