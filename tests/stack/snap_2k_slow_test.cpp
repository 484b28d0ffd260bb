// A 2 KiB sector update from end to end: upstream's vanilla proof in bytes, parameters of our own, a proof that
// verifies.
#include <gtest/gtest.h>

#include "filecoin/snap_prove.hpp"
#include "format/snap_vanilla_format.hpp"
#include "groth16/cpu_backend.hpp"
#include "groth16/prove.hpp"
#include "groth16/setup.hpp"
#include "groth16/verify.hpp"
#include "support/snap_vectors.hpp"

namespace cuzk {
namespace {

TEST(Snap2k, FromBytesToAProof) {
  NoProgress quiet;
  const test::SnapVector vector("snap-2KiB-k0");
  Result<SnapInput> input = read_snap_request(vector.request());
  ASSERT_TRUE(input.ok()) << input.error().describe();
  ASSERT_TRUE(validate_snap_vanilla(*input).ok());

  const CompiledCircuit circuit = compile_snap(*input->shape);
  const CircuitCounts counts = snap_circuit_counts(*input->shape);
  const SrsShape expected{counts.inputs,
                          (uint64_t{1} << counts.log2_domain()) - 1,
                          counts.aux,
                          counts.inputs + counts.a_aux_density,
                          counts.b_input_density + counts.b_aux_density,
                          counts.b_input_density + counts.b_aux_density};
  EXPECT_EQ(srs_shape(circuit), expected);
  const Result<Srs> srs = setup(circuit, toxic_waste_from_seed({1}), quiet);
  ASSERT_TRUE(srs.ok()) << srs.error().describe();

  CpuBackend backend;
  const Result<Proof> proof = prove(backend, circuit, *srs, snap_witness(*input, 0), quiet);
  ASSERT_TRUE(proof.ok()) << proof.error().describe();
  const PreparedVerifyingKey key(srs->vk);
  const std::vector<Fr> inputs = snap_public_inputs(*input->shape, input->h, input->commitments, 0);
  EXPECT_TRUE(verify(key, *proof, inputs).ok());
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<Fr> wrong = inputs;
    wrong[i] += Fr::one();
    EXPECT_FALSE(verify(key, *proof, wrong).ok()) << i;
  }
  // An input that the circuit refuses gives no proof.
  input->partitions[0].values(3, SnapProof::kDNew)[1] += Fr::one();
  const Result<Proof> none = prove(backend, circuit, *srs, snap_witness(*input, 0), quiet);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().error_class, ErrorClass::kUnsatisfied);
}

}  // namespace
}  // namespace cuzk
