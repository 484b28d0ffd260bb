#include "format/vanilla_list.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "format/base64.hpp"
#include "format/json_reader.hpp"

namespace cuzk {
namespace {

constexpr size_t kLookedAt = 64;

bool is_text(std::span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), kLookedAt)),
                     [](uint8_t c) { return (c >= 0x20 && c < 0x7f) || c == '\t' || c == '\n' || c == '\r'; });
}

Error invalid(std::string message) {
  return Error(ErrorClass::kInvalidInput, std::move(message)).at_field("vanilla_proofs");
}

// Appends the proofs of the array; false where json.error() says why not.
bool read_array(JsonReader& json, const PaddedBuffer& document, std::vector<uint8_t>& bytes,
                std::vector<size_t>& ends) {
  const JsonPath root, list = root.at("vanilla_proofs");
  JsonReader::Value value;
  if (!json.root_value(list, value)) return false;
  const auto element = [&](size_t i, JsonReader::Value item) {
    const JsonPath here = list.at(i);
    const std::string_view token = item.raw_json_token();
    const auto offset = static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(token.data()) - document.data()) + 1;
    std::string_view text;
    if (!json.read_string(item, here, text)) return false;
    const size_t begin = bytes.size();
    bytes.resize(begin + base64_decoded_size(text));
    const Result<size_t> decoded = base64_decode(text, std::span(bytes).subspan(begin));
    if (!decoded.ok()) return json.fail_at(here, decoded.error().message, offset + decoded.error().offset.value_or(0));
    ends.push_back(begin + *decoded);
    return true;
  };
  size_t count = 0;
  return json.read_list(value, list, kMaxVanillaProofs, element, count) && json.expect_end();
}

}  // namespace

uint64_t max_vanilla_list_bytes(std::span<const uint8_t> head) {
  return is_text(head) && json_begins_with(head, '[') ? kMaxVanillaListBytes : uint64_t{1} << 20;
}

std::vector<std::span<const uint8_t>> VanillaList::views() const {
  std::vector<std::span<const uint8_t>> out;
  size_t begin = 0;
  for (const size_t end : ends_) {
    out.emplace_back(bytes_.data() + begin, end - begin);
    begin = end;
  }
  return out;
}

Result<VanillaList> read_vanilla_list(PaddedBuffer document) {
  if (document.size() == 0) return invalid("the file is empty");
  VanillaList out;
  if (!is_text(document.bytes())) {
    out.bytes_.assign(document.bytes().begin(), document.bytes().end());
    out.ends_ = {document.size()};
    return out;
  }
  out.bytes_.reserve(document.size() / 4 * 3 + 3);
  JsonReader json;
  if (!json.open(document) || !read_array(json, document, out.bytes_, out.ends_)) return json.take_error();
  if (out.ends_.empty()) return invalid("has no proof");
  return out;
}

}  // namespace cuzk
