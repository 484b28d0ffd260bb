// Sockets, addresses, certificates and tokens.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "server/authorizer.hpp"
#include "server/certificates_test_support.hpp"
#include "server/listen_address.hpp"
#include "server/server_test_support.hpp"
#include "server/unix_socket.hpp"

namespace cuzk {
namespace {

void write_file(const std::string& path, const std::string& content, mode_t mode = 0600) {
  // As a tool that renews a file does it: under another name, then moved.
  {
    std::ofstream file(path + ".new", std::ios::trunc);
    file << content;
  }
  chmod((path + ".new").c_str(), mode);
  std::filesystem::rename(path + ".new", path);
}

int bound_socket(const std::string& path) {
  const int out = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  EXPECT_EQ(bind(out, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return out;
}

TEST(ListenAddress, Forms) {
  EXPECT_EQ(parse_listen_address("unix:///run/c.sock")->unix_path, "/run/c.sock");
  EXPECT_EQ(parse_listen_address("unix:/run/c.sock")->text(), "unix:///run/c.sock");
  EXPECT_EQ(parse_listen_address("127.0.0.1:9820")->port, 9820);
  EXPECT_EQ(parse_listen_address("[::1]:0")->host, "::1");
  EXPECT_EQ(parse_listen_address("[::1]:7")->text(), "[::1]:7");
  EXPECT_EQ(parse_listen_address(":9820")->host, "");
  EXPECT_EQ(parse_listen_address("host.name:1")->host, "host.name");
  for (const char* bad : {"", "9820", "host", "host:", "host:x", "host:65536", "host:-1", "::1:5", "[::1]", "[x]:5",
                          "unix:", "unix://", "unix:relative", "unix:///dir/", "http://a:1", "a b:1"}) {
    const auto parsed = parse_listen_address(bad);
    ASSERT_FALSE(parsed.ok()) << bad;
    EXPECT_EQ(parsed.error().error_class, ErrorClass::kUsage);
  }
  EXPECT_FALSE(parse_listen_address("unix:///" + std::string(107, 'x')).ok());
  EXPECT_TRUE(parse_listen_address("unix:///" + std::string(106, 'x')).ok());
}

TEST(ListenAddress, LocalOnly) {
  const auto local = [](const char* text) { return is_local_only(*parse_listen_address(text)).value(); };
  EXPECT_TRUE(local("unix:///x"));
  EXPECT_TRUE(local("127.0.0.1:1"));
  EXPECT_TRUE(local("127.8.9.1:1"));
  EXPECT_TRUE(local("[::1]:1"));
  EXPECT_TRUE(local("localhost:1"));
  EXPECT_TRUE(local("[::ffff:127.0.0.1]:1"));
  EXPECT_FALSE(local("[::ffff:10.0.0.1]:1"));
  EXPECT_FALSE(local("0.0.0.0:1"));
  EXPECT_FALSE(local("[::]:1"));
  EXPECT_FALSE(local(":1"));
  EXPECT_FALSE(local("10.0.0.1:1"));
  EXPECT_FALSE(is_local_only(*parse_listen_address("no-such-host.invalid:1")).ok());
}

class SecurityTest : public ServerTest {
 protected:
  SecurityTest() { engine.finish_at_once = true; }

  Error start_error() {
    auto started = Server::start(engine, options, hooks);
    EXPECT_FALSE(started.ok());
    return started.ok() ? Error() : started.error();
  }
  static grpc::Status call_prove(Stub& stub, const std::string& token = "") {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + 3s);
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    v1::ProveResponse response;
    return stub.Prove(&context, prove_request("x"), &response);
  }
};

TEST_F(SecurityTest, SocketHasItsModeAndParents) {
  options.listen = {"unix://" + (directory / "a/b/sock")};
  options.unix_mode = 0600;
  start();
  struct stat information {};
  ASSERT_EQ(stat((directory / "a/b/sock").c_str(), &information), 0);
  EXPECT_EQ(information.st_mode & 0777, 0600u);
  EXPECT_TRUE(call_prove(*stub).ok());
}

TEST_F(SecurityTest, SecondServerOnALiveSocketIsRefused) {
  start();
  const Error error = start_error();
  EXPECT_EQ(error.error_class, ErrorClass::kUsage);
  EXPECT_EQ(error.message, "another daemon serves on this socket");
  EXPECT_EQ(error.file, directory / "sock");
  EXPECT_TRUE(call_prove(*stub).ok());  // the first does not notice
  EXPECT_TRUE(call_prove(*stub_for(server->addresses()[0])).ok());
}

// Claims that come and go, with the lock's file, never overlap.
TEST_F(SecurityTest, ClaimsExcludeEachOtherAndLeaveNothing) {
  std::atomic<int> holders{0}, most{0}, claimed{0};
  std::vector<std::thread> threads;
  const auto end = std::chrono::steady_clock::now() + 300ms;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (std::chrono::steady_clock::now() < end) {
        const auto claim = UnixSocketClaim::claim(directory / "sock");
        if (!claim.ok()) continue;
        ++claimed;
        const int now = ++holders;
        if (now > most) most = now;
        std::this_thread::yield();
        --holders;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(claimed, 10);
  EXPECT_EQ(most, 1);
  EXPECT_TRUE(std::filesystem::is_empty(directory / ""));
}

TEST_F(SecurityTest, ForeignServerIsLeftAlone) {
  const int foreign = bound_socket(directory / "sock");  // of somebody who knows nothing of our lock
  ASSERT_EQ(listen(foreign, 1), 0);
  EXPECT_EQ(start_error().message, "another program serves on this socket");
  EXPECT_TRUE(std::filesystem::exists(directory / "sock"));
  close(foreign);
}

TEST_F(SecurityTest, StaleSocketIsReused) {
  close(bound_socket(directory / "sock"));  // as after kill -9
  start();
  EXPECT_TRUE(call_prove(*stub).ok());
}

TEST_F(SecurityTest, WhatIsNoSocketIsLeftAlone) {
  write_file(directory / "sock", "precious");
  EXPECT_EQ(start_error().error_class, ErrorClass::kUsage);
  EXPECT_EQ(std::filesystem::file_size(directory / "sock"), 8u);
}

TEST_F(SecurityTest, SocketsAreRemovedAndCanBeTakenAgain) {
  for (int i = 0; i < 3; ++i) {
    start();
    EXPECT_TRUE(call_prove(*stub).ok());
    server->stop(100ms);
    EXPECT_FALSE(std::filesystem::exists(directory / "sock"));
    server.reset();
  }
}

TEST_F(SecurityTest, SeveralListenersAndTakenPorts) {
  options.listen.push_back("127.0.0.1:0");
  options.listen.push_back("unix://" + (directory / "second"));
  start();
  ASSERT_EQ(server->addresses().size(), 3u);
  for (const std::string& address : server->addresses()) EXPECT_TRUE(call_prove(*stub_for(address)).ok()) << address;
  options.listen = {"unix://" + (directory / "third"), server->addresses()[1]};
  EXPECT_EQ(start_error().error_class, ErrorClass::kIo);  // the TCP port is taken
  EXPECT_FALSE(std::filesystem::exists(directory / "third"));
}

TEST_F(SecurityTest, AddressesThatOthersReachNeedTlsOrAWord) {
  for (const char* address : {"0.0.0.0:0", "[::]:0", ":0"}) {
    options.listen = {address};
    const Error error = start_error();
    EXPECT_EQ(error.error_class, ErrorClass::kUsage);
    EXPECT_NE(error.message.find("no TLS"), std::string::npos) << error.message;
  }
  options.listen = {"127.0.0.1:0"};
  options.http_listen = "0.0.0.0:0";
  EXPECT_NE(start_error().message.find("no TLS"), std::string::npos);
  options.allow_insecure_remote = true;
  options.listen = {"0.0.0.0:0"};
  start();
}

TEST_F(SecurityTest, NoAddressIsAnError) {
  options.listen = {};
  EXPECT_EQ(start_error().error_class, ErrorClass::kUsage);
}

TEST_F(SecurityTest, TokensHaveRoles) {
  write_file(directory / "tokens",
             "# who\nreader reader-token-0001\nsubmitter submitter-token-1\n\nadmin admin-token-00001\n");
  options.tokens_file = directory / "tokens";
  options.listen = {"127.0.0.1:0", "unix://" + (directory / "sock")};
  start();
  const auto code = [&](const std::string& token, auto method, auto request) {
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    return method(&context, request);
  };
  const auto status = [&](const std::string& token) {
    return code(
        token,
        [&](auto* context, auto) {
          v1::GetStatusResponse r;
          return stub->GetStatus(context, {}, &r).error_code();
        },
        0);
  };
  const auto preload = [&](const std::string& token) {
    return code(
        token,
        [&](auto* context, auto) {
          v1::PreloadSrsRequest request;
          request.set_circuit_id("porep-2k");
          v1::PreloadSrsResponse r;
          return stub->PreloadSRS(context, request, &r).error_code();
        },
        0);
  };
  using Code = grpc::StatusCode;
  EXPECT_EQ(status(""), Code::UNAUTHENTICATED);
  EXPECT_EQ(status("unknown-token-00001"), Code::UNAUTHENTICATED);
  EXPECT_EQ(status("reader-token-000"), Code::UNAUTHENTICATED);
  EXPECT_EQ(status("reader-token-0001"), Code::OK);
  EXPECT_EQ(call_prove(*stub, "reader-token-0001").error_code(), Code::PERMISSION_DENIED);
  EXPECT_EQ(call_prove(*stub, "submitter-token-1").error_code(), Code::OK);
  EXPECT_EQ(preload("submitter-token-1"), Code::PERMISSION_DENIED);
  EXPECT_EQ(preload("admin-token-00001"), Code::OK);
  EXPECT_EQ(call_prove(*stub, "admin-token-00001").error_code(), Code::OK);
  EXPECT_EQ(engine.submit_count(), 2u);
  // The unix socket's mode decides who may.
  EXPECT_TRUE(call_prove(*stub_for(server->addresses()[1])).ok());

  write_file(directory / "tokens", "admin another-token-0001\n");
  ASSERT_TRUE(server->reload().ok());
  EXPECT_EQ(status("reader-token-0001"), Code::UNAUTHENTICATED);
  EXPECT_EQ(status("another-token-0001"), Code::OK);
  // What is bad changes nothing, and is said once.
  write_file(directory / "tokens", "king another-token-0002\n");
  EXPECT_FALSE(server->reload().ok() && server->reload().ok());
  EXPECT_EQ(status("another-token-0001"), Code::OK);
  // Without being asked.
  write_file(directory / "tokens", "reader the-third-token-01\n");
  for (int i = 0; i < 50 && status("the-third-token-01") != Code::OK; ++i) std::this_thread::sleep_for(100ms);
  EXPECT_EQ(status("the-third-token-01"), Code::OK);
}

TEST_F(SecurityTest, BadTokenFiles) {
  options.tokens_file = directory / "tokens";
  EXPECT_EQ(start_error().error_class, ErrorClass::kIo);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"admin short\n", "line 1: a token has 16 to 512 characters"},
      {"# x\nroot token-token-token-1\n", "line 2: the first word must be reader, submitter or admin"},
      {"admin\n", "line 1: expected ROLE TOKEN, the token without blanks"},
      {"admin certificate:\n", "line 1: expected ROLE certificate:NAME"},
      {"admin token-token-token-1 more\n", "line 1: expected ROLE TOKEN, the token without blanks"},
      {"# nothing\n", "there is no token in it"}};
  for (const auto& [content, message] : cases) {
    write_file(options.tokens_file, content);
    EXPECT_EQ(start_error().message, message);
  }
  write_file(options.tokens_file, "admin token-token-token-1\n", 0644);
  EXPECT_NE(start_error().message.find("others may read"), std::string::npos);
}

class TlsTest : public SecurityTest {
 protected:
  TlsTest() {
    serve_with(authority.issue("server"));
    options.tls = TlsOptions{.certificate_file = directory / "cert",
                             .key_file = directory / "key",
                             .client_ca_file = "",
                             .reload_interval = 1s};
    options.listen = {"127.0.0.1:0"};
  }
  void serve_with(const TestAuthority::Pair& pair) {
    write_file(directory / "key", pair.key);
    write_file(directory / "cert", pair.certificate);
  }
  grpc::Status call(const TestAuthority& roots, const TestAuthority::Pair& client = {}) {
    return call_prove(
        *stub_for(server->addresses()[0], grpc::SslCredentials({roots.certificate(), client.key, client.certificate})));
  }
  TestAuthority authority{"ca"}, stranger{"stranger"};
};

TEST_F(TlsTest, EncryptsAndIsChecked) {
  std::mutex mutex;
  std::string logged;
  hooks.log = [&](LogLevel, std::string_view message, std::initializer_list<LogField> fields) {
    const std::lock_guard lock(mutex);
    logged += message;
    for (const LogField& field : fields) {
      if (const auto* text = std::get_if<std::string>(&field.value)) logged += " " + *text;
    }
  };
  start();
  EXPECT_TRUE(call(authority).ok());
  EXPECT_FALSE(call(stranger).ok());
  EXPECT_FALSE(call_prove(*stub_for(server->addresses()[0])).ok());  // without TLS
  EXPECT_EQ(engine.submit_count(), 1u);
  server.reset();
  EXPECT_NE(logged.find("gRPC Handshake failed"), std::string::npos) << logged;
}

TEST_F(TlsTest, ClientsMustShowACertificate) {
  write_file(directory / "ca", authority.certificate());
  options.tls->client_ca_file = directory / "ca";
  start();
  EXPECT_TRUE(call(authority, authority.issue("client")).ok());
  EXPECT_FALSE(call(authority).ok());
  EXPECT_FALSE(call(authority, stranger.issue("client")).ok());
  EXPECT_EQ(engine.submit_count(), 1u);
}

// With roles for certificates, who shows one needs no token; who sends one is known by that.
TEST_F(TlsTest, CertificatesHaveRoles) {
  write_file(directory / "ca", authority.certificate());
  write_file(directory / "tokens",
             "submitter certificate:curio\nreader certificate:prometheus\n"
             "admin token-token-token-1\n");
  options.tls->client_ca_file = directory / "ca";
  options.tokens_file = directory / "tokens";
  start();
  const auto status = [&](const std::string& name, const std::string& token = "") {
    const TestAuthority::Pair pair = authority.issue(name);
    const auto client =
        stub_for(server->addresses()[0], grpc::SslCredentials({authority.certificate(), pair.key, pair.certificate}));
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    v1::ProveResponse response;
    return client->Prove(&context, prove_request("x"), &response);
  };
  EXPECT_TRUE(status("curio").ok());
  EXPECT_EQ(status("prometheus").error_message(), "the certificate's role is reader; this call needs submitter");
  EXPECT_EQ(status("somebody").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(status("somebody", "token-token-token-1").ok());
  EXPECT_EQ(status("curio", "certificate:curio").error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(TlsTest, RenewedCertificatesAreTaken) {
  start();
  EXPECT_TRUE(call(authority).ok());
  const auto old = stub_for(server->addresses()[0], grpc::SslCredentials({authority.certificate(), "", ""}));
  EXPECT_TRUE(call_prove(*old).ok());
  serve_with(stranger.issue("server"));
  bool taken = false;
  for (int i = 0; i < 50 && !taken; ++i) {
    std::this_thread::sleep_for(100ms);
    taken = call(stranger).ok();
  }
  EXPECT_TRUE(taken);
  EXPECT_FALSE(call(authority).ok());
  EXPECT_TRUE(call_prove(*old).ok());  // a connection that exists stays
}

TEST_F(TlsTest, RemoteAddressIsSafeWithTls) {
  options.listen = {"0.0.0.0:0"};
  start();
}

TEST_F(TlsTest, BadFiles) {
  const auto fails_at = [&](const std::string& file) {
    const Error error = start_error();
    EXPECT_EQ(error.error_class, ErrorClass::kUsage);
    EXPECT_EQ(error.file, directory / file);
  };
  write_file(directory / "key", stranger.issue("other").key);
  fails_at("key");
  serve_with(authority.issue("server"));
  chmod((directory / "key").c_str(), 0644);
  fails_at("key");
  write_file(directory / "cert", "no certificate");
  fails_at("cert");
  serve_with(authority.issue("server"));
  options.tls->client_ca_file = directory / "absent";
  fails_at("absent");
}

}  // namespace
}  // namespace cuzk
