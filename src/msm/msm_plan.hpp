// How a sum of multiples is computed on a CUDA device: sizes, order of work and scratch memory, as a pure function of
// the number of bases and the options. Plain C++, tested without a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "curve/point.hpp"
#include "msm/digits.hpp"

namespace cuzk {

// How the rounds of affine additions multiply in Fp: by 32-bit integers, or by the FP64 units together with them
// (field/fp_hybrid.hpp), which pays on chips with full-rate FP64. Sums in G2 and selections are always by integers.
enum class MsmMultiplier : uint8_t { kInteger, kHybrid };

struct MsmOptions {
  // Bits of a digit; 0: by tuning.
  unsigned window_bits = 0;
  // Multiples of each base that the caller has in memory (msm_make_table); 1: the bases alone.
  unsigned table_multiples = 1;
  // Entries (digits of scalars) sorted and summed at a time: scratch memory for speed; 0: by tuning.
  size_t max_entries = 0;
  // Bases of the whole sum where the plan is for a part of it (msm_add), for the choice of window_bits; 0: the plan's.
  size_t total_bases = 0;
  // Of the device.
  unsigned multiprocessors = 132;
  // Rounds of affine additions; -1: by tuning.
  int affine_rounds = -1;
  // Segments of the entries for each thread that runs at once, at most; 0: by tuning.
  unsigned waves = 0;
  MsmMultiplier multiplier = MsmMultiplier::kInteger;
  // With kHybrid: the bases have been through msm_prepare. Otherwise each call makes a prepared copy of them in the
  // scratch memory, kPreparedBytes a base.
  bool prepared = false;
};

// Bytes of the coordinate field, which is what plans need to know of a curve.
enum class MsmGroup : uint8_t { kG1 = 48, kG2 = 96 };

// A part of the work: some digits of the scalars [first_base, first_base + bases). Digits are taken set by set, so that
// those that share buckets come together: the first is that of the multiple first_multiple in first_set, and the sets
// [first_set, first_set + sets) have buckets of them.
struct MsmTask {
  uint32_t first_base, bases;
  unsigned first_multiple, digits, first_set, sets;
  size_t entries() const { return size_t{bases} * digits; }
};

// Offsets in the scratch memory.
struct MsmScratch {
  size_t prepared, keys[2], refs[2], sort, sort_bytes, count, begin, pair_counts, products, slots, partial_keys[2],
      partial_points[2], buckets, lines, total_bytes;
};

// Digit w = j*sets + s of a scalar has weight 2^layout().begin(j, s): its point is the multiple 2^(table_shift*j) of
// the base, at [j*bases + i] of the table, and its bucket is in set s.
class MsmPlan {
 public:
  // Error kUsage where an option is out of range or a table would have more than kMaxTable points.
  static Result<MsmPlan> make(MsmGroup group, size_t bases, const MsmOptions& options);
  static constexpr size_t kMaxTable = (size_t{1} << 31) - (size_t{1} << 24);
  // The sums of the bases that each of 1 to kMaxWitnesses bit vectors selects, all in one pass: a base's bucket is the
  // pattern of its bits, of which the vectors' sums are sums again. window_bits and table_multiples are not used.
  static Result<MsmPlan> make_selection(MsmGroup group, size_t bases, unsigned witnesses, const MsmOptions& options);
  static constexpr unsigned kMaxWitnesses = 16;

  MsmGroup group() const { return group_; }
  size_t bases() const { return bases_; }
  // Bits of the digits of the last set; the first narrow_sets() have one less, and use the lower half of their buckets.
  unsigned window_bits() const { return window_bits_; }
  unsigned narrow_sets() const { return narrow_sets_; }
  unsigned digits() const { return digits_; }
  unsigned sets() const { return sets_; }
  msm_detail::DigitLayout layout() const { return {window_bits_, sets_, narrow_sets_, digits_}; }
  // Points of the table, a multiple of bases(): what msm_enqueue reads.
  size_t table_points() const { return bases_ * multiples_; }
  unsigned table_multiples() const { return multiples_; }
  // Doublings from one multiple of a base to the next.
  unsigned table_shift() const { return layout().shift(); }

  unsigned bucket_bits() const { return window_bits_ - 1; }
  size_t buckets() const { return size_t{sets_} << bucket_bits(); }
  // The buckets of a set as a rectangle: bucket = row * columns + column.
  unsigned column_bits() const { return (bucket_bits() + 1) / 2; }
  unsigned row_bits() const { return bucket_bits() / 2; }
  size_t lines_of_set() const { return (size_t{1} << row_bits()) + (size_t{1} << column_bits()); }

  bool is_selection() const { return witnesses_ > 0; }
  unsigned witnesses() const { return witnesses_; }
  // 64-bit words of a bit vector; vectors stand one behind the other.
  size_t words_of_bits() const { return (bases_ + 63) / 64; }

  size_t max_entries() const { return max_entries_; }
  // Threads over which entries are divided, a multiple of the block; a thread's segment is at most max_segment().
  uint32_t threads() const { return threads_; }
  uint32_t max_segment() const { return max_segment_; }
  unsigned affine_rounds() const { return affine_rounds_; }
  MsmMultiplier multiplier() const { return multiplier_; }
  // The bases that msm_enqueue reads are to have been through msm_prepare.
  bool bases_are_prepared() const { return bases_are_prepared_; }
  // Of a prepared base in scratch memory: its 96 bytes, where they take no more lines of memory than needed.
  static constexpr size_t kPreparedBytes = 128;
  // With the hybrid multiplier, from one base to the next and from one sum of two to the next.
  size_t record_bytes() const { return bases_are_prepared_ ? 2 * static_cast<size_t>(group_) : kPreparedBytes; }
  // The work for the first `bases` bases, at most bases().
  std::vector<MsmTask> tasks(size_t bases) const;
  std::vector<MsmTask> tasks() const { return tasks(bases_); }

  const MsmScratch& scratch() const { return scratch_; }
  size_t scratch_bytes() const { return scratch_.total_bytes; }
  // Points that the device hands to msm_finish: for each set the sum of its buckets, then for each bit of the bucket's
  // number the sum of the buckets that have it.
  size_t sums() const { return size_t{sets_} * window_bits_; }

 private:
  MsmPlan() = default;
  void divide_work(const MsmOptions& options);
  void lay_out();

  MsmGroup group_ = MsmGroup::kG1;
  size_t bases_ = 0, max_entries_ = 0, task_bases_ = 0;
  unsigned window_bits_ = 0, narrow_sets_ = 0, digits_ = 0, sets_ = 0, multiples_ = 1, task_digits_ = 0,
           affine_rounds_ = 0, witnesses_ = 0;
  uint32_t threads_ = 0, max_segment_ = 0;
  MsmMultiplier multiplier_ = MsmMultiplier::kInteger;
  bool bases_are_prepared_ = false;
  MsmScratch scratch_{};
};

// The result from the sums that the device made; on the host, 255 doublings at most.
template <class Curve>
Jacobian<Curve> msm_finish(const MsmPlan& plan, std::span<const Xyzz<Curve>> sums) {
  CUZK_ASSERT(sums.size() == plan.sums() && !plan.is_selection());
  Jacobian<Curve> out = Jacobian<Curve>::infinity();
  for (unsigned s = plan.sets(); s-- > 0;) {
    const auto set = sums.subspan(size_t{s} * plan.window_bits(), plan.window_bits());
    const unsigned bits = plan.layout().bits_of(s);
    for (unsigned bit = bits; bit-- > 0;) {
      out = out.dbl();
      if (bit + 1 < bits) out += set[1 + bit].to_jacobian();
    }
    out += set[0].to_jacobian();  // bucket b holds the digit b + 1
  }
  return out;
}

// The sum of the bases that bit vector `witness` of a selection has.
template <class Curve>
Jacobian<Curve> selection_finish(const MsmPlan& plan, std::span<const Xyzz<Curve>> sums, unsigned witness) {
  CUZK_ASSERT(sums.size() == plan.sums() && witness < plan.witnesses());
  return sums[1 + witness].to_jacobian();
}

}  // namespace cuzk
