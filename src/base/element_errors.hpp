// What is wrong with the elements of a list that threads check in any order: one error that names every bad element.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "base/result.hpp"

namespace cuzk {

class ElementErrors {
 public:
  // Of part `part` of element `element`; of an element's errors that of the lowest part is kept. Any thread.
  void add(size_t element, size_t part, Error error);
  // True where an error of this part of the element, or of one before it, is there: no need to look further. Any
  // thread.
  bool known(size_t element, size_t part) const;
  bool empty() const { return !any_.load(std::memory_order_acquire); }

  // The error of the first bad element, whichever thread found it. Where others are bad too, its message goes on with
  // "; bad too: " and their names (name(element)), the first eight and the number of the rest. Must not be empty().
  Error take(const std::function<std::string(size_t)>& name);

 private:
  struct Bad {
    size_t part;
    Error error;
  };
  mutable std::mutex mutex_;
  std::atomic<bool> any_ = false;
  std::map<size_t, Bad> bad_;
};

}  // namespace cuzk
