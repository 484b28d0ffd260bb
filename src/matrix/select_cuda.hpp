// Packed values in the order of a query, on a device. Plain C++; in builds with CUZK_CUDA only.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "field/fr.hpp"
#include "gpu/stream.hpp"

namespace cuzk {

// out[i] = values[index[i]]. Device memory; out.size() == index.size(). Asynchronous.
Status gather_values(std::span<const Fr> values, std::span<const uint32_t> index, std::span<Fr> out,
                     const gpu::Stream& stream);

// Bit i of out = bit index[i] of bits; the last word is filled up with zeros. out.size() == (index.size() + 31) / 32.
Status gather_bits(std::span<const uint64_t> bits, std::span<const uint32_t> index, std::span<uint32_t> out,
                   const gpu::Stream& stream);

}  // namespace cuzk
