#include "circuit/recorder.hpp"

#include <algorithm>

namespace cuzk {
namespace {

constexpr uint32_t kNoId = 0xffffffff;

}  // namespace

void Recorder::begin_derived(unsigned arity, uint64_t tag, std::span<const Wire> preimage) {
  CUZK_ASSERT(!in_derived_ && preimage.size() == arity);
  in_derived_ = true;
  BlockArrays& block = open_.arrays;
  const auto first_input = static_cast<uint32_t>(block.derived_inputs.size());
  block.derived.push_back({arity, num_aux_ - open_.first_aux, 0, first_input, tag});
  for (const Wire w : preimage) block.derived_inputs.push_back(column_of(w));
}

void Recorder::end_derived() {
  CUZK_ASSERT(in_derived_);
  in_derived_ = false;
  DerivedInstance& instance = open_.arrays.derived.back();
  instance.num_aux = num_aux_ - open_.first_aux - instance.first_aux;
  CUZK_ASSERT(instance.num_aux == poseidon_num_aux(instance.arity));
}

// The table also holds sums that were merged further and constants of no constraint, so its ids are wider.
uint16_t Recorder::coefficient_id(uint32_t table_id) {
  if (table_id >= coefficient_ids_.size()) coefficient_ids_.resize(table_.size(), kNoId);
  uint32_t& id = coefficient_ids_[table_id];
  if (id == kNoId) {
    CUZK_ASSERT(out_.coefficients.size() < CompiledCircuit::kMaxCoefficients);
    id = static_cast<uint32_t>(out_.coefficients.size());
    out_.coefficients.push_back(table_.value(table_id));
  }
  return static_cast<uint16_t>(id);
}

// A wire of a marked block is used outside it only where it is an output: for all instances but the first the circuit
// would otherwise hold a stale wire.
void Recorder::check_visible(Wire w) const {
  if (w == Wire::one() || places_.empty()) return;
  const auto first = [&](const Place& p) { return w.is_input() ? p.first_input : p.first_aux; };
  auto it = std::upper_bound(places_.begin(), places_.end(), w.index(),
                             [&](uint32_t index, const Place& p) { return index < first(p); });
  if (it == places_.begin()) return;
  const Place& place = *--it;
  const KnownBlock& block = known_[place.block];
  const uint32_t offset = w.index() - first(place);
  if (!block.named || offset >= (w.is_input() ? block.num_inputs : block.num_aux)) return;
  const Column column = w.is_input() ? Column::input(offset) : Column::aux(offset);
  CUZK_ASSERT(std::binary_search(block.visible.begin(), block.visible.end(), column.raw) &&
              "a wire of a block is used outside it and is none of its outputs");
}

Column Recorder::column_of(Wire w) {
  if (w == Wire::one()) return Column::one();
  if (w.is_input()) {
    if (w.index() < open_.first_input) return port_column(w);
    CUZK_ASSERT(w.index() < num_inputs_);
    return Column::input(w.index() - open_.first_input);
  }
  if (w.index() < open_.first_aux) return port_column(w);
  if (w.index() < num_aux_) return Column::aux(w.index() - open_.first_aux);
  CUZK_ASSERT(open_.named && w.index() >= kFirstPortWire && w.index() - kFirstPortWire < open_.ports.size());
  return Column::port(w.index() - kFirstPortWire);
}

// A wire from before what is being recorded.
Column Recorder::port_column(Wire w) {
  CUZK_ASSERT(!open_.named && "a block uses a wire from outside that is none of its ports");
  const auto [it, is_new] = open_.port_of.try_emplace(w.raw, static_cast<uint32_t>(open_.ports.size()));
  if (is_new) {
    check_visible(w);
    open_.ports.push_back(w.raw);
  }
  return Column::port(it->second);
}

void Recorder::append(BlockArrays::Rows& rows, const LinearCombination& lc) {
  row_.clear();
  uint64_t least = 0;
  bool ascending = true;
  for (const uint64_t term : lc.terms()) {
    const Column column = column_of(Lc::wire_of(term));
    ascending &= column.raw >= least;
    least = column.raw;
    row_.push_back({column.raw, coefficient_id(Lc::id_of(term))});
  }
  if (!ascending) std::sort(row_.begin(), row_.end());  // ports come last
  for (const auto& [column, coefficient] : row_) rows.push(Column{column}, coefficient);
  CUZK_ASSERT(rows.column.size() <= kNoId);
  rows.end_row();
}

void Recorder::record() {
  for (Lc* lc : {&a_, &b_, &c_}) lc->normalize();
  append(open_.arrays.a, a_);
  append(open_.arrays.b, b_);
  append(open_.arrays.c, c_);
}

void Recorder::open_new(bool named) {
  open_ = Open{};
  open_.named = named;
  open_.first_input = num_inputs_;
  open_.first_aux = num_aux_;
}

uint32_t Recorder::store_open(KnownBlock known) {
  known.named = open_.named;
  known.num_inputs = num_inputs_ - open_.first_input;
  known.num_aux = num_aux_ - open_.first_aux;
  open_.arrays.num_ports = static_cast<uint32_t>(open_.ports.size());
  open_.arrays.shrink_to_fit();
  out_.blocks.push_back(std::move(open_.arrays));
  known_.push_back(std::move(known));
  return static_cast<uint32_t>(known_.size() - 1);
}

void Recorder::add_instance(uint32_t block, const std::vector<uint32_t>& ports) {
  out_.instance_blocks.push_back(block);
  out_.ports.insert(out_.ports.end(), ports.begin(), ports.end());
}

void Recorder::close_unnamed() {
  CUZK_ASSERT(!in_derived_ && !open_.named);
  if (open_.arrays.empty()) return;
  places_.push_back({static_cast<uint32_t>(known_.size()), open_.first_input, open_.first_aux});
  const uint32_t block = store_open({});
  add_instance(block, open_.ports);
  open_new(false);
}

// Numbers the distinct wires among the ports; true where a block of this pattern has to be recorded, and then `inside`
// holds stand-ins for them.
bool Recorder::begin_block(std::string_view key, const BlockWires<Recorder>& ports, BlockWires<Recorder>& inside) {
  close_unnamed();
  current_ports_.clear();
  std::unordered_map<uint32_t, uint32_t> number_of;
  constexpr uint32_t kOne = 0xffffffff, kTrue = 0xfffffffe, kFalse = 0xfffffffd;
  Pattern pattern{std::string(key), {static_cast<uint32_t>(ports.nums.size())}};
  const auto stand_in = [&](Wire w) {
    if (w == Wire::one()) {
      pattern.second.push_back(kOne);
      return w;
    }
    CUZK_ASSERT(w.index() < (w.is_input() ? num_inputs_ : num_aux_));
    const auto [it, is_new] = number_of.try_emplace(w.raw, static_cast<uint32_t>(current_ports_.size()));
    if (is_new) {
      check_visible(w);
      current_ports_.push_back(w.raw);
    }
    pattern.second.push_back(it->second);
    return Wire::aux(kFirstPortWire + it->second);
  };
  for (const auto& num : ports.nums) inside.nums.push_back({stand_in(num.wire), num.value});
  for (const auto& bit : ports.bits) {
    inside.bits.push_back(bit);
    if (bit.is_constant()) {
      pattern.second.push_back(bit.value ? kTrue : kFalse);
    } else {
      inside.bits.back().wire = stand_in(bit.wire);
      pattern.second.push_back(bit.is_negated());
    }
  }
  const auto [it, is_new] = block_of_.try_emplace(std::move(pattern), static_cast<uint32_t>(known_.size()));
  current_ = it->second;
  if (!is_new) return false;
  open_new(true);
  open_.ports = current_ports_;
  return true;
}

// Stores the block; the wires it allocated are given back, place_block() takes them for its first instance.
void Recorder::end_block(const BlockWires<Recorder>& outputs) {
  CUZK_ASSERT(!in_derived_ && open_.named);
  KnownBlock known;
  const auto add = [&](std::vector<Output>& list, Wire w, BooleanKind kind, bool value) {
    Output output{Column::one(), kind, value};
    if (kind != BooleanKind::kConstant) output.column = column_of(w);
    list.push_back(output);
    known.visible.push_back(output.column.raw);
  };
  for (const auto& num : outputs.nums) add(known.nums, num.wire, BooleanKind::kIs, false);
  for (const auto& bit : outputs.bits) add(known.bits, bit.wire, bit.kind, bit.value);
  std::sort(known.visible.begin(), known.visible.end());
  const uint32_t block = store_open(std::move(known));
  CUZK_ASSERT(block == current_);
  num_inputs_ = open_.first_input;
  num_aux_ = open_.first_aux;
}

Wire Recorder::resolve(const Output& output, const Place& place, const std::vector<uint32_t>& ports) const {
  const Column column = output.column;
  switch (column.kind()) {
    case Column::Kind::kOne: return output.kind == BooleanKind::kConstant ? Wire{} : Wire::one();
    case Column::Kind::kInput: return Wire::input(place.first_input + column.index());
    case Column::Kind::kAux: return Wire::aux(place.first_aux + column.index());
    case Column::Kind::kPort: break;
  }
  return Wire{ports[column.index()]};
}

// The next instance of block current_.
BlockWires<Recorder> Recorder::place_block() {
  const KnownBlock& known = known_[current_];
  const Place place{current_, num_inputs_, num_aux_};
  places_.push_back(place);
  add_instance(current_, current_ports_);
  num_inputs_ += known.num_inputs;
  num_aux_ += known.num_aux;
  BlockWires<Recorder> outputs;
  for (const Output& out : known.nums) outputs.nums.push_back({resolve(out, place, current_ports_), Fr::zero()});
  for (const Output& out : known.bits) {
    outputs.bits.push_back({resolve(out, place, current_ports_), out.kind, out.value});
  }
  open_new(false);
  return outputs;
}

CompiledCircuit Recorder::finish() {
  close_unnamed();
  Result<CompiledCircuit> circuit = make_circuit(std::move(out_));
  CUZK_ASSERT(circuit.ok());
  return std::move(*circuit);
}

}  // namespace cuzk
