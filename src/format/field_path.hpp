// Where a field stands in a document, for errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cuzk {

// A field's place: a list on the stack, turned into text only for an error.
struct FieldPath {
  const FieldPath* up = nullptr;
  std::string_view key = {};  // of an object's field
  int64_t index = -1;         // of an array's element; -1: none
  FieldPath at(std::string_view k) const { return {this, k, -1}; }
  FieldPath at(size_t i) const { return {this, {}, static_cast<int64_t>(i)}; }
  std::string text() const {
    std::string out = up ? up->text() : std::string();
    if (index >= 0) return out + "[" + std::to_string(index) + "]";
    if (key.empty()) return out;
    return out.empty() ? std::string(key) : out + "." + std::string(key);
  }
};

}  // namespace cuzk
