#include "server/http_server.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/memory_reserve.hpp"

namespace cuzk {
namespace {

constexpr size_t kMaxConnectionsAtOnce = 64;  // accepted before the others are looked at again
constexpr std::chrono::milliseconds kLingerTimeout{1000};

const char* reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    default: return "Unknown";
  }
}

}  // namespace

struct HttpServer::Connection {
  enum class State { kReading, kWriting, kLingering };
  int socket;
  Clock::time_point deadline;
  State state = State::kReading;
  std::string in, out;
  size_t sent = 0;
};

Result<std::unique_ptr<HttpServer>> HttpServer::start(const ListenAddress& address, const HttpLimits& limits,
                                                      std::string allow_origin,
                                                      std::function<HttpAnswer(std::string_view)> answer) {
  std::unique_ptr<HttpServer> server(new HttpServer(address, limits, std::move(allow_origin), std::move(answer)));
  CUZK_ASSIGN(server->listeners_, listen_tcp(server->address_));
  server->wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (server->wake_ < 0) return Error(ErrorClass::kIo, std::string("eventfd: ") + std::strerror(errno));
  server->thread_ = std::thread([raw = server.get()] { raw->serve(); });
  return server;
}

HttpServer::HttpServer(const ListenAddress& address, const HttpLimits& limits, std::string allow_origin,
                       std::function<HttpAnswer(std::string_view)> answer)
    : address_(address), limits_(limits), allow_origin_(std::move(allow_origin)), answer_(std::move(answer)) {}

HttpServer::~HttpServer() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof(one));
    thread_.join();
  }
  for (const Connection& connection : connections_) close(connection.socket);
  if (wake_ >= 0) close(wake_);
}

void HttpServer::serve() {
  const UsesReserve uses_reserve;
  std::vector<pollfd> polled;
  while (true) {
    polled = {{wake_, POLLIN, 0}};
    for (const Socket& listener : listeners_) polled.push_back({listener.get(), POLLIN, 0});
    Clock::time_point next = Clock::now() + std::chrono::hours(1);
    for (const Connection& connection : connections_) {
      const bool writing = connection.state == Connection::State::kWriting;
      polled.push_back({connection.socket, static_cast<short>(writing ? POLLOUT : POLLIN), 0});
      next = std::min(next, connection.deadline);
    }
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    poll(polled.data(), polled.size(), static_cast<int>(std::max<int64_t>(wait.count(), 0)));
    if (polled[0].revents != 0) return;
    const Clock::time_point now = Clock::now();
    size_t index = 1 + listeners_.size();
    for (auto it = connections_.begin(); it != connections_.end(); ++index) {
      const bool over = now >= it->deadline || (polled[index].revents != 0 && !advance(*it, polled[index].revents));
      if (over) close(it->socket);
      it = over ? connections_.erase(it) : std::next(it);
    }
    for (size_t i = 0; i < listeners_.size(); ++i) {
      if (polled[1 + i].revents != 0) accept_new(listeners_[i]);
    }
  }
}

void HttpServer::accept_new(const Socket& listener) {
  for (size_t count = 0; count < kMaxConnectionsAtOnce; ++count) {
    const int socket = accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) {
      // Out of descriptors: the oldest gives its own, or the listener would be ready for ever.
      if ((errno == EMFILE || errno == ENFILE) && !connections_.empty()) {
        close(connections_.front().socket);
        connections_.pop_front();
        continue;
      }
      return;
    }
    if (connections_.size() >= limits_.max_connections) {
      // The oldest that still keeps its request back; where there is none, the oldest.
      auto victim = std::find_if(connections_.begin(), connections_.end(), [](const Connection& connection) {
        return connection.state == Connection::State::kReading;
      });
      if (victim == connections_.end()) victim = connections_.begin();
      close(victim->socket);
      connections_.erase(victim);
    }
    connections_.push_back({socket, Clock::now() + limits_.request_timeout});
    // The request has often come with the connection: so it is answered whatever comes after it.
    if (!advance(connections_.back(), POLLIN)) {
      close(connections_.back().socket);
      connections_.pop_back();
    }
  }
}

bool HttpServer::advance(Connection& connection, short events) {
  if ((events & (POLLERR | POLLNVAL)) != 0) return false;
  if (connection.state != Connection::State::kWriting && !receive(connection)) return false;
  while (connection.state == Connection::State::kWriting) {
    const ssize_t sent = send(connection.socket, connection.out.data() + connection.sent,
                              connection.out.size() - connection.sent, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    connection.sent += static_cast<size_t>(sent);
    if (connection.sent < connection.out.size()) continue;
    // What the client still sends must be read, or closing would take the answer back.
    shutdown(connection.socket, SHUT_WR);
    connection.state = Connection::State::kLingering;
    connection.deadline = std::min(connection.deadline, Clock::now() + kLingerTimeout);
  }
  return true;
}

bool HttpServer::receive(Connection& connection) {
  char buffer[4096];
  const ssize_t received = recv(connection.socket, buffer, sizeof(buffer), 0);
  if (received < 0) return errno == EAGAIN || errno == EINTR;
  if (received == 0) return false;
  if (connection.state == Connection::State::kLingering) return true;
  connection.in.append(buffer, static_cast<size_t>(received));
  const bool complete = connection.in.find("\r\n\r\n") != std::string::npos;
  if (!complete && connection.in.size() <= limits_.max_request_bytes) return true;
  try {
    const SparesReserve spares_reserve;
    connection.out = respond(complete ? std::string_view(connection.in) : std::string_view());
  } catch (const std::bad_alloc&) {
    connection.out = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  }
  connection.in.clear();
  connection.state = Connection::State::kWriting;
  connection.deadline = Clock::now() + limits_.answer_timeout;
  return true;
}

// `request` is empty where it is too long.
std::string HttpServer::respond(std::string_view request) const {
  HttpAnswer answer;
  const std::string_view line = request.substr(0, request.find("\r\n"));
  const size_t first = line.find(' '), last = line.rfind(' ');
  const bool head = line.starts_with("HEAD ");
  if (request.empty()) {
    answer = {431, "text/plain; charset=utf-8", "the request is too long\n"};
  } else if (first == std::string_view::npos || first == last || !line.substr(last + 1).starts_with("HTTP/1.") ||
             line[first + 1] != '/') {
    answer = {400, "text/plain; charset=utf-8", "no HTTP request\n"};
  } else if (!line.starts_with("GET ") && !head) {
    answer = {405, "text/plain; charset=utf-8", "GET and HEAD only\n"};
  } else {
    const std::string_view target = line.substr(first + 1, last - first - 1);
    answer = answer_(target.substr(0, target.find('?')));
  }
  std::string out = "HTTP/1.1 " + std::to_string(answer.status) + " " + reason(answer.status) +
                    "\r\nContent-Type: " + answer.content_type +
                    "\r\nContent-Length: " + std::to_string(answer.body.size()) +
                    "\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
  if (answer.status == 405) out += "Allow: GET, HEAD\r\n";
  if (!allow_origin_.empty()) out += "Access-Control-Allow-Origin: " + allow_origin_ + "\r\n";
  out += "\r\n";
  if (!head) out += answer.body;
  return out;
}

}  // namespace cuzk
