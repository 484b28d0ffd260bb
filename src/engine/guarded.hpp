// The one place where what work throws becomes an error.
#pragma once

#include <exception>
#include <new>

#include "base/error.hpp"
#include "base/memory_reserve.hpp"

namespace cuzk {

// Calls `work`, which returns a Result or a Status. Errors: its own; kResource where memory ran out, for which the
// reserve is spared; kInternal.
template <class Work>
auto guarded(const Work& work) -> decltype(work()) {
  try {
    const SparesReserve spares;
    return work();
  } catch (const std::bad_alloc&) {
    return Error(ErrorClass::kResource, "out of memory");
  } catch (const std::exception& failure) {
    return Error(ErrorClass::kInternal, failure.what());
  }
}

}  // namespace cuzk
