// The part of the CUDA form that does not depend on the curve: scalars into digits, digits into the order of buckets.
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "gpu/cuda_check.cuh"
#include "msm/digits.hpp"
#include "msm/msm_cuda.hpp"
#include "msm/msm_keys.hpp"

namespace cuzk::msm_detail {

namespace {

struct DigitArgs {
  const Fr* scalars;
  MsmTask task;
  unsigned sets, bucket_bits;
  uint32_t stride, sentinel;
  uint32_t *keys, *refs;
};

// A thread a scalar. Keys are (set, bucket), or the sentinel above all of them for a digit of zero.
__global__ void digits_kernel(DigitCutter cutter, DigitArgs a) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.task.bases) return;
  const uint32_t base = a.task.first_base + i;
  const DigitCutter::Prepared scalar = cutter.prepare(a.scalars[base]);
  for (unsigned d = 0; d < a.task.digits; ++d) {
    const unsigned w = a.task.first_digit + d;
    const DigitCode code = cutter.code(scalar, w);
    const size_t at = static_cast<size_t>(d) * a.task.bases + i;
    a.keys[at] = code == 0 ? a.sentinel : (w % a.sets - a.task.first_set) << a.bucket_bits | digit_bucket(code);
    a.refs[at] = (w / a.sets * a.stride + base) | (digit_negative(code) ? kNegative : 0);
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

Status sorted_digits(const MsmPlan& plan, const MsmTask& task, const Fr* scalars, std::byte* scratch, uint32_t** keys,
                     uint32_t** refs, const gpu::Stream& stream) {
  const MsmScratch& at = plan.scratch();
  const auto words = [&](size_t offset) { return reinterpret_cast<uint32_t*>(scratch + offset); };
  const uint32_t sentinel = task.sets << plan.bucket_bits();
  const auto entries = static_cast<uint32_t>(task.entries());
  DigitArgs args{scalars,
                 task,
                 plan.sets(),
                 plan.bucket_bits(),
                 static_cast<uint32_t>(plan.bases()),
                 sentinel,
                 words(at.keys[0]),
                 words(at.refs[0])};
  digits_kernel<<<(task.bases + 255) / 256, 256, 0, stream.handle()>>>(DigitCutter(plan.window_bits()), args);
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
  *keys = key_buffers.Current();
  *refs = ref_buffers.Current();
  count_kernel<<<1, 1, 0, stream.handle()>>>(*keys, entries, sentinel, words(at.count));
  CUZK_CUDA_TRY(cudaGetLastError());
  return {};
}

}  // namespace cuzk::msm_detail
