// Numbers of the CUDA transforms.
#pragma once

namespace cuzk::ntt {

// A block holds a tile of 2^11 elements in the registers of 256 threads, eight each: 64 registers of a thread's 128 are
// elements, which leaves a product its 35 and lets two blocks share a multiprocessor. Exchanges go through 32 KiB of
// shared memory (half an element at a time), which every architecture has without asking.
inline constexpr unsigned kTileLog2 = 11;
inline constexpr unsigned kThreadElementsLog2 = 3;
inline constexpr unsigned kPassThreads = 1U << (kTileLog2 - kThreadElementsLog2);

// Transforms up to this size take all twiddles from tables; beyond, the last pass computes its own.
inline constexpr unsigned kMaxTableLog2 = 18;
// Levels of the last pass beyond.
inline constexpr unsigned kGeneratedLevels = 9;
// Low bits of an exponent; a generated twiddle is the product of an entry by low and one by high bits. Both tables of a
// transform of 2^27 have 2^13 entries, 256 KiB.
inline constexpr unsigned kLowExponentBits = 13;

}  // namespace cuzk::ntt
