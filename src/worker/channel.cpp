#include "worker/channel.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "worker/protocol.hpp"

namespace cuzk {
namespace {

Error io_error(const char* what, int number) {
  return {ErrorClass::kIo, std::string(what) + " between daemon and worker failed: " + std::strerror(number)};
}

constexpr size_t kMostDescriptors = 4;  // in one packet, before the kernel drops the rest

// Takes all descriptors of a message, so that none leaks, and keeps the first.
Descriptor take_descriptors(const msghdr& message) {
  Descriptor kept;
  for (const cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(const_cast<msghdr*>(&message), const_cast<cmsghdr*>(part))) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
      Descriptor one(number);
      if (!kept) kept = std::move(one);
    }
  }
  return kept;
}

}  // namespace

Result<std::pair<Channel, Descriptor>> Channel::make_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error(errno == EMFILE || errno == ENFILE || errno == ENOMEM ? ErrorClass::kResource : ErrorClass::kIo,
                 std::string("cannot make the sockets of a worker: ") + std::strerror(errno));
  }
  return std::pair(Channel(Descriptor(ends[0])), Descriptor(ends[1]));
}

Status Channel::send(std::span<const uint8_t> packet, int passed, bool wait) const {
  iovec part{const_cast<uint8_t*>(packet.data()), packet.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof passed)] = {};
  if (passed >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof passed);
    std::memcpy(CMSG_DATA(rights), &passed, sizeof passed);
  }
  while (sendmsg(socket_.get(), &message, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT)) < 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ETOOMANYREFS || errno == ENOBUFS || errno == ENOMEM) {
      return Error(ErrorClass::kResource, std::string("the worker takes no message: ") + std::strerror(errno));
    }
    return io_error("sending", errno);
  }
  return {};
}

Result<Channel::Received> Channel::receive(Take take) const {
  Packet packet;
  packet.bytes.resize(kMostPacketBytes);
  iovec part{packet.bytes.data(), packet.bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))];
  if (take == Take::kDescriptorToo) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  ssize_t got = 0;
  while ((got = recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC)) < 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Received(Nothing{});
    if (errno == ECONNRESET || errno == EPIPE) return Received(Ended{});
    return io_error("receiving", errno);
  }
  packet.descriptor = take_descriptors(message);
  if (got == 0) return Received(Ended{});
  if ((message.msg_flags & MSG_TRUNC) != 0) {
    return Error(ErrorClass::kCorrupt, "a message between daemon and worker is too long");
  }
  packet.bytes.resize(static_cast<size_t>(got));
  return Received(std::move(packet));
}

}  // namespace cuzk
