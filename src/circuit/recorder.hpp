// Recorder: runs a circuit without values and keeps its matrices, equal blocks once.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "circuit/block.hpp"
#include "circuit/circuit_arrays.hpp"
#include "circuit/compiled_circuit.hpp"
#include "circuit/constraint_system.hpp"
#include "circuit/poseidon_circuit.hpp"

namespace cuzk {

class Recorder {
 public:
  static constexpr bool kHasValues = false;
  static constexpr bool kHasConstraints = true;
  static constexpr bool kPacked = false;
  using Lc = LinearCombination;

  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  Wire alloc_boolean(bool) { return alloc_aux(WireKind::kBoolean); }
  Wire alloc_field(const Fr&) { return alloc_aux(WireKind::kField); }
  Wire alloc_input(const Fr&) {
    ++open_.arrays.num_inputs;
    return Wire::input(num_inputs_++);
  }
  Wire alloc_derived(const Fr&) {
    CUZK_ASSERT(in_derived_);
    return alloc_aux(WireKind::kDerived);
  }
  void begin_derived(unsigned arity, uint64_t tag, std::span<const Wire> preimage);
  void end_derived();

  template <class A, class B, class C>
  void enforce(A&& a, B&& b, C&& c) {
    a_.clear();
    a(a_);
    b_.clear();
    b(b_);
    c_.clear();
    c(c_);
    record();
  }

  // gadget::block().
  template <class Body>
  BlockWires<Recorder> record_block(std::string_view key, const BlockWires<Recorder>& ports, Body&& body) {
    if (open_.named) return body(ports);  // blocks have one level
    BlockWires<Recorder> inside;
    if (begin_block(key, ports, inside)) end_block(body(std::as_const(inside)));
    return place_block();
  }

  NoScope scope(const char*) { return {}; }
  NoScope scope(const char*, uint64_t) { return {}; }
  Lc make_lc() { return Lc(table_); }
  PoseidonCircuitCache& poseidon_circuits() { return poseidon_; }

  // The circuit; the recorder is empty afterwards and must not be used again. Coefficients that no constraint has in
  // the end are left out. More than CompiledCircuit::kMaxCoefficients are a bug of the circuit (CUZK_ASSERT): who makes
  // circuits from input counts them first. Cost: 6 bytes a term and 12 a constraint, of each block once.
  CompiledCircuit finish();

 private:
  // Aux wires from here on stand for the ports of the block that is being recorded.
  static constexpr uint32_t kFirstPortWire = Column::kMaxIndex + 1;
  // A wire of the block, a port handed through, or a constant.
  struct Output {
    Column column;
    BooleanKind kind = BooleanKind::kIs;
    bool value = false;
  };
  struct KnownBlock {
    bool named = false;
    std::vector<Output> nums, bits;
    std::vector<uint32_t> visible;  // raw columns that are outputs, ascending
    uint32_t num_inputs = 0, num_aux = 0;
  };
  // The block being recorded: a marked one, or what lies between two of them.
  struct Open {
    BlockArrays arrays;
    bool named = false;
    uint32_t first_input = 1, first_aux = 0;
    std::vector<uint32_t> ports;                     // raw wires
    std::unordered_map<uint32_t, uint32_t> port_of;  // raw wire -> index; of what lies between only
  };
  struct Place {
    uint32_t block, first_input, first_aux;
  };
  using Pattern = std::pair<std::string, std::vector<uint32_t>>;

  Wire alloc_aux(WireKind kind) {
    open_.arrays.add_wire(kind);
    return Wire::aux(num_aux_++);
  }
  void record();
  void append(BlockArrays::Rows& rows, const LinearCombination& lc);
  Column column_of(Wire w);
  Column port_column(Wire w);
  uint16_t coefficient_id(uint32_t table_id);
  void check_visible(Wire w) const;

  bool begin_block(std::string_view key, const BlockWires<Recorder>& ports, BlockWires<Recorder>& inside);
  void end_block(const BlockWires<Recorder>& outputs);
  BlockWires<Recorder> place_block();
  void close_unnamed();
  void open_new(bool named);
  uint32_t store_open(KnownBlock known);
  void add_instance(uint32_t block, const std::vector<uint32_t>& ports);
  Wire resolve(const Output& output, const Place& place, const std::vector<uint32_t>& ports) const;

  CoefficientTable table_;
  PoseidonCircuitCache poseidon_{table_};
  Lc a_{table_}, b_{table_}, c_{table_};
  uint32_t num_inputs_ = 1, num_aux_ = 0;
  std::vector<uint32_t> coefficient_ids_;  // by id in the table
  CircuitArrays out_;
  std::vector<KnownBlock> known_;  // by block
  std::map<Pattern, uint32_t> block_of_;
  std::vector<Place> places_;  // by instance
  Open open_;
  uint32_t current_ = 0;                 // the block of the call of record_block
  std::vector<uint32_t> current_ports_;  // and its ports
  std::vector<std::pair<uint32_t, uint16_t>> row_;
  bool in_derived_ = false;
};

static_assert(ConstraintSystem<Recorder>);

}  // namespace cuzk
