#include "format/json_reader.hpp"

namespace cuzk {

bool JsonReader::fail(const JsonPath& path, std::string message) {
  if (failed_) return false;
  failed_ = true;
  error_ = Error(ErrorClass::kInvalidInput, std::move(message)).at_field(path.text());
  if (!opened_) return false;
  // Where the reader stands: at the value, or just behind it. Nothing where the document has been read to its end.
  const char* location = nullptr;
  const char* begin = reinterpret_cast<const char*>(document_->data());
  if (doc_.current_location().get(location) == simdjson::SUCCESS && location >= begin &&
      location <= begin + document_->size()) {
    error_.offset = static_cast<uint64_t>(location - begin);
  }
  return false;
}

bool JsonReader::fail_at(const JsonPath& path, std::string message, uint64_t offset) {
  if (failed_) return false;
  fail(path, std::move(message));
  error_.offset = offset;
  return false;
}

bool JsonReader::fail_json(const JsonPath& path, simdjson::error_code e) {
  return fail(path, std::string("not well-formed JSON: ") + simdjson::error_message(e));
}

bool JsonReader::fail_type(const JsonPath& path, simdjson::error_code e, std::string_view expected) {
  if (e == simdjson::INCORRECT_TYPE || e == simdjson::NUMBER_ERROR || e == simdjson::NUMBER_OUT_OF_RANGE) {
    return fail(path, "not " + std::string(expected));
  }
  return fail_json(path, e);
}

bool JsonReader::fail_byte(const JsonPath& path, simdjson::error_code e, uint64_t byte) {
  if (e != simdjson::SUCCESS) return fail_type(path, e, "an unsigned integer");
  return fail(path, std::to_string(byte) + " is not a byte");
}

bool JsonReader::skip(Value value, const JsonPath& path, unsigned depth) {
  if (depth == kMaxDepth) return fail(path, "nested too deeply");
  simdjson::ondemand::json_type type;
  if (const auto e = value.type().get(type); e != simdjson::SUCCESS) return fail_json(path, e);
  switch (type) {
    case simdjson::ondemand::json_type::object: {
      Object object;
      if (const auto e = value.get_object().get(object); e != simdjson::SUCCESS) return fail_json(path, e);
      for (auto item : object) {
        simdjson::ondemand::field entry;
        if (const auto e = std::move(item).get(entry); e != simdjson::SUCCESS) return fail_json(path, e);
        if (!skip(entry.value(), path, depth + 1)) return false;
      }
      return true;
    }
    case simdjson::ondemand::json_type::array: {
      simdjson::ondemand::array array;
      if (const auto e = value.get_array().get(array); e != simdjson::SUCCESS) return fail_json(path, e);
      for (auto item : array) {
        Value inner;
        if (const auto e = std::move(item).get(inner); e != simdjson::SUCCESS) return fail_json(path, e);
        if (!skip(inner, path, depth + 1)) return false;
      }
      return true;
    }
    case simdjson::ondemand::json_type::number: {
      double number = 0;
      const auto e = value.get_double().get(number);
      return e == simdjson::SUCCESS || fail_json(path, e);
    }
    case simdjson::ondemand::json_type::string: {
      std::string_view text;
      const auto e = value.get_string().get(text);
      return e == simdjson::SUCCESS || fail_json(path, e);
    }
    case simdjson::ondemand::json_type::boolean: {
      bool b = false;
      const auto e = value.get_bool().get(b);
      return e == simdjson::SUCCESS || fail_json(path, e);
    }
    case simdjson::ondemand::json_type::null: {
      bool is_null = false;
      const auto e = value.is_null().get(is_null);
      if (e != simdjson::SUCCESS) return fail_json(path, e);
      return is_null || fail(path, "not well-formed JSON");
    }
  }
  return fail(path, "not well-formed JSON");
}

bool json_begins_with(std::span<const uint8_t> head, char first) {
  for (const uint8_t c : head) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return c == static_cast<uint8_t>(first);
  }
  return false;
}

}  // namespace cuzk
