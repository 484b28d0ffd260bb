// Sums of multiples by sppark and by us on the same bases and scalars in device memory, one after the other in one
// process: one JSON line a size and form, in FILE too. Every sum is checked by known logarithms. Times are from the
// call to the point on the host, medians; sppark's for each window that it can be made to take. Usage:
// cuzk_sppark_msm_bench [FILE] [--g1 FIRST LAST] [--g2 FIRST LAST] [--skewed LOG2] [--no-tables]
#include <chrono>
#include <cstring>
#include <map>
#include <string>

#include "msm/msm_test_support.cuh"
#include "peers/peer_lines.hpp"
#include "peers/sppark.hpp"

namespace {

using namespace cuzk;
using namespace cuzk::msm_cuda_support;
using peers::SpparkMsm;

struct Arguments {
  unsigned g1[2] = {18, 26}, g2[2] = {18, 22};
  unsigned skewed = 18;  // log2 of the size that is also measured with other scalars, in G1
  bool tables = true;
};

bool all_correct = true;

template <class C>
constexpr bool kIsG1 = sizeof(typename C::Field) == sizeof(Fp);

// Of a call that leaves the sum on the host; the first run is checked, and not timed unless it is the only one.
template <class C, class Work>
double checked_ms(const Jacobian<C>& expected, int repeats, const std::string& what, Work&& work) {
  std::vector<double> times;
  for (int i = 0; i <= repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const Jacobian<C> sum = work();
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    if (i > 0 || repeats == 0) times.push_back(ms);
    if (i == 0 && !(sum == expected)) {
      std::fprintf(stderr, "wrong: %s\n", what.c_str());
      all_correct = false;
    }
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

int repeats_for(unsigned log2_size) { return log2_size <= 20 ? 7 : log2_size <= 22 ? 5 : 3; }

template <class C>
class Bench {
 public:
  Bench(unsigned log2_size, const gpu::Device& device, const gpu::Stream& stream, peers::Lines& lines)
      : log2_size_(log2_size),
        device_(device),
        stream_(stream),
        lines_(lines),
        bases_(size_t{1} << log2_size),
        scalars_(size_t{1} << log2_size) {
    make_bases<C>(bases_.span(), stream);
  }

  void run(Scalars kind, bool tables) {
    const size_t n = size_t{1} << log2_size_;
    make_scalars(scalars_.span(), kind, stream_);
    require(stream_.synchronize());
    expected_ = expected_sum<C>(n, kind);
    kind_ = kind;
    const std::map<unsigned, double> peer = peer_times();
    report({}, peer);
    if (!tables) return;
    // A few multiples, and all of them with windows as long as the larger tables allow.
    report({.table_multiples = 3, .max_entries = size_t{1} << 27}, peer);
    const size_t entries = log2_size_ < 24 ? 0 : size_t{1} << std::max(28u, log2_size_ + 3);
    const MsmOptions all{.table_multiples = 16, .max_entries = entries};
    report(all, peer);
  }

 private:
  std::map<unsigned, double> peer_times() {
    std::map<unsigned, double> out;
    const auto time = [&](unsigned bits, int repeats) {
      const auto sum = kIsG1<C> ? SpparkMsm::make_g1(bits) : SpparkMsm::make_g2(bits);
      out[bits] = checked_ms<C>(expected_, repeats, "sppark " + label() + ", " + std::to_string(bits) + " bits", [&] {
        Jacobian<C> result;
        if (!sum->run(bases_.data(), scalars_.data(), scalars_.span().size(), &result)) {
          std::fprintf(stderr, "sppark failed\n");
          std::exit(2);
        }
        return result;
      });
    };
    const unsigned first = std::clamp(log2_size_ - 8, SpparkMsm::kMinWindowBits, SpparkMsm::kMaxWindowBits);
    const unsigned last = std::clamp(log2_size_ - 4, first, SpparkMsm::kMaxWindowBits);
    if (kind_ == Scalars::kUniform) {
      for (unsigned bits = first; bits <= last; ++bits) time(bits, 1);
      best_bits_ = best(out);
      time(best_bits_, repeats_for(log2_size_));
      time(SpparkMsm::kDefaultWindowBits, log2_size_ <= 22 ? 3 : 1);
    } else {
      time(best_bits_, 0);  // skewed scalars take it seconds
    }
    return out;
  }
  static unsigned best(const std::map<unsigned, double>& times) {
    return std::min_element(times.begin(), times.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }
  std::string label() const { return std::string(C::kName) + " 2^" + std::to_string(log2_size_) + " " + name(kind_); }

  void report(MsmOptions options, const std::map<unsigned, double>& peer) {
    const size_t n = size_t{1} << log2_size_;
    options.multiprocessors = static_cast<unsigned>(device_.info().multiprocessors);
    options.multiplier = msm_multiplier(msm_multiplier(device_.info()), n);
    options.prepared = options.table_multiples > 1;
    const MsmPlan plan = require(MsmPlan::make(kIsG1<C> ? MsmGroup::kG1 : MsmGroup::kG2, n, options));
    size_t free_bytes = 0, total_bytes = 0;
    require(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (plan.table_points() * sizeof(Affine<C>) + plan.scratch_bytes() + (size_t{1} << 30) > free_bytes) return;
    DeviceArray<Affine<C>> table(plan.table_points());
    DeviceArray<Xyzz<C>> sums(plan.sums());
    DeviceArray<std::byte> scratch(plan.scratch_bytes());
    require(gpu::copy_bytes_on_device(table.data(), bases_.data(), bases_.span().size_bytes(), stream_));
    require(msm_make_table<C>(plan, table.span(), stream_));
    if constexpr (kIsG1<C>) {
      if (plan.bases_are_prepared()) require(msm_prepare(table.span(), stream_));
    }
    require(stream_.synchronize());
    const double ms = checked_ms<C>(expected_, repeats_for(log2_size_), "cuzk " + label(), [&] {
      return run_msm<C>(plan, table.span(), scalars_.span(), sums.span(), scratch.span(), stream_);
    });
    std::string by_bits;
    for (const auto& [bits, peer_ms] : peer) {
      by_bits += (by_bits.empty() ? "\"" : ", \"") + std::to_string(bits) + "\": " + peers::number(peer_ms);
    }
    const unsigned best_bits = best(peer);
    lines_.add("{\"peer\": \"sppark\", \"msm\": \"" + std::string(C::kName) +
               "\", \"log2_size\": " + std::to_string(log2_size_) + ", \"scalars\": \"" + name(kind_) +
               "\", \"table_multiples\": " + std::to_string(plan.table_multiples()) +
               ", \"window_bits\": " + std::to_string(plan.window_bits()) + ", \"ms\": " + peers::number(ms) +
               ", \"peer_bits\": " + std::to_string(best_bits) + ", \"peer_ms\": " + peers::number(peer.at(best_bits)) +
               ", \"ratio\": " + peers::number(peer.at(best_bits) / ms) + ", \"peer_ms_by_bits\": {" + by_bits + "}}");
  }

  const unsigned log2_size_;
  const gpu::Device& device_;
  const gpu::Stream& stream_;
  peers::Lines& lines_;
  DeviceArray<Affine<C>> bases_;
  DeviceArray<Fr> scalars_;
  Jacobian<C> expected_;
  Scalars kind_ = Scalars::kUniform;
  unsigned best_bits_ = SpparkMsm::kDefaultWindowBits;  // sppark's for uniform scalars
};

template <class C>
void measure(const unsigned (&sizes)[2], const Arguments& arguments, const gpu::Device& device,
             const gpu::Stream& stream, peers::Lines& lines) {
  for (unsigned size = sizes[0]; size <= sizes[1]; size += 2) {
    Bench<C> bench(size, device, stream, lines);
    bench.run(Scalars::kUniform, arguments.tables && size >= 22);
    if constexpr (kIsG1<C>) {
      if (size != arguments.skewed) continue;
      for (const Scalars kind : {Scalars::kBytes, Scalars::kHalfEqual}) bench.run(kind, false);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  const char* file = nullptr;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto number = [&] { return static_cast<unsigned>(i + 1 < argc ? std::atoi(argv[++i]) : 0); };
    if (option == "--g1" || option == "--g2") {
      auto& sizes = option == "--g1" ? arguments.g1 : arguments.g2;
      sizes[0] = number();
      sizes[1] = number();
    } else if (option == "--skewed") {
      arguments.skewed = number();
    } else if (option == "--no-tables") {
      arguments.tables = false;
    } else if (i == 1 && option[0] != '-') {
      file = argv[i];
    } else {
      std::fprintf(stderr, "unknown option %s\n", option.c_str());
      return 2;
    }
  }
  peers::Lines lines(file);
  const auto devices = require(gpu::list_devices());
  const auto device = require(gpu::Device::open(devices.at(0), {.bytes = size_t{1} << 20}));
  require(device.make_current());
  const auto stream = require(device.make_stream());
  if (!peers::keep_sppark_memory()) return 2;
  measure<G1Curve>(arguments.g1, arguments, device, stream, lines);
  measure<G2Curve>(arguments.g2, arguments, device, stream, lines);
  return all_correct ? 0 : 1;
}
