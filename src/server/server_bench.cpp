// What the network side costs: an empty call, a 52 MiB request against bare gRPC, a refusal. On a unix socket, with an
// engine that does nothing.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "server/raw_http2_test_support.hpp"
#include "server/server_test_support.hpp"

namespace cuzk {
namespace {

constexpr size_t kLargeBytes = 52 << 20;

// Adds the median and the 99th percentile of what each iteration took.
class Latencies {
 public:
  explicit Latencies(benchmark::State& state) : state_(state) {}
  ~Latencies() {
    if (ms_.empty()) return;
    std::sort(ms_.begin(), ms_.end());
    state_.counters["p50_ms"] = ms_[ms_.size() / 2];
    state_.counters["p99_ms"] = ms_[std::min(ms_.size() - 1, ms_.size() * 99 / 100)];
  }
  template <class F>
  void measure(F&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    ms_.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }

 private:
  benchmark::State& state_;
  std::vector<double> ms_;
};

struct Serving {
  Serving() {
    engine.current_status.ready = true;
    engine.finish_at_once = true;
    ServerOptions options;
    options.listen = {"unix://" + (directory / "sock")};
    server = Server::start(engine, options, {}).value();
    stub = stub_for(server->addresses()[0]);
  }
  TemporaryDirectory directory;
  FakeEngine engine;
  std::unique_ptr<Server> server;
  std::unique_ptr<Stub> stub;
};

v1::ProveRequest prove_request(size_t bytes) {
  v1::ProveRequest request;
  request.mutable_submit()->set_request_id("bench");
  request.mutable_submit()->set_proof_kind(v1::POREP_SEAL_COMMIT);
  request.mutable_submit()->set_vanilla_proof(std::string(bytes, 'x'));
  return request;
}

void check(benchmark::State& state, const grpc::Status& status, grpc::StatusCode wanted = grpc::StatusCode::OK) {
  if (status.error_code() != wanted) state.SkipWithError(status.error_message().c_str());
}

void empty_call(benchmark::State& state) {
  Serving serving;
  Latencies latencies(state);
  for ([[maybe_unused]] auto _ : state) {
    latencies.measure([&] {
      grpc::ClientContext context;
      v1::GetStatusResponse response;
      check(state, serving.stub->GetStatus(&context, {}, &response));
    });
  }
}
BENCHMARK(empty_call)->UseRealTime();

void refusal_of_a_full_queue(benchmark::State& state) {
  Serving serving;
  serving.engine.refusal = Refusal{Refusal::Reason::kQueueFull, "full", 1000};
  const v1::ProveRequest request = prove_request(1000);
  Latencies latencies(state);
  for ([[maybe_unused]] auto _ : state) {
    latencies.measure([&] {
      grpc::ClientContext context;
      v1::ProveResponse response;
      check(state, serving.stub->Prove(&context, request, &response), grpc::StatusCode::RESOURCE_EXHAUSTED);
    });
  }
}
BENCHMARK(refusal_of_a_full_queue)->UseRealTime();

// From a call's headers on: what the server takes of it.
void refusal_at_the_headers(benchmark::State& state) {
  Serving serving;
  serving.server->drain(std::chrono::steady_clock::now() + 1s, [] {});
  Latencies latencies(state);
  for ([[maybe_unused]] auto _ : state) {
    RawHttp2 client(serving.directory / "sock");
    client.ended_within(1ms);
    latencies.measure([&] {
      client.begin("/cuzk.v1.ProvingEngine/Prove");
      if (!client.ended_within(10s)) state.SkipWithError("no end");
    });
  }
}
BENCHMARK(refusal_at_the_headers)->UseRealTime();

// Of 52 MiB that are never sent; the client writes them into a message of its own first.
void refusal_while_draining(benchmark::State& state) {
  Serving serving;
  serving.server->drain(std::chrono::steady_clock::now() + 1s, [] {});
  const v1::ProveRequest request = prove_request(kLargeBytes);
  Latencies latencies(state);
  for ([[maybe_unused]] auto _ : state) {
    latencies.measure([&] {
      grpc::ClientContext context;
      v1::ProveResponse response;
      check(state, serving.stub->Prove(&context, request, &response), grpc::StatusCode::UNAVAILABLE);
    });
  }
}
BENCHMARK(refusal_while_draining)->UseRealTime();

void large_request(benchmark::State& state) {
  Serving serving;
  const v1::ProveRequest request = prove_request(kLargeBytes);
  Latencies latencies(state);
  for ([[maybe_unused]] auto _ : state) {
    latencies.measure([&] {
      grpc::ClientContext context;
      v1::ProveResponse response;
      check(state, serving.stub->Prove(&context, request, &response));
    });
  }
}
BENCHMARK(large_request)->UseRealTime()->Iterations(30);

// gRPC's generated service, which does nothing with the request, or sends it back.
class Bare final : public v1::ProvingEngine::CallbackService {
 public:
  explicit Bare(bool echo) : echo_(echo) {}
  grpc::ServerUnaryReactor* Prove(grpc::CallbackServerContext* context, const v1::ProveRequest* request,
                                  v1::ProveResponse* response) override {
    if (echo_) response->mutable_result()->set_proof(request->submit().vanilla_proof());
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  const bool echo_;
};

void large_request_to_bare_grpc(benchmark::State& state) {
  TemporaryDirectory directory;
  Bare service(state.range(0) != 0);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + (directory / "sock"), grpc::InsecureServerCredentials());
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  const auto stub = stub_for("unix:" + (directory / "sock"));
  const v1::ProveRequest request = prove_request(kLargeBytes);
  Latencies latencies(state);
  for ([[maybe_unused]] auto _ : state) {
    latencies.measure([&] {
      grpc::ClientContext context;
      v1::ProveResponse response;
      check(state, stub->Prove(&context, request, &response));
    });
  }
}
BENCHMARK(large_request_to_bare_grpc)->ArgName("echo")->Arg(0)->Arg(1)->UseRealTime()->Iterations(30);

}  // namespace
}  // namespace cuzk
