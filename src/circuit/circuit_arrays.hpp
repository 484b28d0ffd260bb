// The arrays that a CompiledCircuit is made of, and what they must satisfy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "circuit/compiled_circuit.hpp"

namespace cuzk {

// A block while it grows; see CircuitBlock.
struct BlockArrays {
  struct Rows {
    std::vector<uint32_t> row_start = {0};
    std::vector<Column> column;
    std::vector<uint16_t> coefficient;

    void end_row() { row_start.push_back(static_cast<uint32_t>(column.size())); }
    void push(Column wire, uint16_t coefficient_id) {
      column.push_back(wire);
      coefficient.push_back(coefficient_id);
    }
  };
  Rows a, b, c;
  std::vector<WireKindRun> kinds;
  std::vector<DerivedInstance> derived;
  std::vector<Column> derived_inputs;
  uint32_t num_inputs = 0, num_ports = 0;

  // One aux wire more.
  void add_wire(WireKind kind) {
    if (kinds.empty() || kinds.back().kind != kind) kinds.push_back({kind, 0});
    ++kinds.back().count;
  }
  bool empty() const {
    return kinds.empty() && num_inputs == 0 && a.row_start.size() == 1 && b.row_start.size() == 1 &&
           c.row_start.size() == 1;
  }
  void shrink_to_fit();
};

struct CircuitArrays {
  std::vector<Fr> coefficients;
  std::vector<BlockArrays> blocks;
  std::vector<uint32_t> instance_blocks;  // per instance its block
  std::vector<uint32_t> ports;            // raw Wire, instance after instance
};

// What is wrong with a circuit, and where.
struct StructureFault {
  std::string section;  // "blocks[2].a.column"
  uint64_t index = 0;   // element of that array
  std::string what;
};

// Computes the counts and the instances' offsets from what is given (coefficients, the arrays, num_inputs and num_ports
// of each block, `block` of each instance, ports), and checks everything that evaluation relies on: afterwards no
// index is out of range, no sum overflows and every wire is allocated before it is used. The checks of large arrays
// are parallel; 0.1 s for 40 million terms. The circuit must not be used where a fault is returned.
std::optional<StructureFault> complete_structure(CompiledCircuit& circuit);

// The circuit of these arrays. Errors: kUnsupported where it exceeds a limit (CompiledCircuit::kMaxCoefficients; 2^30
// wires; 2^32 rows or terms of a block); kInternal where the arrays contradict each other.
Result<CompiledCircuit> make_circuit(CircuitArrays arrays);

}  // namespace cuzk
