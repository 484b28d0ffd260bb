// Memory that runs out while a request is received, read or answered.
#include "base/memory_reserve.hpp"
#include "server/messages.hpp"
#include "server/server_test_support.hpp"
#include "server/task_threads.hpp"
#include "support/failing_allocations.hpp"

namespace cuzk {
namespace {

constexpr size_t kLarge = 32768;  // what a small request needs never fails

class ServerAllocationsTest : public ServerTest {
 protected:
  ServerAllocationsTest() { engine.finish_at_once = true; }

  // Calls with the k-th large allocation failing, for k = 1, 2, ... until none fails; how many did.
  template <class CallOnce>
  int fail_each(const CallOnce& call_once) {
    constexpr int kMost = 200;
    for (int k = 1; k < kMost; ++k) {
      grpc::Status status;
      test::fail_allocation(k, kLarge, TaskThreads::kName);
      status = call_once();
      if (!test::stop_failing_allocations()) {
        EXPECT_TRUE(status.ok()) << status.error_message();
        return k - 1;
      }
      EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << k << " " << status.error_message();
      EXPECT_GT(retry_after_ms(status), 0u);
      v1::ProveResponse response;
      EXPECT_TRUE(prove(prove_request("after"), &response).ok()) << k;
      for (int i = 0; i < 500 && engine.budget.used() != 0; ++i) std::this_thread::sleep_for(10ms);
      EXPECT_EQ(engine.budget.used(), 0u);
    }
    return kMost;
  }
};

TEST_F(ServerAllocationsTest, EndsItsCallAndNothingElse) {
  start();
  v1::ProveRequest request = prove_request("large");
  request.mutable_submit()->set_vanilla_proof(std::string(2'000'000, 'x'));
  for (int i = 0; i < 6; ++i) request.mutable_submit()->add_vanilla_proofs(std::string(100'000, 'y'));
  v1::ProveResponse response;
  ASSERT_TRUE(prove(request, &response).ok());
  EXPECT_GE(fail_each([&] { return prove(request, &response); }), 7);  // each of its proofs, at least
  EXPECT_GE(fail_each([&] {
              grpc::ClientContext context;
              v1::SubmitProofResponse submitted;
              return stub->SubmitProof(&context, request.submit(), &submitted);
            }),
            7);
}

// The same of any size: a call ends as if nothing had been, where the reserve has carried it, or is refused; no client
// waits for ever.
TEST_F(ServerAllocationsTest, OfAnySizeLeaveNoCallOpen) {
  MemoryReserve::Options kept;
  kept.give_up = [] { _exit(9); };
  const auto reserve = MemoryReserve::make(kept);
  ASSERT_TRUE(reserve.ok());
  start();
  v1::ProveRequest request = prove_request("small");
  request.mutable_submit()->set_vanilla_proof(std::string(100'000, 'x'));  // too much for gRPC's own thread
  v1::ProveResponse response;
  ASSERT_TRUE(prove(request, &response).ok());
  const auto fail_all = [&](const auto& call_once) {
    constexpr int kMost = 1'000;
    int refused = 0;
    for (int k = 1; k < kMost; ++k) {
      test::fail_allocation(k, 1, TaskThreads::kName);
      const grpc::Status status = call_once();
      if (!test::stop_failing_allocations()) {
        EXPECT_GT(refused, 0);
        EXPECT_GT((*reserve)->uses(), 0u);
        return;
      }
      refused += !status.ok();
      const bool expected =
          status.ok() || (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED && retry_after_ms(status) > 0);
      ASSERT_TRUE(expected) << k << ": " << status.error_code() << " " << status.error_message();
      for (int i = 0; i < 500 && engine.budget.used() != 0; ++i) std::this_thread::sleep_for(10ms);
      ASSERT_EQ(engine.budget.used(), 0u);
    }
    FAIL() << "there is no end to it";
  };
  fail_all([&] { return prove(request, &response); });
  fail_all([&] {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + 10s);
    v1::CancelProofRequest cancel;
    cancel.set_job_id("small");
    v1::CancelProofResponse cancelled;
    return stub->CancelProof(&context, cancel, &cancelled);
  });
}

// Texts of the status and the metrics are as long as the queue.
TEST_F(ServerAllocationsTest, EndsACallForALongText) {
  hooks.metrics_text = [](const EngineStatus&) -> std::string { throw std::bad_alloc(); };
  start();
  grpc::ClientContext context;
  v1::GetMetricsResponse metrics;
  EXPECT_EQ(stub->GetMetrics(&context, {}, &metrics).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  v1::ProveResponse response;
  EXPECT_TRUE(prove(prove_request("after"), &response).ok());
}

}  // namespace
}  // namespace cuzk
