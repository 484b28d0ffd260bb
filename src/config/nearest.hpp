// "Did you mean ...?"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuzk {

// How many letters were left out, added, replaced, or swapped with their neighbour. Quadratic; for names.
size_t edit_distance(std::string_view a, std::string_view b);

// The candidate most like `name`, where one is near enough to have been meant: about a letter in three may differ. The
// first of several.
std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace cuzk
