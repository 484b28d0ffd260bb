// The engine with real proofs, threads, files and devices: one within this process, and worker processes.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <set>
#include <string_view>
#include <thread>

#include "circuit/compiled_file.hpp"
#include "engine/filecoin_proof_service.hpp"
#include "engine/filecoin_test_support.hpp"
#include "engine/make_engine.hpp"
#include "engine/read_submission.hpp"
#include "groth16/cpu_backend.hpp"
#include "groth16/prove.hpp"
#include "groth16/setup.hpp"
#include "residency/parameter_files.hpp"
#include "srs/params_file.hpp"
#include "srs/srs_test_support.hpp"
#include "worker/worker_main.hpp"
#include "worker/worker_process.hpp"

namespace cuzk::test {
namespace {

// Proves on a thread of its own.
class ThreadDevice final : public Device {
 public:
  ThreadDevice() : thread_([this] { run(); }) {}
  ~ThreadDevice() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    came_.notify_all();
    thread_.join();
  }

  DeviceInfo info() const override { return {.ordinal = 0, .name = "CPU within the test"}; }
  DeviceState state() const override { return busy_ ? DeviceState::kProving : DeviceState::kIdle; }
  uint64_t generation() const override { return 1; }
  void on_change(std::function<void()> changed) override {
    const std::lock_guard lock(mutex_);
    changed_ = std::move(changed);
  }
  void load(const CircuitFiles& files, std::function<void(Result<LoadReport>)> done) override {
    post([this, files, done = std::move(done)] { return [done, result = load_now(files)] { done(result); }; });
  }
  void unload(const CircuitSpec& circuit, std::function<void(Status)> done) override {
    post([this, &circuit, done = std::move(done)] {
      loaded_.erase(std::string(circuit.id()));
      return [done] { done({}); };
    });
  }
  void prove(const CircuitSpec& circuit, Witnesses witnesses, std::function<void(Result<Proofs>)> done) override {
    post([this, &circuit, witnesses, done = std::move(done)] {
      Result<PartitionProof> proof = prove_now(circuit, *witnesses[0]);
      return
          [done, result = proof.ok() ? Result<Proofs>(Proofs{proof}) : Result<Proofs>(proof.error())] { done(result); };
    });
  }
  void cancel() override {}
  void yield() override {}
  void replace(const std::string&, bool) override {}

 private:
  struct Loaded {
    CompiledCircuit circuit;
    Srs srs;
  };
  using Work = std::function<std::function<void()>()>;

  void post(Work work) {
    const std::lock_guard lock(mutex_);
    busy_ = true;
    work_ = std::move(work);
    came_.notify_all();
  }
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      came_.wait(lock, [this] { return stopping_ || work_; });
      if (!work_) return;
      const Work work = std::exchange(work_, nullptr);
      lock.unlock();
      const std::function<void()> answer = work();
      busy_ = false;
      answer();
      lock.lock();
      if (const auto changed = changed_) {
        lock.unlock();
        changed();
        lock.lock();
      }
    }
  }
  Result<LoadReport> load_now(const CircuitFiles& files) {
    NoProgress quiet;
    CUZK_ASSIGN(CompiledCircuit circuit, load_compiled_circuit(files.circuit_file, files.spec->id()));
    CUZK_ASSIGN(Srs srs, read_params(files.params_file, {.expected = srs_shape(circuit)}, quiet));
    const LoadReport report{srs_bytes(srs.shape()), circuit.bytes(), 1};
    loaded_.insert_or_assign(std::string(files.spec->id()), Loaded{std::move(circuit), std::move(srs)});
    return report;
  }
  Result<PartitionProof> prove_now(const CircuitSpec& spec, const PackedWitness& witness) {
    NoProgress quiet;
    CpuBackend backend;
    const Loaded& loaded = loaded_.at(std::string(spec.id()));
    CUZK_ASSIGN(const Proof proof, cuzk::prove(backend, loaded.circuit, loaded.srs, witness, quiet));
    return PartitionProof{encode(proof), 1};
  }

  std::mutex mutex_;
  std::condition_variable came_;
  bool stopping_ = false;
  std::atomic<bool> busy_ = false;
  Work work_;
  std::function<void()> changed_;
  std::map<std::string, Loaded> loaded_;
  std::thread thread_;
};

enum class Where { kThread, kProcess };

class EngineRealTest : public testing::TestWithParam<Where> {
 protected:
  // Parameters are made once.
  static void SetUpTestSuite() {
    folder_ = new TemporaryDirectory();
    NoProgress quiet;
    for (const char* id : {"winning-2k", "window-2k"}) {
      const CircuitSpec& spec = *circuit_spec_by_id(id);
      const auto files = parameter_files(spec, folder_->file(""));
      ASSERT_TRUE(setup_to_file(spec.compile(), toxic_waste_from_seed({}), files.params, quiet).ok());
    }
  }
  static void TearDownTestSuite() { delete std::exchange(folder_, nullptr); }

  void start(const std::string& faults = "", bool journal = false) {
    store_ = std::make_shared<CircuitStore>(
        CircuitStoreOptions{.params_directory = folder_->file(""), .cache_directory = folder_->file("cache")});
    budget_ = std::make_shared<HostBudget>(uint64_t{1} << 30, "the test");
    EngineParts parts;
    parts.budget = budget_;
    parts.service = std::make_shared<FilecoinProofService>(store_, 2);
    if (GetParam() == Where::kThread) {
      parts.devices.push_back(std::make_unique<ThreadDevice>());
    } else {
      WorkerProcessOptions options;
      options.threads = 2;
      options.faults = faults;
      options.faulty_processes = 1;
      options.times.beat = std::chrono::milliseconds(50);
      options.times.backoff = std::chrono::milliseconds(10);
      parts.devices.push_back(std::make_unique<WorkerProcess>(options));
    }
    parts.executor = std::make_unique<ThreadExecutor>(2);
    parts.clock = std::make_shared<SystemClock>();
    if (journal) {
      auto opened = Journal::open({.file = folder_->file(GetParam() == Where::kThread ? "a.db" : "b.db")});
      ASSERT_TRUE(opened.ok()) << opened.error().describe();
      parts.journal = std::move(opened).value();
    }
    auto engine = make_engine({}, std::move(parts));
    ASSERT_TRUE(engine.ok());
    engine_ = std::move(engine).value();
  }

  std::future<JobResult> result_of(JobKey key) {
    const auto promise = std::make_shared<std::promise<JobResult>>();
    engine_->watch(key, [promise](const JobResult& result) { promise->set_value(result); });
    return promise->get_future();
  }
  JobKey submit(const Submission& s, Attendance attendance = Attendance::kAwaited) {
    const SubmitOutcome outcome = engine_->submit(s, attendance);
    const auto* submitted = std::get_if<Submitted>(&outcome);
    EXPECT_NE(submitted, nullptr) << std::get<Refusal>(outcome).message;
    return submitted == nullptr ? 0 : submitted->key;
  }
  // As its client would.
  void expect_proved(const Submission& s, const JobResult& result) {
    ASSERT_EQ(result.state, JobState::kCompleted) << result.error->describe();
    const auto request = read_submission(s);
    const auto key = store_->verifying_key(request->circuit());
    ASSERT_TRUE(request.ok() && key.ok());
    const auto proofs = decode_proofs(result.proof, request->partitions());
    ASSERT_TRUE(proofs.ok());
    for (uint32_t k = 0; k < request->partitions(); ++k) {
      EXPECT_TRUE(verify(**key, (*proofs)[k], request->public_inputs(k)).ok());
    }
  }

  static TemporaryDirectory* folder_;
  std::shared_ptr<CircuitStore> store_;
  std::shared_ptr<HostBudget> budget_;  // goes after the engine
  std::unique_ptr<Engine> engine_;
};
TemporaryDirectory* EngineRealTest::folder_ = nullptr;

TEST_P(EngineRealTest, ProvesWinningAndWindow) {
  start();
  const Submission winning = post_submission(0, {7}), window = post_submission(10, {3, 5}, 1);
  auto first = result_of(submit(winning)), second = result_of(submit(window));
  expect_proved(winning, first.get());
  expect_proved(window, second.get());
  const EngineStatus status = engine_->status();
  EXPECT_EQ(status.wrong_proofs, 0u);
  EXPECT_EQ(status.resident.size(), 2u);
  std::promise<uint64_t> freed;
  engine_->evict("winning-2k", [&](Result<Engine::Evicted> result) { freed.set_value(result->freed_bytes); });
  EXPECT_GT(freed.get_future().get(), 1'000'000u);
}

TEST_P(EngineRealTest, BadRequestsFailAndTheRestGoesOn) {
  start();
  Submission bad = post_submission(0, {7});
  bad.vanilla_proofs[0][200] ^= 1;
  Submission missing = snap_submission();  // without parameters
  auto failed = result_of(submit(bad)), absent = result_of(submit(missing));
  const Submission good = post_submission(10, {8});
  auto proved = result_of(submit(good));
  const JobResult result = failed.get();
  EXPECT_EQ(result.state, JobState::kFailed);
  EXPECT_TRUE(result.error->message.starts_with("synthesis failed: ")) << result.error->message;
  EXPECT_EQ(absent.get().error->error_class, ErrorClass::kNotFound);
  expect_proved(good, proved.get());
}

TEST_P(EngineRealTest, ManyClientsAtOnce) {
  start();
  constexpr int kClients = 3, kJobs = 4;
  std::atomic<int> proved = 0, cancelled = 0;
  std::vector<std::thread> clients;
  const Submission window = post_submission(10, {3});
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < kJobs; ++i) {
        Submission s = window;
        s.request_id = "job-" + std::to_string(i % 2 == 0 ? i : 100 * c + i);  // some are the same
        const JobKey key = submit(s);
        auto result = result_of(key);
        if (i == 3) engine_->cancel(s.request_id);
        engine_->status();
        const JobState state = result.get().state;
        proved += state == JobState::kCompleted;
        cancelled += state == JobState::kCancelled;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(proved + cancelled, kClients * kJobs);
  EXPECT_GE(proved, kClients * (kJobs - 1));
}

TEST_P(EngineRealTest, ItCanBeDestroyedAtAnyTime) {
  for (int i = 0; i < 5; ++i) {
    start();
    submit(post_submission(0, {7}));
    submit(post_submission(10, {3}));
    std::this_thread::sleep_for(std::chrono::milliseconds(40 * i));
    engine_.reset();
    budget_.reset();
  }
}

TEST_P(EngineRealTest, TheJournalBringsBackWhatWasNotProved) {
  Submission s = post_submission(10, {3});
  s.request_id = "kept";
  start("", true);
  const JobKey key = submit(s, Attendance::kDetached);
  engine_.reset();
  budget_.reset();
  start("", true);
  ASSERT_EQ(engine_->find("kept"), key);
  expect_proved(s, result_of(key).get());
  engine_.reset();
  budget_.reset();
  start("", true);
  expect_proved(s, result_of(key).get());  // kept
}

TEST_P(EngineRealTest, FaultsOfTheWorkerAreNotNoticed) {
  if (GetParam() == Where::kThread) GTEST_SKIP() << "needs a process";
  for (const char* faults : {"crash@2", "wrong-proof@2", "bad-alloc@2", "exit@1", "garbage@2"}) {
    start(faults);
    const Submission s = post_submission(10, {3});
    expect_proved(s, result_of(submit(s)).get());
    const EngineStatus status = engine_->status();
    EXPECT_EQ(status.wrong_proofs, std::string_view(faults) == "wrong-proof@2" ? 1u : 0u) << faults;
    EXPECT_GE(status.redone_partitions + status.device_faults, 1u) << faults;
    engine_.reset();
    budget_.reset();
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, EngineRealTest, testing::Values(Where::kThread, Where::kProcess),
                         [](const auto& which) { return which.param == Where::kThread ? "Thread" : "Process"; });

}  // namespace
}  // namespace cuzk::test

// Workers of the tests are this program, called as `cuzk worker` is.
int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "worker") {
    const std::vector<std::string> arguments(argv + 2, argv + argc);
    const auto options = cuzk::read_arguments(arguments);
    const auto status = options.ok() ? cuzk::worker_main(*options) : cuzk::Result<int>(options.error());
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.error().describe().c_str());
    return status.ok() ? *status : 2;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
