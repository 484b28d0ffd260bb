// What commands need of the machine's memory, checked before they begin.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "filecoin/circuit_spec.hpp"
#include "srs/layout.hpp"

namespace cuzk::app {

// Bytes of memory this machine has; 0 where that cannot be told.
uint64_t physical_memory_bytes();
// kResource where `needed` bytes are more than the machine has, with both numbers.
Status check_memory(uint64_t needed_bytes, std::string_view what);

// Each refuses (kResource) where the command would need more than the machine has.
Status check_compile_memory(const CircuitSpec& circuit);
Status check_prove_memory(const CircuitSpec& circuit);
Status check_setup_memory(const CircuitSpec& circuit);
// Of reading parameters with this many points.
Status check_parameters_memory(const SrsShape& points);

}  // namespace cuzk::app
