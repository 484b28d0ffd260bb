// Queries in two groups against the selection that the CPU prover makes of an expanded witness.
#include "groth16/packed_query.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "groth16/groth16_test_support.hpp"
#include "groth16/setup.hpp"

namespace cuzk {
namespace {

// The scalars of a query in its order, from an expanded witness.
std::vector<Fr> query_scalars(const std::vector<Fr>& inputs, const BitVector* input_density, const std::vector<Fr>& aux,
                              const BitVector* aux_density) {
  std::vector<Fr> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (input_density == nullptr || input_density->get(i)) out.push_back(inputs[i]);
  }
  for (size_t i = 0; i < aux.size(); ++i) {
    if (aux_density == nullptr || aux_density->get(i)) out.push_back(aux[i]);
  }
  return out;
}

TEST(PackedQuery, NamesEveryPointOnceWithItsScalar) {
  std::mt19937_64 rng(5);
  for (const size_t rows : {1, 5, 64, 65, 300}) {
    const test::Instance made = test::random_instance(rng, rows);
    const CompiledCircuit& circuit = made.circuit;
    const std::vector<Fr> aux = expand_witness(circuit, made.witness).value();
    // No hashes here: the packed values are the inputs and the stored fields.
    std::vector<Fr> values = made.witness.inputs;
    values.insert(values.end(), made.witness.fields.begin(), made.witness.fields.end());
    const PackedQueries queries = packed_queries(circuit);
    const SrsShape shape = srs_shape(circuit);
    const WireDensities d = wire_densities(circuit);
    const struct {
      const PackedQuery& query;
      std::vector<Fr> scalars;
      uint64_t size;
    } cases[] = {{queries.l, aux, shape.l},
                 {queries.a, query_scalars(made.witness.inputs, nullptr, aux, &d.a_aux), shape.a},
                 {queries.b, query_scalars(made.witness.inputs, &d.b_input, aux, &d.b_aux), shape.b_g1}};
    for (const auto& [query, scalars, size] : cases) {
      ASSERT_EQ(scalars.size(), size);
      ASSERT_EQ(query.bits.size() + query.values.size(), size);
      std::vector<int> seen(size);
      for (size_t i = 0; i < query.bits.size(); ++i) {
        ++seen.at(query.bits.position[i]);
        EXPECT_EQ(Fr::from_u64(made.witness.bits.get(query.bits.index[i])), scalars[query.bits.position[i]]);
      }
      for (size_t i = 0; i < query.values.size(); ++i) {
        ++seen.at(query.values.position[i]);
        EXPECT_EQ(values.at(query.values.index[i]), scalars[query.values.position[i]]);
      }
      EXPECT_EQ(seen, std::vector<int>(size, 1));
    }
  }
}

}  // namespace
}  // namespace cuzk
