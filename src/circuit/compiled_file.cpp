#include "circuit/compiled_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"
#include "base/atomic_file.hpp"
#include "base/mapped_file.hpp"
#include "circuit/circuit_arrays.hpp"
#include "hash/sha256.hpp"

namespace cuzk {
namespace {

constexpr std::array<char, 8> kMagic = {'c', 'u', 'z', 'k', 'c', 'i', 'r', 'c'};
constexpr uint32_t kByteOrderMark = 0x01020304;
constexpr uint64_t kAlignment = 64;

struct Header {
  std::array<char, 8> magic;
  uint32_t version, byte_order;
  uint64_t file_bytes;
  uint32_t num_blocks, num_instances;
  uint64_t num_ports, num_coefficients;
  std::array<char, kCompiledFileMaxId + 1> id;
  Sha256Digest digest;
};
static_assert(sizeof(Header) == 128 && offsetof(Header, digest) == 96);

struct BlockEntry {
  uint32_t num_inputs, num_ports;
  std::array<std::array<uint64_t, 2>, 3> rows;  // of a, b, c: elements of row_start, of column and of coefficient
  uint64_t kinds, derived, derived_inputs;
};
static_assert(sizeof(BlockEntry) == 80);

// What is in the file as it is in memory has no bytes without meaning.
template <class... T>
constexpr bool kPlain = ((std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>)&&...);
static_assert(kPlain<Header, BlockEntry, Column, WireKindRun, DerivedInstance, Fr>);

struct Section {
  std::string name;
  uint64_t offset, count, element_bytes;
  uint64_t end() const { return offset + count * element_bytes; }
};

struct Layout {
  std::vector<Section> sections;
  uint64_t end = sizeof(Header);

  // False where it would end beyond `limit`.
  bool add(std::string name, uint64_t count, uint64_t element_bytes, uint64_t limit) {
    const uint64_t offset = (end + kAlignment - 1) / kAlignment * kAlignment;
    if (offset > limit || count > (limit - offset) / element_bytes) return false;
    end = offset + count * element_bytes;
    sections.push_back({std::move(name), offset, count, element_bytes});
    return true;
  }
};

// The places of the sections that every file has.
enum GlobalSection : size_t { kTable, kCoefficients, kInstances, kPorts, kGlobalSections };

bool add_global_sections(Layout& layout, const Header& header, uint64_t limit) {
  return layout.add("blocks", header.num_blocks, sizeof(BlockEntry), limit) &&
         layout.add("coefficients", header.num_coefficients, sizeof(Fr), limit) &&
         layout.add("instances", header.num_instances, sizeof(uint32_t), limit) &&
         layout.add("ports", header.num_ports, sizeof(uint32_t), limit);
}

bool add_block_sections(Layout& layout, size_t number, const BlockEntry& entry, uint64_t limit) {
  const std::string prefix = "blocks[" + std::to_string(number) + "].";
  for (size_t m = 0; m < 3; ++m) {
    const std::string matrix = prefix + "abc"[m];
    if (!layout.add(matrix + ".row_start", entry.rows[m][0], sizeof(uint32_t), limit)) return false;
    if (!layout.add(matrix + ".column", entry.rows[m][1], sizeof(Column), limit)) return false;
    if (!layout.add(matrix + ".coefficient", entry.rows[m][1], sizeof(uint16_t), limit)) return false;
  }
  return layout.add(prefix + "kinds", entry.kinds, sizeof(WireKindRun), limit) &&
         layout.add(prefix + "derived", entry.derived, sizeof(DerivedInstance), limit) &&
         layout.add(prefix + "derived_inputs", entry.derived_inputs, sizeof(Column), limit);
}

template <class T>
std::span<const uint8_t> bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()};
}
template <class T>
std::span<const uint8_t> bytes_of(const std::vector<T>& values) {
  return bytes_of(std::span<const T>(values));
}

// What a file is written from: the header, and what its sections hold.
struct Content {
  Header header{};
  std::vector<BlockEntry> table;
  std::vector<uint32_t> instances;
  Layout layout;
  std::vector<std::span<const uint8_t>> pieces;  // one a section

  Content(const CompiledCircuit& circuit, std::string_view id) {
    CUZK_ASSERT(!id.empty() && id.size() <= kCompiledFileMaxId);
    header.magic = kMagic;
    header.version = kCompiledFileVersion;
    header.byte_order = kByteOrderMark;
    header.num_blocks = static_cast<uint32_t>(circuit.blocks.size());
    header.num_instances = static_cast<uint32_t>(circuit.instances.size());
    header.num_ports = circuit.ports.size();
    header.num_coefficients = circuit.coefficients.size();
    std::copy(id.begin(), id.end(), header.id.begin());
    for (const BlockInstance& instance : circuit.instances) instances.push_back(instance.block);
    for (const CircuitBlock& b : circuit.blocks) {
      const auto rows = [](const BlockRows& m) { return std::array<uint64_t, 2>{m.row_start.size(), m.column.size()}; };
      table.push_back({b.num_inputs,
                       b.num_ports,
                       {rows(b.a), rows(b.b), rows(b.c)},
                       b.kinds.size(),
                       b.derived.size(),
                       b.derived_inputs.size()});
    }
    constexpr uint64_t kNoLimit = uint64_t{1} << 62;
    bool fits = add_global_sections(layout, header, kNoLimit);
    pieces = {bytes_of(table), bytes_of(circuit.coefficients), bytes_of(instances), bytes_of(circuit.ports)};
    for (size_t i = 0; i < circuit.blocks.size(); ++i) {
      const CircuitBlock& b = circuit.blocks[i];
      fits &= add_block_sections(layout, i, table[i], kNoLimit);
      for (const BlockRows* m : {&b.a, &b.b, &b.c}) {
        pieces.insert(pieces.end(), {bytes_of(m->row_start), bytes_of(m->column), bytes_of(m->coefficient)});
      }
      pieces.insert(pieces.end(), {bytes_of(b.kinds), bytes_of(b.derived), bytes_of(b.derived_inputs)});
    }
    CUZK_ASSERT(fits && pieces.size() == layout.sections.size());
    header.file_bytes = layout.end;
    Sha256 hash;
    hash.update(std::span(reinterpret_cast<const uint8_t*>(&header), offsetof(Header, digest)));
    const Status hashed = sections([&](std::span<const uint8_t> bytes) {
      hash.update(bytes);
      return Status();
    });
    CUZK_ASSERT(hashed.ok());
    header.digest = hash.finish();
  }

  // put(bytes) for everything after the header.
  template <class Put>
  Status sections(Put&& put) const {
    constexpr std::array<uint8_t, kAlignment> kZeros{};
    uint64_t at = sizeof(Header);
    for (size_t i = 0; i < pieces.size(); ++i) {
      CUZK_TRY(put(std::span(kZeros).first(layout.sections[i].offset - at)));
      CUZK_TRY(put(pieces[i]));
      at = layout.sections[i].end();
    }
    return {};
  }
  std::span<const uint8_t> header_bytes() const { return {reinterpret_cast<const uint8_t*>(&header), sizeof header}; }
};

Error corrupt(std::string message, std::string field, uint64_t offset) {
  return Error(ErrorClass::kCorrupt, std::move(message)).at_field(std::move(field)).at_offset(offset);
}

Sha256Digest digest_of(std::span<const uint8_t> bytes) {
  Sha256 hash;
  hash.update(bytes.first(offsetof(Header, digest)));
  hash.update(bytes.subspan(sizeof(Header)));
  return hash.finish();
}

class Parser {
 public:
  Parser(std::span<const uint8_t> bytes, std::string_view id) : bytes_(bytes), id_(id) {
    CUZK_ASSERT(reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) == 0);
  }

  Result<CompiledCircuit> run(std::shared_ptr<const void> owner) {
    CUZK_TRY(read_header());
    CUZK_TRY(place_sections());
    CUZK_TRY(check_gaps());
    CUZK_ASSIGN(CompiledCircuit circuit, assemble());
    circuit.storage = std::move(owner);
    const auto fault = complete_structure(circuit);
    if (!fault) return circuit;
    return corrupt(fault->what, fault->section + "[" + std::to_string(fault->index) + "]", offset_of(*fault));
  }

 private:
  Status read_header() {
    if (bytes_.size() < sizeof(Header)) return corrupt("the file ends within its header", "header", bytes_.size());
    std::memcpy(&header_, bytes_.data(), sizeof header_);
    if (header_.magic != kMagic) return corrupt("this is no compiled circuit", "magic", 0);
    if (header_.byte_order != kByteOrderMark) {
      return corrupt("a machine of another byte order wrote this", "byte_order", offsetof(Header, byte_order));
    }
    if (header_.version != kCompiledFileVersion) {
      return corrupt("version " + std::to_string(header_.version) + "; this program reads version " +
                         std::to_string(kCompiledFileVersion),
                     "version", offsetof(Header, version));
    }
    std::array<char, kCompiledFileMaxId + 1> id{};
    std::copy(id_.begin(), id_.end(), id.begin());
    if (header_.id != id) return corrupt("this is not " + std::string(id_), "id", offsetof(Header, id));
    if (header_.file_bytes != bytes_.size()) {
      return corrupt("the file has " + std::to_string(bytes_.size()) + " bytes and should have " +
                         std::to_string(header_.file_bytes),
                     "file_bytes", offsetof(Header, file_bytes));
    }
    if (header_.digest != digest_of(bytes_)) {
      return corrupt("the content does not have the digest in the header", "digest", offsetof(Header, digest));
    }
    return {};
  }

  Status place_sections() {
    const auto too_long = [&](const char* field, uint64_t offset) {
      return corrupt("it would end beyond the end of the file", field, offset);
    };
    const uint64_t size = bytes_.size();
    if (!add_global_sections(layout_, header_, size)) return too_long("header", offsetof(Header, num_blocks));
    const std::span<const BlockEntry> table = array<BlockEntry>(kTable);
    for (size_t i = 0; i < table.size(); ++i) {
      if (!add_block_sections(layout_, i, table[i], size)) {
        return too_long("blocks", layout_.sections[kTable].offset + i * sizeof(BlockEntry));
      }
    }
    if (layout_.end != size) return corrupt("bytes after the last section", "file_bytes", layout_.end);
    return {};
  }

  Status check_gaps() const {
    uint64_t at = sizeof(Header);
    for (const Section& section : layout_.sections) {
      for (; at < section.offset; ++at) {
        if (bytes_[at] != 0) return corrupt("a byte between sections is not zero", section.name, at);
      }
      at = section.end();
    }
    return {};
  }

  Result<CompiledCircuit> assemble() const {
    CompiledCircuit out;
    const Section& coefficients = layout_.sections[kCoefficients];
    for (const auto& limbs : array<Fr::Limbs>(kCoefficients)) {
      const uint64_t number = out.coefficients.size();
      if (!limbs::less(limbs, Fr::kModulus)) {
        return corrupt("it is not below the modulus", "coefficients[" + std::to_string(number) + "]",
                       coefficients.offset + number * sizeof(Fr));
      }
      out.coefficients.push_back(Fr::from_montgomery(limbs));
    }
    for (const uint32_t block : array<uint32_t>(kInstances)) out.instances.emplace_back().block = block;
    out.ports = array<uint32_t>(kPorts);
    size_t next = kGlobalSections;
    for (const BlockEntry& entry : array<BlockEntry>(kTable)) {
      CircuitBlock& block = out.blocks.emplace_back();
      block.num_inputs = entry.num_inputs;
      block.num_ports = entry.num_ports;
      for (BlockRows* m : {&block.a, &block.b, &block.c}) {
        *m = {array<uint32_t>(next), array<Column>(next + 1), array<uint16_t>(next + 2)};
        next += 3;
      }
      block.kinds = array<WireKindRun>(next);
      block.derived = array<DerivedInstance>(next + 1);
      block.derived_inputs = array<Column>(next + 2);
      next += 3;
    }
    CUZK_ASSERT(next == layout_.sections.size());
    return out;
  }

  template <class T>
  std::span<const T> array(size_t section) const {
    const Section& s = layout_.sections[section];
    CUZK_ASSERT(sizeof(T) == s.element_bytes);
    return {reinterpret_cast<const T*>(bytes_.data() + s.offset), s.count};
  }

  uint64_t offset_of(const StructureFault& fault) const {
    for (const Section& s : layout_.sections) {
      if (s.name == fault.section) return s.offset + std::min(fault.index, s.count) * s.element_bytes;
    }
    return layout_.sections[kTable].offset;  // a number in the table of blocks
  }

  std::span<const uint8_t> bytes_;
  std::string_view id_;
  Header header_{};
  Layout layout_;
};

Status check_id(std::string_view id) {
  if (!id.empty() && id.size() <= kCompiledFileMaxId) return {};
  return Error(ErrorClass::kUsage, "the name of a compiled circuit has 1 to 47 bytes");
}

}  // namespace

Status write_compiled_circuit(const std::string& path, const CompiledCircuit& circuit, std::string_view id) {
  CUZK_TRY(check_id(id));
  const Content content(circuit, id);
  CUZK_ASSIGN(AtomicFile file, AtomicFile::create(path));
  CUZK_TRY(file.write(content.header_bytes()));
  CUZK_TRY(content.sections([&](std::span<const uint8_t> bytes) { return file.write(bytes); }));
  return file.commit();
}

Result<CompiledCircuit> load_compiled_circuit(const std::string& path, std::string_view id) {
  CUZK_TRY(check_id(id));
  CUZK_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  Result<CompiledCircuit> circuit = parse_compiled_circuit(file->bytes(), id, file);
  if (!circuit.ok()) circuit.error().file = path;
  return circuit;
}

Result<CompiledCircuit> parse_compiled_circuit(std::span<const uint8_t> bytes, std::string_view id,
                                               std::shared_ptr<const void> owner) {
  CUZK_TRY(check_id(id));
  return Parser(bytes, id).run(std::move(owner));
}

std::vector<uint8_t> encode_compiled_circuit(const CompiledCircuit& circuit, std::string_view id) {
  const Content content(circuit, id);
  std::vector<uint8_t> out;
  out.reserve(content.layout.end);
  const auto append = [&](std::span<const uint8_t> bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
    return Status();
  };
  const Status written = append(content.header_bytes());
  CUZK_ASSERT(written.ok() && content.sections(append).ok());
  return out;
}

void seal_compiled_file(std::span<uint8_t> bytes) {
  CUZK_ASSERT(bytes.size() >= sizeof(Header));
  const Sha256Digest digest = digest_of(bytes);
  std::copy(digest.begin(), digest.end(), bytes.begin() + offsetof(Header, digest));
}

}  // namespace cuzk
