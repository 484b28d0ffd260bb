// Update requests in bytes: upstream's vectors from bytes to the assignment, and one case for every rule.
#include "format/snap_vanilla_format.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <random>
#include <string>

#include "base/hex.hpp"
#include "circuit/assignment.hpp"
#include "circuit/checker.hpp"
#include "filecoin/snap_prove.hpp"
#include "filecoin/snap_synthetic.hpp"
#include "hash/sha256.hpp"
#include "support/snap_vectors.hpp"

namespace cuzk {
namespace {

using test::SnapVector;

SnapInput read_vector(const SnapVector& vector) {
  Result<SnapInput> input = read_snap_request(vector.request());
  EXPECT_TRUE(input.ok()) << input.error().describe();
  return std::move(input).value();
}

// All but the partition count, which one blob of 16 cannot have.
SnapInput read_first_partition(const SnapVector& vector) {
  const SnapShape& shape = *registered_update_proofs()[vector.registered_proof].shape;
  Result<SnapPartition> partition = read_snap_partition(shape, 0, vector.blob);
  EXPECT_TRUE(partition.ok()) << partition.error().describe();
  SnapInput input;
  input.shape = &shape;
  input.h = shape.default_h();
  input.commitments = {*Fr::from_bytes_le(vector.comm_r_old), *Fr::from_bytes_le(vector.comm_d_new),
                       *Fr::from_bytes_le(vector.comm_r_new)};
  input.partitions.push_back(std::move(partition).value());
  return input;
}

void expect_public_inputs(const SnapVector& vector, const SnapInput& input, const PackedWitness& witness) {
  std::vector<std::string> hex;
  for (const Fr& x : snap_public_inputs(*input.shape, input.h, input.commitments, 0)) {
    hex.push_back(to_hex(x.to_bytes_le()));
  }
  EXPECT_EQ(hex, vector.public_inputs);
  ASSERT_EQ(witness.inputs.size(), 5u);
  EXPECT_TRUE(witness.inputs[0].is_one());
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(to_hex(witness.inputs[i + 1].to_bytes_le()), hex[i]);
  EXPECT_EQ(to_hex(digest_of_values(witness.inputs)), vector.sha256_input_assignment);
}

void expect_vanilla(const SnapVector& vector, const SnapInput& input) {
  const SnapShape& shape = *input.shape;
  EXPECT_EQ(snap_challenges(shape, input.commitments.comm_r_new, 0), vector.challenges);
  EXPECT_EQ(to_hex(snap_phi(input.commitments.comm_d_new, input.commitments.comm_r_old).to_bytes_le()), vector.phi);
  const Status status = validate_snap_partition(input, 0);
  EXPECT_TRUE(status.ok()) << status.error().describe();
  EXPECT_EQ(snap_partition_bytes(shape), vector.blob.size());
  EXPECT_EQ(write_snap_partition(shape, input.partitions[0]), vector.blob);
}

TEST(SnapVectors, Of2KiBFromBytesToAssignment) {
  const SnapVector vector("snap-2KiB-k0");
  EXPECT_EQ(vector.blob.size(), 15064u);
  const SnapInput input = read_vector(vector);
  EXPECT_EQ(input.shape->circuit_id, "snap-2k");
  EXPECT_EQ(input.h, 1u);
  expect_vanilla(vector, input);
  EXPECT_TRUE(validate_snap_vanilla(input).ok());
  const PackedWitness witness = snap_witness(input, 0);
  expect_public_inputs(vector, input, witness);
  const CompiledCircuit circuit = compile_snap(*input.shape);
  EXPECT_EQ(circuit.num_aux, vector.num_aux);
  EXPECT_EQ(circuit.num_constraints, vector.num_constraints);
  const Result<std::vector<Fr>> aux = expand_witness(circuit, witness);
  ASSERT_TRUE(aux.ok()) << aux.error().describe();
  EXPECT_EQ(to_hex(digest_of_values(*aux)), vector.sha256_aux_assignment);
  EXPECT_FALSE(first_unsatisfied(circuit, witness.inputs, *aux).has_value());
  EXPECT_TRUE(snap_check(input, 0).ok());
}

TEST(SnapVectors, Of32GiBFromBytesToPackedWitness) {
  const SnapVector vector("snap-32GiB-k0");
  EXPECT_EQ(vector.blob.size(), 561768u);
  const SnapInput input = read_first_partition(vector);
  EXPECT_EQ(input.shape->circuit_id, "snap-32g");
  EXPECT_EQ(input.h, 10u);
  expect_vanilla(vector, input);
  const PackedWitness witness = snap_witness(input, 0);
  expect_public_inputs(vector, input, witness);
  const CircuitCounts counts = snap_circuit_counts(*input.shape);
  EXPECT_EQ(witness.bits.size(), counts.bits);
  EXPECT_EQ(witness.fields.size(), counts.fields);
}

// A request of 16 KiB: two partitions, trees with a sub-tree level, 128 apex leaves.
class SnapRequestTest : public testing::Test {
 protected:
  SnapRequestTest() {
    SnapSyntheticInput synthetic;
    synthetic.shape = &shape_;
    input_ = make_synthetic_snap(synthetic);
    for (const SnapPartition& p : input_.partitions) blobs_.push_back(write_snap_partition(shape_, p));
    comm_r_old_ = input_.commitments.comm_r_old.to_bytes_le();
    comm_d_new_ = input_.commitments.comm_d_new.to_bytes_le();
    comm_r_new_ = input_.commitments.comm_r_new.to_bytes_le();
  }

  Result<SnapInput> read() {
    spans_.assign(blobs_.begin(), blobs_.end());
    request_.sector_number = 42;
    request_.comm_r_old = comm_r_old_;
    request_.comm_d_new = comm_d_new_;
    request_.comm_r_new = comm_r_new_;
    request_.vanilla_proofs = spans_;
    return read_snap_request(shape_, request_);
  }
  void expect_refused(const std::string& field, std::optional<uint32_t> partition = std::nullopt) {
    const Result<SnapInput> result = read();
    ASSERT_FALSE(result.ok()) << field;
    EXPECT_EQ(result.error().error_class, ErrorClass::kInvalidInput);
    EXPECT_EQ(result.error().field, field) << result.error().describe();
    EXPECT_EQ(result.error().partition, partition) << result.error().describe();
    EXPECT_EQ(result.error().sector, 42u);
    EXPECT_FALSE(result.error().message.empty());
  }
  // Partition 1 with bytes replaced from `offset`; the error must be at `field` and at or behind the offset.
  void expect_refused(size_t offset, const std::vector<uint8_t>& bytes, const std::string& field) {
    const std::vector<uint8_t> good = blobs_[1];
    ASSERT_LE(offset + bytes.size(), good.size());
    std::copy(bytes.begin(), bytes.end(), blobs_[1].begin() + static_cast<std::ptrdiff_t>(offset));
    expect_refused("vanilla_proofs[1]" + field, 1);
    const Result<SnapInput> result = read();
    ASSERT_TRUE(result.error().offset.has_value()) << field;
    EXPECT_GE(*result.error().offset, offset) << field;
    EXPECT_LE(*result.error().offset, offset + 40) << field;
    blobs_[1] = good;
  }
  static std::vector<uint8_t> u64(uint64_t value) {
    std::vector<uint8_t> out;
    for (int i = 0; i < 8; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
    return out;
  }

  // Where things lie in a blob. Tree R (8-8-0, 2 base levels, variant Sub): 4 + (8 + 2*240) + (8 + 240) + 64.
  static constexpr size_t kApex = 32, kChallenges = kApex + 8 + 128 * 32, kFirst = kChallenges + 8;
  static constexpr size_t kTreeR = 4 + 488 + 248 + 64, kTreeD = 4 + 64 + 8 + 9 * 48, kChallenge = 2 * kTreeR + kTreeD;

  const SnapShape& shape_ = *snap_shape_by_circuit_id("snap-16k");
  SnapInput input_;
  std::vector<std::vector<uint8_t>> blobs_;
  std::vector<std::span<const uint8_t>> spans_;
  NodeBytes comm_r_old_, comm_d_new_, comm_r_new_;
  SnapRequest request_;
};

TEST_F(SnapRequestTest, IsReadAsWritten) {
  EXPECT_EQ(blobs_[0].size(), kFirst + 10 * kChallenge);
  const Result<SnapInput> input = read();
  ASSERT_TRUE(input.ok()) << input.error().describe();
  EXPECT_EQ(input->partitions, input_.partitions);
  EXPECT_EQ(input->h, 1u);
  EXPECT_EQ(input->sector_number, 42u);
  EXPECT_EQ(input->commitments.comm_r_old, input_.commitments.comm_r_old);
  EXPECT_EQ(input->commitments.comm_d_new, input_.commitments.comm_d_new);
  EXPECT_EQ(input->commitments.comm_r_new, input_.commitments.comm_r_new);
  EXPECT_TRUE(validate_snap_vanilla(*input).ok());
}

TEST(SnapFormat, SizesMatchUpstream) {
  for (const auto& [id, bytes] : {std::pair{"snap-2k", 15064u}, {"snap-32g", 561768u}, {"snap-64g", 575528u}}) {
    EXPECT_EQ(snap_partition_bytes(*snap_shape_by_circuit_id(id)), bytes);
  }
  // Every shape's form: Single, Sub and Top.
  for (const SnapShape& shape : snap_shapes()) {
    SnapPartition partition(shape);
    partition.comm_c = Fr::from_u64(7);
    std::mt19937_64 random(shape.log2_nodes());
    for (Fr& leaf : partition.apex_leaves) leaf = Fr::from_u64(random());
    for (uint32_t i = 0; i < shape.challenges; ++i) {
      for (const SnapProof proof : kSnapProofs) {
        for (Fr& x : partition.values(i, proof)) x = Fr::from_u64(random());
        partition.leaf_index(i, proof) = random() % shape.nodes();
      }
    }
    const std::vector<uint8_t> bytes = write_snap_partition(shape, partition);
    EXPECT_EQ(bytes.size(), snap_partition_bytes(shape)) << shape.circuit_id;
    const Result<SnapPartition> again = read_snap_partition(shape, 0, bytes);
    ASSERT_TRUE(again.ok()) << again.error().describe();
    EXPECT_EQ(*again, partition) << shape.circuit_id;
  }
}

TEST_F(SnapRequestTest, RegisteredProofDecides) {
  const SnapVector vector("snap-2KiB-k0");
  SnapRequest request = vector.request();
  request.sector_number = 42;
  const auto field_of = [&] { return read_snap_request(request).error().field; };
  request.sector_bytes = 2048;
  EXPECT_TRUE(read_snap_request(request).ok());
  request.sector_bytes = 4096;
  EXPECT_EQ(field_of(), "sector_size");
  request.sector_bytes = 0;
  for (const uint64_t number : {uint64_t{5}, uint64_t{1} << 32, ~uint64_t{0}}) {
    request.registered_proof = number;
    EXPECT_EQ(field_of(), "registered_proof");
    EXPECT_EQ(read_snap_request(request).error().sector, 42u);
  }
  request.registered_proof = 1;  // 8 MiB has four partitions
  EXPECT_EQ(field_of(), "vanilla_proofs");
}

TEST_F(SnapRequestTest, NumberOfPartitions) {
  blobs_.pop_back();
  expect_refused("vanilla_proofs");
  blobs_.clear();
  expect_refused("vanilla_proofs");
  blobs_.resize(100000);
  expect_refused("vanilla_proofs");
}

TEST_F(SnapRequestTest, Commitments) {
  const std::pair<NodeBytes*, const char*> kAll[] = {
      {&comm_r_old_, "comm_r_old"}, {&comm_d_new_, "comm_d_new"}, {&comm_r_new_, "comm_r_new"}};
  for (const auto& [bytes, name] : kAll) {
    const NodeBytes good = *bytes;
    bytes->fill(0);
    expect_refused(name);
    bytes->fill(0xff);
    expect_refused(name);
    *bytes = good;
  }
  const SnapVector vector("snap-2KiB-k0");
  const std::vector<uint8_t> cid(40, 1);
  const std::pair<std::span<const uint8_t> SnapRequest::*, const char*> kMembers[] = {
      {&SnapRequest::comm_r_old, "comm_r_old"},
      {&SnapRequest::comm_d_new, "comm_d_new"},
      {&SnapRequest::comm_r_new, "comm_r_new"}};
  for (const auto& [member, name] : kMembers) {
    for (const size_t size : {0u, 31u, 33u, 40u}) {
      SnapRequest bad = vector.request();
      bad.*member = std::span(cid).first(size);
      const Result<SnapInput> result = read_snap_request(bad);
      ASSERT_FALSE(result.ok()) << size;
      EXPECT_EQ(result.error().field, name);
      EXPECT_EQ(result.error().message, "has " + std::to_string(size) + " bytes, needs 32");
    }
  }
}

TEST_F(SnapRequestTest, Truncation) {
  const std::vector<uint8_t> good = blobs_[1];
  for (size_t size = 0; size < good.size(); size += size < 64 || size > good.size() - 64 ? 1 : 61) {
    blobs_[1].assign(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    const Result<SnapInput> result = read();
    ASSERT_FALSE(result.ok()) << size;
    EXPECT_EQ(result.error().partition, 1u);
    EXPECT_TRUE(result.error().field.starts_with("vanilla_proofs[1]")) << result.error().describe();
    ASSERT_TRUE(result.error().offset.has_value());
    EXPECT_LE(*result.error().offset, size);
  }
  blobs_[1] = good;
  blobs_[1].resize(kFirst + 2 * kChallenge + kTreeR + 2);
  expect_refused("vanilla_proofs[1].challenge_proofs[2].proof_d_new", 1);
}

TEST(SnapFormat, StatementAlone) {
  const SnapVector vector("snap-2KiB-k0");
  SnapRequest request = vector.request();
  const Result<SnapInput> whole = read_snap_request(request);
  ASSERT_TRUE(whole.ok());
  request.vanilla_proofs = {};
  const Result<SnapInput> statement = read_snap_statement(request);
  ASSERT_TRUE(statement.ok()) << statement.error().describe();
  EXPECT_TRUE(statement->partitions.empty());
  EXPECT_EQ(snap_public_inputs(*statement->shape, statement->h, statement->commitments, 0),
            snap_public_inputs(*whole->shape, whole->h, whole->commitments, 0));
  request.comm_d_new = request.comm_d_new.first(31);
  EXPECT_EQ(read_snap_statement(request).error().field, "comm_d_new");
  request.registered_proof = 5;
  EXPECT_EQ(read_snap_statement(request).error().field, "registered_proof");
}

TEST_F(SnapRequestTest, AllBadPartitionsAreNamed) {
  blobs_[0].pop_back();
  blobs_[1].push_back(0);
  const Result<SnapInput> result = read();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().partition, 0u);
  EXPECT_TRUE(result.error().message.ends_with("; bad too: partition 1")) << result.error().message;
}

TEST_F(SnapRequestTest, TrailingBytes) {
  blobs_[0].push_back(0);
  expect_refused("vanilla_proofs[0]", 0);
}

TEST_F(SnapRequestTest, Counts) {
  for (const uint64_t count :
       {uint64_t{0}, uint64_t{8}, uint64_t{127}, uint64_t{129}, uint64_t{1} << 32, ~uint64_t{0}}) {
    expect_refused(kApex, u64(count), ".apex_leafs");
  }
  for (const uint64_t count : {uint64_t{0}, uint64_t{9}, uint64_t{11}, uint64_t{86}, uint64_t{1} << 61, ~uint64_t{0}}) {
    expect_refused(kChallenges, u64(count), ".challenge_proofs");
  }
}

TEST_F(SnapRequestTest, VariantsAndPaths) {
  const std::string r_old = ".challenge_proofs[3].proof_r_old", d_new = ".challenge_proofs[3].proof_d_new",
                    r_new = ".challenge_proofs[3].proof_r_new";
  const size_t old_at = kFirst + 3 * kChallenge, data_at = old_at + kTreeR, new_at = data_at + kTreeD;
  for (const uint8_t variant : {0, 2, 3, 255}) {
    expect_refused(old_at, {variant, 0, 0, 0}, r_old);
    expect_refused(new_at, {variant, 0, 0, 0}, r_new);
  }
  for (const uint8_t variant : {1, 2, 3}) expect_refused(data_at, {variant, 0, 0, 0}, d_new);
  expect_refused(data_at, {0, 0, 0, 1}, d_new);
  for (const uint64_t count : {uint64_t{0}, uint64_t{1}, uint64_t{3}, ~uint64_t{0}}) {
    expect_refused(old_at + 4, u64(count), r_old + ".base_proof.path");
    expect_refused(old_at + 4 + 488, u64(count == 1 ? 2 : count), r_old + ".sub_proof.path");
    expect_refused(data_at + 4 + 64, u64(count), d_new + ".path");
    expect_refused(old_at + 12, u64(count), r_old + ".base_proof.path[0].hashes");
    expect_refused(old_at + 12 + 240, u64(8), r_old + ".base_proof.path[1].hashes");
  }
  expect_refused(data_at + 76, u64(2), d_new + ".path[0].hashes");
  expect_refused(data_at + 76 + 8 * 48, u64(7), d_new + ".path[8].hashes");
  for (const uint64_t index : {uint64_t{8}, uint64_t{1} << 32, ~uint64_t{0}}) {
    expect_refused(old_at + 12 + 232, u64(index), r_old + ".base_proof.path[0].index");
    expect_refused(old_at + 4 + 488 + 8 + 232, u64(index), r_old + ".sub_proof.path[0].index");
    expect_refused(new_at + 12 + 240 + 232, u64(index), r_new + ".base_proof.path[1].index");
    expect_refused(data_at + 76 + 40, u64(index), d_new + ".path[0].index");
  }
  expect_refused(data_at + 76 + 40, u64(2), d_new + ".path[0].index");
}

TEST_F(SnapRequestTest, NodesAreCanonical) {
  const std::string place = ".challenge_proofs[9].";
  const size_t old_at = kFirst + 9 * kChallenge, data_at = old_at + kTreeR;
  const std::vector<uint8_t> ones(32, 0xff);
  std::vector<uint8_t> modulus(32);
  for (size_t i = 0; i < 32; ++i) modulus[i] = static_cast<uint8_t>(Fr::kModulus[i / 8] >> (8 * (i % 8)));
  for (const std::vector<uint8_t>& bad : {ones, modulus}) {
    expect_refused(0, bad, ".comm_c");
    expect_refused(kApex + 8, bad, ".apex_leafs[0]");
    expect_refused(kApex + 8 + 127 * 32, bad, ".apex_leafs[127]");
    expect_refused(old_at + 20, bad, place + "proof_r_old.base_proof.path[0].hashes[0]");
    expect_refused(old_at + 20 + 6 * 32, bad, place + "proof_r_old.base_proof.path[0].hashes[6]");
    expect_refused(old_at + 4 + 488 + 16 + 32, bad, place + "proof_r_old.sub_proof.path[0].hashes[1]");
    expect_refused(old_at + 4 + 488 + 248, bad, place + "proof_r_old.root");
    expect_refused(old_at + 4 + 488 + 248 + 32, bad, place + "proof_r_old.leaf");
    expect_refused(data_at + 4, bad, place + "proof_d_new.root");
    expect_refused(data_at + 4 + 32, bad, place + "proof_d_new.leaf");
    expect_refused(data_at + 84, bad, place + "proof_d_new.path[0].hashes[0]");
  }
}

// Any damage is read or refused; what is read is written back to the same bytes.
TEST_F(SnapRequestTest, RandomDamage) {
  std::mt19937_64 random(1);
  for (int n = 0; n < 2000; ++n) {
    std::vector<uint8_t> bytes = blobs_[0];
    for (uint64_t m = random() % 3 + 1; m > 0; --m) {
      bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1 << random() % 8);
    }
    const Result<SnapPartition> partition = read_snap_partition(shape_, 0, bytes);
    if (partition.ok()) {
      EXPECT_EQ(write_snap_partition(shape_, *partition), bytes);
    } else {
      EXPECT_LE(partition.error().offset.value(), bytes.size());
    }
  }
}

}  // namespace
}  // namespace cuzk
