// Large, slow, abandoned and too many requests.
#include <sys/resource.h>

#include <atomic>
#include <fstream>

#include "server/messages.hpp"
#include "server/raw_http2_test_support.hpp"
#include "server/server_test_support.hpp"
#include "server/upload_slots.hpp"

namespace cuzk {
namespace {

constexpr const char* kProve = "/cuzk.v1.ProvingEngine/Prove";

uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * 4096;
}

TEST(UploadSlots, TheOldestGivesWayOnceItHadItsTime) {
  using Clock = UploadSlots::Clock;
  UploadSlots slots(2, 100ms, 1000ms);
  const Clock::time_point start = Clock::now();
  std::string ended;
  const auto end = [&](char name) { return [&ended, name](const grpc::Status&) { ended += name; }; };
  const int keys[4] = {};
  EXPECT_TRUE(slots.admit(&keys[0], end('a'), start));
  EXPECT_TRUE(slots.admit(&keys[1], end('b'), start + 50ms));
  EXPECT_FALSE(slots.admit(&keys[2], end('c'), start + 99ms));
  EXPECT_EQ(ended, "");
  EXPECT_TRUE(slots.admit(&keys[2], end('c'), start + 100ms));
  EXPECT_EQ(ended, "a");
  EXPECT_FALSE(slots.admit(&keys[3], end('d'), start + 149ms));
  slots.release(&keys[1]);
  slots.release(&keys[1]);
  EXPECT_TRUE(slots.admit(&keys[3], end('d'), start + 149ms));
  slots.expire(start + 1099ms);
  EXPECT_EQ(ended, "a");
  slots.expire(start + 1100ms);
  EXPECT_EQ(ended, "ac");
  EXPECT_EQ(slots.size(), 1u);
  UploadSlots none(0, 0ms, 0ms);
  EXPECT_FALSE(none.admit(&keys[0], end('x')));
}

class ServerLimitsTest : public ServerTest {
 protected:
  ServerLimitsTest() { engine.finish_at_once = true; }
  // A Prove request that has exactly `bytes` on the wire.
  static v1::ProveRequest request_of(size_t bytes) {
    v1::ProveRequest request = prove_request("big");
    request.mutable_submit()->mutable_vanilla_proof()->resize(bytes, 'x');
    while (request.ByteSizeLong() > bytes) {
      request.mutable_submit()->mutable_vanilla_proof()->resize(request.submit().vanilla_proof().size() -
                                                                (request.ByteSizeLong() - bytes));
    }
    EXPECT_EQ(request.ByteSizeLong(), bytes);
    return request;
  }
};

TEST_F(ServerLimitsTest, MessagesAtTheLimitAndBeyond) {
  constexpr size_t kLimit = 3'000'000;
  options.max_message_bytes = kLimit;
  start();
  v1::ProveResponse response;
  EXPECT_TRUE(prove(request_of(kLimit - 1), &response).ok());
  EXPECT_TRUE(prove(request_of(kLimit), &response).ok());
  EXPECT_EQ(engine.submit_count(), 2u);
  for (const size_t bytes : {kLimit + 1, 2 * kLimit}) {
    const grpc::Status status = prove(request_of(bytes), &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::OUT_OF_RANGE);
    EXPECT_EQ(status.error_message(), "Error, decoded message length too large: found " + std::to_string(bytes) +
                                          " bytes, the limit is: 3000000 bytes");
  }
  EXPECT_EQ(engine.submit_count(), 2u);
  EXPECT_TRUE(prove(request_of(1000), &response).ok());
}

TEST_F(ServerLimitsTest, LargeRequestArrivesWhole) {
  start();
  std::string proof(52 << 20, '\0');
  for (size_t i = 0; i < proof.size(); i += 4096) proof[i] = static_cast<char>(i >> 12);
  v1::ProveRequest request = prove_request("c1");
  request.mutable_submit()->set_vanilla_proof(proof);
  v1::ProveResponse response;
  ASSERT_TRUE(prove(request, &response).ok());
  EXPECT_TRUE(engine.submission().vanilla_proof == proof);
}

TEST_F(ServerLimitsTest, SmallMethodsTakeSmallMessagesOnly) {
  start();
  grpc::ClientContext context;
  v1::AwaitProofRequest request;
  request.set_job_id(std::string(100'000, 'x'));
  v1::AwaitProofResponse response;
  EXPECT_EQ(stub->AwaitProof(&context, request, &response).error_code(), grpc::StatusCode::OUT_OF_RANGE);
}

TEST_F(ServerLimitsTest, CompressedMessagesAreRefused) {
  start();
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  v1::ProveResponse response;
  const grpc::Status status = stub->Prove(&context, request_of(1'000'000), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << status.error_message();
  EXPECT_EQ(engine.submit_count(), 0u);
}

TEST_F(ServerLimitsTest, MessagesThatAreNone) {
  start();
  RawHttp2 client(directory / "sock");
  client.begin(kProve);
  EXPECT_TRUE(client.data(std::string("\0\0\0\0\3\xff\xff\xff", 8)));
  EXPECT_TRUE(client.ended_within(5s));
  EXPECT_EQ(engine.submit_count(), 0u);
}

// A refusal comes before the request has been sent, and at once: whatever time a client needs to write 50 MB is its
// own.
TEST_F(ServerLimitsTest, DrainingIsSaidBeforeTheMessage) {
  start();
  server->drain(std::chrono::steady_clock::now() + 1s, [] {});
  auto least = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 20; ++i) {
    RawHttp2 client(directory / "sock");
    EXPECT_FALSE(client.ended_within(1ms));
    const auto start = std::chrono::steady_clock::now();
    client.begin(kProve);
    EXPECT_TRUE(client.ended_within(2s));
    least = std::min(least, std::chrono::steady_clock::now() - start);
  }
  EXPECT_LT(least, 10ms);  // of twenty, as other work on the machine takes its time
}

TEST_F(ServerLimitsTest, SlowSendersHoldUpNobodyAndLoseTheirPlace) {
  options.max_uploads = 4;
  options.upload_patience = 200ms;
  options.upload_timeout = 3000ms;
  start();
  std::vector<std::unique_ptr<RawHttp2>> slow;
  for (int i = 0; i < 4; ++i) {
    slow.push_back(std::make_unique<RawHttp2>(directory / "sock"));
    slow.back()->begin(kProve);
    slow.back()->data(std::string("\0\0\1\0\0", 5));  // of a message of 64 KiB
  }
  std::this_thread::sleep_for(300ms);
  for (auto& client : slow) client->data("x");
  // The first of the others takes the place of the oldest.
  v1::ProveResponse response;
  for (int i = 0; i < 20; ++i) {
    const auto before = std::chrono::steady_clock::now();
    ASSERT_TRUE(prove(prove_request("quick"), &response).ok());
    EXPECT_LT(std::chrono::steady_clock::now() - before, 500ms);
  }
  const auto first = std::find_if(slow.begin(), slow.end(), [](auto& client) { return client->ended_within(50ms); });
  ASSERT_NE(first, slow.end());
  slow.erase(first);
  // The others keep theirs until the time limit, at a byte now and then.
  for (auto& client : slow) EXPECT_FALSE(client->ended_within(50ms));
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(300ms);
    slow[0]->data("x");
  }
  for (auto& client : slow) EXPECT_TRUE(client->ended_within(3s));
}

TEST_F(ServerLimitsTest, TooManyUploadsAreRefusedWithAHint) {
  options.max_uploads = 2;
  options.upload_patience = 60s;
  start();
  RawHttp2 first(directory / "sock"), second(directory / "sock");
  first.begin(kProve);
  second.begin(kProve);
  v1::ProveResponse response;
  grpc::Status status = grpc::Status::OK;
  for (int i = 0; i < 100 && status.ok(); ++i) {
    std::this_thread::sleep_for(20ms);
    status = prove(prove_request("x"), &response);
  }
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  // Everything else is as before.
  grpc::ClientContext context;
  v1::GetStatusResponse answer;
  EXPECT_TRUE(stub->GetStatus(&context, {}, &answer).ok());
}

// Requests that do not arrive at once are counted in the engine's budget, and so are those that are being parsed.
TEST_F(ServerLimitsTest, UploadsAreCountedInTheBudget) {
  start();
  constexpr uint64_t kCounted = uint64_t{64} << 20;
  Reservation rest = engine.budget.reserve(engine.budget.total() - 2 * kCounted, "proving").value();
  std::vector<std::unique_ptr<RawHttp2>> slow;
  const auto begin = [&] {
    slow.push_back(std::make_unique<RawHttp2>(directory / "sock"));
    slow.back()->begin(kProve);
    slow.back()->data(std::string("\0\0\1\0\0", 5));
  };
  const auto counted = [&](uint64_t bytes) {
    for (int i = 0; i < 500 && engine.budget.used("uploads") != bytes; ++i) std::this_thread::sleep_for(10ms);
    return engine.budget.used("uploads") == bytes;
  };
  begin();
  begin();
  EXPECT_TRUE(counted(2 * kCounted));
  begin();
  EXPECT_TRUE(slow.back()->ended_within(5s));  // there is no memory for a third
  v1::ProveResponse response;
  const grpc::Status refused = prove(request_of(1'000'000), &response);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(retry_after_ms(refused), 1000u);
  EXPECT_TRUE(prove(request_of(10'000), &response).ok());  // small ones are not worth counting
  slow.clear();
  EXPECT_TRUE(counted(0));
  EXPECT_TRUE(prove(request_of(1'000'000), &response).ok());
  EXPECT_EQ(engine.last_received_bytes, 1'000'000u);  // as the engine takes it over
  EXPECT_TRUE(counted(0));
}

// Many clients that begin an upload and are gone: nothing stays.
TEST_F(ServerLimitsTest, ClientsKilledDuringUpload) {
  start();
  v1::ProveResponse response;
  ASSERT_TRUE(prove(prove_request("before"), &response).ok());
  const uint64_t before = resident_bytes();
  for (int i = 0; i < 30; ++i) {
    RawHttp2 client(directory / "sock");
    client.begin(kProve);
    client.data(std::string("\0\x10\0\0\0", 5));  // of 256 MiB
    for (int k = 0; k < 4; ++k) client.data(std::string(16000, 'x'));
  }
  ASSERT_TRUE(prove(prove_request("after"), &response).ok());
  EXPECT_EQ(engine.submit_count(), 2u);
  EXPECT_LT(resident_bytes(), before + (64 << 20));
}

TEST_F(ServerLimitsTest, ProcessKilledDuringProve) {
  start();
  engine.finish_at_once = false;
  {
    RawHttp2 client(directory / "sock");
    client.begin(kProve);
    v1::ProveRequest request = prove_request("orphan");
    std::string message = request.SerializeAsString();
    message.insert(0, std::string("\0\0\0\0", 4) + static_cast<char>(message.size()));
    client.data(message);
    ASSERT_TRUE(engine.wait_for_watches(1));
  }  // its socket is closed by the kernel, as that of a process that is killed
  ASSERT_TRUE(engine.wait_for_watches(0));
  EXPECT_EQ(engine.unwatch_count(), 1u);
}

TEST_F(ServerLimitsTest, ConnectionMemoryIsBounded) {
  options.connection_memory_bytes = 64 << 20;
  options.max_message_bytes = 16 << 20;
  start();
  v1::ProveResponse response;
  ASSERT_TRUE(prove(prove_request("before"), &response).ok());
  const uint64_t before = resident_bytes();
  std::atomic<uint64_t> peak{0};
  std::atomic<bool> stop{false};
  std::thread watcher([&] {
    while (!stop) {
      peak = std::max(peak.load(), resident_bytes());
      std::this_thread::sleep_for(2ms);
    }
  });
  // A gigabyte is announced, and sent as fast as it is let.
  RawHttp2 client(directory / "sock");
  client.begin(kProve);
  client.data(std::string("\0\x40\0\0\0", 5));
  const uint64_t sent = client.flood(uint64_t{1} << 30);
  EXPECT_GT(sent, uint64_t{32} << 20);  // it is the memory that ends it
  EXPECT_LT(sent, uint64_t{512} << 20);
  stop = true;
  watcher.join();
  EXPECT_LT(peak, before + (192 << 20));
}

// More connections than descriptors: refused, and forgotten once they are gone.
TEST_F(ServerLimitsTest, ConnectionsBeyondTheLimitOfDescriptors) {
  options.listen.push_back("127.0.0.1:0");
  start();
  v1::ProveResponse response;
  ASSERT_TRUE(prove(prove_request("before"), &response).ok());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  // Ours are made first and have the low numbers; theirs begin where ours end.
  std::vector<int> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const rlimit tight{static_cast<rlim_t>(clients.back()) + 40, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (directory / "sock").c_str(), sizeof(address.sun_path) - 1);
  for (const int client : clients) connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  std::this_thread::sleep_for(300ms);
  EXPECT_TRUE(prove(prove_request("during"), &response).ok());  // on a connection that was there
  for (const int client : clients) close(client);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  for (const std::string& listener : server->addresses()) {
    grpc::Status status;
    for (int i = 0; i < 50; ++i) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + 2s);
      status = stub_for(listener)->Prove(&context, prove_request("after"), &response);
      if (status.ok()) break;
      std::this_thread::sleep_for(50ms);
    }
    EXPECT_TRUE(status.ok()) << listener << ": " << status.error_message();
  }
}

}  // namespace
}  // namespace cuzk
