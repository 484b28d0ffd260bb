// Any bytes are either refused, or a circuit that can be evaluated and has just these bytes. Since nothing gets past
// the digest by chance, the header is put right first.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/assert.hpp"
#include "circuit/assignment.hpp"
#include "circuit/compiled_file.hpp"
#include "circuit/packed_witness.hpp"
#include "matrix/matrix.hpp"

namespace {

using namespace cuzk;

Result<CompiledCircuit> parse(std::span<const uint8_t> bytes) {
  Result<CompiledCircuit> circuit = parse_compiled_circuit(bytes, "fuzz", nullptr);
  if (!circuit.ok()) {
    const Error& error = circuit.error();
    CUZK_ASSERT(error.error_class == ErrorClass::kCorrupt && !error.field.empty() && *error.offset <= bytes.size());
  }
  return circuit;
}

void evaluate(const CompiledCircuit& circuit) {
  r1cs_digest(circuit);
  wire_densities(circuit);
  PackedWitness witness;
  witness.inputs.assign(circuit.num_inputs, Fr::from_u64(3));
  witness.inputs[0] = Fr::one();
  witness.bits = BitVector(circuit.num_bits);
  witness.fields.assign(circuit.num_fields, Fr::from_u64(5));
  Result<std::vector<Fr>> aux = expand_witness(circuit, witness);
  CUZK_ASSERT(aux.ok());
  first_unsatisfied(circuit, witness.inputs, *aux);
  const std::vector<Fr> rows(circuit.num_constraints, Fr::from_u64(7));
  for (const BlockMatrix& m : {circuit.a(), circuit.b(), circuit.c()}) {
    multiply_transposed(m, Coefficients(circuit.coefficients), rows, witness.inputs, *aux);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);  // aligned
  CUZK_ASSERT(parse(bytes).ok() <= (size >= 128));
  if (size < 128) return 0;
  const std::vector<uint8_t> empty = encode_compiled_circuit(CompiledCircuit{}, "fuzz");
  const uint64_t file_bytes = size;
  std::copy_n(empty.begin(), 16, bytes.begin());  // magic, version, byte order
  std::memcpy(bytes.data() + 16, &file_bytes, sizeof file_bytes);
  std::copy_n(empty.begin() + 48, 48, bytes.begin() + 48);  // id
  seal_compiled_file(bytes);
  const Result<CompiledCircuit> circuit = parse(bytes);
  if (!circuit.ok()) return 0;
  CUZK_ASSERT(encode_compiled_circuit(*circuit, "fuzz") == bytes);
  // A few bytes can stand for many wires and instances.
  constexpr uint32_t kMost = 1 << 16;
  if (std::max({circuit->num_aux, circuit->num_inputs, circuit->num_constraints}) < kMost) evaluate(*circuit);
  return 0;
}
