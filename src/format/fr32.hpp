// Fr32 padding: how data becomes nodes of 254 bits.
// Source: filecoin-proofs (fr32 crate) reader.rs, padding.rs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "filecoin/porep.hpp"

namespace cuzk {

// Bytes of data that `nodes` nodes hold: 127 for 4.
constexpr uint64_t fr32_data_bytes(uint64_t nodes) { return nodes * 127 / 4; }

// Two zero bits behind every 254 bits, lowest bit of a byte first; zeros behind the data. nodes must be a multiple of
// 4, data not longer than fr32_data_bytes(nodes).
std::vector<NodeBytes> fr32_pad(std::span<const uint8_t> data, uint64_t nodes);

// The nodes of a sector from a file's content: padded already where it is as long as the sector (every node must be
// below 2^254), otherwise data to be padded, zeros behind. Errors: kInvalidInput (between these lengths, or longer; a
// node out of range, with its offset).
Result<std::vector<NodeBytes>> sector_data(std::span<const uint8_t> content, uint64_t nodes);

}  // namespace cuzk
