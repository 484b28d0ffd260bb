// What the Poseidon circuit of one arity and tag consists of, apart from the wires.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "circuit/coefficient_table.hpp"
#include "field/fr.hpp"

namespace cuzk {

// The linear combinations that are materialised, in the order of the circuit, as dense coefficients over the basis
// that is current at that point (see gadget::poseidon_hash). They depend on the constants only, so they are computed
// once per constraint system and not once per hash; ids are those of the system's coefficient table.
struct PoseidonCircuit {
  unsigned arity = 0;
  unsigned width = 0;  // arity + 1
  unsigned partial_rounds = 0;
  std::vector<Fr> lc_values;  // all combinations, one after the other
  std::vector<uint32_t> lc_ids;
  std::vector<uint32_t> lc_start;  // combination k is [lc_start[k], lc_start[k + 1])
  std::vector<Fr> pre;             // added to preimage element i before its first S-box
  std::vector<uint32_t> pre_ids;
  std::vector<Fr> post;  // added after S-box k in order of execution, the tag's excepted; 0 in the last round
  std::vector<uint32_t> minus_post_ids;

  // Aux variables of one hash, which is also the number of its constraints.
  uint32_t num_aux() const;
};

// arity is one of poseidon_constants'. Cost: about width^2 * (7 + R_P) multiplications.
PoseidonCircuit make_poseidon_circuit(unsigned arity, uint64_t tag, CoefficientTable& table);

// Aux variables of a Poseidon hash in a circuit: 311 for arity 2, 505 for 8, 598 for 11.
uint32_t poseidon_num_aux(unsigned arity);

// The Poseidon circuits of one constraint system.
class PoseidonCircuitCache {
 public:
  explicit PoseidonCircuitCache(CoefficientTable& table) : table_(table) {}
  const PoseidonCircuit& get(unsigned arity, uint64_t tag);

 private:
  CoefficientTable& table_;
  std::map<std::pair<unsigned, uint64_t>, std::unique_ptr<PoseidonCircuit>> circuits_;
};

}  // namespace cuzk
