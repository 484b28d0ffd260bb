// Times sums on the device, one JSON line each, printed and in FILE; every result is checked by known logarithms.
// Usage: cuzk_msm_cuda_bench [FILE] [--group g1|g2] [--log2 FIRST LAST] [--multiples T] [--bits C] [--rounds R]
//                            [--entries LOG2] [--waves N] [--skewed] [--witnesses K] [--streamed LOG2_PART] [--repeat
//                            N] [--multiplier integer|hybrid|both] [--prepared]
// --prepared: for the hybrid multiplier, the bases are brought into its form beforehand, not in each sum.
#include <cstring>
#include <string>
#include <type_traits>

#include "gpu/timing.hpp"
#include "msm/msm_test_support.cuh"

namespace {

using namespace cuzk;
using namespace cuzk::msm_cuda_support;

struct Arguments {
  bool g1 = true, g2 = true, skewed = false;
  unsigned first = 18, last = 24;
  unsigned witnesses = 0;  // of a selection; 0: sums of multiples
  unsigned log2_part = 0;  // of bases streamed from host memory; 0: resident
  int repeat = 5;
  std::FILE* file = nullptr;
  MsmOptions options;
  std::vector<MsmMultiplier> multipliers = {MsmMultiplier::kInteger, MsmMultiplier::kHybrid};
};

const char* name(MsmMultiplier m) { return m == MsmMultiplier::kHybrid ? "hybrid" : "integer"; }

bool all_correct = true;

template <class C>
void measure(unsigned log2_size, MsmMultiplier multiplier, const Arguments& arguments, const gpu::Device& device,
             const gpu::Stream& stream) {
  const size_t n = size_t{1} << log2_size;
  MsmOptions options = arguments.options;
  options.multiprocessors = static_cast<unsigned>(device.info().multiprocessors);
  options.multiplier = multiplier;
  const MsmPlan plan =
      require(MsmPlan::make(sizeof(typename C::Field) == sizeof(Fp) ? MsmGroup::kG1 : MsmGroup::kG2, n, options));
  DeviceArray<Affine<C>> table(plan.table_points());
  DeviceArray<Fr> scalars(n);
  DeviceArray<Xyzz<C>> sums(plan.sums());
  DeviceArray<std::byte> scratch(plan.scratch_bytes());
  auto begin = require(device.make_event()), end = require(device.make_event());
  make_bases<C>(table.first(n), stream);
  require(begin.record(stream));
  require(msm_make_table<C>(plan, table.span(), stream));
  require(end.record(stream));
  require(end.synchronize());
  const double table_ms = require(end.milliseconds_since(begin));
  if constexpr (std::is_same_v<C, G1Curve>) {
    if (plan.bases_are_prepared()) require(msm_prepare(table.span(), stream));
  }
  for (const Scalars kind : kAllScalars) {
    if (kind != Scalars::kUniform && !arguments.skewed) continue;
    make_scalars(scalars.span(), kind, stream);
    const bool correct =
        run_msm<C>(plan, table.span(), scalars.span(), sums.span(), scratch.span(), stream) == expected_sum<C>(n, kind);
    all_correct = all_correct && correct;
    const auto times = require(gpu::time_runs(stream, begin, end, 0, arguments.repeat, [&] {
      return msm_enqueue<C>(plan, table.span(), scalars.span(), sums.span(), scratch.span(), stream);
    }));
    for (std::FILE* out : {stdout, arguments.file}) {
      if (out == nullptr) continue;
      std::fprintf(
          out,
          "{\"msm\": \"%s\", \"multiplier\": \"%s\", \"prepared\": %s, \"log2_size\": %u, \"scalars\": \"%s\", "
          "\"window_bits\": %u, "
          "\"table_multiples\": %u, \"affine_rounds\": %u, \"threads\": %u, \"entries\": %zu, \"milliseconds\": %.3f, "
          "\"slowest_ms\": %.3f, \"table_ms\": %.1f, \"scratch_bytes\": %zu, \"correct\": %s}\n",
          C::kName, name(plan.multiplier()), plan.bases_are_prepared() ? "true" : "false", log2_size, name(kind),
          plan.window_bits(), plan.table_multiples(), plan.affine_rounds(), plan.threads(), plan.max_entries(),
          times[times.size() / 2], times.back(), table_ms, plan.scratch_bytes(), correct ? "true" : "false");
      std::fflush(out);
    }
  }
}

// Bases in pinned host memory.
template <class C>
void measure_streamed(unsigned log2_size, const Arguments& arguments, const gpu::Device& device,
                      const gpu::Stream& stream) {
  const size_t n = size_t{1} << log2_size, part = size_t{1} << arguments.log2_part;
  MsmOptions options = arguments.options;
  options.multiprocessors = static_cast<unsigned>(device.info().multiprocessors);
  options.total_bases = n;
  const MsmPlan plan =
      require(MsmPlan::make(sizeof(typename C::Field) == sizeof(Fp) ? MsmGroup::kG1 : MsmGroup::kG2, part, options));
  const auto pinned = require(device.allocate_pinned<Affine<C>>(n));
  {
    DeviceArray<Affine<C>> bases(n);
    make_bases<C>(bases.span(), stream);
    require(gpu::copy_to_host<Affine<C>>(pinned.span(), bases.span(), stream));
    require(stream.synchronize());
  }
  DeviceArray<Affine<C>> buffers(2 * part);
  DeviceArray<Fr> scalars(n);
  DeviceArray<Xyzz<C>> sums(plan.sums());
  DeviceArray<std::byte> scratch(plan.scratch_bytes());
  make_scalars(scalars.span(), Scalars::kUniform, stream);
  const auto copies = require(device.make_stream());
  const auto event = [&] { return require(device.make_event()); };
  MsmStaging<C> staging{
      {buffers.first(part), buffers.span().subspan(part)}, copies, {event(), event()}, {event(), event()}};
  auto begin = event(), end = event();
  const auto times = require(gpu::time_runs(stream, begin, end, 1, arguments.repeat, [&] {
    return msm_enqueue_streamed<C>(plan, pinned.span(), scalars.span(), sums.span(), scratch.span(), staging, stream);
  }));
  std::vector<Xyzz<C>> host(plan.sums());
  require(gpu::copy_to_host<Xyzz<C>>(std::span(host), sums.span(), stream));
  require(stream.synchronize());
  const bool correct = msm_finish<C>(plan, host) == expected_sum<C>(n, Scalars::kUniform);
  all_correct = all_correct && correct;
  for (std::FILE* out : {stdout, arguments.file}) {
    if (out == nullptr) continue;
    std::fprintf(out,
                 "{\"streamed_msm\": \"%s\", \"log2_size\": %u, \"log2_part\": %u, \"window_bits\": %u, "
                 "\"milliseconds\": %.3f, \"slowest_ms\": %.3f, \"scratch_bytes\": %zu, \"correct\": %s}\n",
                 C::kName, log2_size, arguments.log2_part, plan.window_bits(), times[times.size() / 2], times.back(),
                 plan.scratch_bytes(), correct ? "true" : "false");
    std::fflush(out);
  }
}

__global__ void bits_kernel(uint64_t* out, uint64_t words) {
  const uint64_t i = static_cast<uint64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (i < words) out[i] = mix(i);
}

// Sums of the bases that each of several random bit vectors selects.
template <class C>
void measure_selection(unsigned log2_size, const Arguments& arguments, const gpu::Device& device,
                       const gpu::Stream& stream) {
  const size_t n = size_t{1} << log2_size;
  MsmOptions options = arguments.options;
  options.multiprocessors = static_cast<unsigned>(device.info().multiprocessors);
  const MsmPlan plan = require(MsmPlan::make_selection(
      sizeof(typename C::Field) == sizeof(Fp) ? MsmGroup::kG1 : MsmGroup::kG2, n, arguments.witnesses, options));
  DeviceArray<Affine<C>> bases(n);
  DeviceArray<uint64_t> bits(plan.witnesses() * plan.words_of_bits());
  DeviceArray<Xyzz<C>> sums(plan.sums());
  DeviceArray<std::byte> scratch(plan.scratch_bytes());
  auto begin = require(device.make_event()), end = require(device.make_event());
  make_bases<C>(bases.span(), stream);
  bits_kernel<<<static_cast<unsigned>((bits.span().size() + 255) / 256), 256, 0, stream.handle()>>>(bits.data(),
                                                                                                    bits.span().size());
  const auto times = require(gpu::time_runs(stream, begin, end, 1, arguments.repeat, [&] {
    return selection_enqueue<C>(plan, bases.span(), bits.span(), sums.span(), scratch.span(), stream);
  }));
  std::vector<Xyzz<C>> host(plan.sums());
  require(gpu::copy_to_host<Xyzz<C>>(std::span(host), sums.span(), stream));
  require(stream.synchronize());
  bool correct = true;
  for (unsigned k = 0; k < plan.witnesses(); ++k) {
    Fr log;
    for (size_t word = 0; word < plan.words_of_bits(); ++word) {
      // 64 logarithms of 64 bits as an integer of two limbs.
      unsigned __int128 part = 0;
      const uint64_t selected = mix(k * plan.words_of_bits() + word);
      for (unsigned bit = 0; bit < 64; ++bit) part += selected >> bit & 1 ? log_at(64 * word + bit) : 0;
      log += Fr::from_plain({static_cast<uint64_t>(part), static_cast<uint64_t>(part >> 64), 0, 0});
    }
    correct = correct && selection_finish<C>(plan, host, k) == Jacobian<C>::from_affine(C::generator()).mul(log);
  }
  all_correct = all_correct && correct;
  for (std::FILE* out : {stdout, arguments.file}) {
    if (out == nullptr) continue;
    std::fprintf(out,
                 "{\"selection\": \"%s\", \"log2_size\": %u, \"witnesses\": %u, \"milliseconds\": %.3f, "
                 "\"slowest_ms\": %.3f, \"scratch_bytes\": %zu, \"correct\": %s}\n",
                 C::kName, log2_size, plan.witnesses(), times[times.size() / 2], times.back(), plan.scratch_bytes(),
                 correct ? "true" : "false");
    std::fflush(out);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto number = [&] { return i + 1 < argc ? std::atoi(argv[++i]) : 0; };
    if (option == "--group" && i + 1 < argc) {
      const std::string group = argv[++i];
      arguments.g1 = group == "g1";
      arguments.g2 = group == "g2";
    } else if (option == "--log2") {
      arguments.first = static_cast<unsigned>(number());
      arguments.last = static_cast<unsigned>(number());
    } else if (option == "--multiples") {
      arguments.options.table_multiples = static_cast<unsigned>(number());
    } else if (option == "--bits") {
      arguments.options.window_bits = static_cast<unsigned>(number());
    } else if (option == "--rounds") {
      arguments.options.affine_rounds = number();
    } else if (option == "--waves") {
      arguments.options.waves = static_cast<unsigned>(number());
    } else if (option == "--entries") {
      arguments.options.max_entries = size_t{1} << number();
    } else if (option == "--streamed") {
      arguments.log2_part = static_cast<unsigned>(number());
    } else if (option == "--witnesses") {
      arguments.witnesses = static_cast<unsigned>(number());
    } else if (option == "--repeat") {
      arguments.repeat = std::max(number(), 1);
    } else if (option == "--multiplier" && i + 1 < argc) {
      const std::string which = argv[++i];
      if (which == "integer") arguments.multipliers = {MsmMultiplier::kInteger};
      if (which == "hybrid") arguments.multipliers = {MsmMultiplier::kHybrid};
    } else if (option == "--prepared") {
      arguments.options.prepared = true;
    } else if (option == "--skewed") {
      arguments.skewed = true;
    } else if (i == 1 && option[0] != '-') {
      arguments.file = std::fopen(argv[i], "w");
    } else {
      std::fprintf(stderr, "unknown option %s\n", option.c_str());
      return 2;
    }
  }
  const auto devices = require(gpu::list_devices());
  const auto device = require(gpu::Device::open(devices.at(0), {.bytes = size_t{1} << 20}));
  require(device.make_current());
  const auto stream = require(device.make_stream());
  for (unsigned size = arguments.first; size <= arguments.last; size += 2) {
    if (arguments.log2_part > 0) {
      if (arguments.g1) measure_streamed<G1Curve>(size, arguments, device, stream);
      if (arguments.g2) measure_streamed<G2Curve>(size, arguments, device, stream);
      continue;
    }
    if (arguments.witnesses > 0) {
      if (arguments.g1) measure_selection<G1Curve>(size, arguments, device, stream);
      if (arguments.g2) measure_selection<G2Curve>(size, arguments, device, stream);
      continue;
    }
    for (const MsmMultiplier multiplier : arguments.multipliers) {
      if (arguments.g1) measure<G1Curve>(size, multiplier, arguments, device, stream);
    }
    if (arguments.g2) measure<G2Curve>(size, MsmMultiplier::kInteger, arguments, device, stream);
  }
  return all_correct ? 0 : 1;
}
