// The arena, its buffers and streams on a GPU. Exit status 1 where something is wrong, 2 where CUDA fails.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "gpu/api_counts.hpp"
#include "gpu/cuda_check.cuh"
#include "gpu/device.hpp"

namespace {

using namespace cuzk;
using namespace cuzk::gpu;

int failures = 0;
void expect(bool condition, const char* what) {
  if (condition) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

// Slow on purpose: writes `value` after `cycles`.
__global__ void write_late(uint32_t* out, size_t count, uint32_t value, long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  for (size_t i = threadIdx.x; i < count; i += blockDim.x) out[i] = value;
}
__global__ void count_differences(const uint32_t* in, size_t count, uint32_t value, unsigned* differences) {
  for (size_t i = threadIdx.x; i < count; i += blockDim.x) {
    if (in[i] != value) atomicAdd(differences, 1U);
  }
}

// Memory that stream a still writes is handed to stream b, whose work must come after: without the wait, a's late write
// would be seen.
Status reuse_across_streams(const Device& device, const Stream& a, const Stream& b, bool small) {
  const size_t count = 4096;
  const long long cycles = small ? 100'000 : 20'000'000;
  CUZK_ASSIGN(Reservation reservation, device.reserve(count * 4, Placement::kHigh));
  CUZK_ASSIGN(Reservation flags, device.reserve(256, Placement::kLow));
  CUZK_ASSIGN(auto differences, flags.allocate<unsigned>(1, b));
  CUZK_TRY(fill_bytes(differences.data(), 0, 4, b));
  CUZK_TRY(b.synchronize());
  void* first_address = nullptr;
  {
    CUZK_ASSIGN(auto first, reservation.allocate<uint32_t>(count, a));
    first_address = first.data();
    write_late<<<1, 256, 0, a.handle()>>>(first.data(), count, 1, cycles);
    CUZK_CUDA_TRY(cudaGetLastError());
  }
  CUZK_ASSIGN(auto second, reservation.allocate<uint32_t>(count, b));
  expect(second.data() == first_address, "the freed range is used again");
  write_late<<<1, 256, 0, b.handle()>>>(second.data(), count, 2, 0);
  CUZK_CUDA_TRY(cudaGetLastError());
  CUZK_TRY(a.synchronize());
  count_differences<<<1, 256, 0, b.handle()>>>(second.data(), count, 2, differences.data());
  CUZK_CUDA_TRY(cudaGetLastError());
  unsigned wrong = 1;
  CUZK_TRY(copy_bytes_to_host(&wrong, differences.data(), 4, b));
  CUZK_TRY(b.synchronize());
  expect(wrong == 0, "work on reused memory waits for the memory's last user");
  return {};
}

// The same through the arena: the reservation itself is returned and taken again.
Status reuse_of_reservations(const Device& device, const Stream& a, const Stream& b, bool small) {
  const uint64_t bytes = uint64_t{1} << 20;
  CUZK_ASSIGN(Reservation flags, device.reserve(256, Placement::kLow));
  CUZK_ASSIGN(auto differences, flags.allocate<unsigned>(1, b));
  CUZK_TRY(fill_bytes(differences.data(), 0, 4, b));
  {
    CUZK_ASSIGN(Reservation first, device.reserve(bytes, Placement::kHigh));
    CUZK_ASSIGN(auto buffer, first.allocate<uint32_t>(bytes / 4, a));
    write_late<<<1, 256, 0, a.handle()>>>(buffer.data(), buffer.size(), 1, small ? 100'000 : 20'000'000);
    CUZK_CUDA_TRY(cudaGetLastError());
  }
  CUZK_ASSIGN(Reservation second, device.reserve(bytes, Placement::kHigh));
  CUZK_ASSIGN(auto buffer, second.allocate<uint32_t>(bytes / 4, b));
  write_late<<<1, 256, 0, b.handle()>>>(buffer.data(), buffer.size(), 2, 0);
  CUZK_CUDA_TRY(cudaGetLastError());
  CUZK_TRY(a.synchronize());
  count_differences<<<1, 256, 0, b.handle()>>>(buffer.data(), buffer.size(), 2, differences.data());
  CUZK_CUDA_TRY(cudaGetLastError());
  unsigned wrong = 1;
  CUZK_TRY(copy_bytes_to_host(&wrong, differences.data(), 4, b));
  CUZK_TRY(b.synchronize());
  expect(wrong == 0, "work on a reused reservation waits for its last user");
  return {};
}

Status copies(const Device& device, const Stream& stream, std::span<uint32_t> pinned) {
  CUZK_ASSIGN(Reservation reservation,
              device.reserve(2 * Reservation::bytes_for<uint32_t>(pinned.size()), Placement::kHigh));
  CUZK_ASSIGN(auto buffer, reservation.allocate<uint32_t>(pinned.size(), stream));
  CUZK_ASSIGN(auto copy, reservation.allocate<uint32_t>(pinned.size(), stream));
  expect(!reservation.allocate<uint32_t>(1, stream).ok(), "a full reservation gives nothing more");
  expect(reservation.used_bytes() == reservation.capacity_bytes(), "the declared bytes are the used bytes");
  for (size_t i = 0; i < pinned.size(); ++i) pinned[i] = static_cast<uint32_t>(i * 2654435761U);
  CUZK_TRY(copy_to_device(buffer.span(), std::span<const uint32_t>(pinned), stream));
  CUZK_TRY(copy_bytes_on_device(copy.data(), buffer.data(), pinned.size_bytes(), stream));
  std::vector<uint32_t> back(pinned.size());
  CUZK_TRY(copy_to_host(std::span(back), std::span<const uint32_t>(copy.span()), stream));
  CUZK_TRY(stream.synchronize());
  expect(std::memcmp(back.data(), pinned.data(), pinned.size_bytes()) == 0, "copies keep the bytes");
  return {};
}

Status check(bool small) {
  CUZK_ASSIGN(const std::vector<DeviceInfo> devices, list_devices());
  for (const DeviceInfo& info : devices) {
    std::printf("%d %s %s, compute capability %d.%d, %d multiprocessors, %.1f GiB\n", info.index, info.uuid.c_str(),
                info.name.c_str(), info.compute_major, info.compute_minor, info.multiprocessors,
                static_cast<double>(info.memory_bytes) / (1 << 30));
    CUZK_ASSIGN(const DeviceInfo found, find_device(devices, info.uuid));
    expect(found.index == info.index, "a device is found by its UUID");
  }
  const auto too_large = Device::open(devices[0], {uint64_t{1} << 50, 0});
  expect(!too_large.ok() && too_large.error().error_class == ErrorClass::kResource, "an arena too large is refused");

  CUZK_ASSIGN(Device device, Device::open(devices[0], {uint64_t{64} << 20, 0}));
  CUZK_TRY(device.make_current());
  CUZK_ASSIGN(Stream a, device.make_stream());
  CUZK_ASSIGN(Stream b, device.make_stream());
  CUZK_ASSIGN(auto pinned, device.allocate_pinned<uint32_t>(small ? 1000 : 1'000'000));
  const ApiCounts before = api_counts();
  expect(before.allocations >= 2, "the arena and the pinned buffer are counted");

  CUZK_TRY(reuse_across_streams(device, a, b, small));
  CUZK_TRY(reuse_of_reservations(device, a, b, small));
  CUZK_TRY(copies(device, a, pinned.span()));
  const auto greedy = device.reserve((uint64_t{64} << 20) + 1, Placement::kLow);
  expect(!greedy.ok() && greedy.error().error_class == ErrorClass::kResource, "a reservation too large is refused");
  expect(device.usage().ranges == 0 && device.usage().used_bytes == 0, "everything went back to the arena");
  expect(api_counts() == before, "no allocation, no free, no device synchronisation after start-up");
  CUZK_TRY(a.synchronize());
  CUZK_TRY(b.synchronize());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const bool small = argc > 1 && std::strcmp(argv[1], "--small") == 0;
  const Status status = check(small);
  if (!status.ok()) {
    std::printf("%s\n", status.error().describe().c_str());
    return 2;
  }
  std::printf("gpu: %d wrong\n", failures);
  return failures == 0 ? 0 : 1;
}
