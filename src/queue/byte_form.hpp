// The parts that the journal's byte forms are made of: little-endian integers, and bytes behind their number (u64).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.hpp"

namespace cuzk::byte_form {

// A Sink has append(const void*, size_t).
struct AppendSink {
  std::string& out;
  void append(const void* data, size_t size) { out.append(static_cast<const char*>(data), size); }
};

template <class Sink, class Integer>
void put_integer(Sink& sink, Integer value) {
  std::array<uint8_t, sizeof(Integer)> bytes;
  const auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(bits >> (8 * i));
  sink.append(bytes.data(), bytes.size());
}

template <class Sink>
void put_bytes(Sink& sink, std::string_view bytes) {
  put_integer(sink, uint64_t{bytes.size()});
  sink.append(bytes.data(), bytes.size());
}

// Reads fields off the front. All errors are kCorrupt, with field and offset. Allocates nothing that the rest of the
// input could not fill.
class Reader {
 public:
  // `what` is what the bytes are to be: "submission".
  Reader(std::string_view bytes, std::string_view what) : all_(bytes), what_(what) {}

  uint64_t rest() const { return all_.size() - position_; }
  // Of the last field.
  Error wrong(std::string_view field, std::string message) const {
    return Error(ErrorClass::kCorrupt, std::move(message)).at_field(std::string(field)).at_offset(start_);
  }

  template <class Integer>
  Status integer(std::string_view field, Integer& out) {
    start_ = position_;
    if (rest() < sizeof(Integer)) return wrong(field, "the " + what_ + " ends within this field");
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof(Integer); ++i) {
      bits |= uint64_t{static_cast<uint8_t>(all_[position_ + i])} << (8 * i);
    }
    position_ += sizeof(Integer);
    out = static_cast<Integer>(static_cast<std::make_unsigned_t<Integer>>(bits));
    return {};
  }
  // At most `largest`.
  Status small(std::string_view field, uint8_t largest, uint8_t& out) {
    CUZK_TRY(integer(field, out));
    if (out > largest) return wrong(field, "no such value: " + std::to_string(out));
    return {};
  }
  // `out` is a string or a vector of bytes.
  template <class Bytes>
  Status bytes(std::string_view field, Bytes& out) {
    uint64_t size = 0;
    CUZK_TRY(integer(field, size));
    if (size > rest()) return wrong(field, "its length is more than the " + what_ + " has left");
    out.assign(all_.begin() + position_, all_.begin() + position_ + size);
    position_ += size;
    return {};
  }
  Status literal(std::string_view field, std::string_view expected) {
    start_ = position_;
    if (!all_.substr(position_).starts_with(expected)) return wrong(field, "this is no " + what_ + " of cuzk");
    position_ += expected.size();
    return {};
  }
  Status end() {
    start_ = position_;
    if (rest() != 0) return wrong("", "there are bytes behind the " + what_);
    return {};
  }

 private:
  const std::string_view all_;
  const std::string what_;
  size_t position_ = 0;
  size_t start_ = 0;
};

}  // namespace cuzk::byte_form
