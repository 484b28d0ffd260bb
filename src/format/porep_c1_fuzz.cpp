// Any bytes are read or refused, never worse. What is read is written and read again to the same document, and is fit
// for everything that follows: the vanilla check and the public inputs.
#include <cstdlib>

#include "filecoin/porep_prove.hpp"
#include "format/porep_c1.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  (void)porep_c1_proof_in_head({data, size});
  const Result<PorepC1> c1 = read_porep_c1(std::span<const uint8_t>(data, size));
  if (!c1.ok()) {
    const Error& error = c1.error();
    if (error.error_class != ErrorClass::kInvalidInput || error.message.empty()) std::abort();
    if (error.offset && *error.offset > size) std::abort();
    return 0;
  }
  const std::string inner = write_porep_c1_inner(*c1);
  const auto bytes = std::span<const uint8_t>(reinterpret_cast<const uint8_t*>(inner.data()), inner.size());
  const Result<PorepC1> again = read_porep_c1(bytes);
  if (!again.ok() || write_porep_c1_inner(*again) != inner) std::abort();
  if (c1->shape().nodes() < 1 << 10) {
    (void)validate_porep_vanilla(*c1).ok();
    if (porep_public_inputs(*c1, 0).size() != 3 + 18 * c1->partitions[0].challenges()) std::abort();
  }
  return 0;
}
