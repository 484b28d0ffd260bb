// An HTTP/2 client that sends as slowly as a test wants, on a unix socket.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <string_view>

namespace cuzk {

class RawHttp2 {
 public:
  explicit RawHttp2(const std::string& unix_path) {
    socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, unix_path.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0) << strerror(errno);
    send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    frame(4, 0, 0, "");  // SETTINGS
  }
  ~RawHttp2() { close(socket_); }
  RawHttp2(const RawHttp2&) = delete;
  RawHttp2& operator=(const RawHttp2&) = delete;

  // Starts a gRPC call on stream 1.
  void begin(std::string_view path) {
    std::string block;
    const auto add = [&](std::string_view name, std::string_view value) {
      block += '\0';  // a literal without indexing, of a new name
      block += static_cast<char>(name.size());
      block += name;
      block += static_cast<char>(value.size());
      block += value;
    };
    add(":method", "POST");
    add(":scheme", "http");
    add(":path", path);
    add(":authority", "localhost");
    add("content-type", "application/grpc");
    add("te", "trailers");
    frame(1, 4, 1, block);  // HEADERS, END_HEADERS
  }
  bool data(std::string_view bytes) { return frame(0, 0, 1, bytes); }

  // Waits for the end of stream 1: trailers, a reset, or the end of the connection. False where it did not come.
  bool ended_within(std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!ended_) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0 || !read_frames(left)) return ended_;
    }
    return true;
  }

  // Sends as much as flow control allows, up to `bytes` or the stream's end. Returns what was sent.
  uint64_t flood(uint64_t bytes) {
    const std::string chunk(16000, 'x');
    uint64_t sent = 0;
    while (sent < bytes && !ended_) {
      const auto room = std::min(connection_window_, stream_window_);
      if (room < static_cast<int64_t>(chunk.size())) {
        if (!read_frames(std::chrono::seconds(5))) break;
        continue;
      }
      if (!data(chunk)) break;
      sent += chunk.size();
      connection_window_ -= static_cast<int64_t>(chunk.size());
      stream_window_ -= static_cast<int64_t>(chunk.size());
    }
    return sent;
  }

 private:
  // False where nothing came.
  bool read_frames(std::chrono::milliseconds limit) {
    pollfd polled{socket_, POLLIN, 0};
    if (poll(&polled, 1, static_cast<int>(limit.count())) <= 0) return false;
    char buffer[4096];
    const ssize_t received = recv(socket_, buffer, sizeof(buffer), 0);
    if (received <= 0) {
      ended_ = true;
      return false;
    }
    in_.append(buffer, static_cast<size_t>(received));
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(in_[i]); };
    const auto number = [&](size_t i) {
      return int64_t{byte(i)} << 24 | int64_t{byte(i + 1)} << 16 | int64_t{byte(i + 2)} << 8 | byte(i + 3);
    };
    while (in_.size() >= 9) {
      const size_t length = size_t{byte(0)} << 16 | size_t{byte(1)} << 8 | byte(2);
      if (in_.size() < 9 + length) break;
      const int type = byte(3), flags = byte(4);
      const bool ours = byte(8) == 1;
      if (type == 4 && (flags & 1) == 0) {
        for (size_t i = 9; i + 6 <= 9 + length; i += 6) {
          if (byte(i + 1) != 4) continue;  // SETTINGS_INITIAL_WINDOW_SIZE
          stream_window_ += number(i + 2) - initial_window_;
          initial_window_ = number(i + 2);
        }
        frame(4, 1, 0, "");  // acknowledges SETTINGS
      }
      if (type == 6 && (flags & 1) == 0) frame(6, 1, 0, in_.substr(9, 8));  // PING
      if (type == 8) (ours ? stream_window_ : connection_window_) += number(9);
      if (ours && (type == 3 || (type == 1 && (flags & 1) != 0))) ended_ = true;  // RST_STREAM, END_STREAM
      in_.erase(0, 9 + length);
    }
    return true;
  }
  bool send(std::string_view bytes) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  bool frame(int type, int flags, int stream, std::string_view payload) {
    std::string out;
    out += static_cast<char>(payload.size() >> 16);
    out += static_cast<char>(payload.size() >> 8);
    out += static_cast<char>(payload.size());
    out += static_cast<char>(type);
    out += static_cast<char>(flags);
    out += std::string(3, '\0');
    out += static_cast<char>(stream);
    out += payload;
    return send(out);
  }

  int socket_ = -1;
  std::string in_;
  bool ended_ = false;
  int64_t initial_window_ = 65535, stream_window_ = 65535, connection_window_ = 65535;
};

}  // namespace cuzk
