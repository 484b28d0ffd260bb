// What the processor can do, asked once. Forms that need more than the baseline are chosen by these flags at run time.
#pragma once

#if defined(__x86_64__) && !defined(CUZK_NO_ASM)
#define CUZK_X86_ASM 1
#else
#define CUZK_X86_ASM 0
#endif

namespace cuzk {

struct CpuFeatures {
  bool adx = false;          // ADX and BMI2: ADCX, ADOX, MULX
  bool avx512_ifma = false;  // AVX-512 F, DQ, VL, IFMA, and an operating system that keeps their registers
};

#if CUZK_X86_ASM
// Detected before other dynamic initialisation; all false, for the portable forms, until then.
extern __attribute__((visibility("hidden"))) CpuFeatures detected_cpu_features;
#endif

inline const CpuFeatures& cpu_features() {
#if CUZK_X86_ASM
  return detected_cpu_features;
#else
  static constexpr CpuFeatures kNone;
  return kNone;
#endif
}

// For tests and benches: turns forms off, so that the others are exercised; returns what was set before. Never turns on
// what the processor lacks. Not safe while other threads compute.
CpuFeatures restrict_cpu_features(const CpuFeatures& allowed);

}  // namespace cuzk
