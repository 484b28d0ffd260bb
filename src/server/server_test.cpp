#include <google/protobuf/descriptor.pb.h>
#include <grpc/health/v1/health.grpc.pb.h>
#include <grpc/reflection/v1/reflection.grpc.pb.h>
#include <grpc/reflection/v1alpha/reflection.grpc.pb.h>
#include <grpcpp/generic/generic_stub.h>

#include <fstream>

#include "server/call_end.hpp"
#include "server/messages.hpp"
#include "server/server_test_support.hpp"

namespace cuzk {
namespace {

size_t threads_now() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

TEST_F(ServerTest, SubmissionArrivesWithEveryField) {
  start();
  v1::SubmitProofRequest request;
  request.set_request_id("id-1");
  request.set_proof_kind(v1::WINDOW_POST_PARTITION);
  request.set_sector_size(34359738368);
  request.set_registered_proof(13);
  request.set_priority(v1::CRITICAL);
  request.set_vanilla_proof("one");
  request.add_vanilla_proofs("two");
  request.add_vanilla_proofs("three");
  request.set_sector_number(4);
  request.set_miner_id(1000);
  request.set_randomness("r");
  request.set_partition_index(5);
  request.set_comm_r_old("a");
  request.set_comm_r_new("b");
  request.set_comm_d_new("c");
  request.set_deadline_unix_ms(4'000'000'000'000);
  grpc::ClientContext context;
  v1::SubmitProofResponse response;
  ASSERT_TRUE(stub->SubmitProof(&context, request, &response).ok());
  EXPECT_EQ(response.job_id(), "id-1");
  EXPECT_EQ(response.queue_position(), 7u);
  EXPECT_EQ(response.assigned_gpu(), "");
  const Submission submission = engine.submission();
  EXPECT_EQ(submission.request_id, "id-1");
  EXPECT_EQ(submission.kind, ProofKind::kWindow);
  EXPECT_EQ(submission.sector_size, 34359738368u);
  EXPECT_EQ(submission.registered_proof, 13u);
  EXPECT_EQ(submission.priority, Priority::kCritical);
  EXPECT_EQ(submission.vanilla_proof, "one");
  EXPECT_EQ(submission.vanilla_proofs, (std::vector<std::string>{"two", "three"}));
  EXPECT_EQ(submission.sector_number, 4u);
  EXPECT_EQ(submission.miner_id, 1000u);
  EXPECT_EQ(submission.randomness, "r");
  EXPECT_EQ(submission.partition_index, 5u);
  EXPECT_EQ(submission.comm_r_old + submission.comm_r_new + submission.comm_d_new, "abc");
  EXPECT_EQ(submission.deadline, std::chrono::system_clock::time_point(4'000'000'000'000ms));
  EXPECT_EQ(engine.last_attendance, Attendance::kDetached);
}

TEST_F(ServerTest, PrioritiesAreTheContracts) {
  start();
  engine.finish_at_once = true;
  const std::vector<std::pair<int, std::optional<Priority>>> cases = {
      {0, std::nullopt},    {1, Priority::kLow},      {2, Priority::kNormal},
      {3, Priority::kHigh}, {4, Priority::kCritical}, {77, Priority::kNormal}};
  for (const auto& [number, priority] : cases) {
    v1::ProveRequest request = prove_request("p");
    request.mutable_submit()->set_priority(static_cast<v1::Priority>(number));
    v1::ProveResponse response;
    ASSERT_TRUE(prove(request, &response).ok());
    EXPECT_EQ(engine.submission().priority, priority) << number;
  }
}

TEST_F(ServerTest, ProveReturnsTheProof) {
  start();
  std::thread client([&] {
    v1::ProveResponse response;
    ASSERT_TRUE(prove(prove_request("porep-1000-1"), &response).ok());
    EXPECT_EQ(response.result().job_id(), "porep-1000-1");
    EXPECT_EQ(response.result().status(), v1::AwaitProofResponse::COMPLETED);
    EXPECT_EQ(response.result().proof(), std::string(192, '\xab'));
    EXPECT_EQ(response.result().error_message(), "");
    EXPECT_EQ(response.result().queue_wait_ms(), 1u);
    EXPECT_EQ(response.result().srs_load_ms(), 2u);
    EXPECT_EQ(response.result().synthesis_ms(), 3u);
    EXPECT_EQ(response.result().gpu_compute_ms(), 4u);
    EXPECT_EQ(response.result().total_ms(), 5u);
  });
  ASSERT_TRUE(engine.wait_for_watches(1));
  EXPECT_EQ(engine.last_attendance, Attendance::kAwaited);
  // The call's deadline and the time in which a retry may join.
  const auto left = engine.submission().deadline.value() - std::chrono::system_clock::now();
  EXPECT_GT(left, 65s);
  EXPECT_LT(left, 71s);
  engine.complete("porep-1000-1");
  client.join();
}

TEST_F(ServerTest, ProveAlwaysSaysTheJobsId) {
  start();
  engine.finish_at_once = true;
  v1::ProveResponse response;
  ASSERT_TRUE(prove(prove_request(""), &response).ok());
  EXPECT_EQ(response.result().job_id(), "made-1");
}

TEST_F(ServerTest, FailureOfProvingIsAnAnswer) {
  start();
  struct Case {
    JobState state;
    ErrorClass error_class;
    v1::AwaitProofResponse::Status status;
    bool retry;
    std::string text;
  };
  const std::vector<Case> cases = {
      {JobState::kFailed, ErrorClass::kInvalidInput, v1::AwaitProofResponse::FAILED, false, "will not help]"},
      {JobState::kFailed, ErrorClass::kResource, v1::AwaitProofResponse::FAILED, true, "a retry may help]"},
      {JobState::kCancelled, ErrorClass::kCancelled, v1::AwaitProofResponse::CANCELLED, true, "sent again]"},
      {JobState::kExpired, ErrorClass::kExpired, v1::AwaitProofResponse::TIMEOUT, false, "later deadline]"}};
  int number = 0;
  for (const Case& one : cases) {
    const std::string id = "job-" + std::to_string(++number);
    std::thread client([&] {
      v1::ProveResponse response;
      ASSERT_TRUE(prove(prove_request(id), &response).ok());
      EXPECT_EQ(response.result().job_id(), id);
      EXPECT_EQ(response.result().status(), one.status);
      EXPECT_EQ(response.result().proof(), "");
      EXPECT_EQ(response.result().retry_helps(), one.retry);
      EXPECT_EQ(response.result().error_class(), to_string(one.error_class));
      EXPECT_TRUE(response.result().error_message().starts_with("what (field f)"));
      EXPECT_TRUE(response.result().error_message().ends_with(one.text)) << response.result().error_message();
      EXPECT_FALSE(response.result().unfinished());
    });
    ASSERT_TRUE(engine.wait_for_watches(1));
    JobResult result;
    result.state = one.state;
    result.error = Error(one.error_class, "what").at_field("f");
    engine.finish(id, result);
    client.join();
  }
}

TEST_F(ServerTest, WrongRequestsAreInvalidArguments) {
  start();
  v1::ProveResponse response;
  grpc::Status status = prove(v1::ProveRequest(), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "missing submit field");
  for (const int kind : {0, 5, -1}) {
    status = prove(prove_request("x", static_cast<v1::ProofKind>(kind)), &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(status.error_message(), "invalid proof_kind: " + std::to_string(kind));
  }
  EXPECT_TRUE(engine.submit_count() == 0);
  status = prove(prove_request(std::string(257, 'x')), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "request_id has 257 bytes; the limit is 256");
  engine.finish_at_once = true;
  EXPECT_TRUE(prove(prove_request(std::string(256, 'x')), &response).ok());
}

TEST_F(ServerTest, RefusalsHaveTheirCodesAndHints) {
  start();
  const auto refused = [&](Refusal::Reason reason, uint32_t retry) {
    engine.refusal = Refusal{reason, "why", retry};
    v1::ProveResponse response;
    return prove(prove_request("x"), &response);
  };
  grpc::Status status = refused(Refusal::Reason::kQueueFull, 2500);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(status.error_message(), "why [retry in 2500 ms]");
  EXPECT_EQ(retry_after_ms(status), 2500u);
  status = refused(Refusal::Reason::kDraining, 0);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(retry_after_ms(status), 0u);
  status = refused(Refusal::Reason::kTooLarge, 0);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_NE(status.error_message().find("will not help"), std::string::npos);
  EXPECT_EQ(refused(Refusal::Reason::kInvalid, 0).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ServerTest, AwaitOfUnknownJobs) {
  start();
  v1::AwaitProofResponse response;
  const grpc::Status status = await("nobody", 10, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "job not found: nobody");
  // Forgotten between the look for it and the watch.
  engine.submit({.request_id = "gone"}, Attendance::kDetached);
  JobResult forgotten;
  forgotten.error = Error(ErrorClass::kNotFound, "no such job");
  engine.finish(engine.find("gone").value(), forgotten);
  const grpc::Status late = await("gone", 10, &response);
  EXPECT_EQ(late.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(late.error_message(), "job not found: gone");
}

TEST_F(ServerTest, AwaitHonoursItsTimeout) {
  start();
  engine.submit({.request_id = "slow"}, Attendance::kDetached);
  v1::AwaitProofResponse response;
  const auto before = std::chrono::steady_clock::now();
  ASSERT_TRUE(await("slow", 100, &response).ok());
  const auto took = std::chrono::steady_clock::now() - before;
  EXPECT_EQ(response.status(), v1::AwaitProofResponse::TIMEOUT);
  EXPECT_TRUE(response.unfinished());
  EXPECT_EQ(response.job_id(), "slow");
  EXPECT_GE(took, 90ms);
  EXPECT_LT(took, 2s);
  ASSERT_TRUE(engine.wait_for_watches(0));
  // 0 is for ever, which the call's deadline ends a little before it.
  ASSERT_TRUE(await("slow", 0, &response, 600ms).ok());
  EXPECT_EQ(response.status(), v1::AwaitProofResponse::TIMEOUT);
  EXPECT_TRUE(response.unfinished());
  // A timeout that is not reached, and numbers that are for ever.
  for (const uint64_t timeout : {uint64_t{0}, uint64_t{8000}, ~uint64_t{0}}) {
    std::thread finisher([&] {
      ASSERT_TRUE(engine.wait_for_watches(1));
      engine.complete("slow");
    });
    ASSERT_TRUE(await("slow", timeout, &response).ok());
    finisher.join();
    EXPECT_EQ(response.status(), v1::AwaitProofResponse::COMPLETED);
    engine.submit({.request_id = "slow"}, Attendance::kDetached);
  }
}

TEST_F(ServerTest, ManyWaitForOneJobWithoutThreads) {
  start();
  engine.submit({.request_id = "one"}, Attendance::kDetached);
  v1::AwaitProofRequest request;
  request.set_job_id("one");
  constexpr size_t kClients = 500;
  struct Call {
    grpc::ClientContext context;
    v1::AwaitProofResponse response;
    std::promise<grpc::Status> status;
  };
  std::vector<std::unique_ptr<Call>> calls;
  const auto begin = [&] {
    calls.push_back(std::make_unique<Call>());
    Call& call = *calls.back();
    stub->async()->AwaitProof(&call.context, &request, &call.response,
                              [&call](grpc::Status status) { call.status.set_value(status); });
  };
  begin();
  ASSERT_TRUE(engine.wait_for_watches(1));
  const size_t before = threads_now();
  while (calls.size() < kClients) begin();
  ASSERT_TRUE(engine.wait_for_watches(kClients));
  EXPECT_LE(threads_now(), before + 2);
  engine.complete("one");
  for (const auto& call : calls) {
    ASSERT_TRUE(call->status.get_future().get().ok());
    EXPECT_EQ(call->response.status(), v1::AwaitProofResponse::COMPLETED);
  }
}

TEST_F(ServerTest, CancelledJobsAnswerTheirWaiters) {
  start();
  std::thread client([&] {
    v1::ProveResponse response;
    ASSERT_TRUE(prove(prove_request("c"), &response).ok());
    EXPECT_EQ(response.result().status(), v1::AwaitProofResponse::CANCELLED);
  });
  ASSERT_TRUE(engine.wait_for_watches(1));
  const auto cancel = [&](const std::string& id) {
    grpc::ClientContext context;
    v1::CancelProofRequest request;
    request.set_job_id(id);
    v1::CancelProofResponse response;
    EXPECT_TRUE(stub->CancelProof(&context, request, &response).ok());
    return response;
  };
  EXPECT_TRUE(cancel("c").was_running());
  client.join();
  EXPECT_FALSE(cancel("unknown").found());
}

TEST_F(ServerTest, ClientsThatGiveUpAreNotWatchedForAnyMore) {
  start();
  v1::ProveResponse response;
  EXPECT_EQ(prove(prove_request("p"), &response, 200ms).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  ASSERT_TRUE(engine.wait_for_watches(0));
  EXPECT_EQ(engine.unwatch_count(), 1u);
  engine.complete("p");  // nobody is there

  grpc::ClientContext context;
  std::thread client([&] {
    EXPECT_EQ(stub->Prove(&context, prove_request("q"), &response).error_code(), grpc::StatusCode::CANCELLED);
  });
  ASSERT_TRUE(engine.wait_for_watches(1));
  context.TryCancel();
  client.join();
  ASSERT_TRUE(engine.wait_for_watches(0));
}

// Results, cancellations and time limits of many calls at once: each ends, and no watch stays.
TEST_F(ServerTest, EndsThatRaceAreReachedOnce) {
  start();
  std::vector<std::thread> clients;
  std::atomic<int> ended{0};
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&, c] {
      const auto own = stub_for(server->addresses()[0]);
      for (int i = 0; i < 60; ++i) {
        const std::string id = std::to_string(c) + "-" + std::to_string(i);
        engine.submit({.request_id = id}, Attendance::kDetached);
        grpc::ClientContext context;
        if (i % 3 == 0) context.set_deadline(std::chrono::system_clock::now() + 5ms);
        v1::AwaitProofRequest request;
        request.set_job_id(id);
        if (i % 3 == 1) request.set_timeout_ms(4);
        std::thread other([&] {
          std::this_thread::sleep_for(std::chrono::microseconds(3000 + 37 * i));
          if (i % 3 == 2) context.TryCancel();
          engine.complete(id);
        });
        v1::AwaitProofResponse response;
        const grpc::Status status = own->AwaitProof(&context, request, &response);
        EXPECT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::CANCELLED ||
                    status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED)
            << status.error_message();
        other.join();
        ++ended;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(ended.load(), 240);
  ASSERT_TRUE(engine.wait_for_watches(0));
}

TEST(CallEnd, IsFreedOnceItIsReleased) {
  FakeEngine engine;
  for (const auto limit : {0ms, 3'600'000ms}) {
    auto end = std::make_shared<CallEnd>(engine);
    const std::weak_ptr<CallEnd> weak = end;
    std::promise<void> rang;
    CallEnd::limit(end, std::chrono::system_clock::now() + limit, [&] { rang.set_value(); });
    if (limit == 0ms) rang.get_future().get();
    end->release();
    end.reset();
    for (int i = 0; i < 1000 && !weak.expired(); ++i) std::this_thread::sleep_for(5ms);
    EXPECT_TRUE(weak.expired()) << limit.count();
  }
}

TEST_F(ServerTest, PreloadAndEvict) {
  start();
  const auto preload = [&](const std::string& id, v1::PreloadSrsResponse* response) {
    grpc::ClientContext context;
    v1::PreloadSrsRequest request;
    request.set_circuit_id(id);
    return stub->PreloadSRS(&context, request, response);
  };
  const auto evict = [&](const std::string& id, v1::EvictSrsResponse* response) {
    grpc::ClientContext context;
    v1::EvictSrsRequest request;
    request.set_circuit_id(id);
    return stub->EvictSRS(&context, request, response);
  };
  v1::PreloadSrsResponse loaded;
  ASSERT_TRUE(preload("porep-2k", &loaded).ok());
  EXPECT_EQ(loaded.load_time_ms(), 17u);
  EXPECT_EQ(preload("what", &loaded).error_message(), "unknown circuit ID: what");
  EXPECT_EQ(preload("what", &loaded).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(preload("absent", &loaded).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(preload("large", &loaded).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(preload("large", &loaded).error_message(), "never fits [a retry of the same request will not help]");
  v1::EvictSrsResponse evicted;
  ASSERT_TRUE(evict("porep-2k", &evicted).ok());
  EXPECT_TRUE(evicted.was_loaded());
  EXPECT_EQ(evicted.freed_bytes(), 99u);
  EXPECT_EQ(evict("busy", &evicted).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(evict("what", &evicted).error_message(), "unknown circuit ID: what");
}

TEST_F(ServerTest, StatusAndMetrics) {
  hooks.status_json = [](const EngineStatus&) { return std::string("{\"json\":1}"); };
  hooks.metrics_text = [](const EngineStatus&) { return std::string("cuzk 1\n"); };
  EngineStatus& status = engine.current_status;
  status.uptime_seconds = 61.9;
  status.used_bytes = 5, status.budget_bytes = 10;
  status.kinds[index_of(ProofKind::kSnap)] = {.completed = 3, .failed = 1, .pending = 2, .running = 1};
  status.kinds[index_of(ProofKind::kWinning)] = {.completed = 1};
  status.devices.push_back({.info = {2, "GPU", true, 100, 90, 40}, .state = DeviceState::kProving});
  status.devices[0].job_id = "j";
  status.devices[0].kind = ProofKind::kSnap;
  status.resident.push_back({"window-32g", 2, 77, 7, 0, 3, false});
  start();
  grpc::ClientContext context;
  v1::GetStatusResponse response;
  ASSERT_TRUE(stub->GetStatus(&context, {}, &response).ok());
  EXPECT_EQ(response.uptime_seconds(), 61u);
  EXPECT_EQ(response.total_proofs_completed(), 4u);
  EXPECT_EQ(response.total_proofs_failed(), 1u);
  EXPECT_EQ(response.pinned_memory_bytes(), 5u);
  EXPECT_EQ(response.pinned_memory_limit_bytes(), 10u);
  ASSERT_EQ(response.gpus_size(), 1);
  EXPECT_EQ(response.gpus(0).ordinal(), 2u);
  EXPECT_EQ(response.gpus(0).vram_free_bytes(), 40u);
  EXPECT_EQ(response.gpus(0).current_job_id(), "j");
  EXPECT_EQ(response.gpus(0).current_proof_kind(), "snap-update");
  ASSERT_EQ(response.loaded_srs_size(), 1);
  EXPECT_EQ(response.loaded_srs(0).circuit_id(), "wpost-32g");
  EXPECT_EQ(response.loaded_srs(0).tier(), v1::SRSStatus::HOT);
  EXPECT_EQ(response.loaded_srs(0).ref_count(), 3u);
  ASSERT_EQ(response.queues_size(), 4);
  EXPECT_EQ(response.queues(1).proof_kind(), "snap-update");
  EXPECT_EQ(response.queues(1).pending(), 2u);
  EXPECT_EQ(response.queues(1).in_progress(), 1u);
  EXPECT_EQ(response.status_json(), "{\"json\":1}");
  EXPECT_EQ(response.version(), "test");
  EXPECT_TRUE(response.ready());
  grpc::ClientContext second;
  v1::GetMetricsResponse metrics;
  ASSERT_TRUE(stub->GetMetrics(&second, {}, &metrics).ok());
  EXPECT_EQ(metrics.prometheus_text(), "cuzk 1\n");
}

TEST_F(ServerTest, CallsAreCounted) {
  std::mutex mutex;
  std::vector<std::string> calls;
  hooks.on_call = [&](std::string_view method, std::string_view code, double seconds) {
    const std::lock_guard lock(mutex);
    EXPECT_GE(seconds, 0);
    calls.push_back(std::string(method) + " " + std::string(code));
  };
  start();
  engine.finish_at_once = true;
  v1::ProveResponse response;
  ASSERT_TRUE(prove(prove_request("x"), &response).ok());
  v1::AwaitProofResponse awaited;
  EXPECT_FALSE(await("y", 0, &awaited).ok());
  const std::lock_guard lock(mutex);
  EXPECT_EQ(calls, (std::vector<std::string>{"Prove OK", "AwaitProof NOT_FOUND"}));
}

TEST_F(ServerTest, UnknownMethodsAndServices) {
  start();
  grpc::TemplatedGenericStub<v1::GetStatusRequest, v1::GetStatusResponse> any(
      grpc::CreateChannel(server->addresses()[0], grpc::InsecureChannelCredentials()));
  const auto call = [&](const char* path) {
    grpc::ClientContext context;
    v1::GetStatusRequest request;
    v1::GetStatusResponse response;
    std::promise<grpc::Status> status;
    any.UnaryCall(&context, path, grpc::StubOptions(), &request, &response,
                  [&](const grpc::Status& result) { status.set_value(result); });
    return status.get_future().get();
  };
  EXPECT_EQ(call("/cuzk.v1.ProvingEngine/GetStatuses").error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(call("/other/GetStatus").error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_TRUE(call("/cuzk.v1.ProvingEngine/GetStatus").ok());
}

TEST_F(ServerTest, DrainIsSeenAtOnceAndEverythingElseGoesOn) {
  start();
  std::thread waiting([&] {
    v1::ProveResponse response;
    ASSERT_TRUE(prove(prove_request("early"), &response).ok());
    EXPECT_EQ(response.result().status(), v1::AwaitProofResponse::COMPLETED);
  });
  ASSERT_TRUE(engine.wait_for_watches(1));
  auto health = grpc::health::v1::Health::NewStub(
      grpc::CreateChannel(server->addresses()[0], grpc::InsecureChannelCredentials()));
  const auto check = [&] {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckRequest request;
    request.set_service("cuzk.v1.ProvingEngine");
    grpc::health::v1::HealthCheckResponse response;
    EXPECT_TRUE(health->Check(&context, request, &response).ok());
    return response.status();
  };
  EXPECT_EQ(check(), grpc::health::v1::HealthCheckResponse::SERVING);
  std::promise<void> drained;
  const auto before = std::chrono::steady_clock::now();
  server->drain(std::chrono::steady_clock::now() + 10s, [&] { drained.set_value(); });
  EXPECT_EQ(check(), grpc::health::v1::HealthCheckResponse::NOT_SERVING);
  v1::ProveResponse response;
  EXPECT_EQ(prove(prove_request("late"), &response).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 100ms);
  std::this_thread::sleep_for(1200ms);  // a look at the engine, which is ready, changes nothing
  EXPECT_EQ(check(), grpc::health::v1::HealthCheckResponse::NOT_SERVING);
  grpc::ClientContext context;
  v1::GetStatusResponse status;
  ASSERT_TRUE(stub->GetStatus(&context, {}, &status).ok());
  EXPECT_TRUE(status.draining());
  EXPECT_FALSE(status.ready());
  engine.complete("early");
  waiting.join();
  engine.finish_drain();
  drained.get_future().get();
  server->stop(1s);
  EXPECT_FALSE(std::filesystem::exists(directory / "sock"));
}

TEST_F(ServerTest, StopAnswersThoseWhoWait) {
  start();
  engine.submit({.request_id = "d"}, Attendance::kDetached);
  std::thread client([&] {
    v1::AwaitProofResponse response;
    const grpc::Status status = await("d", 0, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_NE(status.error_message().find("after its restart"), std::string::npos) << status.error_message();
  });
  ASSERT_TRUE(engine.wait_for_watches(1));
  const auto before = std::chrono::steady_clock::now();
  server->stop(5s);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 3s);
  client.join();
}

TEST_F(ServerTest, HealthFollowsTheEngine) {
  engine.current_status.ready = false;
  start();
  auto health = grpc::health::v1::Health::NewStub(
      grpc::CreateChannel(server->addresses()[0], grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  grpc::health::v1::HealthCheckResponse response;
  ASSERT_TRUE(health->Check(&context, {}, &response).ok());
  EXPECT_EQ(response.status(), grpc::health::v1::HealthCheckResponse::NOT_SERVING);
}

template <class Service, class Request, class Response>
void check_reflection(const std::string& address) {
  const auto stub = Service::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  auto stream = stub->ServerReflectionInfo(&context);
  const auto ask = [&](const Request& request) {
    Response response;
    EXPECT_TRUE(stream->Write(request));
    EXPECT_TRUE(stream->Read(&response));
    return response;
  };
  Request request;
  request.set_list_services("*");
  std::vector<std::string> names;
  const Response listed = ask(request);
  for (const auto& service : listed.list_services_response().service()) names.push_back(service.name());
  EXPECT_EQ(names, (std::vector<std::string>{"cuzk.v1.ProvingEngine", "grpc.health.v1.Health",
                                             "grpc.reflection.v1.ServerReflection",
                                             "grpc.reflection.v1alpha.ServerReflection"}));
  for (const std::string& name : names) {
    request.set_file_containing_symbol(name);
    const Response response = ask(request);
    ASSERT_EQ(response.file_descriptor_response().file_descriptor_proto_size(), 1) << name;
    google::protobuf::FileDescriptorProto file;
    ASSERT_TRUE(file.ParseFromString(response.file_descriptor_response().file_descriptor_proto(0)));
    EXPECT_EQ(file.package() + "." + file.service(0).name(), name);
  }
  request.set_file_by_filename("cuzk/v1/proving.proto");
  EXPECT_EQ(ask(request).file_descriptor_response().file_descriptor_proto_size(), 1);
  request.set_file_by_filename("../etc/passwd");
  EXPECT_EQ(ask(request).error_response().error_code(), static_cast<int>(grpc::StatusCode::NOT_FOUND));
  request.set_all_extension_numbers_of_type("x");
  EXPECT_EQ(ask(request).error_response().error_code(), static_cast<int>(grpc::StatusCode::NOT_FOUND));
  request.Clear();
  EXPECT_EQ(ask(request).error_response().error_code(), static_cast<int>(grpc::StatusCode::INVALID_ARGUMENT));
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(ServerTest, Reflection) {
  start();
  check_reflection<grpc::reflection::v1::ServerReflection, grpc::reflection::v1::ServerReflectionRequest,
                   grpc::reflection::v1::ServerReflectionResponse>(server->addresses()[0]);
  check_reflection<grpc::reflection::v1alpha::ServerReflection, grpc::reflection::v1alpha::ServerReflectionRequest,
                   grpc::reflection::v1alpha::ServerReflectionResponse>(server->addresses()[0]);
}

}  // namespace
}  // namespace cuzk
