// An engine without proofs, a server on it, and clients.
#pragma once

#include <cuzk/v1/proving.grpc.pb.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/server.hpp"

namespace cuzk {

using namespace std::chrono_literals;

// Jobs end when a test says so, or at once.
class FakeEngine final : public Engine {
 public:
  ~FakeEngine() override { EXPECT_EQ(watches_.size(), 0u) << "watches that nobody took back"; }

  using Engine::submit;
  SubmitOutcome submit(Submission submission, Attendance attendance, Reservation received) override {
    std::unique_lock lock(mutex_);
    last_received_bytes = received.bytes();
    ++submits;
    if (refusal) return *refusal;
    Submitted out;
    out.key = ++last_key_;
    out.job_id = submission.request_id.empty() ? "made-" + std::to_string(out.key) : submission.request_id;
    out.queue_position = 7;
    last_submission = std::move(submission);
    last_attendance = attendance;
    keys_[out.job_id] = out.key;
    ids_[out.key] = out.job_id;
    if (finish_at_once) {
      JobResult result;
      result.state = JobState::kCompleted;
      result.job_id = out.job_id;
      result.proof.assign(192, 0xab);
      results_[out.key] = result;
    }
    changed_.notify_all();
    return out;
  }

  Result<Reservation> reserve_upload(uint64_t bytes) override { return budget.reserve(bytes, "uploads"); }

  std::optional<JobKey> find(std::string_view job_id) const override {
    const std::lock_guard lock(mutex_);
    const auto found = keys_.find(std::string(job_id));
    return found == keys_.end() ? std::nullopt : std::optional(found->second);
  }

  WatchId watch(JobKey job, std::function<void(const JobResult&)> done) override {
    std::unique_lock lock(mutex_);
    const WatchId id = ++last_watch_;
    const auto found = results_.find(job);
    if (found != results_.end()) {
      const JobResult result = found->second;
      lock.unlock();
      done(result);
      return id;
    }
    watches_[id] = {job, std::move(done)};
    changed_.notify_all();
    return id;
  }
  void unwatch(WatchId watch) override {
    std::unique_lock lock(mutex_);
    unwatched += watches_.erase(watch);
    changed_.wait(lock, [&] { return running_ != watch; });
    changed_.notify_all();
  }

  CancelOutcome cancel(std::string_view job_id) override {
    const std::optional<JobKey> key = find(job_id);
    if (!key) return {};
    JobResult result;
    result.state = JobState::kCancelled;
    result.job_id = job_id;
    result.error = Error(ErrorClass::kCancelled, "cancelled");
    finish(*key, result);
    return {.found = true, .was_running = true};
  }

  void preload(std::string_view circuit, std::function<void(Result<Preloaded>)> done) override {
    if (circuit == "porep-2k") return done(Preloaded{false, 17});
    if (circuit == "large") return done(Error(ErrorClass::kUnsupported, "never fits"));
    if (circuit == "absent") return done(Error(ErrorClass::kNotFound, "no such file").in_file("x.params"));
    done(Error(ErrorClass::kUsage, "no such circuit"));
  }
  void evict(std::string_view circuit, std::function<void(Result<Evicted>)> done) override {
    if (circuit == "porep-2k") return done(Evicted{true, 99});
    if (circuit == "busy") return done(Error(ErrorClass::kResource, "in use"));
    done(Error(ErrorClass::kUsage, "no such circuit"));
  }

  EngineStatus status() const override {
    const std::lock_guard lock(mutex_);
    return current_status;
  }

  void drain(std::chrono::steady_clock::time_point, std::function<void()> done) override {
    const std::lock_guard lock(mutex_);
    drained_ = std::move(done);
  }

  // For tests.
  void finish(JobKey key, const JobResult& result) {
    std::unique_lock lock(mutex_);
    results_[key] = result;
    while (true) {
      auto found = std::find_if(watches_.begin(), watches_.end(), [&](const auto& w) { return w.second.job == key; });
      if (found == watches_.end()) break;
      const auto done = std::move(found->second.done);
      running_ = found->first;
      watches_.erase(found);
      lock.unlock();
      done(result);
      lock.lock();
      running_ = 0;
      changed_.notify_all();
    }
  }
  void finish(const std::string& job_id, JobResult result) {
    result.job_id = job_id;
    finish(find(job_id).value(), result);
  }
  void complete(const std::string& job_id) {
    JobResult result;
    result.state = JobState::kCompleted;
    result.proof.assign(192, 0xab);
    result.times = {1, 2, 3, 4, 5};
    finish(job_id, result);
  }
  void forget(const std::string& job_id) {
    const std::lock_guard lock(mutex_);
    const auto found = keys_.find(job_id);
    if (found == keys_.end()) return;
    results_.erase(found->second);
    ids_.erase(found->second);
    keys_.erase(found);
  }
  // Waits until that many watches exist; false after 10 s.
  bool wait_for_watches(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return watches_.size() == count; });
  }
  bool wait_for_submits(uint64_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return submits >= count; });
  }
  void finish_drain() {
    std::unique_lock lock(mutex_);
    const auto done = std::exchange(drained_, nullptr);
    lock.unlock();
    if (done) done();
  }
  Submission submission() const {
    const std::lock_guard lock(mutex_);
    return last_submission;
  }
  uint64_t unwatch_count() const {
    const std::lock_guard lock(mutex_);
    return unwatched;
  }
  uint64_t submit_count() const {
    const std::lock_guard lock(mutex_);
    return submits;
  }

  bool finish_at_once = false;
  std::optional<Refusal> refusal;
  Submission last_submission;
  Attendance last_attendance = Attendance::kAwaited;
  uint64_t submits = 0, unwatched = 0, last_received_bytes = 0;
  HostBudget budget{uint64_t{1} << 30, "of the test"};
  EngineStatus current_status;

 private:
  struct Watch {
    JobKey job;
    std::function<void(const JobResult&)> done;
  };
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  JobKey last_key_ = 0;
  WatchId last_watch_ = 0, running_ = 0;
  std::map<std::string, JobKey> keys_;
  std::map<JobKey, std::string> ids_;
  std::map<JobKey, JobResult> results_;
  std::map<WatchId, Watch> watches_;
  std::function<void()> drained_;
};

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = "/tmp/cuzk-server-XXXXXX";  // short: the path of a unix socket is
    path_ = mkdtemp(name.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

using Stub = v1::ProvingEngine::Stub;

inline std::unique_ptr<Stub> stub_for(const std::string& address,
                                      std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr,
                                      grpc::ChannelArguments arguments = {}) {
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  if (!credentials) credentials = grpc::InsecureChannelCredentials();
  return v1::ProvingEngine::NewStub(grpc::CreateCustomChannel(address, credentials, arguments));
}

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    engine.current_status.ready = true;
    options.listen = {"unix://" + (directory / "sock")};
    options.version = "test";
  }

  void start() {
    Result<std::unique_ptr<Server>> started = Server::start(engine, options, hooks);
    ASSERT_TRUE(started.ok()) << started.error().describe();
    server = std::move(*started);
    stub = stub_for(server->addresses().at(0));
  }

  static v1::ProveRequest prove_request(const std::string& id, v1::ProofKind kind = v1::POREP_SEAL_COMMIT) {
    v1::ProveRequest request;
    request.mutable_submit()->set_request_id(id);
    request.mutable_submit()->set_proof_kind(kind);
    return request;
  }
  grpc::Status prove(const v1::ProveRequest& request, v1::ProveResponse* response,
                     std::chrono::milliseconds timeout = 10s) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + timeout);
    return stub->Prove(&context, request, response);
  }
  grpc::Status await(const std::string& id, uint64_t timeout_ms, v1::AwaitProofResponse* response,
                     std::chrono::milliseconds deadline = 10s) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    v1::AwaitProofRequest request;
    request.set_job_id(id);
    request.set_timeout_ms(timeout_ms);
    return stub->AwaitProof(&context, request, response);
  }

  TemporaryDirectory directory;
  FakeEngine engine;
  ServerOptions options;
  ServerHooks hooks;
  std::unique_ptr<Server> server;
  std::unique_ptr<Stub> stub;
};

}  // namespace cuzk
