#include "worker/device_choice.hpp"

#include <gtest/gtest.h>

#include "worker/backend.hpp"

namespace cuzk {
namespace {

gpu::DeviceInfo gpu_of(int index, const char* uuid) {
  gpu::DeviceInfo out;
  out.index = index;
  out.name = "NVIDIA H200";
  out.uuid = uuid;
  out.multiprocessors = 132;
  out.memory_bytes = uint64_t{140} << 30;
  return out;
}
const FoundGpus kTwo = std::vector{gpu_of(0, "GPU-aaaa1111-0000"), gpu_of(1, "GPU-bbbb2222-0000")};
const FoundGpus kNoDriver = Error(ErrorClass::kNotFound, "no NVIDIA driver is loaded on this machine");
const FoundGpus kNoCode = Error(ErrorClass::kUnsupported, "this build has no CUDA code");
const FoundGpus kOldDriver = Error(ErrorClass::kDeviceUnusable, "the NVIDIA driver is too old");

std::vector<std::string> names(const Result<std::vector<DeviceChoice>>& choices) {
  if (!choices.ok()) return {choices.error().message};
  std::vector<std::string> out;
  for (const DeviceChoice& choice : *choices) out.push_back(choice.device);
  return out;
}
std::vector<std::string> chosen(std::vector<std::string> wanted, const FoundGpus& gpus) {
  return names(choose_devices(wanted, gpus));
}
using Names = std::vector<std::string>;

TEST(ChooseDevices, WithoutNamesAllGpusOrTheCpu) {
  EXPECT_EQ(chosen({}, kTwo), (Names{"cuda:GPU-aaaa1111-0000", "cuda:GPU-bbbb2222-0000"}));
  EXPECT_EQ(chosen({}, kNoDriver), Names{"cpu"});
  EXPECT_EQ(chosen({}, kNoCode), Names{"cpu"});
  EXPECT_EQ(chosen({}, std::vector<gpu::DeviceInfo>{}), Names{"cpu"});
}

// A machine with GPUs must not come to prove on the CPU unnoticed.
TEST(ChooseDevices, GpusThatCannotBeUsedAreAnError) {
  const auto found = choose_devices({}, kOldDriver);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().error_class, ErrorClass::kDeviceUnusable);
  EXPECT_EQ(chosen({"cpu"}, kOldDriver), Names{"cpu"});
}

TEST(ChooseDevices, ByNumberAndUuid) {
  EXPECT_EQ(chosen({"1"}, kTwo), Names{"cuda:GPU-bbbb2222-0000"});
  EXPECT_EQ(chosen({"GPU-BBBB2222", "0"}, kTwo), (Names{"cuda:GPU-bbbb2222-0000", "cuda:GPU-aaaa1111-0000"}));
  EXPECT_EQ(chosen({"cuda:1", "cpu"}, kTwo), (Names{"cuda:GPU-bbbb2222-0000", "cpu"}));
  EXPECT_EQ(chosen({"cpu"}, kTwo), Names{"cpu"});
}

TEST(ChooseDevices, Refusals) {
  for (const Names& wanted :
       {Names{"2"}, {"all"}, {"cuda"}, {"GPU-cccc3333"}, {""}, {"0", "GPU-aaaa1111"}, {"cpu", "cpu"}}) {
    const auto found = choose_devices(wanted, kTwo);
    ASSERT_FALSE(found.ok()) << wanted[0];
    EXPECT_EQ(found.error().error_class, ErrorClass::kUsage) << wanted[0];
  }
  EXPECT_NE(chosen({"2"}, kTwo)[0].find("GPU-aaaa1111-0000"), std::string::npos);  // names what there is
  EXPECT_EQ(choose_devices(Names{"0"}, kNoCode).error().error_class, ErrorClass::kUsage);
  EXPECT_EQ(choose_devices(Names{"0"}, kOldDriver).error().error_class, ErrorClass::kDeviceUnusable);
}

TEST(ChooseDevices, WhatIsKnownOfAGpuBeforeItIsInUse) {
  const auto found = choose_devices({}, kTwo);
  ASSERT_TRUE(found.ok());
  const DeviceInfo& info = (*found)[0].info;
  EXPECT_TRUE(info.is_gpu);
  EXPECT_EQ(info.name, "NVIDIA H200");
  EXPECT_EQ(info.uuid, "GPU-aaaa1111-0000");
  EXPECT_EQ(info.multiprocessors, 132u);
  EXPECT_EQ(info.memory_total_bytes, uint64_t{140} << 30);
  EXPECT_LT(info.memory_usable_bytes, info.memory_total_bytes);
  EXPECT_GT(info.memory_usable_bytes, info.memory_total_bytes / 10 * 9);
  EXPECT_EQ((*found)[1].gpu->index, 1);
}

TEST(UsableGpuBytes, AllButAMargin) {
  gpu::DeviceInfo gpu = gpu_of(0, "GPU-a");
  EXPECT_EQ(usable_gpu_bytes(gpu), gpu.memory_bytes / 32 * 31);
  gpu.memory_bytes = uint64_t{8} << 30;
  EXPECT_EQ(usable_gpu_bytes(gpu), gpu.memory_bytes - (uint64_t{512} << 20));
  gpu.memory_bytes = uint64_t{256} << 20;
  EXPECT_EQ(usable_gpu_bytes(gpu), 0u);
}

TEST(ChooseDevice, OfACommand) {
  const auto device = [](const char* name, const FoundGpus& gpus) {
    const auto found = choose_device(name, gpus);
    return found.ok() ? found->device : "error " + std::string(found.error().message);
  };
  EXPECT_EQ(device("auto", kTwo), "cuda:GPU-aaaa1111-0000");
  EXPECT_EQ(device("auto", kNoDriver), "cpu");
  EXPECT_EQ(device("auto", kNoCode), "cpu");
  EXPECT_EQ(device("cpu", kTwo), "cpu");
  EXPECT_EQ(device("cuda", kTwo), "cuda:GPU-aaaa1111-0000");
  EXPECT_EQ(device("cuda:1", kTwo), "cuda:GPU-bbbb2222-0000");
  EXPECT_EQ(device("cuda:GPU-bbbb2222", kTwo), "cuda:GPU-bbbb2222-0000");
  EXPECT_EQ(choose_device("auto", kOldDriver).error().error_class, ErrorClass::kDeviceUnusable);
  EXPECT_EQ(choose_device("cuda", kNoCode).error().error_class, ErrorClass::kUnsupported);
  EXPECT_EQ(choose_device("cuda", kNoDriver).error().error_class, ErrorClass::kNotFound);
  EXPECT_EQ(choose_device("cuda:2", kTwo).error().error_class, ErrorClass::kNotFound);
  for (const char* name : {"", "gpu", "CUDA", "cuda:", "cuda0"}) {
    EXPECT_EQ(choose_device(name, kTwo).error().error_class, ErrorClass::kUsage) << name;
  }
}

TEST(WorkerBackend, NamesOfGpus) {
  EXPECT_EQ(cuda_device_name("cuda"), "");
  EXPECT_EQ(cuda_device_name("cuda:3"), "3");
  EXPECT_EQ(cuda_device_name("cuda:GPU-1"), "GPU-1");
  for (const char* name : {"", "cpu", "cud", "cuda:", "cuda3", "CUDA:1"}) EXPECT_FALSE(cuda_device_name(name)) << name;
}

// On machines without a GPU every build refuses one with one line.
TEST(WorkerBackend, WithoutAGpuThereIsNoWorkerForOne) {
  if (gpu::list_devices().ok()) GTEST_SKIP() << "there is a GPU";
  const auto worker = make_worker_backend("cuda", 0);
  ASSERT_FALSE(worker.ok());
  EXPECT_EQ(worker.error().message.find('\n'), std::string::npos);
  const ErrorClass error_class = worker.error().error_class;
  EXPECT_TRUE(error_class == ErrorClass::kUnsupported || error_class == ErrorClass::kNotFound ||
              error_class == ErrorClass::kDeviceUnusable);
  EXPECT_EQ(make_worker_backend("abacus", 0).error().error_class, ErrorClass::kUnsupported);
}

}  // namespace
}  // namespace cuzk
