// Text of a process that may have gone wrong, made fit for logs and messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cuzk {

// At most `most_bytes` of the text, a question mark for each byte that is a control character or no UTF-8; ends in
// "..." where something was cut.
std::string printable(std::string_view text, size_t most_bytes);

}  // namespace cuzk
