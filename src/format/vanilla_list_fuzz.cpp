// Any bytes are read or refused, never worse; what is read came out of the bytes and is not more than they are.
#include <cstdlib>

#include "format/vanilla_list.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  const Result<VanillaList> list = read_vanilla_list(PaddedBuffer({data, size}));
  if (!list.ok()) {
    const Error& error = list.error();
    if (error.error_class != ErrorClass::kInvalidInput || error.message.empty()) std::abort();
    if (error.offset && *error.offset > size) std::abort();
    return 0;
  }
  size_t total = 0;
  const auto views = list->views();
  if (views.empty() || views.size() > kMaxVanillaProofs) std::abort();
  for (const auto& view : views) {
    for (const uint8_t byte : view) total += byte & 1;
    total += view.size() * 2;
  }
  if (total > 3 * size) std::abort();
  return 0;
}
