#include "server/http_server.hpp"

#include <arpa/inet.h>
#include <httplib.h>
#include <sys/resource.h>
#include <sys/un.h>

#include <cstddef>

#include "server/server_test_support.hpp"
#include "server/service_manager.hpp"

namespace cuzk {
namespace {

int connect_to(uint16_t port) {
  const int out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  EXPECT_EQ(connect(out, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  const timeval limit{10, 0};
  setsockopt(out, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  return out;
}

class HttpServerTest : public testing::Test {
 protected:
  void start(const HttpLimits& limits = {}) {
    server = HttpServer::start({.host = "127.0.0.1", .port = 0}, limits, "", [this](std::string_view path) {
               last_path = path;
               if (path == "/large") return HttpAnswer{200, "text/plain", std::string(5'000'000, 'x')};
               if (path == "/page") return HttpAnswer{200, "text/html", "hello"};
               return HttpAnswer{404, "text/plain", "no\n"};
             }).value();
  }
  // Everything that comes back for those bytes.
  std::string exchange(const std::string& request) {
    const int client = connect_to(server->address().port);
    send(client, request.data(), request.size(), MSG_NOSIGNAL);
    std::string out;
    char buffer[65536];
    for (ssize_t n; (n = recv(client, buffer, sizeof(buffer), 0)) > 0;) out.append(buffer, static_cast<size_t>(n));
    close(client);
    return out;
  }
  std::unique_ptr<HttpServer> server;
  std::string last_path;
};

TEST_F(HttpServerTest, AnswersGetAndHead) {
  start();
  const std::string answer = exchange("GET /page?x=1 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nhello"));
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
  EXPECT_EQ(last_path, "/page");
  const std::string head = exchange("HEAD /page HTTP/1.0\r\n\r\n");
  EXPECT_NE(head.find("Content-Length: 5\r\n"), std::string::npos);
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
  EXPECT_TRUE(exchange("GET /other HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
}

TEST_F(HttpServerTest, AnotherClientUnderstandsIt) {
  start();
  httplib::Client client("127.0.0.1", server->address().port);
  const auto page = client.Get("/page");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_EQ(page->body, "hello");
  const auto large = client.Get("/large");
  ASSERT_TRUE(large);
  EXPECT_EQ(large->body.size(), 5'000'000u);
}

TEST_F(HttpServerTest, RefusesWhatItDoesNotKnow) {
  start();
  EXPECT_TRUE(exchange("POST /page HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc").starts_with("HTTP/1.1 405 "));
  for (const char* bad :
       {"\r\n\r\n", "GET\r\n\r\n", "GET /page\r\n\r\n", "GET page HTTP/1.1\r\n\r\n", "GET  HTTP/1.1\r\n\r\n",
        "GET /a HTTX/1.1\r\n\r\n", "\x16\x03\x01\r\n\r\n", "PRI * HTTP/2.0\r\n\r\n"}) {
    EXPECT_TRUE(exchange(bad).starts_with("HTTP/1.1 400 ")) << bad;
  }
  EXPECT_TRUE(exchange("GET /page HTTP/1.1\r\nX: " + std::string(8192, 'x')).starts_with("HTTP/1.1 431 "));
}

TEST_F(HttpServerTest, RequestInPieces) {
  start();
  const int client = connect_to(server->address().port);
  for (const char c : std::string("GET /page HTTP/1.1\r\n\r\n")) {
    ASSERT_EQ(send(client, &c, 1, MSG_NOSIGNAL), 1);
    std::this_thread::sleep_for(2ms);
  }
  char buffer[1024];
  EXPECT_GT(recv(client, buffer, sizeof(buffer), 0), 5);
  close(client);
}

TEST_F(HttpServerTest, SlowRequestsAreCutOffInTime) {
  start({.request_timeout = 400ms});
  const int client = connect_to(server->address().port);
  const auto before = std::chrono::steady_clock::now();
  std::thread sender([&] {
    for (int i = 0; i < 30 && send(client, "x", 1, MSG_NOSIGNAL) == 1; ++i) std::this_thread::sleep_for(100ms);
  });
  char buffer[16];
  EXPECT_LE(recv(client, buffer, sizeof(buffer), 0), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
  sender.join();
  close(client);
}

TEST_F(HttpServerTest, ThousandIdleConnectionsHoldUpNobody) {
  start({.max_connections = 64});
  std::vector<int> idle;
  for (int i = 0; i < 800; ++i) {
    idle.push_back(connect_to(server->address().port));
    send(idle.back(), "GET /", 5, MSG_NOSIGNAL);
    if (i % 100 != 0) continue;
    const auto before = std::chrono::steady_clock::now();
    EXPECT_TRUE(exchange("GET /page HTTP/1.1\r\n\r\n").ends_with("hello"));
    EXPECT_LT(std::chrono::steady_clock::now() - before, 1s);
  }
  size_t descriptors = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++descriptors;
  EXPECT_LT(descriptors, idle.size() + 64 + 30);  // theirs, and no more than 64 of ours
  for (const int client : idle) close(client);
}

TEST_F(HttpServerTest, ReaderThatDoesNotReadIsCutOff) {
  start({.max_connections = 4, .answer_timeout = 300ms});
  std::vector<int> stuck;
  for (int i = 0; i < 4; ++i) {
    stuck.push_back(connect_to(server->address().port));
    const std::string request = "GET /large HTTP/1.1\r\n\r\n";
    send(stuck.back(), request.data(), request.size(), MSG_NOSIGNAL);
  }
  EXPECT_TRUE(exchange("GET /page HTTP/1.1\r\n\r\n").ends_with("hello"));
  for (const int client : stuck) close(client);
}

TEST_F(HttpServerTest, TakenPortIsAnError) {
  start();
  const auto second = HttpServer::start(server->address(), {}, "", [](std::string_view) { return HttpAnswer{}; });
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().error_class, ErrorClass::kIo);
}

TEST_F(ServerTest, HttpPages) {
  options.http_listen = "127.0.0.1:0";
  options.http_allow_origin = "*";
  hooks.status_json = [](const EngineStatus& status) {
    return "{\"uptime_secs\":" + std::to_string(status.uptime_seconds) + "}";
  };
  hooks.metrics_text = [](const EngineStatus&) { return std::string("cuzk 1\n"); };
  start();
  const int port = parse_listen_address(server->http_address())->port;
  httplib::Client client("127.0.0.1", port);
  const auto get = [&](const char* path) {
    const auto answer = client.Get(path);
    EXPECT_TRUE(answer);
    return answer ? *answer : httplib::Response();
  };
  EXPECT_EQ(get("/livez").status, 200);
  EXPECT_EQ(get("/readyz").status, 200);
  const httplib::Response status = get("/status");
  EXPECT_EQ(status.get_header_value("Content-Type"), "application/json");
  EXPECT_EQ(status.get_header_value("Access-Control-Allow-Origin"), "*");
  EXPECT_TRUE(status.body.starts_with("{\"uptime_secs\":"));
  const httplib::Response metrics = get("/metrics");
  EXPECT_EQ(metrics.get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(metrics.body, "cuzk 1\n");
  for (const char* path : {"/", "/statusfoo", "/status/", "/favicon.ico"}) {
    EXPECT_EQ(get(path).status, 404) << path;
    EXPECT_EQ(get(path).body, "404 Not Found\n");
  }
  server->drain(std::chrono::steady_clock::now() + 1s, [] {});
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_EQ(get("/livez").status, 200);
  EXPECT_EQ(get("/status").status, 200);
}

TEST_F(ServerTest, NotReadyWhileTheEngineIsNot) {
  options.http_listen = "127.0.0.1:0";
  engine.current_status.ready = false;
  start();
  httplib::Client client("127.0.0.1", parse_listen_address(server->http_address())->port);
  EXPECT_EQ(client.Get("/readyz")->status, 503);
}

class NotifySocket {
 public:
  explicit NotifySocket(const std::string& name) : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())),
              0);
    const timeval limit{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }
  ~NotifySocket() { close(socket_); }
  std::string next() {
    char buffer[256];
    const ssize_t received = recv(socket_, buffer, sizeof(buffer), 0);
    return received < 0 ? "nothing" : std::string(buffer, static_cast<size_t>(received));
  }

 private:
  int socket_;
};

TEST(ServiceManager, TellsSystemd) {
  TemporaryDirectory directory;
  for (const std::string& name : {directory / "notify", "@cuzk-test-" + std::to_string(getpid())}) {
    NotifySocket socket(name);
    ServiceManager manager(name, std::chrono::microseconds(0), [] { return true; });
    EXPECT_TRUE(manager.ready().ok());
    EXPECT_EQ(socket.next(), "READY=1");
    EXPECT_TRUE(manager.status("2 jobs").ok());
    EXPECT_EQ(socket.next(), "STATUS=2 jobs");
    EXPECT_TRUE(manager.stopping().ok());
    EXPECT_EQ(socket.next(), "STOPPING=1");
  }
}

TEST(ServiceManager, FeedsTheWatchdogWhileAlive) {
  TemporaryDirectory directory;
  NotifySocket socket(directory / "notify");
  std::atomic<bool> alive{true};
  ServiceManager manager(directory / "notify", 100ms, [&] { return alive.load(); });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(socket.next(), "WATCHDOG=1");
  alive = false;
  int late = 0;  // one may have been on its way
  while (late < 3 && socket.next() == "WATCHDOG=1") ++late;
  EXPECT_LE(late, 1);
}

TEST(ServiceManager, NobodyToTell) {
  ServiceManager manager("", 100ms, [] { return true; });
  EXPECT_TRUE(manager.ready().ok());
  ServiceManager absent("/nonexistent/notify", std::chrono::microseconds(0), [] { return true; });
  EXPECT_FALSE(absent.ready().ok());
  ServiceManager relative("notify", std::chrono::microseconds(0), [] { return true; });
  EXPECT_EQ(relative.ready().error().error_class, ErrorClass::kUsage);
}

}  // namespace
}  // namespace cuzk
