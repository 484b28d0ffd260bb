// Small pages over HTTP/1.1, for scrapers and people: GET and HEAD, one request a connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "server/listen_address.hpp"
#include "server/sockets.hpp"

namespace cuzk {

struct HttpAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

struct HttpLimits {
  size_t max_connections = 256;  // then the one that has kept its request back for longest gives way
  size_t max_request_bytes = 8192;
  std::chrono::milliseconds request_timeout{5000};  // for the whole request, however its bytes come
  std::chrono::milliseconds answer_timeout{10'000};
};

// One thread, which waits for all connections at once: who is slow holds up nobody and is cut off in time.
class HttpServer {
 public:
  // `answer` gets the path without its query, from the server's thread, and must be quick. Errors: kIo, where the
  // address cannot be bound.
  static Result<std::unique_ptr<HttpServer>> start(const ListenAddress& address, const HttpLimits& limits,
                                                   std::string allow_origin,
                                                   std::function<HttpAnswer(std::string_view path)> answer);
  ~HttpServer();

  const ListenAddress& address() const { return address_; }  // with the port that was taken

 private:
  using Clock = std::chrono::steady_clock;
  struct Connection;

  HttpServer(const ListenAddress& address, const HttpLimits& limits, std::string allow_origin,
             std::function<HttpAnswer(std::string_view)> answer);
  void serve();
  void accept_new(const Socket& listener);
  // False where the connection is over.
  bool advance(Connection& connection, short events);
  bool receive(Connection& connection);
  std::string respond(std::string_view request) const;

  ListenAddress address_;
  const HttpLimits limits_;
  const std::string allow_origin_;
  const std::function<HttpAnswer(std::string_view)> answer_;
  std::vector<Socket> listeners_;
  int wake_ = -1;
  std::list<Connection> connections_;
  std::thread thread_;
};

}  // namespace cuzk
