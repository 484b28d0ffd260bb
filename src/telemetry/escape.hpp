// Text that clients chose, made harmless for one line of a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cuzk {

// Printable ASCII stays; a backslash, the characters of `also`, and every other byte become \xNN (two hexadecimal
// digits). At most `max_bytes` of the text are shown; what follows becomes "...".
std::string escaped(std::string_view text, std::string_view also = "", size_t max_bytes = 256);

}  // namespace cuzk
