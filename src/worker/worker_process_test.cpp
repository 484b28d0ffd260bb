// Proofs by a process of its own, and all that such a process may do instead of proving.
#include "worker/worker_process.hpp"

#include <gtest/gtest.h>

#include <array>
#include <future>
#include <set>

#include "base/memory_reserve.hpp"
#include "worker/worker_test_support.hpp"

namespace cuzk {
namespace {

using test::kPatience;
using test::PostFiles;
using test::TestDevice;
using test::worker_options;
using namespace std::chrono_literals;

template <class T>
void expect_error(const Result<T>& result, ErrorClass error_class) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().error_class, error_class) << result.error().describe();
}
#define EXPECT_ERROR(result, error_class)          \
  do {                                             \
    SCOPED_TRACE(#result);                         \
    expect_error(result, ErrorClass::error_class); \
    if (testing::Test::HasFatalFailure()) return;  \
  } while (0)

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Loads and proves, as if nothing had been.
void expect_works(TestDevice& test) {
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  const auto loaded = test.load();
  ASSERT_TRUE(loaded.ok()) << loaded.error().describe();
  const auto proof = test.prove();
  ASSERT_TRUE(proof.ok()) << proof.error().describe();
  EXPECT_TRUE(PostFiles::window().verifies(*proof));
  EXPECT_EQ(test.device->state(), DeviceState::kIdle);
}

TEST(WorkerProcess, LoadsProvesAndUnloads) {
  TestDevice test(worker_options());
  EXPECT_TRUE(test.wait_for(DeviceState::kIdle));
  EXPECT_EQ(test.device->info().name, "CPU, 2 threads");
  EXPECT_FALSE(test.device->info().is_gpu);
  EXPECT_EQ(test.device->generation(), 1u);
  const auto loaded = test.load();
  ASSERT_TRUE(loaded.ok()) << loaded.error().describe();
  EXPECT_EQ(loaded->parameter_bytes, PostFiles::window().parameter_bytes);
  EXPECT_EQ(loaded->circuit_bytes, PostFiles::window().circuit_bytes);
  const auto first = test.prove(), second = test.prove();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(PostFiles::window().verifies(*first));
  EXPECT_TRUE(PostFiles::window().verifies(*second));
  EXPECT_NE(first->proof, second->proof) << "fresh blinding";
  EXPECT_TRUE(test.unload().ok());
  EXPECT_ERROR(test.prove(), kUsage);
  EXPECT_TRUE(test.unload().ok()) << "what is not there";
  expect_works(test);
  EXPECT_EQ(test.device->generation(), 1u);
  EXPECT_TRUE(test.faults().empty());
  EXPECT_FALSE(test.device->last_fault());
  EXPECT_GT(test.changes, 10);
}

// Whoever watches a process goes on watching it where memory runs out.
TEST(WorkerProcess, ItsThreadUsesTheMemoryReserve) {
  TestDevice test(worker_options());
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  std::promise<ReserveUse> found;
  test.device->load(PostFiles::window().files,
                    [&](const Result<LoadReport>&) { found.set_value(ReserveScope::of_this_thread()); });
  EXPECT_EQ(found.get_future().get(), ReserveUse::kMay);
}

TEST(WorkerProcess, HoldsSeveralCircuits) {
  TestDevice test(worker_options());
  const PostFiles& winning = PostFiles::winning();
  expect_works(test);
  ASSERT_TRUE(test.load(winning.files).ok());
  const auto proof = test.prove(winning.witness, winning.spec());
  ASSERT_TRUE(proof.ok()) << proof.error().describe();
  EXPECT_TRUE(winning.verifies(*proof));
  EXPECT_FALSE(PostFiles::window().verifies(*proof));
  EXPECT_ERROR(test.prove(winning.witness), kInternal);  // of another circuit
  EXPECT_TRUE(test.unload(winning.spec()).ok());
  EXPECT_TRUE(test.prove().ok());
}

TEST(WorkerProcess, WrongWitnessesCostNothingElse) {
  TestDevice test(worker_options());
  expect_works(test);
  PackedWitness unsatisfied = PostFiles::window().witness;
  unsatisfied.fields[5] += Fr::one();
  const auto refused = test.prove(unsatisfied);
  EXPECT_ERROR(refused, kUnsatisfied);
  EXPECT_TRUE(contains(refused.error().field, "constraint ")) << refused.error().describe();
  PackedWitness other = PostFiles::window().witness;
  other.fields.pop_back();
  EXPECT_ERROR(test.prove(other), kInternal);
  EXPECT_ERROR(test.prove({}), kInternal);
  expect_works(test);
  EXPECT_EQ(test.device->generation(), 1u);
}

TEST(WorkerProcess, WrongFilesAreNamed) {
  TestDevice test(worker_options());
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  CircuitFiles files = PostFiles::window().files;
  files.params_file += ".none";
  const auto missing = test.load(files);
  EXPECT_ERROR(missing, kNotFound);
  EXPECT_EQ(missing.error().file, files.params_file);
  files = PostFiles::window().files;
  files.params_file = files.circuit_file;
  EXPECT_ERROR(test.load(files), kCorrupt);
  files = PostFiles::window().files;
  files.circuit_file = files.params_file;
  EXPECT_ERROR(test.load(files), kCorrupt);
  files.circuit_file = std::string(5000, 'x');
  EXPECT_ERROR(test.load(files), kUsage);
  // What could not be loaded is not there.
  EXPECT_ERROR(test.prove(), kUsage);
  expect_works(test);
  EXPECT_EQ(test.device->generation(), 1u);
}

TEST(WorkerProcess, ACrashCostsOneTask) {
  WorkerProcessOptions options = worker_options("crash@2");
  options.faulty_processes = 1;
  TestDevice test(options);
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  ASSERT_TRUE(test.load().ok());
  DeviceState state_then = DeviceState::kIdle;
  std::promise<Result<PartitionProof>> result;
  test.device->prove(PostFiles::window().spec(), TestDevice::witnesses({PostFiles::window().witness}),
                     TestDevice::only([&](Result<PartitionProof> r) {
                       state_then = test.device->state();
                       result.set_value(std::move(r));
                     }));
  const auto crashed = result.get_future().get();
  EXPECT_ERROR(crashed, kDeviceFault);
  EXPECT_EQ(state_then, DeviceState::kRestarting);
  EXPECT_TRUE(
      contains(crashed.error().message, "device 0 ended by signal 11 (Segmentation fault) while proving window-2k"))
      << crashed.error().message;
  ASSERT_EQ(test.faults().size(), 1u);
  EXPECT_EQ(test.device->last_fault()->message, crashed.error().message);
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  EXPECT_EQ(test.device->generation(), 2u);
  EXPECT_ERROR(test.prove(), kUsage);  // nothing is loaded any more
  expect_works(test);
}

TEST(WorkerProcess, AnExitIsToldWithItsLastWords) {
  TestDevice test(worker_options("shout@1,exit@1"));
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  const auto ended = test.load();
  EXPECT_ERROR(ended, kDeviceFault);
  EXPECT_TRUE(contains(ended.error().message, "ended with exit status 3 while loading window-2k; its last words: "))
      << ended.error().message;
  EXPECT_TRUE(contains(ended.error().message, "line 997 | line 998 | line 999")) << ended.error().message;
  const auto lines = test.lines();
  ASSERT_EQ(lines.size(), 51u) << "50 and how many there were more";
  EXPECT_EQ(lines[0], "line 0");
  EXPECT_EQ(lines[50], "950 more lines were dropped");
}

TEST(WorkerProcess, AHangEndsByTheWatchdog) {
  WorkerProcessOptions options = worker_options("hang@2");
  options.faulty_processes = 1;
  options.times.prove_step = 300ms;
  options.times.prove_step_per_constraint = 0us;
  TestDevice test(options);
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  ASSERT_TRUE(test.load().ok());
  const auto start = std::chrono::steady_clock::now();
  const auto hung = test.prove();
  EXPECT_GE(std::chrono::steady_clock::now() - start, 300ms);
  EXPECT_ERROR(hung, kDeviceFault);
  EXPECT_TRUE(contains(hung.error().message, "got no further for ")) << hung.error().message;
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  EXPECT_EQ(test.device->generation(), 2u);
}

TEST(WorkerProcess, AStoppedProcessEndsByTheWatchdog) {
  WorkerProcessOptions options = worker_options("freeze@1");
  options.faulty_processes = 1;
  options.times.silence = 2s;
  TestDevice test(options);
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  const auto stopped = test.load();
  EXPECT_ERROR(stopped, kDeviceFault);
  EXPECT_TRUE(contains(stopped.error().message, "gave no sign of life for ")) << stopped.error().message;
  expect_works(test);
}

TEST(WorkerProcess, LongWorkThatGoesOnIsNoHang) {
  WorkerProcessOptions options = worker_options("slow@*=2500");
  options.times.silence = 1500ms;
  TestDevice test(options);
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  EXPECT_TRUE(test.load().ok()) << "it beats, and its step may take long";
}

TEST(WorkerProcess, AWrongProofComesThrough) {
  TestDevice test(worker_options("wrong-proof@3"));
  expect_works(test);
  const auto wrong = test.prove();
  ASSERT_TRUE(wrong.ok());
  EXPECT_TRUE(decode_proof(wrong->proof).ok()) << "well formed";
  EXPECT_FALSE(PostFiles::window().verifies(*wrong)) << "this is what the engine's check is for";
  expect_works(test);
}

TEST(WorkerProcess, AllocationFailuresAreErrors) {
  TestDevice test(worker_options("bad-alloc@1,bad-alloc@3,fail@5"));
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  EXPECT_ERROR(test.load(), kResource);
  ASSERT_TRUE(test.load().ok());
  EXPECT_ERROR(test.prove(), kResource);
  EXPECT_TRUE(test.prove().ok());
  EXPECT_ERROR(test.prove(), kInternal);
  EXPECT_TRUE(test.prove().ok());
  EXPECT_EQ(test.device->generation(), 1u);
}

// The process says so itself, and is started anew: its context is worth nothing any more.
TEST(WorkerProcess, ALostDeviceEndsTheProcess) {
  WorkerProcessOptions options = worker_options("lose-device@2");
  options.faulty_processes = 1;
  TestDevice test(options);
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  ASSERT_TRUE(test.load().ok());
  const auto failed = test.prove();
  EXPECT_ERROR(failed, kDeviceFault);
  EXPECT_TRUE(contains(failed.error().message, "lost its device: lost on purpose")) << failed.error().message;
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  EXPECT_EQ(test.device->generation(), 2u);
  expect_works(test);
}

// What is known of a device is said before its process is ready, and what the process says after that.
TEST(WorkerProcess, InfoBeforeTheProcessIsReady) {
  WorkerProcessOptions options = worker_options("hang@0");
  options.info.is_gpu = true;
  options.info.name = "NVIDIA H200";
  options.info.memory_usable_bytes = 5;
  TestDevice hangs(options);
  EXPECT_TRUE(hangs.device->info().is_gpu);
  EXPECT_EQ(hangs.device->info().name, "NVIDIA H200");
  EXPECT_EQ(hangs.device->info().memory_usable_bytes, 5u);
  options.faults.clear();
  TestDevice starts(options);
  ASSERT_TRUE(starts.wait_for(DeviceState::kIdle));
  EXPECT_EQ(starts.device->info().name.rfind("CPU, ", 0), 0u);
  EXPECT_FALSE(starts.device->info().is_gpu);
}

TEST(WorkerProcess, GarbageEndsTheProcess) {
  WorkerProcessOptions options = worker_options("garbage@1");
  options.faulty_processes = 1;
  TestDevice test(options);
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  const auto failed = test.load();
  EXPECT_ERROR(failed, kDeviceFault);
  EXPECT_TRUE(contains(failed.error().message, "sent what is no message")) << failed.error().message;
  expect_works(test);
}

TEST(WorkerProcess, CancelStopsAProof) {
  TestDevice test(worker_options("slow@2=60000"));
  test.device->cancel();
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  test.device->cancel();  // nothing
  ASSERT_TRUE(test.load().ok());
  auto proof = test.start_proof();
  EXPECT_EQ(test.device->state(), DeviceState::kProving);
  EXPECT_EQ(proof.wait_for(50ms), std::future_status::timeout);
  const auto start = std::chrono::steady_clock::now();
  test.device->cancel();
  test.device->cancel();
  ASSERT_EQ(proof.wait_for(kPatience), std::future_status::ready);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
  const auto cancelled = proof.get();
  EXPECT_ERROR(cancelled, kCancelled);
  EXPECT_EQ(cancelled.error().message, "cancelled");
  // The next one is not.
  expect_works(test);
  EXPECT_EQ(test.device->generation(), 1u);
  // Asked for at once.
  proof = test.start_proof();
  test.device->cancel();
  const auto result = proof.get();
  EXPECT_TRUE(result.ok() || result.error().message == "cancelled");
  expect_works(test);
}

TEST(WorkerProcess, CancelStopsALoad) {
  TestDevice test(worker_options("slow@1=60000"));
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  std::promise<Result<LoadReport>> loaded;
  test.device->load(PostFiles::window().files, [&](Result<LoadReport> result) { loaded.set_value(std::move(result)); });
  auto result = loaded.get_future();
  EXPECT_EQ(result.wait_for(50ms), std::future_status::timeout);
  test.device->cancel();
  ASSERT_EQ(result.wait_for(kPatience), std::future_status::ready);
  EXPECT_ERROR(result.get(), kCancelled);
  EXPECT_ERROR(test.prove(), kUsage);  // nothing is loaded
  EXPECT_TRUE(test.load().ok());
  EXPECT_TRUE(test.prove().ok());
  EXPECT_EQ(test.device->generation(), 1u);
}

TEST(WorkerProcess, ProvesSeveralTogether) {
  TestDevice test(worker_options("wrong-proof@4"));
  expect_works(test);
  const PostFiles& files = PostFiles::window();
  const auto proofs = test.prove_all({files.witness, files.witness, files.witness});
  ASSERT_TRUE(proofs.ok()) << proofs.error().describe();
  ASSERT_EQ(proofs->size(), 3u);
  std::set<std::array<uint8_t, kProofBytes>> different;
  for (const auto& proof : *proofs) {
    ASSERT_TRUE(proof.ok());
    EXPECT_TRUE(files.verifies(*proof));
    different.insert(proof->proof);
  }
  EXPECT_EQ(different.size(), 3u) << "fresh blinding";
  // A fault of one is told of that one.
  const auto wrong = test.prove_all({files.witness, files.witness});
  ASSERT_TRUE(wrong.ok() && wrong->size() == 2u);
  EXPECT_FALSE(files.verifies(*wrong->at(0)));
  EXPECT_TRUE(files.verifies(*wrong->at(1)));
  PackedWitness unsatisfied = files.witness;
  unsatisfied.fields[5] += Fr::one();
  const auto second = test.prove_all({files.witness, unsatisfied, files.witness});
  ASSERT_TRUE(second.ok() && second->size() == 3u);
  EXPECT_TRUE(files.verifies(*second->at(0)));
  EXPECT_ERROR(second->at(1), kUnsatisfied);
  EXPECT_TRUE(files.verifies(*second->at(2)));
  EXPECT_ERROR(test.prove_all({unsatisfied, files.witness}), kUnsatisfied);
  expect_works(test);
  EXPECT_EQ(test.device->generation(), 1u);
}

TEST(WorkerProcess, YieldEndsAfterTheWitnessThatWasBegun) {
  TestDevice test(worker_options());
  test.device->yield();  // nothing
  expect_works(test);
  test.device->yield();
  const std::vector<PackedWitness> many(kMostTogether, PostFiles::window().witness);
  auto proofs = test.start_all(many);
  test.device->yield();
  test.device->yield();
  ASSERT_EQ(proofs.wait_for(kPatience), std::future_status::ready);
  const auto some = proofs.get();
  ASSERT_TRUE(some.ok()) << some.error().describe();
  EXPECT_GE(some->size(), 1u);
  EXPECT_LT(some->size(), kMostTogether);
  for (const auto& proof : *some) EXPECT_TRUE(PostFiles::window().verifies(*proof));
  // The next ones do not.
  const auto both = test.prove_all({PostFiles::window().witness, PostFiles::window().witness});
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->size(), 2u);
  EXPECT_EQ(test.device->generation(), 1u);
}

TEST(WorkerProcess, CancelAndDeathEndAllOfThem) {
  TestDevice test(worker_options());
  expect_works(test);
  const std::vector<PackedWitness> many(kMostTogether, PostFiles::window().witness);
  auto proofs = test.start_all(many);
  EXPECT_EQ(proofs.wait_for(30ms), std::future_status::timeout);
  test.device->cancel();
  EXPECT_ERROR(proofs.get(), kCancelled);
  expect_works(test);
  EXPECT_EQ(test.device->generation(), 1u);
  proofs = test.start_all(many);
  EXPECT_EQ(proofs.wait_for(30ms), std::future_status::timeout);
  ASSERT_EQ(kill(*test.device->process_id(), SIGKILL), 0);
  EXPECT_ERROR(proofs.get(), kDeviceFault);
  expect_works(test);
  EXPECT_EQ(test.device->generation(), 2u);
}

// Whoever checks the proofs does not trust it any more.
TEST(WorkerProcess, IsReplacedOnRequestAndTakenOutOfUse) {
  WorkerProcessOptions options = worker_options("slow@2=60000");
  options.times.give_up = 300ms;
  TestDevice test(options);
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  ASSERT_TRUE(test.load().ok());
  auto proof = test.start_proof();
  EXPECT_EQ(proof.wait_for(50ms), std::future_status::timeout);
  test.device->replace("computed 3 wrong proofs in a row", false);
  EXPECT_ERROR(proof.get(), kDeviceFault);
  ASSERT_TRUE(TestDevice::eventually(
      [&] { return test.device->generation() == 2 && test.device->state() == DeviceState::kIdle; }));
  ASSERT_EQ(test.faults().size(), 1u);
  EXPECT_TRUE(contains(test.faults()[0].message, "computed 3 wrong proofs in a row")) << test.faults()[0].message;
  EXPECT_ERROR(test.prove(), kUsage);  // what it held is gone
  test.device->replace("computed 6 wrong proofs in a row", true);
  ASSERT_TRUE(test.wait_for(DeviceState::kGivenUp));
  EXPECT_ERROR(test.load(), kDeviceUnusable);
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));  // it is tried again
  EXPECT_EQ(test.device->generation(), 3u);
}

TEST(WorkerProcess, OneThingAtATime) {
  TestDevice test(worker_options("slow@2=60000"));
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  ASSERT_TRUE(test.load().ok());
  auto proof = test.start_proof();
  const auto busy = test.load();
  EXPECT_ERROR(busy, kUsage);
  EXPECT_EQ(busy.error().message, "the device is busy: proving");
  EXPECT_ERROR(test.unload(), kUsage);
  EXPECT_ERROR(test.prove(), kUsage);
  EXPECT_EQ(proof.wait_for(0s), std::future_status::timeout);
  test.device->cancel();
  EXPECT_ERROR(proof.get(), kCancelled);
}

TEST(WorkerProcess, FailuresInARowEndInGivingUp) {
  WorkerProcessOptions options = worker_options("crash@0");
  options.times.failures_to_give_up = 3;
  options.times.give_up = 2s;  // the look at the device that was given up must come before
  options.faulty_processes = 4;
  TestDevice test(options);
  ASSERT_TRUE(test.wait_for(DeviceState::kGivenUp));
  EXPECT_EQ(test.device->generation(), 3u);
  const auto given_up = test.prove();
  EXPECT_ERROR(given_up, kDeviceUnusable);
  EXPECT_TRUE(contains(given_up.error().message, "signal 11")) << given_up.error().message;
  // The fourth fails too, and the fifth works.
  expect_works(test);
  EXPECT_EQ(test.device->generation(), 5u);
  EXPECT_EQ(test.faults().size(), 4u);
}

TEST(WorkerProcess, AHangBeforeItIsReady) {
  WorkerProcessOptions options = worker_options("hang@0");
  options.times.start = 400ms;
  options.faulty_processes = 1;
  const PostFiles& files = PostFiles::window();
  TestDevice test(options);
  EXPECT_EQ(test.device->state(), DeviceState::kStarting);
  EXPECT_ERROR(test.prove(files.witness), kDeviceFault);
  ASSERT_TRUE(TestDevice::eventually([&] { return !test.faults().empty(); }));
  EXPECT_TRUE(contains(test.faults()[0].message, "gave no sign of life")) << test.faults()[0].message;
  EXPECT_TRUE(contains(test.faults()[0].message, "while it was starting")) << test.faults()[0].message;
}

TEST(WorkerProcess, AnUnknownDeviceIsGivenUpForGood) {
  WorkerProcessOptions options = worker_options();
  options.device = "abacus";
  options.times.give_up = 1ms;
  TestDevice test(options);
  ASSERT_TRUE(test.wait_for(DeviceState::kGivenUp));
  EXPECT_EQ(test.device->last_fault()->error_class, ErrorClass::kUnsupported);
  EXPECT_TRUE(contains(test.device->last_fault()->message, "abacus"));
  EXPECT_EQ(test.device->info().name, "abacus");
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(test.device->generation(), 1u);
  EXPECT_ERROR(test.load(), kDeviceUnusable);
}

TEST(WorkerProcess, AMissingProgram) {
  WorkerProcessOptions options = worker_options();
  options.program = "/nowhere/cuzk";
  options.times.failures_to_give_up = 2;
  TestDevice test(options);
  ASSERT_TRUE(test.wait_for(DeviceState::kGivenUp));
  EXPECT_EQ(test.device->last_fault()->error_class, ErrorClass::kNotFound);
  EXPECT_TRUE(contains(test.device->last_fault()->message, "/nowhere/cuzk"));
}

TEST(WorkerProcess, AProgramThatIsNoWorker) {
  WorkerProcessOptions options = worker_options();
  options.program = "/bin/false";
  options.times.failures_to_give_up = 2;
  TestDevice test(options);
  ASSERT_TRUE(test.wait_for(DeviceState::kGivenUp));
  EXPECT_TRUE(contains(test.device->last_fault()->message, "ended with exit status 1 while it was starting"))
      << test.device->last_fault()->message;
}

TEST(WorkerProcess, ItsEndIsNotWaitedForWhileItProves) {
  std::promise<Result<PartitionProof>> result;
  auto device = std::make_unique<WorkerProcess>(worker_options("slow@1=60000"));
  ASSERT_TRUE(TestDevice::eventually([&] { return device->state() == DeviceState::kIdle; }));
  device->prove(PostFiles::window().spec(), TestDevice::witnesses({PostFiles::window().witness}),
                TestDevice::only([&](Result<PartitionProof> r) { result.set_value(std::move(r)); }));
  const auto start = std::chrono::steady_clock::now();
  device.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
  EXPECT_ERROR(result.get_future().get(), kDeviceFault);
}

TEST(WorkerProcess, OnlyWhatIsAllowedOfMemory) {
  if (test::kInstrumented) GTEST_SKIP() << "the limit counts what the instrumentation reserves";
  // Allocation fails here or there, in the task's thread or another's; whatever comes of it, it is an answer.
  int proofs = 0, refused = 0;
  for (const uint64_t mib : {30, 60, 90, 4000}) {
    WorkerProcessOptions options = worker_options();
    options.memory_bytes = mib << 20;
    options.times.failures_to_give_up = 2;
    options.times.start = 5s;
    TestDevice test(options);
    if (!TestDevice::eventually([&] {
          return test.device->state() == DeviceState::kIdle || test.device->state() == DeviceState::kGivenUp;
        })) {
      ADD_FAILURE() << mib;
    }
    const auto loaded = test.load();
    const auto proof = loaded.ok() ? test.prove() : Result<PartitionProof>(loaded.error());
    if (proof.ok()) {
      EXPECT_TRUE(PostFiles::window().verifies(*proof));
      ++proofs;
      continue;
    }
    ++refused;
    const ErrorClass c = proof.error().error_class;
    EXPECT_TRUE(c == ErrorClass::kResource || c == ErrorClass::kDeviceFault || c == ErrorClass::kDeviceUnusable)
        << mib << " " << proof.error().describe();
  }
  EXPECT_GE(proofs, 1);
  EXPECT_GE(refused, 1);
}

}  // namespace
}  // namespace cuzk
