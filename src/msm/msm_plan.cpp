#include "msm/msm_plan.hpp"

#include <algorithm>
#include <string>

#include "msm/msm_cuda_tuning.hpp"

namespace cuzk {

namespace tuning = msm_cuda_tuning;

namespace {

size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }

// Hands out ranges one after the other.
class Layout {
 public:
  size_t take(size_t bytes) {
    const size_t at = next_;
    next_ += divide_up(bytes, kAlignment) * kAlignment;
    return at;
  }
  size_t total() const { return next_; }

 private:
  static constexpr size_t kAlignment = 256;
  size_t next_ = 0;
};

Status check_shape(size_t bases, const MsmOptions& options) {
  if (options.multiprocessors == 0) {
    return Error(ErrorClass::kUsage, "a device has at least one multiprocessor").at_field("multiprocessors");
  }
  if (bases > MsmPlan::kMaxTable) {
    return Error(ErrorClass::kUsage, "an msm of " + std::to_string(bases) + " bases is too long").at_field("bases");
  }
  return {};
}

}  // namespace

Result<MsmPlan> MsmPlan::make(MsmGroup group, size_t bases, const MsmOptions& options) {
  MsmPlan plan;
  plan.group_ = group;
  plan.bases_ = bases;
  if (options.table_multiples == 0 || options.table_multiples > 255) {
    return Error(ErrorClass::kUsage, "an msm table has 1 to 255 multiples of each base").at_field("table_multiples");
  }
  if (options.window_bits != 0 &&
      (options.window_bits < tuning::kMinWindowBits || options.window_bits > tuning::kMaxWindowBits)) {
    return Error(ErrorClass::kUsage, "the bits of an msm window are out of range").at_field("window_bits");
  }
  CUZK_TRY(check_shape(bases, options));
  plan.window_bits_ =
      options.window_bits != 0
          ? options.window_bits
          : tuning::window_bits(options.total_bases != 0 ? options.total_bases : bases, options.table_multiples);
  plan.digits_ = tuning::digits(plan.window_bits_);
  plan.sets_ = static_cast<unsigned>(divide_up(plan.digits_, options.table_multiples));
  plan.narrow_sets_ = tuning::narrow_sets(plan.window_bits_, plan.sets_);
  // What the digits need of the multiples that the caller would make.
  plan.multiples_ = static_cast<unsigned>(divide_up(plan.digits_, plan.sets_));
  if (bases > kMaxTable / plan.multiples_) {
    return Error(ErrorClass::kUsage, "an msm of " + std::to_string(bases) + " bases with " +
                                         std::to_string(plan.multiples_) + " multiples each is too long")
        .at_field("bases");
  }
  plan.divide_work(options);
  return plan;
}

Result<MsmPlan> MsmPlan::make_selection(MsmGroup group, size_t bases, unsigned witnesses, const MsmOptions& options) {
  if (witnesses == 0 || witnesses > kMaxWitnesses) {
    return Error(ErrorClass::kUsage, "a selection is for 1 to 16 witnesses").at_field("witnesses");
  }
  CUZK_TRY(check_shape(bases, options));
  MsmPlan plan;
  plan.group_ = group;
  plan.bases_ = bases;
  plan.witnesses_ = witnesses;
  plan.window_bits_ = witnesses + 1;  // a bucket a pattern
  plan.digits_ = plan.sets_ = 1;
  plan.divide_work(options);
  return plan;
}

void MsmPlan::divide_work(const MsmOptions& options) {
  const bool g1 = group_ == MsmGroup::kG1;
  constexpr size_t kMostEntries = size_t{1} << 31;  // kernels number them with 32 bits
  const size_t limit = std::clamp<size_t>(
      options.max_entries != 0 ? options.max_entries : (g1 ? tuning::kMaxEntriesG1 : tuning::kMaxEntriesG2), 1,
      kMostEntries);
  task_bases_ = std::min(std::max<size_t>(bases_, 1), limit);
  const size_t most_digits = std::clamp<size_t>(limit / task_bases_, 1, digits_);
  task_digits_ = static_cast<unsigned>(divide_up(digits_, divide_up(digits_, most_digits)));  // tasks of equal length
  max_entries_ = task_bases_ * task_digits_;

  const bool hybrid = g1 && !is_selection() && options.multiplier == MsmMultiplier::kHybrid;
  bases_are_prepared_ = hybrid && options.prepared;
  const size_t threads_per_sm = hybrid ? tuning::kHybridBlock : g1 ? tuning::kThreadsPerSmG1 : tuning::kThreadsPerSmG2;
  const size_t resident = size_t{options.multiprocessors} * threads_per_sm;
  const size_t wanted = tuning::threads(max_entries_, resident, g1 ? tuning::kGoodSegmentG1 : tuning::kGoodSegmentG2,
                                        hybrid ? tuning::kMaxWavesHybrid : tuning::kMaxWaves, options.waves);
  const size_t block = hybrid ? tuning::kHybridBlock : tuning::kBlock;
  threads_ = static_cast<uint32_t>(divide_up(wanted, block) * block);
  max_segment_ = static_cast<uint32_t>(divide_up(max_entries_, threads_));
  const size_t sets_of_task = divide_up(task_digits_, multiples_);
  const size_t buckets_of_task = sets_of_task << (2 * narrow_sets_ > sets_ ? bucket_bits() - 1 : bucket_bits());
  affine_rounds_ = options.affine_rounds >= 0 ? static_cast<unsigned>(options.affine_rounds)
                                              : tuning::affine_rounds(max_segment_, max_entries_, buckets_of_task);
  if (max_segment_ < 2) affine_rounds_ = 0;
  if (hybrid && (affine_rounds_ > 0 || options.prepared)) multiplier_ = MsmMultiplier::kHybrid;
  lay_out();
}

std::vector<MsmTask> MsmPlan::tasks(size_t bases) const {
  CUZK_ASSERT(bases <= bases_);
  const msm_detail::DigitLayout digits_in_order = layout();
  std::vector<MsmTask> out;
  for (size_t base = 0; base < bases; base += task_bases_) {
    unsigned left = digits_;
    for (unsigned set = 0, multiple = 0; left > 0;) {
      MsmTask task{};
      task.first_base = static_cast<uint32_t>(base);
      task.bases = static_cast<uint32_t>(std::min(task_bases_, bases - base));
      task.first_multiple = multiple;
      task.first_set = set;
      task.digits = std::min(task_digits_, left);
      left -= task.digits;
      for (unsigned digit = 0; digit < task.digits; ++digit) {
        task.sets = set - task.first_set + 1;
        digits_in_order.advance(multiple, set);
      }
      out.push_back(task);
    }
  }
  return out;
}

void MsmPlan::lay_out() {
  const size_t field = static_cast<size_t>(group_);
  const size_t affine = 2 * field, extended = 4 * field;
  const size_t pairs = size_t{threads_} * (max_segment_ / 2);
  Layout layout;
  MsmScratch& s = scratch_;
  const bool copies = multiplier_ == MsmMultiplier::kHybrid && !bases_are_prepared_;
  s.prepared = layout.take(copies ? table_points() * kPreparedBytes : 0);
  for (auto* list : {s.keys, s.refs}) {
    list[0] = layout.take(size_t{threads_} * max_segment_ * sizeof(uint32_t));
    list[1] = layout.take(size_t{threads_} * max_segment_ * sizeof(uint32_t));
  }
  // Above what CUB asks for (msm_sort_cuda.cu refuses where it is not).
  s.sort_bytes = (size_t{4} << 20) + max_entries_ / 2;
  s.sort = layout.take(s.sort_bytes);
  s.count = layout.take(sizeof(uint32_t));
  s.begin = layout.take(threads_ * sizeof(uint32_t));
  s.pair_counts = layout.take(multiplier_ == MsmMultiplier::kHybrid ? threads_ * sizeof(uint32_t) : 0);
  s.products = layout.take(affine_rounds_ > 0 ? pairs * field : 0);
  // One record more, so that they may begin a whole number of records from the bases.
  s.slots = layout.take(affine_rounds_ == 0                     ? 0
                        : multiplier_ == MsmMultiplier::kHybrid ? (pairs + 1) * record_bytes()
                                                                : pairs * affine);
  const size_t partials = 2 * size_t{threads_};
  const size_t joined = 2 * divide_up(partials, tuning::kJoin);
  s.partial_keys[0] = layout.take(partials * sizeof(uint32_t));
  s.partial_keys[1] = layout.take(joined * sizeof(uint32_t));
  s.partial_points[0] = layout.take(partials * extended);
  s.partial_points[1] = layout.take(joined * extended);
  s.buckets = layout.take(buckets() * extended);
  s.lines = layout.take(sets_ * lines_of_set() * extended);
  s.total_bytes = layout.total();
}

}  // namespace cuzk
