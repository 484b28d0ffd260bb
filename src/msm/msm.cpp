#include "msm/msm.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "msm/digits.hpp"
#include "msm/msm_tuning.hpp"
#include "msm/run_sums.hpp"
#include "parallel/parallel.hpp"

namespace cuzk {
namespace msm_detail {
namespace {

// The bucket method over at most kSegment bases.
template <class Curve>
class BucketMethod {
  using Point = Affine<Curve>;

 public:
  BucketMethod(std::span<const Point> bases, std::span<const Fr> scalars, unsigned bits)
      : bases_(bases), n_(bases.size()), bits_(bits), cutter_(bits), buckets_(size_t{1} << (bits - 1)) {
    codes_ = std::make_unique_for_overwrite<DigitCode[]>(n_ * cutter_.windows());
    parallel_for(n_, 1024, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) cutter_.cut(scalars[i], codes_.get() + i, n_);
    });
  }

  Jacobian<Curve> run() {
    const unsigned windows = cutter_.windows();
    const size_t group = std::clamp<size_t>(msm_tuning::kGroupEntries / n_, 1, windows);
    std::vector<Jacobian<Curve>> sums(windows);
    for (size_t first = 0; first < windows; first += group) {
      window_sums(first, std::min<size_t>(group, windows - first), sums.data() + first);
    }
    Jacobian<Curve> total = Jacobian<Curve>::infinity();
    for (size_t w = windows; w-- > 0;) {
      for (unsigned i = 0; i < bits_; ++i) total = total.dbl();
      total += sums[w];
    }
    return total;
  }

 private:
  void window_sums(size_t first, size_t count, Jacobian<Curve>* sums) {
    sort(first, count);
    bucket_sums_.resize(count * buckets_);
    sum_runs<Curve>(bases_.data(), std::span(entries_.get(), starts_.back()), starts_, bucket_sums_);
    weigh(count, sums);
  }

  // Entries of `count` windows by window and bucket: a counting sort, parts of windows in parallel.
  void sort(size_t first, size_t count) {
    const size_t parts = (parallel_threads() + count - 1) / count;
    const size_t part = (n_ + parts - 1) / parts;
    counts_.assign(count * parts * buckets_, 0);
    auto each_part = [&](auto body) {
      parallel_for(count * parts, 1, [&](size_t begin, size_t end) {
        for (size_t t = begin; t < end; ++t) {
          const size_t from = std::min(n_, t % parts * part);
          body(codes_.get() + (first + t / parts) * n_, from, std::min(n_, from + part), counts_.data() + t * buckets_);
        }
      });
    };
    each_part([](const DigitCode* codes, size_t from, size_t to, uint32_t* counts) {
      for (size_t i = from; i < to; ++i) {
        if (codes[i] != 0) ++counts[digit_bucket(codes[i])];
      }
    });
    starts_.resize(count * buckets_ + 1);
    uint32_t position = 0;
    for (size_t w = 0; w < count; ++w) {
      for (size_t b = 0; b < buckets_; ++b) {
        starts_[w * buckets_ + b] = position;
        for (size_t p = 0; p < parts; ++p) {
          uint32_t& c = counts_[(w * parts + p) * buckets_ + b];
          position += std::exchange(c, position);
        }
      }
    }
    starts_.back() = position;
    if (position > entries_size_) {
      entries_.reset();  // not both at once
      entries_size_ = n_ * count;
      entries_ = std::make_unique_for_overwrite<Entry[]>(entries_size_);
    }
    each_part([this](const DigitCode* codes, size_t from, size_t to, uint32_t* next) {
      for (size_t i = from; i < to; ++i) {
        if (codes[i] != 0) entries_[next[digit_bucket(codes[i])]++] = Entry::of(i, digit_negative(codes[i]));
      }
    });
  }

  // sums[w] = sum_b (b + 1) * bucket_sums_[w][b]. Buckets form a square; with b = row * width + column the sum is
  // width * sum_row row * R_row + sum_column (column + 1) * C_column for the sums R, C of rows and columns.
  void weigh(size_t count, Jacobian<Curve>* sums) {
    const unsigned column_bits = (bits_ - 1) / 2;
    const size_t width = size_t{1} << column_bits, height = buckets_ >> column_bits, sides = width + height;
    std::vector<Entry> entries;
    std::vector<uint32_t> starts;
    entries.reserve(2 * count * buckets_);
    starts.reserve(count * sides + 1);
    for (size_t w = 0; w < count; ++w) {
      auto add = [&](size_t b) {
        if (!bucket_sums_[w * buckets_ + b].is_infinity()) entries.push_back(Entry::of(w * buckets_ + b, false));
      };
      for (size_t row = 0; row < height; ++row) {
        starts.push_back(static_cast<uint32_t>(entries.size()));
        if (row > 0) {  // row 0 has weight zero
          for (size_t column = 0; column < width; ++column) add(row * width + column);
        }
      }
      for (size_t column = 0; column < width; ++column) {
        starts.push_back(static_cast<uint32_t>(entries.size()));
        for (size_t row = 0; row < height; ++row) add(row * width + column);
      }
    }
    starts.push_back(static_cast<uint32_t>(entries.size()));
    std::vector<Point> side_sums(count * sides);
    sum_runs<Curve>(bucket_sums_.data(), entries, starts, side_sums);
    parallel_for(count, 1, [&](size_t begin, size_t end) {
      for (size_t w = begin; w < end; ++w) {
        const Point* rows = side_sums.data() + w * sides;
        Jacobian<Curve> total = weighted_sum(rows + 1, height - 1);
        for (unsigned i = 0; i < column_bits; ++i) total = total.dbl();
        sums[w] = total + weighted_sum(rows + height, width);
      }
    });
  }

  // sum_i (i + 1) * points[i].
  static Jacobian<Curve> weighted_sum(const Point* points, size_t count) {
    Xyzz<Curve> running = Xyzz<Curve>::infinity(), total = running;
    for (size_t i = count; i-- > 0;) {
      running.add(points[i]);
      total.add(running);
    }
    return total.to_jacobian();
  }

  std::span<const Point> bases_;
  size_t n_;
  unsigned bits_;
  DigitCutter cutter_;
  size_t buckets_;
  std::unique_ptr<DigitCode[]> codes_;  // window-major
  std::vector<uint32_t> counts_, starts_;
  std::unique_ptr<Entry[]> entries_;
  size_t entries_size_ = 0;
  std::vector<Point> bucket_sums_;
};

}  // namespace
}  // namespace msm_detail

template <class Curve>
Jacobian<Curve> msm(std::span<const Affine<Curve>> bases, std::span<const Fr> scalars) {
  CUZK_ASSERT(bases.size() == scalars.size());
  Jacobian<Curve> total = Jacobian<Curve>::infinity();
  if (bases.size() < msm_tuning::kMinPippenger) {
    for (size_t i = 0; i < bases.size(); ++i) total += Jacobian<Curve>::from_affine(bases[i]).mul(scalars[i]);
    return total;
  }
  const size_t segments = (bases.size() + msm_tuning::kSegment - 1) / msm_tuning::kSegment;
  for (size_t s = 0; s < segments; ++s) {
    const size_t begin = bases.size() * s / segments, end = bases.size() * (s + 1) / segments;
    msm_detail::BucketMethod<Curve> method(bases.subspan(begin, end - begin), scalars.subspan(begin, end - begin),
                                           msm_tuning::window_bits(end - begin));
    total += method.run();
  }
  return total;
}

template Jacobian<G1Curve> msm<G1Curve>(std::span<const G1Affine>, std::span<const Fr>);
template Jacobian<G2Curve> msm<G2Curve>(std::span<const G2Affine>, std::span<const Fr>);

}  // namespace cuzk
