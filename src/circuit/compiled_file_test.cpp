// A file gives back the circuit that was written, and every damage to it is refused with its place.
#include "circuit/compiled_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "circuit/circuit_arrays.hpp"
#include "circuit/circuit_test_util.hpp"
#include "circuit/hasher.hpp"

namespace cuzk {
namespace {

// Every array of the form is in use: two marked blocks with ports, inputs, hashes; other things between them.
template <class CS>
void example(CS& cs) {
  std::vector<Num<CS>> nums = test::fresh_numbers(cs, 3);
  const Num<CS> in = gadget::alloc_input(cs, Fr::from_u64(8));
  for (size_t i = 0; i < 4; ++i) {
    nums.push_back(gadget::block(cs, "hash", {{nums[i], in}, {}}, [&](const BlockWires<CS>& ports) {
                     const auto sum = gadget::add(cs, ports.nums[0], ports.nums[1]);
                     gadget::alloc_bit(cs, true);
                     gadget::inputize(cs, sum);
                     return BlockWires<CS>{{PoseidonCircuitHasher::hash2(cs, sum, ports.nums[0])}, {}};
                   }).nums[0]);
    if (i == 1) nums.push_back(PoseidonCircuitHasher::hash2(cs, nums[0], nums[3]));
  }
  gadget::inputize(cs, nums.back());
}

const CompiledCircuit& example_circuit() {
  static const CompiledCircuit circuit = [] {
    Recorder recorder;
    example(recorder);
    return recorder.finish();
  }();
  return circuit;
}

const std::vector<uint8_t>& example_bytes() {
  static const std::vector<uint8_t> bytes = encode_compiled_circuit(example_circuit(), "example");
  return bytes;
}

Result<CompiledCircuit> parse(const std::vector<uint8_t>& bytes) {
  return parse_compiled_circuit(bytes, "example", nullptr);
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const char* name)
      : path_(testing::TempDir() + "cuzk-" + name + "-" + std::to_string(getpid()) + ".circuit") {}
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }
  void put(const std::vector<uint8_t>& bytes) const {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  std::vector<uint8_t> get() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

 private:
  std::string path_;
};

TEST(CompiledFile, GivesBackTheCircuit) {
  test::run_all_modes([](auto& cs) { example(cs); });
  const TemporaryFile file("round-trip");
  ASSERT_TRUE(write_compiled_circuit(file.path(), example_circuit(), "example").ok());
  EXPECT_EQ(file.get(), example_bytes());
  Result<CompiledCircuit> loaded = load_compiled_circuit(file.path(), "example");
  ASSERT_TRUE(loaded.ok()) << loaded.error().describe();
  std::remove(file.path().c_str());  // the mapping stays
  const CompiledCircuit copy = *loaded;
  *loaded = CompiledCircuit{};
  const CompiledCircuit& c = example_circuit();
  EXPECT_EQ(copy.num_inputs, c.num_inputs);
  EXPECT_EQ(copy.num_aux, c.num_aux);
  EXPECT_EQ(copy.num_constraints, c.num_constraints);
  EXPECT_EQ(copy.num_bits, c.num_bits);
  EXPECT_EQ(copy.num_fields, c.num_fields);
  EXPECT_EQ(copy.bytes(), c.bytes());
  EXPECT_EQ(r1cs_digest(copy), r1cs_digest(c));
  EXPECT_EQ(encode_compiled_circuit(copy, "example"), example_bytes());
  PackedWriter writer;
  example(writer);
  const PackedWitness witness = writer.finish();
  const auto aux = expand_witness(copy, witness);
  ASSERT_TRUE(aux.ok());
  EXPECT_EQ(*aux, *expand_witness(c, witness));
  EXPECT_FALSE(first_unsatisfied(copy, witness.inputs, *aux).has_value());
}

TEST(CompiledFile, AnEmptyCircuitIsOne) {
  const std::vector<uint8_t> bytes = encode_compiled_circuit(CompiledCircuit{}, "example");
  const auto circuit = parse(bytes);
  ASSERT_TRUE(circuit.ok()) << circuit.error().describe();
  EXPECT_EQ(r1cs_digest(*circuit), r1cs_digest(CompiledCircuit{}));
  EXPECT_EQ(circuit->num_inputs, 1u);
}

TEST(CompiledFile, OtherFilesAreRefusedByName) {
  const auto expect = [](const std::vector<uint8_t>& bytes, const char* field, const char* id = "example") {
    const auto circuit = parse_compiled_circuit(bytes, id, nullptr);
    ASSERT_FALSE(circuit.ok()) << field;
    EXPECT_EQ(circuit.error().error_class, ErrorClass::kCorrupt);
    EXPECT_EQ(circuit.error().field, field) << circuit.error().describe();
    EXPECT_TRUE(circuit.error().offset.has_value());
  };
  const auto changed = [](size_t at, uint8_t to, bool sealed) {
    std::vector<uint8_t> bytes = example_bytes();
    EXPECT_NE(bytes[at], to);
    bytes[at] = to;
    if (sealed) seal_compiled_file(bytes);
    return bytes;
  };
  for (const bool sealed : {false, true}) {
    expect(changed(0, 'z', sealed), "magic");
    expect(changed(8, 2, sealed), "version");
    expect(changed(8, 0, sealed), "version");
    expect(changed(12, 1, sealed), "byte_order");  // 01 02 03 04 or so: the other order
    expect(changed(48, 'E', sealed), "id");
    expect(changed(48 + 47, 1, sealed), "id");
    expect(changed(18, 0xff, sealed), "file_bytes");
  }
  expect(example_bytes(), "id", "exampl");
  expect(example_bytes(), "id", "example2");
  expect(changed(96, static_cast<uint8_t>(example_bytes()[96] ^ 1), false), "digest");
  expect(changed(27, 0xff, true), "header");  // blocks
  expect({}, "header");
  expect(std::vector<uint8_t>(127), "header");
  expect(std::vector<uint8_t>(4096), "magic");
  std::vector<uint8_t> longer = example_bytes();
  longer.push_back(0);
  expect(longer, "file_bytes");
  uint64_t size = longer.size();
  std::memcpy(longer.data() + 16, &size, sizeof size);
  expect(longer, "digest");
  seal_compiled_file(longer);
  expect(longer, "file_bytes");
}

TEST(CompiledFile, EveryTruncationIsRefused) {
  const TemporaryFile file("truncated");
  const std::vector<uint8_t>& whole = example_bytes();
  for (size_t size = 0; size < whole.size(); size += size < 2000 ? 1 : 977) {
    std::vector<uint8_t> bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(parse(bytes).ok()) << size;
    if (size < 128) continue;
    // Even where the header agrees.
    const uint64_t claimed = size;
    std::memcpy(bytes.data() + 16, &claimed, sizeof claimed);
    seal_compiled_file(bytes);
    const auto circuit = parse(bytes);
    ASSERT_FALSE(circuit.ok()) << size;
    EXPECT_EQ(circuit.error().error_class, ErrorClass::kCorrupt);
    EXPECT_LE(*circuit.error().offset, size);
  }
  file.put({whole.begin(), whole.begin() + 5000});
  const auto cut = load_compiled_circuit(file.path(), "example");
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().file, file.path());
  file.put({});
  EXPECT_EQ(load_compiled_circuit(file.path(), "example").error().error_class, ErrorClass::kCorrupt);
}

// One bit anywhere: the digest notices.
TEST(CompiledFile, EveryFlippedBitIsRefused) {
  std::vector<uint8_t> bytes = example_bytes();
  std::mt19937_64 random(1);
  for (size_t at = 0; at < bytes.size(); at += at < 1000 ? 1 : 211) {
    const auto bit = static_cast<uint8_t>(1 << random() % 8);
    bytes[at] ^= bit;
    EXPECT_FALSE(parse(bytes).ok()) << at;
    bytes[at] ^= bit;
  }
  EXPECT_TRUE(parse(bytes).ok());
}

// And where the digest is right, the checks of the structure do; 32 bits that are all ones are right nowhere but in a
// coefficient's low limbs or a domain tag.
TEST(CompiledFile, EveryElementOutOfRangeIsRefused) {
  std::vector<uint8_t> bytes = example_bytes();
  std::set<std::string> sections;
  size_t accepted = 0;
  const CompiledCircuit whole = *parse(bytes);
  std::set<size_t> offsets;  // all of the small sections, and some of the large
  for (size_t at = 128; at + 4 <= bytes.size(); at += at < 20000 ? 4 : 52) offsets.insert(at);
  for (const CircuitBlock& block : whole.blocks) {
    const auto add = [&](const auto& array) {
      const size_t first = static_cast<size_t>(reinterpret_cast<const uint8_t*>(array.data()) - bytes.data());
      for (size_t at = first; at < first + array.size_bytes(); at += 4) offsets.insert(at);
    };
    add(block.kinds);
    add(block.derived);
    add(block.derived_inputs);
  }
  for (const size_t at : offsets) {
    std::array<uint8_t, 4> kept;
    std::memcpy(kept.data(), bytes.data() + at, 4);
    std::memset(bytes.data() + at, 0xff, 4);
    seal_compiled_file(bytes);
    const auto circuit = parse(bytes);
    std::memcpy(bytes.data() + at, kept.data(), 4);
    if (circuit.ok()) {
      ++accepted;
      continue;
    }
    const Error& error = circuit.error();
    ASSERT_EQ(error.error_class, ErrorClass::kCorrupt);
    ASSERT_FALSE(error.field.empty());
    ASSERT_LE(*error.offset, bytes.size());
    sections.insert(error.field.substr(0, error.field.rfind('[')));
  }
  EXPECT_LT(accepted, 7 * example_circuit().coefficients.size() + 2 * 3);
  for (const char* section :
       {"blocks", "instances", "ports", "coefficients", "blocks[0].kinds", "blocks[1].a.row_start",
        "blocks[1].b.column", "blocks[1].c.coefficient", "blocks[1].derived", "blocks[1].derived_inputs"}) {
    EXPECT_TRUE(sections.count(section)) << section;
  }
}

TEST(CompiledFile, FilesThatAreNone) {
  const TemporaryFile file("none");
  EXPECT_EQ(load_compiled_circuit(file.path(), "example").error().error_class, ErrorClass::kNotFound);
  EXPECT_EQ(load_compiled_circuit(testing::TempDir(), "example").error().error_class, ErrorClass::kCorrupt);
  ASSERT_EQ(mkfifo(file.path().c_str(), 0600), 0);
  EXPECT_EQ(load_compiled_circuit(file.path(), "example").error().error_class, ErrorClass::kCorrupt);
  EXPECT_EQ(write_compiled_circuit(file.path(), example_circuit(), "example").error().error_class, ErrorClass::kIo);
  EXPECT_EQ(write_compiled_circuit(file.path() + "/x", example_circuit(), "example").error().error_class,
            ErrorClass::kNotFound);
  for (const std::string& id : {std::string(), std::string(48, 'a')}) {
    EXPECT_EQ(write_compiled_circuit(file.path(), example_circuit(), id).error().error_class, ErrorClass::kUsage);
    EXPECT_EQ(load_compiled_circuit(file.path(), id).error().error_class, ErrorClass::kUsage);
  }
}

// A file that is there is replaced whole.
TEST(CompiledFile, IsReplaced) {
  const TemporaryFile file("replaced");
  file.put(std::vector<uint8_t>(200000, 7));
  EXPECT_EQ(load_compiled_circuit(file.path(), "example").error().field, "magic");
  ASSERT_TRUE(write_compiled_circuit(file.path(), example_circuit(), "example").ok());
  EXPECT_TRUE(load_compiled_circuit(file.path(), "example").ok());
}

// What the arrays of a circuit must satisfy, rule by rule.
TEST(CircuitArrays, EachRuleIsChecked) {
  const auto good = [] {
    CircuitArrays out;
    out.coefficients = {Fr::one(), Fr::from_u64(5)};
    BlockArrays first, second;
    for (int i = 0; i < 3; ++i) first.add_wire(i == 1 ? WireKind::kBoolean : WireKind::kField);
    first.num_inputs = 1;
    for (BlockArrays::Rows* m : {&first.a, &first.b, &first.c}) {
      m->push(Column::one(), 0);
      m->push(Column::input(0), 1);
      m->push(Column::aux(2), 0);
      m->end_row();
      m->end_row();
    }
    second.num_ports = 2;
    second.add_wire(WireKind::kField);
    for (uint32_t i = 0; i < poseidon_num_aux(2); ++i) second.add_wire(WireKind::kDerived);
    second.derived = {{2, 1, poseidon_num_aux(2), 0, 3}};
    second.derived_inputs = {Column::aux(0), Column::port(1)};
    for (BlockArrays::Rows* m : {&second.a, &second.b, &second.c}) {
      m->push(Column::port(0), 0);
      m->push(Column::port(1), 1);
      m->end_row();
    }
    out.blocks = {first, second};
    out.instance_blocks = {0, 1, 1};
    out.ports = {0, Wire::input(1).raw, 2, 3};
    return out;
  };
  ASSERT_TRUE(make_circuit(good()).ok()) << make_circuit(good()).error().describe();
  const auto refused = [&](const char* field, auto&& damage) {
    CircuitArrays arrays = good();
    damage(arrays);
    const auto circuit = make_circuit(std::move(arrays));
    ASSERT_FALSE(circuit.ok()) << field;
    EXPECT_EQ(circuit.error().error_class, ErrorClass::kInternal);
    EXPECT_EQ(circuit.error().field, field) << circuit.error().describe();
  };
  using A = CircuitArrays;
  refused("coefficients[1]", [](A& a) { a.coefficients[1] = Fr::zero(); });
  refused("blocks[0].a.coefficient[1]", [](A& a) { a.coefficients.pop_back(); });
  refused("blocks[0].a.row_start[0]", [](A& a) { a.blocks[0].a.row_start.clear(); });
  refused("blocks[0].b.row_start[0]", [](A& a) { a.blocks[0].b.row_start[0] = 1; });
  refused("blocks[0].c.row_start[2]", [](A& a) { a.blocks[0].c.row_start[2] = 2; });
  refused("blocks[0].c.row_start[1]", [](A& a) { a.blocks[0].c.row_start[1] = 4; });
  refused("blocks[0].c.row_start[2]", [](A& a) { a.blocks[0].c.row_start = {0, 3, 2, 3}; });
  refused("blocks[0].b.row_start[2]", [](A& a) { a.blocks[0].b.row_start = {0, 3}; });
  refused("blocks[0].b.coefficient[4]", [](A& a) { a.blocks[0].b.coefficient.push_back(0); });
  refused("blocks[0].b.column[0]", [](A& a) { a.blocks[0].b.column[0] = Column::of(Column::Kind::kOne, 1); });
  refused("blocks[0].b.column[1]", [](A& a) { a.blocks[0].b.column[1] = Column::input(1); });
  refused("blocks[0].b.column[2]", [](A& a) { a.blocks[0].b.column[2] = Column::aux(3); });
  refused("blocks[0].b.column[2]", [](A& a) { a.blocks[0].b.column[2] = Column::port(0); });
  refused("blocks[1].b.column[1]", [](A& a) { a.blocks[1].b.column[1] = Column::port(0); });
  refused("blocks[1].b.column[1]", [](A& a) { a.blocks[1].b.column[1] = Column::port(2); });
  refused("blocks[0].kinds[1]", [](A& a) { a.blocks[0].kinds[1].kind = static_cast<WireKind>(3); });
  refused("blocks[0].kinds[1]", [](A& a) { a.blocks[0].kinds[1].count = 0; });
  refused("blocks[0].kinds[1]", [](A& a) { a.blocks[0].kinds[1].kind = WireKind::kField; });
  refused("blocks[0].kinds[2]", [](A& a) { a.blocks[0].kinds[2].count = 1u << 30; });
  refused("blocks[0].num_inputs[1073741825]", [](A& a) { a.blocks[0].num_inputs = (1u << 30) + 1; });
  refused("blocks[0].derived[0]", [](A& a) { a.blocks[0].kinds[1].kind = WireKind::kDerived; });
  refused("blocks[1].derived[0]", [](A& a) { a.blocks[1].derived[0].arity = 3; });
  refused("blocks[1].derived[0]", [](A& a) { a.blocks[1].derived[0].first_aux = 2; });
  refused("blocks[1].derived[0]", [](A& a) { --a.blocks[1].derived[0].num_aux; });
  refused("blocks[1].derived[0]", [](A& a) { a.blocks[1].derived[0].first_input = 1; });
  refused("blocks[1].derived[0]", [](A& a) { --a.blocks[1].kinds[1].count; });
  refused("blocks[1].derived[1]", [](A& a) { ++a.blocks[1].kinds[1].count; });
  refused("blocks[1].derived[1]", [](A& a) { a.blocks[1].derived.push_back(a.blocks[1].derived[0]); });
  refused("blocks[1].derived[0]", [](A& a) { a.blocks[1].derived_inputs.pop_back(); });
  refused("blocks[1].derived_inputs[2]", [](A& a) { a.blocks[1].derived_inputs.push_back(Column::one()); });
  refused("blocks[1].derived_inputs[0]", [](A& a) { a.blocks[1].derived_inputs[0] = Column::aux(1); });
  refused("instances[1]", [](A& a) { a.instance_blocks[1] = 2; });
  refused("instances[3]", [](A& a) { a.instance_blocks.push_back(1); });
  refused("ports[4]", [](A& a) { a.ports.push_back(0); });
  refused("ports[0]", [](A& a) { a.ports[0] = 3; });
  refused("ports[1]", [](A& a) { a.ports[1] = Wire::input(2).raw; });
  refused("ports[1]", [](A& a) { a.ports[1] = Wire::one().raw; });
  refused("ports[2]", [](A& a) { a.ports[3] = a.ports[2]; });
  refused("instances[2]", [](A& a) {  // each is within the limit, not the sum
    a.blocks[0].kinds = {{WireKind::kBoolean, 1u << 29}};
    a.blocks[0].num_inputs = 1;
    a.instance_blocks = {0, 0, 0};
  });
  // One more than ids can name.
  CircuitArrays many = good();
  for (uint64_t i = 0; many.coefficients.size() < 65536; ++i) many.coefficients.push_back(Fr::from_u64(100 + i));
  EXPECT_TRUE(make_circuit(many).ok());
  many.coefficients.push_back(Fr::from_u64(7));
  EXPECT_EQ(make_circuit(many).error().error_class, ErrorClass::kUnsupported);
}

}  // namespace
}  // namespace cuzk
