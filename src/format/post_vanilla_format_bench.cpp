#include <benchmark/benchmark.h>

#include <numeric>

#include "filecoin/post_synthetic.hpp"
#include "format/post_vanilla_format.hpp"

namespace cuzk {
namespace {

// A full partition; every blob has the same bytes, which the reader does not notice.
void read_window_32g(benchmark::State& state) {
  const PostRequest request{post_shape_by_circuit_id("window-32g"), PostApiVersion::kV1_2_0, {}, 0};
  const PostVanilla vanilla = make_synthetic_post(request, std::array<uint64_t, 1>{1}, NodeBytes{});
  const std::vector<uint8_t> bytes = write_post_sector_proof(vanilla, 0);
  const std::vector<std::span<const uint8_t>> blobs(2349, bytes);
  for (auto _ : state) benchmark::DoNotOptimize(read_post_vanilla(*request.shape, blobs).ok());
  state.SetBytesProcessed(static_cast<int64_t>(bytes.size() * blobs.size()) * static_cast<int64_t>(state.iterations()));
}
BENCHMARK(read_window_32g)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk
