#include "cuzk/memory.hpp"

#include <unistd.h>

#include <string>

#include "cuzk/console.hpp"

namespace cuzk::app {
namespace {

// Compiling keeps the constraints of one block of each sort; 45, and what growing arrays take meanwhile.
constexpr uint64_t kBytesPerConstraint = 64;
// Of a proof beyond the parameters, per row of the domain: matrices, a, b, c and the expanded witness.
constexpr uint64_t kProveBytesPerRow = 256;
// Of a setup beyond the points, per row of the domain: matrices and scalars.
constexpr uint64_t kSetupBytesPerRow = 320;

uint64_t domain_rows(const CircuitSpec& circuit) { return uint64_t{1} << circuit.counts().log2_domain(); }

std::string of(const char* work, const CircuitSpec& circuit) { return work + std::string(circuit.id()); }

}  // namespace

uint64_t physical_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_bytes <= 0) return 0;
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
}

Status check_memory(uint64_t needed_bytes, std::string_view what) {
  const uint64_t present = physical_memory_bytes();
  if (present == 0 || needed_bytes <= present) return {};
  return Error(ErrorClass::kResource, std::string(what) + " needs about " + human_bytes(needed_bytes) +
                                          " of memory, and this machine has " + human_bytes(present));
}

Status check_compile_memory(const CircuitSpec& circuit) {
  // Of all challenges, the constraints of one are stored.
  const uint64_t stored = circuit.counts().constraints / circuit.challenges();
  return check_memory(stored * kBytesPerConstraint, of("compiling ", circuit));
}

Status check_prove_memory(const CircuitSpec& circuit) {
  return check_memory(params_file_bytes(circuit.counts().srs_shape()) + domain_rows(circuit) * kProveBytesPerRow,
                      of("proving on the CPU ", circuit));
}

Status check_setup_memory(const CircuitSpec& circuit) {
  const CircuitCounts counts = circuit.counts();
  // h, l and a have about as many points as there are wires, b_g1 and b_g2 a quarter of that.
  const uint64_t point_bytes = 96 * (domain_rows(circuit) + 2 * counts.aux) + 72 * counts.aux;
  return check_memory(point_bytes + domain_rows(circuit) * kSetupBytesPerRow, of("setup of ", circuit));
}

Status check_parameters_memory(const SrsShape& points) {
  return check_memory(params_file_bytes(points), "checking these parameters");
}

}  // namespace cuzk::app
