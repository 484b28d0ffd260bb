// Hours of clients in a minute: descriptors, threads and memory stay as they are.
#include <fstream>

#include "server/server_test_support.hpp"

namespace cuzk {
namespace {

size_t entries(const char* directory) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * 4096;
}

// A client of its own connection: calls that end in every way there is.
void visit(const std::string& address, FakeEngine& engine, const std::string& name) {
  const auto stub = stub_for(address);
  for (int i = 0; i < 8; ++i) {
    const std::string id = name + "-" + std::to_string(i);
    engine.submit({.request_id = id}, Attendance::kDetached);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + 5s);
    v1::AwaitProofRequest request;
    request.set_job_id(id);
    v1::AwaitProofResponse response;
    std::thread other;
    switch (i % 4) {
      case 0: other = std::thread([&] { engine.complete(id); }); break;
      case 1: request.set_timeout_ms(1); break;
      case 2: other = std::thread([&] { context.TryCancel(); }); break;
      case 3: context.set_deadline(std::chrono::system_clock::now() + 1ms); break;
    }
    (void)stub->AwaitProof(&context, request, &response);
    if (other.joinable()) other.join();
    engine.forget(id);
  }
  grpc::ClientContext context;
  v1::ProveRequest large;
  large.mutable_submit()->set_proof_kind(v1::POREP_SEAL_COMMIT);
  large.mutable_submit()->set_request_id("large");
  large.mutable_submit()->set_vanilla_proof(std::string(300'000, 'x'));
  context.set_deadline(std::chrono::system_clock::now() + 3ms);
  v1::ProveResponse response;
  (void)stub->Prove(&context, large, &response);
}

TEST_F(ServerTest, NothingGrows) {
  options.listen.push_back("127.0.0.1:0");
  options.http_listen = "127.0.0.1:0";
  start();
  const auto round = [&](int number) {
    std::vector<std::thread> clients;
    for (int c = 0; c < 8; ++c) {
      clients.emplace_back(
          [&, c] { visit(server->addresses()[c % 2], engine, std::to_string(number) + "-" + std::to_string(c)); });
    }
    for (std::thread& client : clients) client.join();
  };
  for (int i = 0; i < 40; ++i) round(i);
  ASSERT_TRUE(engine.wait_for_watches(0));
  const size_t descriptors = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  const uint64_t memory = resident_bytes();
  for (int i = 0; i < 200; ++i) round(1000 + i);
  ASSERT_TRUE(engine.wait_for_watches(0));
  for (int i = 0; i < 50 && entries("/proc/self/fd") > descriptors + 8; ++i) std::this_thread::sleep_for(100ms);
  EXPECT_LE(entries("/proc/self/fd"), descriptors + 8);
  EXPECT_LE(entries("/proc/self/task"), threads + 8);
  EXPECT_LE(resident_bytes(), memory + (24 << 20));
  RecordProperty("resident_before", std::to_string(memory));
  RecordProperty("resident_after", std::to_string(resident_bytes()));
}

}  // namespace
}  // namespace cuzk
