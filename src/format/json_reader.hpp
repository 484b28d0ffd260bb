// A strict reader over simdjson On Demand: objects with known keys, arrays of known length, and errors that carry the
// path of the field. Internal to format/.
#pragma once

#include <simdjson.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "format/field_path.hpp"
#include "format/padded_buffer.hpp"

namespace cuzk {

using JsonPath = FieldPath;

struct JsonKey {
  std::string_view name;
  bool required = true;
};

// Whether the first character that is no white space is this one.
bool json_begins_with(std::span<const uint8_t> head, char first);

// Functions return false once error() is set; callers return at once.
class JsonReader {
 public:
  using Value = simdjson::ondemand::value;
  using Object = simdjson::ondemand::object;

  // Structural pass over the whole document (also checks UTF-8 and strings). `document` must outlive the reader.
  bool open(const PaddedBuffer& document) {
    static_assert(PaddedBuffer::kPadding >= simdjson::SIMDJSON_PADDING);
    document_ = &document;
    const JsonPath root;
    // simdjson cannot index more than 4 GiB.
    if (document.size() > uint64_t{0xffffff00}) return fail(root, "longer than 4 GiB");
    const simdjson::error_code e = parser_
                                       .iterate(reinterpret_cast<const char*>(document.data()), document.size(),
                                                document.size() + PaddedBuffer::kPadding)
                                       .get(doc_);
    opened_ = e == simdjson::SUCCESS;
    return opened_ || fail_json(root, e);
  }
  // The document's root, which must be an object. After rewind() it can be taken again.
  bool root_object(Object& out) {
    const simdjson::error_code e = doc_.get_object().get(out);
    return e == simdjson::SUCCESS || fail_type(JsonPath(), e, "an object");
  }
  // The document's root, which must be an array or an object.
  bool root_value(const JsonPath& path, Value& out) {
    const simdjson::error_code e = doc_.get_value().get(out);
    if (e == simdjson::SCALAR_DOCUMENT_AS_VALUE) return fail(path, "not an array");
    return e == simdjson::SUCCESS || fail_json(path, e);
  }
  void rewind() { doc_.rewind(); }
  bool expect_end() {
    const char* behind = nullptr;
    return doc_.current_location().get(behind) == simdjson::OUT_OF_BOUNDS ||
           fail(JsonPath(), "something follows the document");
  }

  const Error& error() const { return error_; }
  Error take_error() { return std::move(error_); }
  bool failed() const { return failed_; }
  bool fail(const JsonPath& path, std::string message);
  bool fail_at(const JsonPath& path, std::string message, uint64_t offset);
  // A value that is not of the expected type, or not JSON.
  bool fail_type(const JsonPath& path, simdjson::error_code e, std::string_view expected);

  bool read_uint(Value value, const JsonPath& path, uint64_t max, uint64_t& out) {
    const simdjson::error_code e = value.get_uint64().get(out);
    if (e != simdjson::SUCCESS) return fail_type(path, e, "an unsigned integer");
    return out <= max || fail(path, std::to_string(out) + " is more than " + std::to_string(max));
  }
  bool read_string(Value value, const JsonPath& path, std::string_view& out) {
    const simdjson::error_code e = value.get_string().get(out);
    return e == simdjson::SUCCESS || fail_type(path, e, "a string");
  }
  // An array of exactly N bytes.
  template <size_t N>
  bool read_bytes(Value value, const JsonPath& path, std::array<uint8_t, N>& out) {
    return read_array(value, path, N, [&](size_t i, Value element) {
      uint64_t byte = 0;
      const simdjson::error_code e = element.get_uint64().get(byte);
      if (e != simdjson::SUCCESS || byte > 255) [[unlikely]]
        return fail_byte(path.at(i), e, byte);
      out[i] = static_cast<uint8_t>(byte);
      return true;
    });
  }

  // An array of at most `most` elements: element(i, value) reads each. `count` is set to their number.
  template <class F>
  bool read_list(Value value, const JsonPath& path, size_t most, F&& element, size_t& count) {
    simdjson::ondemand::array array;
    if (const auto e = value.get_array().get(array); e != simdjson::SUCCESS) return fail_type(path, e, "an array");
    size_t i = 0;
    for (auto item : array) {
      Value inner;
      if (const auto e = std::move(item).get(inner); e != simdjson::SUCCESS) [[unlikely]]
        return fail_json(path.at(i), e);
      if (i == most) [[unlikely]]
        return fail(path, "has more than " + std::to_string(most) + " elements");
      if (!element(i, inner)) return false;
      ++i;
    }
    count = i;
    return true;
  }
  // An array of exactly `count` elements.
  template <class F>
  bool read_array(Value value, const JsonPath& path, size_t count, F&& element) {
    size_t i = 0;
    if (!read_list(value, path, count, element, i)) return false;
    return i == count || fail(path, "has " + std::to_string(i) + " elements, needs " + std::to_string(count));
  }

  // An object with the given keys in any order: field(key index, value, path of the field) reads each. Unknown keys
  // are checked for being JSON and ignored; a repeated key, or a missing required one, is refused.
  template <size_t N, class F>
  bool read_object(Value value, const JsonPath& path, const std::array<JsonKey, N>& keys, F&& field) {
    Object object;
    if (const auto e = value.get_object().get(object); e != simdjson::SUCCESS) return fail_type(path, e, "an object");
    return read_fields(object, path, keys, field);
  }
  template <size_t N, class F>
  bool read_fields(Object& object, const JsonPath& path, const std::array<JsonKey, N>& keys, F&& field) {
    static_assert(N <= 32);
    uint32_t seen = 0;
    for (auto item : object) {
      simdjson::ondemand::field entry;
      if (const auto e = std::move(item).get(entry); e != simdjson::SUCCESS) [[unlikely]]
        return fail_json(path, e);
      std::string_view key;
      if (const auto e = entry.unescaped_key().get(key); e != simdjson::SUCCESS) return fail_json(path, e);
      size_t k = 0;
      while (k < N && keys[k].name != key) ++k;
      if (k == N) {
        if (!skip(entry.value(), path.at("(unknown key)"), 0)) return false;
        continue;
      }
      const JsonPath here = path.at(keys[k].name);
      if (seen >> k & 1) return fail(here, "the key is repeated");
      seen |= uint32_t{1} << k;
      if (!field(k, entry.value(), here)) return false;
    }
    for (size_t k = 0; k < N; ++k) {
      if (keys[k].required && !(seen >> k & 1)) return fail(path.at(keys[k].name), "the key is missing");
    }
    return true;
  }

  // Reads past a value of no interest, checking that it is JSON and not nested deeper than kMaxDepth.
  static constexpr unsigned kMaxDepth = 64;
  bool skip(Value value, const JsonPath& path, unsigned depth);

  bool fail_json(const JsonPath& path, simdjson::error_code e);

 private:
  bool fail_byte(const JsonPath& path, simdjson::error_code e, uint64_t byte);

  const PaddedBuffer* document_ = nullptr;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document doc_;
  bool opened_ = false;
  bool failed_ = false;
  Error error_;
};

}  // namespace cuzk
