// Base64, standard alphabet with padding (RFC 4648 section 4), read strictly.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cuzk {

// Bytes that `text` can decode to at most; exact where its padding is valid.
size_t base64_decoded_size(std::string_view text);

// Decodes into out, which must hold base64_decoded_size(text) bytes, and returns the number of bytes. Refused: a length
// that is not a multiple of 4, characters outside the alphabet (line breaks too), padding anywhere but at the end, and
// set bits below the last byte. Errors: kInvalidInput with the offset of the offending character. About 1 GB/s.
Result<size_t> base64_decode(std::string_view text, std::span<uint8_t> out);

std::string base64_encode(std::span<const uint8_t> bytes);

}  // namespace cuzk
