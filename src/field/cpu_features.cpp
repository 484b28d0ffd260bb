#include "field/cpu_features.hpp"

#if CUZK_X86_ASM
#include <cpuid.h>

#include <cstdint>
#endif

namespace cuzk {

#if CUZK_X86_ASM
namespace {

uint64_t enabled_register_state() {
  uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low | static_cast<uint64_t>(high) << 32;
}

CpuFeatures detect() {
  CpuFeatures out;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return out;
  const bool os_saves = (ecx >> 27 & 1) != 0;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return out;
  const auto has = [&](unsigned bit) { return (ebx >> bit & 1) != 0; };
  out.adx = has(8) && has(19);
  // XMM, YMM, opmask and both ZMM halves
  const bool zmm = os_saves && (enabled_register_state() & 0xe6) == 0xe6;
  out.avx512_ifma = zmm && has(16) && has(17) && has(31) && has(21);
  return out;
}

}  // namespace

// Before all initialisers without a priority, so that those compute with the fast forms too.
__attribute__((init_priority(101))) CpuFeatures detected_cpu_features = detect();

CpuFeatures restrict_cpu_features(const CpuFeatures& allowed) {
  const CpuFeatures before = detected_cpu_features, present = detect();
  detected_cpu_features.adx = present.adx && allowed.adx;
  detected_cpu_features.avx512_ifma = present.avx512_ifma && allowed.avx512_ifma;
  return before;
}
#else
CpuFeatures restrict_cpu_features(const CpuFeatures&) { return {}; }
#endif

}  // namespace cuzk
