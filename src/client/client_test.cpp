#include "client/client.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <thread>

namespace cuzk {
namespace {

TEST(Address, FormsOfTheReferenceAndOurs) {
  const std::map<std::string, std::string> targets = {{"unix:///run/curio/cuzk.sock", "unix:/run/curio/cuzk.sock"},
                                                      {"unix:/a/b", "unix:/a/b"},
                                                      {"unix:b.sock", "unix:b.sock"},
                                                      {"127.0.0.1:9820", "dns:///127.0.0.1:9820"},
                                                      {"http://localhost:9820", "dns:///localhost:9820"},
                                                      {"http://10.0.0.1:9820/", "dns:///10.0.0.1:9820"},
                                                      {"https://prover.example:443", "dns:///prover.example:443"},
                                                      {"dns:///prover:1", "dns:///prover:1"},
                                                      {"[::1]:9820", "dns:///[::1]:9820"}};
  for (const auto& [text, target] : targets) {
    const auto address = parse_server_address(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(address->target, target);
    EXPECT_EQ(address->tls, text.starts_with("https")) << text;
    EXPECT_EQ(address->local, text.find("example") == std::string::npos && text.find("10.0") == std::string::npos &&
                                  text.find("prover") == std::string::npos)
        << text;
  }
  for (const char* text :
       {"", "host", "host:", ":9820", "host:0", "host:65536", "host:x", "::1:9820", "unix:", "unix:///",
        "unix://relative", "http://host", "http://host:1/path", "user@host:1", "a b:1", "https://"}) {
    const auto address = parse_server_address(text);
    EXPECT_FALSE(address.ok()) << text;
    EXPECT_EQ(address.ok() ? ErrorClass::kInternal : address.error().error_class, ErrorClass::kUsage);
  }
}

TEST(Wire, EveryFieldOfASubmission) {
  Submission s;
  s.request_id = "id";
  s.kind = ProofKind::kSnap;
  s.priority = Priority::kLow;
  s.deadline = std::chrono::system_clock::time_point(std::chrono::milliseconds(1234567));
  s.sector_size = 2048;
  s.registered_proof = 3;
  s.vanilla_proof = "one";
  s.vanilla_proofs = {"two", std::string("\0\xff", 2)};
  s.sector_number = 4;
  s.miner_id = 5;
  s.randomness = "six";
  s.partition_index = 7;
  s.comm_r_old = "8";
  s.comm_r_new = "9";
  s.comm_d_new = "10";
  const v1::SubmitProofRequest wire = wire_request(s);
  EXPECT_EQ(wire.request_id(), "id");
  EXPECT_EQ(wire.proof_kind(), v1::SNAP_DEALS_UPDATE);
  EXPECT_EQ(wire.priority(), v1::LOW);
  EXPECT_EQ(wire.deadline_unix_ms(), 1234567U);
  EXPECT_EQ(wire.sector_size(), 2048U);
  EXPECT_EQ(wire.registered_proof(), 3U);
  EXPECT_EQ(wire.vanilla_proof(), "one");
  ASSERT_EQ(wire.vanilla_proofs_size(), 2);
  EXPECT_EQ(wire.vanilla_proofs(1), std::string("\0\xff", 2));
  EXPECT_EQ(wire.sector_number(), 4U);
  EXPECT_EQ(wire.miner_id(), 5U);
  EXPECT_EQ(wire.randomness(), "six");
  EXPECT_EQ(wire.partition_index(), 7U);
  EXPECT_EQ(wire.comm_r_old(), "8");
  EXPECT_EQ(wire.comm_r_new(), "9");
  EXPECT_EQ(wire.comm_d_new(), "10");
  s.kind = ProofKind::kPorep;
  s.priority.reset();
  s.deadline.reset();
  EXPECT_EQ(wire_request(s).proof_kind(), v1::POREP_SEAL_COMMIT);
  EXPECT_EQ(wire_request(s).priority(), v1::PRIORITY_UNSPECIFIED);
  EXPECT_EQ(wire_request(s).deadline_unix_ms(), 0U);
  s.kind = ProofKind::kWindow;
  EXPECT_EQ(wire_request(s).proof_kind(), v1::WINDOW_POST_PARTITION);
  s.kind = ProofKind::kWinning;
  EXPECT_EQ(wire_request(s).proof_kind(), v1::WINNING_POST);
}

TEST(Errors, ClassesOfStatuses) {
  EXPECT_EQ(error_of({grpc::UNAVAILABLE, "x"}).error_class, ErrorClass::kIo);
  EXPECT_EQ(error_of({grpc::RESOURCE_EXHAUSTED, "x"}).error_class, ErrorClass::kResource);
  EXPECT_EQ(error_of({grpc::DEADLINE_EXCEEDED, "x"}).error_class, ErrorClass::kResource);
  EXPECT_EQ(error_of({grpc::INVALID_ARGUMENT, "x"}).error_class, ErrorClass::kInvalidInput);
  EXPECT_EQ(error_of({grpc::OUT_OF_RANGE, "x"}).error_class, ErrorClass::kInvalidInput);
  EXPECT_EQ(error_of({grpc::NOT_FOUND, "x"}).error_class, ErrorClass::kNotFound);
  EXPECT_EQ(error_of({grpc::UNAUTHENTICATED, "x"}).error_class, ErrorClass::kUsage);
  EXPECT_EQ(error_of({grpc::UNIMPLEMENTED, "x"}).error_class, ErrorClass::kUnsupported);
  EXPECT_EQ(error_of({grpc::FAILED_PRECONDITION, "x"}).error_class, ErrorClass::kUnsupported);  // no retry helps
  EXPECT_EQ(error_of({grpc::INTERNAL, "x"}).error_class, ErrorClass::kInternal);
  EXPECT_EQ(error_of({grpc::INTERNAL, ""}).message, "the daemon: gRPC status 13");
}

// Answers at once, and remembers what it was asked.
class FakeService final : public v1::ProvingEngine::Service {
 public:
  grpc::Status SubmitProof(grpc::ServerContext* context, const v1::SubmitProofRequest* request,
                           v1::SubmitProofResponse* response) override {
    note(context);
    response->set_job_id(request->request_id() + "!");
    return grpc::Status::OK;
  }
  grpc::Status AwaitProof(grpc::ServerContext*, const v1::AwaitProofRequest* request,
                          v1::AwaitProofResponse* response) override {
    if (request->job_id() == "none") return {grpc::NOT_FOUND, "job not found: none"};
    response->set_total_ms(request->timeout_ms());
    response->set_status(v1::AwaitProofResponse::TIMEOUT);
    return grpc::Status::OK;
  }
  grpc::Status Prove(grpc::ServerContext* context, const v1::ProveRequest* request,
                     v1::ProveResponse* response) override {
    const std::string& id = request->submit().request_id();
    if (id == "empty") return grpc::Status::OK;
    if (id == "slow") {
      while (!context->IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return {grpc::CANCELLED, ""};
    }
    response->mutable_result()->set_status(v1::AwaitProofResponse::COMPLETED);
    response->mutable_result()->set_proof(request->submit().vanilla_proof());
    return grpc::Status::OK;
  }
  grpc::Status CancelProof(grpc::ServerContext*, const v1::CancelProofRequest* request,
                           v1::CancelProofResponse* response) override {
    response->set_was_running(request->job_id() == "running");
    return grpc::Status::OK;
  }
  grpc::Status GetStatus(grpc::ServerContext* context, const v1::GetStatusRequest*,
                         v1::GetStatusResponse* response) override {
    note(context);
    response->set_uptime_seconds(7);
    return grpc::Status::OK;
  }
  grpc::Status GetMetrics(grpc::ServerContext*, const v1::GetMetricsRequest*,
                          v1::GetMetricsResponse* response) override {
    response->set_prometheus_text("cuzk_up 1\n");
    return grpc::Status::OK;
  }
  grpc::Status PreloadSRS(grpc::ServerContext*, const v1::PreloadSrsRequest* request,
                          v1::PreloadSrsResponse* response) override {
    response->set_load_time_ms(request->circuit_id().size());
    return grpc::Status::OK;
  }
  grpc::Status EvictSRS(grpc::ServerContext*, const v1::EvictSrsRequest* request,
                        v1::EvictSrsResponse* response) override {
    if (request->circuit_id() == "busy") return {grpc::FAILED_PRECONDITION, "in use"};
    response->set_freed_bytes(request->circuit_id().size());
    return grpc::Status::OK;
  }

  std::string authorization;

 private:
  void note(grpc::ServerContext* context) {
    const auto found = context->client_metadata().find("authorization");
    authorization =
        found == context->client_metadata().end() ? "" : std::string(found->second.data(), found->second.size());
  }
};

class ClientTest : public testing::Test {
 protected:
  void SetUp() override {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + path_, grpc::InsecureServerCredentials());
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&service_);
    builder.SetMaxReceiveMessageSize(1 << 20);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }
  void TearDown() override {
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
    unlink(path_.c_str());
  }

  Result<std::unique_ptr<Client>> connect(const std::string& token = "") {
    return Client::connect({.address = "unix://" + path_, .token = token});
  }

  const std::string path_ = "/tmp/cuzk-client-test-" + std::to_string(getpid()) + ".sock";
  int port_ = 0;
  FakeService service_;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(ClientTest, EveryCall) {
  for (const std::string& address :
       {"unix://" + path_, "http://127.0.0.1:" + std::to_string(port_), "localhost:" + std::to_string(port_)}) {
    auto connected = Client::connect({.address = address});
    ASSERT_TRUE(connected.ok()) << connected.error().describe();
    Client& client = **connected;
    v1::SubmitProofRequest request;
    request.set_request_id("a");
    request.set_vanilla_proof("p");
    EXPECT_EQ(client.submit(request)->job_id(), "a!");
    const auto proved = client.prove(request);
    ASSERT_TRUE(proved.ok());
    EXPECT_EQ(proved->proof(), "p");
    EXPECT_STREQ(status_name(proved->status()), "COMPLETED");
    EXPECT_EQ(client.await("a", 250)->total_ms(), 250U);
    EXPECT_TRUE(client.cancel("running")->was_running());
    EXPECT_FALSE(client.cancel("other")->was_running());
    EXPECT_EQ(client.status()->uptime_seconds(), 7U);
    EXPECT_EQ(*client.metrics(), "cuzk_up 1\n");
    EXPECT_EQ(client.preload("abc")->load_time_ms(), 3U);
    EXPECT_EQ(client.evict("abcd")->freed_bytes(), 4U);
  }
}

TEST_F(ClientTest, ErrorsOfTheDaemon) {
  auto client = connect();
  ASSERT_TRUE(client.ok());
  const auto none = (*client)->await("none");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().error_class, ErrorClass::kNotFound);
  EXPECT_EQ(none.error().message, "the daemon: job not found: none");
  v1::SubmitProofRequest request;
  request.set_request_id("empty");
  EXPECT_EQ((*client)->prove(request).error().error_class, ErrorClass::kInternal);
  request.set_request_id("slow");
  const auto late = (*client)->prove(request, std::chrono::milliseconds(50));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().error_class, ErrorClass::kResource);
  request.set_vanilla_proof(std::string(2 << 20, 'x'));
  const auto large = (*client)->submit(request);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().error_class, ErrorClass::kResource) << large.error().describe();
  EXPECT_EQ((*client)->evict("busy").error().error_class, ErrorClass::kResource);
}

TEST_F(ClientTest, TokensAreSentWhereNobodyElseHears) {
  auto client = connect("s3cret");
  ASSERT_TRUE(client.ok());
  ASSERT_TRUE((*client)->status().ok());
  EXPECT_EQ(service_.authorization, "Bearer s3cret");
  auto without = connect();
  ASSERT_TRUE((*without)->status().ok());
  EXPECT_EQ(service_.authorization, "");
  EXPECT_EQ(Client::connect({.address = "prover.example:1", .token = "t"}).error().error_class, ErrorClass::kUsage);
  EXPECT_EQ(connect("two words").error().error_class, ErrorClass::kUsage);
  EXPECT_EQ(connect("line\n").error().error_class, ErrorClass::kUsage);
}

TEST_F(ClientTest, NobodyThere) {
  const auto missing = Client::connect({.address = "unix:///tmp/cuzk-none-" + std::to_string(getpid())});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().error_class, ErrorClass::kIo);
  EXPECT_NE(missing.error().message.find("there is no such socket"), std::string::npos) << missing.error().message;
  server_->Shutdown(std::chrono::system_clock::now());
  server_.reset();
  const auto refused = Client::connect({.address = "127.0.0.1:" + std::to_string(port_)});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().error_class, ErrorClass::kIo);
  EXPECT_EQ(Client::connect({.address = "127.0.0.1:1", .ca_pem = "x"}).error().error_class, ErrorClass::kUsage);
  EXPECT_EQ(Client::connect({.address = "https://127.0.0.1:1", .key_pem = "x"}).error().error_class,
            ErrorClass::kUsage);
}

}  // namespace
}  // namespace cuzk
