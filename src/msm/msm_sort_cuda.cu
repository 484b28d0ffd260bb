// The part of the CUDA form that does not depend on the curve: scalars into digits, digits into the order of buckets.
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "gpu/cuda_check.cuh"
#include "msm/digits.hpp"
#include "msm/msm_cuda.hpp"
#include "msm/msm_kernels.cuh"
#include "msm/msm_keys.hpp"

namespace cuzk::msm_detail {

namespace {

struct DigitArgs {
  const Fr* scalars;
  MsmTask task;
  unsigned bucket_bits;
  uint32_t stride, sentinel;
  uint32_t *keys, *refs;
};

// A thread a scalar. Keys are (set, bucket), or the sentinel above all of them for a digit of zero.
__global__ void digits_kernel(DigitCutter cutter, DigitArgs a) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.task.bases) return;
  const uint32_t base = a.task.first_base + i;
  const DigitCutter::Prepared scalar = cutter.prepare(a.scalars[base]);
  unsigned set = a.task.first_set, multiple = a.task.first_multiple;
  for (unsigned d = 0; d < a.task.digits; ++d) {
    const DigitCode code = cutter.code(scalar, multiple, set);
    const size_t at = static_cast<size_t>(d) * a.task.bases + i;
    a.keys[at] = code == 0 ? a.sentinel : (set - a.task.first_set) << a.bucket_bits | digit_bucket(code);
    a.refs[at] = (multiple * a.stride + base) | (digit_negative(code) ? kNegative : 0);
    cutter.layout().advance(multiple, set);
  }
}

struct PatternArgs {
  const uint64_t* bits;
  size_t words_of_bits;
  unsigned witnesses;
  uint32_t first_base, bases, sentinel;
  uint32_t *keys, *refs;
};

// A thread a base. Its key is the pattern of its bits; a base that no witness has gets the sentinel.
__global__ void patterns_kernel(PatternArgs a) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.bases) return;
  const uint32_t base = a.first_base + i;
  uint32_t pattern = 0;
  for (unsigned k = 0; k < a.witnesses; ++k) {
    pattern |= static_cast<uint32_t>(a.bits[k * a.words_of_bits + base / 64] >> (base % 64) & 1) << k;
  }
  a.keys[i] = pattern == 0 ? a.sentinel : pattern;
  a.refs[i] = base;
}

struct SpreadArgs {
  const uint32_t *keys, *refs, *count;
  uint32_t threads, max_segment;
  uint32_t *out_keys, *out_refs;
};

// The sorted list in the order of segment_of, by tiles of 32 segments and 32 entries of each.
__global__ void __launch_bounds__(256) spread_kernel(SpreadArgs a) {
  __shared__ uint32_t keys[32][33], refs[32][33];
  const uint32_t count = *a.count;
  const uint32_t lane = threadIdx.x % 32, first_entry = blockIdx.x * 32, group = blockIdx.y;
  for (uint32_t j = threadIdx.x / 32; j < 32; j += 8) {
    const uint32_t length = (count + a.threads - 1) / a.threads;
    const uint64_t at = static_cast<uint64_t>(group * 32 + j) * length + first_entry + lane;
    if (first_entry + lane < length && at < count) {
      keys[j][lane] = a.keys[at];
      refs[j][lane] = a.refs[at];
    }
  }
  __syncthreads();
  for (uint32_t j = threadIdx.x / 32; j < 32; j += 8) {
    const uint32_t entry = first_entry + j;
    if (entry < segment_of(group * 32 + lane, count, a.threads, a.max_segment).length) {
      const size_t to = segment_of(group * 32 + lane, count, a.threads, a.max_segment).at(entry);
      a.out_keys[to] = keys[lane][j];
      a.out_refs[to] = refs[lane][j];
    }
  }
}

// How many of the sorted keys are below the sentinel.
__global__ void count_kernel(const uint32_t* keys, uint32_t entries, uint32_t sentinel, uint32_t* count) {
  uint32_t low = 0, high = entries;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (keys[middle] < sentinel) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *count = low;
}

}  // namespace

Status sorted_entries(const MsmPlan& plan, const MsmTask& task, const EntrySource& source, std::byte* scratch,
                      uint32_t** keys, uint32_t** refs, const gpu::Stream& stream) {
  const MsmScratch& at = plan.scratch();
  const auto words = [&](size_t offset) { return reinterpret_cast<uint32_t*>(scratch + offset); };
  const uint32_t sentinel = task.sets << plan.bucket_bits();
  const auto entries = static_cast<uint32_t>(task.entries());
  const unsigned blocks = (task.bases + 255) / 256;
  if (plan.is_selection()) {
    patterns_kernel<<<blocks, 256, 0, stream.handle()>>>({source.bits, plan.words_of_bits(), plan.witnesses(),
                                                          task.first_base, task.bases, sentinel, words(at.keys[0]),
                                                          words(at.refs[0])});
  } else {
    digits_kernel<<<blocks, 256, 0, stream.handle()>>>(
        DigitCutter(plan.layout()), {source.scalars, task, plan.bucket_bits(), static_cast<uint32_t>(plan.bases()),
                                     sentinel, words(at.keys[0]), words(at.refs[0])});
  }
  CUZK_CUDA_TRY(cudaGetLastError());

  cub::DoubleBuffer<uint32_t> key_buffers(words(at.keys[0]), words(at.keys[1]));
  cub::DoubleBuffer<uint32_t> ref_buffers(words(at.refs[0]), words(at.refs[1]));
  const int bits = std::bit_width(sentinel);
  size_t needed = 0;
  CUZK_CUDA_TRY(
      cub::DeviceRadixSort::SortPairs(nullptr, needed, key_buffers, ref_buffers, entries, 0, bits, stream.handle()));
  if (needed > at.sort_bytes) return Error(ErrorClass::kInternal, "sorting needs more scratch memory than planned");
  CUZK_CUDA_TRY(cub::DeviceRadixSort::SortPairs(scratch + at.sort, needed, key_buffers, ref_buffers, entries, 0, bits,
                                                stream.handle()));
  count_kernel<<<1, 1, 0, stream.handle()>>>(key_buffers.Current(), entries, sentinel, words(at.count));
  CUZK_CUDA_TRY(cudaGetLastError());
  *keys = key_buffers.Alternate();
  *refs = ref_buffers.Alternate();
  const dim3 tiles((plan.max_segment() + 31) / 32, plan.threads() / 32);
  spread_kernel<<<tiles, 256, 0, stream.handle()>>>({key_buffers.Current(), ref_buffers.Current(), words(at.count),
                                                     plan.threads(), plan.max_segment(), *keys, *refs});
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

}  // namespace cuzk::msm_detail
