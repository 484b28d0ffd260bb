// Base64 is read strictly: what is accepted encodes to itself.
#include <cstdlib>
#include <vector>

#include "format/base64.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<uint8_t> out(base64_decoded_size(text));
  const Result<size_t> decoded = base64_decode(text, out);
  if (!decoded.ok()) {
    if (!decoded.error().offset || *decoded.error().offset > size) std::abort();
    return 0;
  }
  if (*decoded != out.size() || base64_encode(out) != text) std::abort();
  return 0;
}
