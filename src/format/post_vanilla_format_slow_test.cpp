// Upstream's 32 GiB window vector through the whole assignment: 127 million wires, a sector at a time.
#include <gtest/gtest.h>

#include "base/hex.hpp"
#include "circuit/checker.hpp"
#include "circuit/packed_witness.hpp"
#include "filecoin/post_circuit.hpp"
#include "format/post_vanilla_format.hpp"
#include "hash/sha256.hpp"
#include "support/post_vectors.hpp"

namespace cuzk {
namespace {

TEST(PostVectors32GiB, AssignmentMatchesUpstream) {
  const test::PostVector vector("window-32GiB-v1_1");
  const Result<PostInput> input = read_post_request(vector.request());
  ASSERT_TRUE(input.ok()) << input.error().describe();
  const PostShape& shape = *input->request.shape;
  const PackedWitness whole = post_witness(input->vanilla);
  const CompiledCircuit circuit = compile_post(shape, 1);
  const CircuitCounts counts = post_circuit_counts(shape, 1);
  // The packed witness of the whole circuit, cut into those of its sectors.
  Sha256 hash;
  uint64_t total = 0;
  size_t bit = 0;
  for (uint32_t i = 0; i < shape.sectors; ++i) {
    PackedWitness part;
    part.inputs = {Fr::one()};
    for (size_t n = 0; n < 11; ++n) part.inputs.push_back(whole.inputs[1 + i * 11 + n]);
    const auto fields = whole.fields.begin() + static_cast<std::ptrdiff_t>(i * counts.fields);
    part.fields.assign(fields, fields + static_cast<std::ptrdiff_t>(counts.fields));
    for (uint64_t n = 0; n < counts.bits; ++n) part.bits.push_back(whole.bits.get(bit++));
    const Result<std::vector<Fr>> aux = expand_witness(circuit, part);
    ASSERT_TRUE(aux.ok()) << aux.error().describe();
    for (const Fr& x : *aux) hash.update(x.to_bytes_le());
    total += aux->size();
  }
  EXPECT_EQ(total, vector.num_aux);
  EXPECT_EQ(to_hex(hash.finish()), vector.sha256_aux_assignment);
}

}  // namespace
}  // namespace cuzk
