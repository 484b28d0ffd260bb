// sppark (github.com/supranational/sppark) behind plain functions, so that its headers and ours never meet in one
// source. Data is device memory in Montgomery form, which both lay out alike: affine points as x, y with zeros for
// infinity, scalars as 256-bit words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cuzk::peers {

class SpparkMsm {
 public:
  // The digits that its constructor can be made to choose: 10 to 18 bits; 17 where it is told no size.
  static constexpr unsigned kMinWindowBits = 10, kMaxWindowBits = 18, kDefaultWindowBits = 17;
  static std::unique_ptr<SpparkMsm> make_g1(unsigned window_bits);
  static std::unique_ptr<SpparkMsm> make_g2(unsigned window_bits);
  virtual ~SpparkMsm() = default;

  // Waits for the sum, and writes its Jacobian coordinates x, y, z to host memory. False where CUDA fails.
  virtual bool run(const void* bases, const void* scalars, size_t count, void* jacobian) const = 0;
};

// Its default pool of device memory keeps what it frees, so that no run waits for memory to be mapped again.
bool keep_sppark_memory();

// A cudaStream_t, on which sppark_ntt puts its kernels.
void* sppark_stream();
// In place, from natural to bit-reversed order or the other way; the coset is that of 7. False where a launch fails.
bool sppark_ntt(void* values, unsigned log2_size, bool inverse, bool coset, bool bit_reversed_in);

}  // namespace cuzk::peers
