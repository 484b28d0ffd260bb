// Giving memory back before its owner's life ends.
#pragma once

#include <vector>

namespace cuzk {

// Empties a vector and frees what it held. Assigning {} does not: that is an empty initializer list, which keeps the
// capacity.
template <class T, class Allocator>
void release_memory(std::vector<T, Allocator>& vector) {
  std::vector<T, Allocator>(vector.get_allocator()).swap(vector);
}

}  // namespace cuzk
