// Any bytes are either refused, with a place inside them, or the exact encoding of the proofs that were read.
#include <algorithm>

#include "base/assert.hpp"
#include "groth16/proof.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using cuzk::ErrorClass;
  const size_t count = (size + cuzk::kProofBytes - 1) / cuzk::kProofBytes;
  const auto proofs = cuzk::decode_proofs({data, size}, count);
  if (!proofs.ok()) {
    const cuzk::Error& error = proofs.error();
    CUZK_ASSERT(error.error_class == ErrorClass::kInvalidInput || error.error_class == ErrorClass::kBadProof);
    CUZK_ASSERT(error.error_class != ErrorClass::kBadProof || (error.offset.has_value() && *error.offset < size));
    return 0;
  }
  const auto encoded = cuzk::encode_proofs(*proofs);
  CUZK_ASSERT(std::equal(encoded.begin(), encoded.end(), data, data + size));
  return 0;
}
