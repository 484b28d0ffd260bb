// Any bytes are read or refused, never worse, and what is read is written back to the same bytes. The first byte says
// which file.
#include <algorithm>
#include <cstdlib>

#include "format/sector_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cuzk;
  if (size == 0) return 0;
  const std::span<const uint8_t> bytes(data + 1, size - 1);
  const auto check = [&](const auto& read, const auto& write) {
    if (!read.ok()) {
      const Error& error = read.error();
      if (error.error_class != ErrorClass::kCorrupt || error.message.empty()) std::abort();
      if (!error.offset || *error.offset > bytes.size()) std::abort();
      return;
    }
    const std::vector<uint8_t> again = write(*read);
    if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) std::abort();
  };
  if (data[0] % 2 == 0) {
    check(read_p_aux(bytes), write_p_aux);
  } else {
    check(read_t_aux(bytes), write_t_aux);
  }
  return 0;
}
