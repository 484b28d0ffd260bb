// Numbers of the CUDA transforms.
#pragma once

namespace cuzk::ntt {

// A block holds a tile of 2^10 elements in the registers of 128 threads, eight each: 64 registers of a thread's 128 are
// elements, which leaves a product its 35 and lets four blocks share a multiprocessor. Exchanges go through 16 KiB of
// shared memory (half an element at a time), which every architecture has without asking. On an H200, 2^24 forward: two
// blocks of 2^11 4.01 ms, four of 2^10 3.84, five (96 registers) 3.95; with prepared twiddles four 3.20, five 3.52.
inline constexpr unsigned kTileLog2 = 10;
inline constexpr unsigned kThreadElementsLog2 = 3;
inline constexpr unsigned kPassThreads = 1U << (kTileLog2 - kThreadElementsLog2);
inline constexpr unsigned kPassBlocks = 4;

// Transforms up to this size take all twiddles from tables; beyond, the last pass computes its own.
inline constexpr unsigned kMaxTableLog2 = 18;
// Levels of the last pass beyond.
inline constexpr unsigned kGeneratedLevels = 9;
// Low bits of an exponent; a generated twiddle is the product of an entry by low and one by high bits. Both tables of a
// transform of 2^27 have 2^13 entries, 256 KiB.
inline constexpr unsigned kLowExponentBits = 13;

}  // namespace cuzk::ntt
