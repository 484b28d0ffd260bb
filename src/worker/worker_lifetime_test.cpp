// A worker lives as long as its parent, has nothing of its parent's but the socket, and takes nothing on trust.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>

#include "base/overloaded.hpp"
#include "worker/child_process.hpp"
#include "worker/protocol.hpp"
#include "worker/shared_witness.hpp"
#include "worker/worker_main.hpp"
#include "worker/worker_test_support.hpp"

namespace cuzk {
namespace {

using test::kPatience;
using test::PostFiles;
using test::TestDevice;
using test::worker_options;
using namespace std::chrono_literals;

// ---- what the device leaves alone

TEST(WorkerLifetime, SignalsForTheDaemonDoNotEndIt) {
  TestDevice test(worker_options());
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    ASSERT_EQ(kill(*test.device->process_id(), number), 0);
    EXPECT_TRUE(test.unload().ok()) << number;
  }
  EXPECT_EQ(test.device->generation(), 1u);
}

TEST(WorkerLifetime, IdleProcessesAreStartedAgain) {
  TestDevice test(worker_options());
  for (uint64_t round = 1; round <= 3; ++round) {
    ASSERT_TRUE(TestDevice::eventually(
        [&] { return test.device->generation() == round && test.device->state() == DeviceState::kIdle; }));
    ASSERT_EQ(kill(*test.device->process_id(), SIGKILL), 0);
  }
  ASSERT_TRUE(TestDevice::eventually([&] { return test.faults().size() == 3; }));
  EXPECT_EQ(test.faults()[0].message, "the worker process of device 0 ended by signal 9 (Killed)");
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  ASSERT_TRUE(test.load().ok());
  EXPECT_TRUE(test.prove().ok());
}

TEST(WorkerLifetime, ItHasNoDescriptorOfItsParents) {
  // As a library may have them that does not know of close-on-exec.
  int ends[2], low[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(pipe(low), 0);
  ASSERT_GE(dup2(ends[1], 700), 0);
  char target[64];
  const ssize_t size = readlink(("/proc/self/fd/" + std::to_string(ends[0])).c_str(), target, sizeof target);
  const std::string pipe_name(target, static_cast<size_t>(size));
  TestDevice test(worker_options());
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  const auto open_there = test::descriptors_of(*test.device->process_id());
  EXPECT_GE(open_there.size(), 4u);
  EXPECT_LE(open_there.size(), 8u) << testing::PrintToString(open_there);
  EXPECT_EQ(std::count(open_there.begin(), open_there.end(), pipe_name), 0);
  EXPECT_EQ(std::count(open_there.begin(), open_there.end(), "/dev/null"), 1);
  for (const int fd : {ends[0], ends[1], low[0], low[1], 700}) close(fd);
}

TEST(WorkerLifetime, NothingIsLeftOfDevices) {
  const size_t before = test::descriptors_of(getpid()).size();
  const long threads = test::status_of(getpid(), "Threads");
  for (int i = 0; i < 20; ++i) {
    TestDevice test(worker_options(i % 4 == 0 ? "crash@0" : ""));
    if (i % 2 == 0) test.wait_for(DeviceState::kIdle, 20ms);
  }
  EXPECT_EQ(test::descriptors_of(getpid()).size(), before);
  EXPECT_EQ(test::status_of(getpid(), "Threads"), threads);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  EXPECT_EQ(errno, ECHILD);
}

std::string file_of(int pid, const char* name) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/" + name);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(WorkerLifetime, ItTakesItsPlaceBehindTheDaemon) {
  WorkerProcessOptions options = worker_options();
  options.niceness = 3;
  options.memory_bytes = 1ULL << 46;
  options.environment = {"CUZK_TEST_WORD=xyz"};
  TestDevice test(options);
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  const int pid = *test.device->process_id();
  EXPECT_EQ(file_of(pid, "oom_score_adj"), "500\n");
  EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(pid)), std::min(19, getpriority(PRIO_PROCESS, 0) + 3));
  rlimit limit{};
  ASSERT_EQ(prlimit(pid, RLIMIT_DATA, nullptr, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, 1ULL << 46);
  EXPECT_EQ(file_of(pid, "environ"), std::string("CUZK_TEST_WORD=xyz") + '\0');
}

// ---- flat over many tasks, most of them cheap

struct Usage {
  size_t descriptors, worker_descriptors;
  long held_kib, worker_held_kib;
};

Usage usage_of(const TestDevice& test) {
  const int pid = *test.device->process_id();
  // Pages of files come and go with what the system needs memory for, so VmRSS is no measure.
  const auto held_kib = [](int of) { return test::status_of(of, "RssAnon") + test::status_of(of, "VmSwap"); };
  return {test::descriptors_of(getpid()).size(), test::descriptors_of(pid).size(), held_kib(getpid()), held_kib(pid)};
}

// Every way that a task ends; one in twenty is a proof.
void run_tasks(TestDevice& test, int count) {
  PackedWitness other = PostFiles::window().witness;
  other.fields.pop_back();
  for (int i = 0; i < count; ++i) {
    switch (i % 20) {
      case 0: EXPECT_TRUE(test.load().ok()); break;
      case 1: EXPECT_TRUE(test.prove().ok()); break;
      case 2: {
        auto proof = test.start_proof();
        test.device->cancel();
        EXPECT_EQ(proof.wait_for(kPatience), std::future_status::ready);
        break;
      }
      case 19: EXPECT_TRUE(test.unload().ok()); break;
      default: EXPECT_FALSE(test.prove(other).ok());
    }
  }
}

TEST(WorkerLifetime, TwoHundredTasksLeaveNothing) {
  TestDevice test(worker_options());
  ASSERT_TRUE(test.wait_for(DeviceState::kIdle));
  run_tasks(test, 40);
  const Usage before = usage_of(test);
  run_tasks(test, 200);
  EXPECT_TRUE(
      TestDevice::eventually([&] { return usage_of(test).worker_descriptors == before.worker_descriptors; }, 10s));
  const Usage after = usage_of(test);
  EXPECT_EQ(after.descriptors, before.descriptors);
  constexpr long kSlackKib = 3 * 1024;
  if (test::kInstrumented) return;
  EXPECT_LE(after.held_kib, before.held_kib + kSlackKib);
  EXPECT_LE(after.worker_held_kib, before.worker_held_kib + kSlackKib);
  EXPECT_EQ(test.device->generation(), 1u);
  std::printf("daemon %ld -> %ld KiB, worker %ld -> %ld KiB, descriptors %zu and %zu\n", before.held_kib,
              after.held_kib, before.worker_held_kib, after.worker_held_kib, after.descriptors,
              after.worker_descriptors);
}

// ---- the end of the parent

// Starts this program as a daemon with one worker, kills it, and sees whether the worker is gone.
void expect_dies_with_parent(const char* faults) {
  // So that the orphan becomes a child of this process, which can wait for it.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execl("/proc/self/exe", "parent", "parent", faults, nullptr);
    _exit(127);
  }
  close(ends[1]);
  char text[32] = {};
  ASSERT_GT(read(ends[0], text, sizeof text - 1), 0);
  close(ends[0]);
  const pid_t worker = std::stoi(text);
  ASSERT_EQ(kill(worker, 0), 0);
  ASSERT_EQ(kill(parent, SIGKILL), 0);
  ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
  EXPECT_NE(access((PostFiles::stem(parent) + "window-2k.params").c_str(), F_OK), 0) << "it leaves files";
  const bool gone = TestDevice::eventually([&] { return waitpid(worker, nullptr, WNOHANG) == worker; }, 20s);
  EXPECT_TRUE(gone);
  if (!gone) kill(worker, SIGKILL);
}

TEST(WorkerLifetime, ItDiesWithItsParentWhileIdle) { expect_dies_with_parent(""); }
TEST(WorkerLifetime, ItDiesWithItsParentInTheMiddleOfATask) { expect_dies_with_parent("hang@1"); }
// Nothing that it does itself can end it then.
TEST(WorkerLifetime, ItDiesWithItsParentWhileStopped) { expect_dies_with_parent("freeze@1"); }

int parent_main(const char* faults) {
  WorkerProcess device(worker_options(faults));
  while (device.state() != DeviceState::kIdle) std::this_thread::sleep_for(1ms);
  // It is killed, and would leave the files of PostFiles.
  if (*faults != '\0') device.unload(*circuit_spec_by_id("window-2k"), [](Status) {});
  std::this_thread::sleep_for(100ms);
  std::printf("%d\n", *device.process_id());
  std::fflush(stdout);
  for (;;) pause();
}

// ---- the worker's side, told nonsense

class RawWorker {
 public:
  explicit RawWorker(const char* device = "cpu") : process_(start(device)) {}

  void send(std::span<const uint8_t> packet, int fd = -1) { (void)process_.channel().send(packet, fd, true); }
  void send(const WorkerCommand& command, int fd = -1) { send(encode(command), fd); }
  // The next reply that is no beat; nothing where it ends, or ended, without.
  std::optional<WorkerReply> reply() {
    for (;;) {
      pollfd on{process_.channel().descriptor(), POLLIN, 0};
      if (poll(&on, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())) != 1) return std::nullopt;
      auto received = process_.channel().receive(Channel::Take::kBytesOnly);
      if (!received.ok() || !std::holds_alternative<Packet>(*received)) return std::nullopt;
      auto reply = decode_reply(std::get<Packet>(*received).bytes);
      if (!reply.ok()) return std::nullopt;
      if (!std::holds_alternative<WorkerBeat>(*reply)) return std::move(*reply);
    }
  }
  std::optional<std::string> end() { return process_.wait_end(kPatience); }
  void hang_up() { process_.close_channel(); }

 private:
  static ChildProcess start(const char* device) {
    WorkerOptions options;
    options.device = device;
    options.core_dumps = true;
    std::vector<std::string> arguments = to_arguments(options);
    arguments.insert(arguments.begin(), {"cuzk", "worker"});
    return std::move(ChildProcess::start("/proc/self/exe", arguments, {})).value();
  }
  ChildProcess process_;
};

constexpr const char* kProtocolEnd = "ended with exit status 4";

TEST(WorkerProtocolEnd, ItEndsWellWhenHungUp) {
  RawWorker worker;
  ASSERT_TRUE(worker.reply());
  worker.hang_up();
  EXPECT_EQ(worker.end(), "ended with exit status 0");
}

TEST(WorkerProtocolEnd, GarbageEndsIt) {
  std::mt19937_64 rng(1);
  for (const size_t size :
       {size_t{1}, size_t{8}, size_t{200}, kMostPacketBytes, kMostPacketBytes + 1, size_t{60'000}}) {
    RawWorker worker;
    ASSERT_TRUE(worker.reply());
    std::vector<uint8_t> packet(size);
    for (uint8_t& byte : packet) byte = static_cast<uint8_t>(rng());
    worker.send(packet);
    EXPECT_EQ(worker.end(), kProtocolEnd) << size;
  }
  RawWorker worker;
  ASSERT_TRUE(worker.reply());
  worker.send(encode(WorkerReply(TaskUnloaded{1})));
  EXPECT_EQ(worker.end(), kProtocolEnd);
}

TEST(WorkerProtocolEnd, TwoTasksAtOnceEndIt) {
  RawWorker worker;
  ASSERT_TRUE(worker.reply());
  const CircuitFiles& files = PostFiles::window().files;
  // Behind a load, which takes a while, no other task can be.
  worker.send(LoadTask{1, "window-2k", files.params_file, files.circuit_file});
  worker.send(UnloadTask{2, "window-2k"});
  EXPECT_EQ(worker.end(), kProtocolEnd);
}

TEST(WorkerProtocolEnd, TaskZeroEndsIt) {
  RawWorker worker;
  ASSERT_TRUE(worker.reply());
  worker.send(UnloadTask{0, "window-2k"});
  EXPECT_EQ(worker.end(), kProtocolEnd);
}

TEST(WorkerProtocolEnd, WellFormedNonsenseIsAnError) {
  RawWorker worker;
  ASSERT_TRUE(worker.reply());
  uint64_t task = 0;
  const auto expect = [&](ErrorClass error_class, const char* what) {
    const auto reply = worker.reply();
    ASSERT_TRUE(reply) << what;
    const auto* failed = std::get_if<TaskFailed>(&*reply);
    ASSERT_NE(failed, nullptr) << what;
    EXPECT_EQ(failed->task, task) << what;
    EXPECT_EQ(failed->error.error_class, error_class) << what << ": " << failed->error.describe();
  };
  worker.send(LoadTask{++task, "abacus-2k", "/x", "/y"});
  expect(ErrorClass::kUsage, "no such circuit");
  worker.send(UnloadTask{++task, ""});
  expect(ErrorClass::kUsage, "no circuit");
  worker.send(LoadTask{++task, "window-2k", "/x", std::string("/y\0z", 4)});
  expect(ErrorClass::kNotFound, "no such file");
  worker.send(ProveTask{++task, "window-2k", 3});
  expect(ErrorClass::kUsage, "not loaded");
  worker.send(TaskWitness{task, 0});  // too late
  worker.send(
      LoadTask{++task, "window-2k", PostFiles::window().files.params_file, PostFiles::window().files.circuit_file});
  const auto loaded = worker.reply();
  ASSERT_TRUE(loaded && std::holds_alternative<TaskLoaded>(*loaded));
  const auto prove = [&](int fd) {
    worker.send(ProveTask{++task, "window-2k", 2});
    worker.send(TaskWitness{task, 0}, fd);
  };
  prove(-1);
  expect(ErrorClass::kCorrupt, "no witness");
  const Descriptor null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  prove(null.get());
  expect(ErrorClass::kCorrupt, "no memory");
  const Descriptor memory(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(memory.get(), 1 << 20), 0);
  ASSERT_EQ(fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL), 0);
  prove(memory.get());
  expect(ErrorClass::kCorrupt, "zeros");
  // A damaged witness behind a good one is not begun; the good one is proved.
  const Descriptor good = std::move(share_witness(PostFiles::window().witness)).value();
  prove(good.get());
  worker.send(TaskWitness{task, 1}, memory.get());
  const auto proved = worker.reply();
  ASSERT_TRUE(proved && std::holds_alternative<TaskProved>(*proved));
  EXPECT_EQ(std::get<TaskProved>(*proved).proofs.size(), 1u);
  // A descriptor that nobody asked for is closed; a cancel of another task is nothing.
  worker.send(UnloadTask{++task, "window-2k"}, null.get());
  const auto unloaded = worker.reply();
  ASSERT_TRUE(unloaded);
  EXPECT_TRUE(std::holds_alternative<TaskUnloaded>(*unloaded));
  worker.send(CancelTask{task});
  worker.send(CancelTask{99});
  worker.send(YieldTask{99});
  worker.send(TaskWitness{99, 5});
  worker.hang_up();
  EXPECT_EQ(worker.end(), "ended with exit status 0");
}

// Of a task that waits for its witnesses.
TEST(WorkerProtocolEnd, WitnessesOutOfOrderEndIt) {
  const Descriptor good = std::move(share_witness(PostFiles::window().witness)).value();
  const CircuitFiles& files = PostFiles::window().files;
  for (const std::vector<uint32_t>& numbers : {std::vector<uint32_t>{1}, {0, 0}, {0, 2}, {0, 1, 2}, {UINT32_MAX}}) {
    RawWorker worker;
    ASSERT_TRUE(worker.reply());
    worker.send(LoadTask{1, "window-2k", files.params_file, files.circuit_file});
    ASSERT_TRUE(worker.reply());
    worker.send(ProveTask{2, "window-2k", 2});
    for (const uint32_t number : numbers) worker.send(TaskWitness{2, number}, good.get());
    EXPECT_EQ(worker.end(), kProtocolEnd) << numbers.size();
  }
  RawWorker worker;  // of a task that has none
  ASSERT_TRUE(worker.reply());
  worker.send(LoadTask{1, "window-2k", files.params_file, files.circuit_file});
  worker.send(TaskWitness{1, 0}, good.get());
  EXPECT_EQ(worker.end(), kProtocolEnd);
}

constexpr const char* kProofless = "proofless";

// Says of a group that all is well, and has no proof of any.
class ProoflessBackend final : public WorkerBackend {
 public:
  DeviceInfo info() const override { return {.name = kProofless}; }
  Result<LoadReport> load(const CircuitSpec&, CompiledCircuit, const std::string&, const DeviceTables&,
                          Progress&) override {
    return LoadReport{};
  }
  void unload(const CircuitSpec&) override {}
  Result<std::vector<Result<Proof>>> prove(const CircuitSpec&, WitnessSource&, Progress&) override {
    return std::vector<Result<Proof>>();
  }
};

Result<std::unique_ptr<WorkerBackend>> make_test_backend(std::string_view device, uint32_t ordinal) {
  if (device == kProofless) return std::unique_ptr<WorkerBackend>(std::make_unique<ProoflessBackend>());
  return make_worker_backend(device, ordinal);
}

TEST(WorkerProtocolEnd, NoProofAtAllIsAnError) {
  RawWorker worker(kProofless);
  ASSERT_TRUE(worker.reply());
  for (const uint64_t task : {1, 2}) {
    worker.send(ProveTask{task, "window-2k", 1});
    const auto reply = worker.reply();
    ASSERT_TRUE(reply) << "the process has ended";
    const auto* failed = std::get_if<TaskFailed>(&*reply);
    ASSERT_NE(failed, nullptr);
    EXPECT_EQ(failed->error.error_class, ErrorClass::kInternal);
  }
}

TEST(WorkerProtocolEnd, OptionsThatAreNone) {
  EXPECT_EQ(worker_main({.descriptor = 3000}).error().error_class, ErrorClass::kUsage);
  const Descriptor null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(worker_main({.descriptor = null.get()}).error().error_class, ErrorClass::kUsage);
}

}  // namespace
}  // namespace cuzk

// Workers of the tests are this program, called as `cuzk worker` is; so are parents that die.
int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "worker") {
    const std::vector<std::string> arguments(argv + 2, argv + argc);
    const auto options = cuzk::read_arguments(arguments);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);  // as the program itself has it
    const auto status =
        options.ok() ? cuzk::worker_main(*options, cuzk::make_test_backend) : cuzk::Result<int>(options.error());
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.error().describe().c_str());
    return status.ok() ? *status : 2;
  }
  if (argc > 2 && std::string_view(argv[1]) == "parent") return cuzk::parent_main(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
