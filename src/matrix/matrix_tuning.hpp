// Numbers of the device form, and what set them.
#pragma once

namespace cuzk::matrix_tuning {

// Rows of a thread block, one a thread.
inline constexpr unsigned kRowThreads = 256;
// Rows with more terms than this are summed by all lanes of their warp.
inline constexpr unsigned kLongRow = 12;
// Threads of a block that computes hashes.
inline constexpr unsigned kHashThreads = 128;
// Threads of a block of the kernels that copy or compare.
inline constexpr unsigned kCopyThreads = 256;

}  // namespace cuzk::matrix_tuning
