// How the CUDA form cuts a transform of 2^k points into passes over memory. Plain C++.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "ntt/ntt_tuning.hpp"

namespace cuzk::ntt {

// Levels first_level .. first_level + levels - 1, where level l pairs elements at distance 2^(k-1-l).
struct DevicePass {
  unsigned first_level = 0, levels = 0;
};

class DevicePlan {
 public:
  static constexpr unsigned kMaxLog2Size = 28;

  explicit constexpr DevicePlan(unsigned log2_size) : log2_size_(log2_size) {
    CUZK_ASSERT(log2_size <= kMaxLog2Size);
    if (log2_size < kTileLog2) {
      add(log2_size);
    } else if (log2_size <= kMaxTableLog2) {
      add(log2_size / 2);
      add(log2_size - log2_size / 2);
    } else {
      const unsigned rest = log2_size - kGeneratedLevels;
      if (rest < kTileLog2) {
        add(rest);
      } else {
        add(rest - rest / 2);
        add(rest / 2);
      }
      table_levels_ = rest;
      add(kGeneratedLevels);
      return;
    }
    table_levels_ = log2_size;
  }

  constexpr unsigned log2_size() const { return log2_size_; }
  constexpr std::span<const DevicePass> passes() const { return {passes_.data(), count_}; }
  // Levels whose twiddles are in the table; the others are those of the last pass.
  constexpr unsigned table_levels() const { return table_levels_; }
  constexpr bool generates() const { return table_levels_ < log2_size_; }

 private:
  constexpr void add(unsigned levels) {
    const unsigned first = count_ == 0 ? 0 : passes_[count_ - 1].first_level + passes_[count_ - 1].levels;
    passes_[count_++] = {first, levels};
  }

  unsigned log2_size_, table_levels_ = 0, count_ = 0;
  std::array<DevicePass, 3> passes_{};
};

}  // namespace cuzk::ntt
