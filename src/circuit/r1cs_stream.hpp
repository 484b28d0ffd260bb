// The byte stream whose SHA-256 identifies a constraint system, hashed on a thread of its own.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "circuit/wire.hpp"
#include "field/fr.hpp"
#include "hash/sha256.hpp"

namespace cuzk {

// Buffers wait in a queue of bounded length: the producer stops while the hash is behind.
class HashingQueue {
 public:
  HashingQueue();
  ~HashingQueue();
  HashingQueue(const HashingQueue&) = delete;
  HashingQueue& operator=(const HashingQueue&) = delete;

  static constexpr size_t kBufferBytes = 1 << 20;
  // An empty buffer with room for kBufferBytes.
  std::vector<uint8_t> take_buffer();
  // Hashes the first `size` bytes of `buffer`.
  void push(std::vector<uint8_t> buffer, size_t size);
  // Waits until everything pushed is hashed and returns a copy of the state.
  Sha256 snapshot();

 private:
  static constexpr size_t kMaxQueued = 8;
  struct Item {
    std::vector<uint8_t> buffer;
    size_t size;
  };
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> queue_;
  std::vector<std::vector<uint8_t>> free_;
  bool busy_ = false, stop_ = false;
  Sha256 hash_;
  std::thread thread_;
};

// Writes constraints as bytes: per linear combination the number of terms (u32), per term kind, index and coefficient.
class R1csStream {
 public:
  R1csStream() : buffer_(queue_.take_buffer()) {}

  void begin_lc(uint32_t num_terms) {
    need(4);
    put_u32(num_terms);
  }
  // `coefficient`: plain little-endian.
  void term(Wire w, const std::array<uint8_t, 32>& coefficient) {
    need(37);
    buffer_[used_++] = w.is_input() ? 0 : 1;
    put_u32(w.index());
    std::memcpy(buffer_.data() + used_, coefficient.data(), 32);
    used_ += 32;
  }
  // The digest of the constraints so far with these counts at the end. More may follow.
  Sha256Digest digest(uint64_t num_inputs, uint64_t num_aux, uint64_t num_constraints);

 private:
  void need(size_t bytes) {
    if (used_ + bytes > HashingQueue::kBufferBytes) flush();
  }
  void put_u32(uint32_t v) {
    for (int i = 0; i < 4; ++i) buffer_[used_ + static_cast<size_t>(i)] = static_cast<uint8_t>(v >> (8 * i));
    used_ += 4;
  }
  void flush();

  HashingQueue queue_;
  std::vector<uint8_t> buffer_;
  size_t used_ = 0;
};

}  // namespace cuzk
