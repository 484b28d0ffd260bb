// Any bytes are either refused, or a witness with just these bytes.
#include "base/assert.hpp"
#include "worker/shared_witness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  const Result<PackedWitness> witness = decode_witness({data, size});
  if (!witness.ok()) {
    CUZK_ASSERT(witness.error().error_class == ErrorClass::kCorrupt);
    return 0;
  }
  CUZK_ASSERT(encode_witness(*witness) == std::vector<uint8_t>(data, data + size));
  return 0;
}
