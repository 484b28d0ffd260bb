// A compiled circuit as a file, so that a program that starts need not compile it again.
//
// The file is a cache: whatever is wrong with it, it can be made anew. Layout, all numbers in the byte order of the
// machine that wrote it:
//
//   128 bytes  magic "cuzkcirc", version u32, mark 0x01020304 u32, bytes of the file u64, blocks u32, instances u32,
//              ports u64, coefficients u64, id (48 bytes, padded with zeros), SHA-256 of everything else
//   sections   each at a multiple of 64, zeros between: table of blocks (num_inputs u32, num_ports u32; lengths u64 of
//              a.row_start, a.column, b.., c.., kinds, derived, derived_inputs), coefficients (32 bytes, Montgomery
//              form), blocks of the instances, ports; then per block its arrays in the order of the table, each
//              column followed by its coefficient
//
// Arrays are those of CircuitBlock, byte for byte, so that a mapped file is used as it is.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "circuit/compiled_circuit.hpp"

namespace cuzk {

// Changes with the layout above, and with any change of a circuit that keeps its id.
inline constexpr uint32_t kCompiledFileVersion = 1;
inline constexpr size_t kCompiledFileMaxId = 47;  // bytes

// Writes the circuit under the name `id` ("porep-32g"); the file appears when it is complete and on the disk. Errors:
// kUsage where the id is empty or too long; those of AtomicFile.
Status write_compiled_circuit(const std::string& path, const CompiledCircuit& circuit, std::string_view id);

// Maps a file that write_compiled_circuit wrote under the same id. Everything is checked before it is used: the digest
// of the content, and every index, so that no file makes evaluation leave its arrays. Errors: kCorrupt with file, field
// (the section and element) and offset where it is damaged, of another version, machine or circuit; kNotFound, kIo,
// kResource. Cost: 0.2 s for the 328 MB of porep-32g from the page cache, two cores.
Result<CompiledCircuit> load_compiled_circuit(const std::string& path, std::string_view id);

// The same of bytes in memory, which `owner` keeps; aligned to 8 (CUZK_ASSERT). For tests and the fuzzer.
Result<CompiledCircuit> parse_compiled_circuit(std::span<const uint8_t> bytes, std::string_view id,
                                               std::shared_ptr<const void> owner);
// The bytes that write_compiled_circuit writes.
std::vector<uint8_t> encode_compiled_circuit(const CompiledCircuit& circuit, std::string_view id);
// Overwrites the digest in the header of such bytes by that of their content, whatever that is.
void seal_compiled_file(std::span<uint8_t> bytes);

}  // namespace cuzk
