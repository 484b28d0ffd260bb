// The packed form of Filecoin's circuits, evaluated term by term, against the expansion and the products.
#include "circuit/packed_form.hpp"

#include <gtest/gtest.h>

#include "matrix/matrix.hpp"
#include "support/packed_reference.hpp"
#include "support/synthetic_circuits.hpp"

namespace cuzk {
namespace {

class PackedFormOf : public testing::TestWithParam<const char*> {};

TEST_P(PackedFormOf, HasTheSameValuesAndRows) {
  const test::SyntheticCircuit made = test::synthetic_circuit(GetParam());
  const CompiledCircuit& circuit = made.circuit;
  const PackedSystem system = packed_form(circuit);
  const test::PackedReference reference(system, made.witness);
  const Result<std::vector<Fr>> aux = expand_witness(circuit, made.witness);
  ASSERT_TRUE(aux.ok());
  uint64_t wrong = 0;
  for_each_packed_run(circuit, [&](uint32_t first, uint32_t count, PackedPlace place) {
    for (uint32_t i = 0; i < count; ++i) wrong += reference.value({place.raw + i}) != (*aux)[first + i];
  });
  EXPECT_EQ(wrong, 0u);
  const BlockMatrix matrices[] = {circuit.a(), circuit.b(), circuit.c()};
  for (size_t m = 0; m < 3; ++m) {
    std::vector<Fr> rows(circuit.num_constraints);
    multiply(matrices[m], Coefficients(circuit.coefficients), made.witness.inputs, *aux, rows);
    EXPECT_TRUE(reference.rows(m) == rows) << "matrix " << m;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, PackedFormOf, testing::Values("porep-2k", "snap-2k", "window-2k", "winning-2k"),
                         [](const testing::TestParamInfo<const char*>& i) {
                           std::string name = i.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace cuzk
