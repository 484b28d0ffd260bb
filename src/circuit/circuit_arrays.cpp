#include "circuit/circuit_arrays.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "circuit/poseidon_circuit.hpp"
#include "hash/poseidon_constants.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace {

using Fault = std::optional<StructureFault>;

constexpr size_t kRowGrain = size_t{1} << 16;
constexpr uint64_t kMaxWires = uint64_t{Column::kMaxIndex} + 1;
constexpr uint64_t kMaxU32 = 0xffffffff;

// One block, apart from where its instances are.
class BlockCheck {
 public:
  BlockCheck(CircuitBlock& block, size_t number, size_t num_coefficients)
      : block_(block), prefix_("blocks[" + std::to_string(number) + "]."), num_coefficients_(num_coefficients) {}

  Fault run() {
    if (Fault fault = sizes()) return fault;
    if (Fault fault = kinds()) return fault;
    if (Fault fault = derived()) return fault;
    return all_rows();
  }

 private:
  Fault sizes() {
    const auto wires = [&](const char* what, uint64_t count) -> Fault {
      if (count <= kMaxWires) return {};
      return StructureFault{prefix_ + what, count, "more than 2^30 of them"};
    };
    if (Fault fault = wires("num_inputs", block_.num_inputs)) return fault;
    return wires("num_ports", block_.num_ports);
  }

  Fault kinds() {
    const auto at = [&](uint64_t i, const char* what) { return StructureFault{prefix_ + "kinds", i, what}; };
    uint64_t aux = 0, bits = 0, fields = 0;
    for (size_t i = 0; i < block_.kinds.size(); ++i) {
      const WireKindRun& run = block_.kinds[i];
      if (run.kind > WireKind::kDerived) return at(i, "this is no kind of wire");
      if (run.count == 0) return at(i, "a run without wires");
      if (i > 0 && run.kind == block_.kinds[i - 1].kind) return at(i, "two runs of the same kind side by side");
      aux += run.count;
      if (run.kind == WireKind::kBoolean) bits += run.count;
      if (run.kind == WireKind::kField) fields += run.count;
      if (aux > kMaxWires) return at(i, "more than 2^30 aux wires");
    }
    block_.num_aux = static_cast<uint32_t>(aux);
    block_.num_bits = static_cast<uint32_t>(bits);
    block_.num_fields = static_cast<uint32_t>(fields);
    return {};
  }

  // The hashes follow one another exactly over the runs of derived wires, and read what is there before them.
  Fault derived() {
    const auto at = [&](uint64_t i, const char* what) { return StructureFault{prefix_ + "derived", i, what}; };
    size_t next = 0;
    uint64_t begin = 0, inputs = 0;
    for (const WireKindRun& run : block_.kinds) {
      const uint64_t end = begin + run.count;
      for (uint64_t aux = begin; run.kind == WireKind::kDerived && aux < end; ++next) {
        if (next == block_.derived.size()) return at(next, "derived wires without a hash");
        const DerivedInstance& d = block_.derived[next];
        if (!is_poseidon_arity(d.arity)) return at(next, "no Poseidon hash has this arity");
        if (d.first_aux != aux) return at(next, "the hash does not begin where the one before it ends");
        if (d.num_aux != poseidon_num_aux(d.arity)) return at(next, "wrong number of wires for the arity");
        if (d.num_aux > end - aux) return at(next, "wires of the hash are not derived");
        if (d.first_input != inputs || d.arity > block_.derived_inputs.size() - inputs) {
          return at(next, "the preimage is not where it has to be");
        }
        for (uint64_t j = inputs; j < inputs + d.arity; ++j) {
          if (in_range(block_.derived_inputs[j], d.first_aux)) continue;
          return StructureFault{prefix_ + "derived_inputs", j, "a hash reads a wire that is not there before it"};
        }
        inputs += d.arity;
        aux += d.num_aux;
      }
      begin = end;
    }
    if (next != block_.derived.size()) return at(next, "a hash without derived wires");
    if (inputs != block_.derived_inputs.size()) {
      return StructureFault{prefix_ + "derived_inputs", inputs, "belongs to no hash"};
    }
    return {};
  }

  Fault all_rows() {
    if (Fault fault = rows("a", block_.a)) return fault;
    if (Fault fault = rows("b", block_.b)) return fault;
    if (Fault fault = rows("c", block_.c)) return fault;
    block_.num_constraints = block_.a.num_rows();
    for (const auto& [name, m] : {std::pair{"b", &block_.b}, std::pair{"c", &block_.c}}) {
      if (m->num_rows() == block_.num_constraints) continue;
      return StructureFault{prefix_ + name + ".row_start", m->row_start.size(), "not as many rows as a has"};
    }
    return {};
  }

  Fault rows(const char* name, const BlockRows& m) {
    const std::string section = prefix_ + name;
    const auto row_start = [&](uint64_t i, const char* what) {
      return StructureFault{section + ".row_start", i, what};
    };
    if (m.row_start.empty()) return row_start(0, "it has no element");
    if (m.row_start.size() > kMaxU32) return row_start(kMaxU32, "more than 2^32 rows");
    if (m.row_start[0] != 0) return row_start(0, "the first row does not begin at 0");
    if (m.row_start.back() != m.column.size()) {
      return row_start(m.row_start.size() - 1, "the last row does not end with the columns");
    }
    if (m.column.size() != m.coefficient.size()) {
      return StructureFault{section + ".coefficient", m.coefficient.size(), "not as many as columns"};
    }
    std::mutex mutex;
    Fault first;
    uint64_t first_row = m.num_rows();
    parallel_for(m.num_rows(), kRowGrain, [&](size_t begin, size_t end) {
      for (size_t row = begin; row < end; ++row) {
        if (row_is_good(m, row)) [[likely]]
          continue;
        const std::lock_guard<std::mutex> lock(mutex);
        if (row >= first_row) return;
        first_row = row;
        first = explain_row(section, m, row);
        return;
      }
    });
    return first;
  }

  bool row_is_good(const BlockRows& m, size_t row) const {
    const uint32_t begin = m.row_start[row], end = m.row_start[row + 1];
    if (begin > end || end > m.column.size()) return false;
    bool good = true;
    uint64_t least = 0;  // columns ascend strictly
    for (uint32_t k = begin; k < end; ++k) {
      const Column column = m.column[k];
      good &= column.raw >= least && in_range(column, block_.num_aux) && m.coefficient[k] < num_coefficients_;
      least = uint64_t{column.raw} + 1;
    }
    return good;
  }

  StructureFault explain_row(const std::string& section, const BlockRows& m, size_t row) const {
    const uint32_t begin = m.row_start[row], end = m.row_start[row + 1];
    if (begin > end) return StructureFault{section + ".row_start", row + 1, "a row ends before it begins"};
    if (end > m.column.size()) return StructureFault{section + ".row_start", row + 1, "beyond the last column"};
    for (uint32_t k = begin; k < end; ++k) {
      if (!in_range(m.column[k], block_.num_aux)) return StructureFault{section + ".column", k, "no such wire"};
      if (k > begin && m.column[k].raw <= m.column[k - 1].raw) {
        return StructureFault{section + ".column", k, "the columns of a row do not ascend"};
      }
      if (m.coefficient[k] >= num_coefficients_) {
        return StructureFault{section + ".coefficient", k, "no such coefficient"};
      }
    }
    CUZK_ASSERT(!"a row is bad and good");
    return {};
  }

  bool in_range(Column column, uint32_t num_aux) const {
    switch (column.kind()) {
      case Column::Kind::kOne: return column.index() == 0;
      case Column::Kind::kInput: return column.index() < block_.num_inputs;
      case Column::Kind::kAux: return column.index() < num_aux;
      case Column::Kind::kPort: return column.index() < block_.num_ports;
    }
    return false;
  }

  CircuitBlock& block_;
  std::string prefix_;
  size_t num_coefficients_;
};

// Where every instance begins, and that its ports lie before it.
class InstanceLayout {
 public:
  explicit InstanceLayout(CompiledCircuit& circuit) : circuit_(circuit) {}

  Fault run() {
    for (size_t i = 0; i < circuit_.instances.size(); ++i) {
      if (Fault fault = place(i)) return fault;
    }
    if (port_ != circuit_.ports.size()) return StructureFault{"ports", port_, "belongs to no instance"};
    circuit_.num_inputs = static_cast<uint32_t>(input_);
    circuit_.num_aux = static_cast<uint32_t>(aux_);
    circuit_.num_constraints = static_cast<uint32_t>(row_);
    circuit_.num_bits = static_cast<uint32_t>(bit_);
    circuit_.num_fields = static_cast<uint32_t>(field_);
    return {};
  }

 private:
  Fault place(size_t i) {
    BlockInstance& instance = circuit_.instances[i];
    const auto fault = [&](const char* what) { return StructureFault{"instances", i, what}; };
    if (instance.block >= circuit_.blocks.size()) return fault("no such block");
    const CircuitBlock& block = circuit_.blocks[instance.block];
    instance.first_row = static_cast<uint32_t>(row_);
    instance.first_input = static_cast<uint32_t>(input_);
    instance.first_aux = static_cast<uint32_t>(aux_);
    instance.first_port = static_cast<uint32_t>(port_);
    instance.first_bit = static_cast<uint32_t>(bit_);
    instance.first_field = static_cast<uint32_t>(field_);
    if (block.num_ports > circuit_.ports.size() - port_) return fault("its ports are missing");
    if (Fault bad = check_ports(block.num_ports)) return bad;
    row_ += block.num_constraints;
    input_ += block.num_inputs;
    aux_ += block.num_aux;
    port_ += block.num_ports;
    bit_ += block.num_bits;
    field_ += block.num_fields;
    if (aux_ > kMaxWires || input_ > kMaxWires) return fault("more than 2^30 wires");
    if (row_ > kMaxU32 - kMaxWires) return fault("too many constraints");
    if (port_ > kMaxU32) return fault("more than 2^32 ports");
    return {};
  }

  Fault check_ports(uint32_t count) {
    const auto ports = circuit_.ports.subspan(port_, count);
    for (size_t k = 0; k < ports.size(); ++k) {
      const Wire w{ports[k]};
      const bool before = w.is_input() ? w.index() > 0 && w.index() < input_ : w.index() < aux_;
      if (!before) return StructureFault{"ports", port_ + k, "the wire is not there before the instance"};
    }
    sorted_.assign(ports.begin(), ports.end());
    std::sort(sorted_.begin(), sorted_.end());
    if (std::adjacent_find(sorted_.begin(), sorted_.end()) != sorted_.end()) {
      return StructureFault{"ports", port_, "two ports of an instance are the same wire"};
    }
    return {};
  }

  CompiledCircuit& circuit_;
  uint64_t row_ = 0, input_ = 1, aux_ = 0, port_ = 0, bit_ = 0, field_ = 0;
  std::vector<uint32_t> sorted_;
};

BlockRows view(const BlockArrays::Rows& rows) { return {rows.row_start, rows.column, rows.coefficient}; }

}  // namespace

void BlockArrays::shrink_to_fit() {
  for (Rows* m : {&a, &b, &c}) {
    m->row_start.shrink_to_fit();
    m->column.shrink_to_fit();
    m->coefficient.shrink_to_fit();
  }
  kinds.shrink_to_fit();
  derived.shrink_to_fit();
  derived_inputs.shrink_to_fit();
}

std::optional<StructureFault> complete_structure(CompiledCircuit& circuit) {
  const auto& coefficients = circuit.coefficients;
  if (coefficients.size() > CompiledCircuit::kMaxCoefficients) {
    return StructureFault{"coefficients", CompiledCircuit::kMaxCoefficients, "more than 65,536 of them"};
  }
  for (size_t i = 0; i < coefficients.size(); ++i) {
    if (coefficients[i].is_zero()) return StructureFault{"coefficients", i, "it is zero"};
  }
  for (size_t i = 0; i < circuit.blocks.size(); ++i) {
    if (Fault fault = BlockCheck(circuit.blocks[i], i, coefficients.size()).run()) return fault;
  }
  return InstanceLayout(circuit).run();
}

Result<CompiledCircuit> make_circuit(CircuitArrays arrays) {
  auto storage = std::make_shared<CircuitArrays>(std::move(arrays));
  CompiledCircuit out;
  out.coefficients = std::move(storage->coefficients);
  for (BlockArrays& block : storage->blocks) {
    block.shrink_to_fit();
    CircuitBlock& view_of = out.blocks.emplace_back();
    view_of.a = view(block.a);
    view_of.b = view(block.b);
    view_of.c = view(block.c);
    view_of.kinds = block.kinds;
    view_of.derived = block.derived;
    view_of.derived_inputs = block.derived_inputs;
    view_of.num_inputs = block.num_inputs;
    view_of.num_ports = block.num_ports;
  }
  for (const uint32_t block : storage->instance_blocks) out.instances.emplace_back().block = block;
  out.ports = storage->ports;
  out.storage = storage;
  if (out.coefficients.size() > CompiledCircuit::kMaxCoefficients) {
    return Error(ErrorClass::kUnsupported, "the circuit has more than 65,536 distinct coefficients");
  }
  if (const auto fault = complete_structure(out)) {
    return Error(ErrorClass::kInternal, fault->what)
        .at_field(fault->section + "[" + std::to_string(fault->index) + "]");
  }
  return out;
}

}  // namespace cuzk
