#include "cuzk/vanilla_output.hpp"

#include <algorithm>
#include <cctype>

#include "base/assert.hpp"
#include "base/hex.hpp"
#include "format/base64.hpp"
#include "hash/sha256.hpp"

namespace cuzk::app {
namespace {

bool is_plain_word(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '/' || c == '-' || c == '_' || c == '+' || c == ',' || c == ':';
  };
  return !word.empty() && std::all_of(word.begin(), word.end(), plain);
}

// 'it'\''s'
std::string shell_word(const std::string& word) {
  if (is_plain_word(word)) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace

Result<NodeBytes> parse_bytes32(const std::string& text, const char* option) {
  const auto bytes = from_hex(text);
  NodeBytes out{};
  if (!bytes || bytes->size() != out.size()) {
    return Error(ErrorClass::kUsage, std::string(option) + " must be 64 hexadecimal digits");
  }
  std::copy(bytes->begin(), bytes->end(), out.begin());
  return out;
}

Result<NodeBytes> given_or_derived(const std::string& text, const char* option, std::string_view name,
                                   const NodeBytes& seed) {
  if (!text.empty()) return parse_bytes32(text, option);
  Sha256 hash;
  hash.update(seed);
  hash.update(bytes_of(name));
  return hash.finish();
}

Result<NodeBytes> parse_randomness(const std::string& text, Console& console) {
  CUZK_ASSIGN(NodeBytes randomness, parse_bytes32(text, "--randomness"));
  const NodeBytes given = randomness;
  trim_to_fr(randomness);
  if (randomness != given) console.warn("the two top bits of --randomness were cleared, as clients do");
  return randomness;
}

std::string proofs_text(uint64_t count, bool synthetic, uint64_t proof_bytes) {
  return std::to_string(count) + (synthetic ? " synthetic" : "") +
         (count == 1 ? " vanilla proof of " : " vanilla proofs of ") + grouped(proof_bytes) + " bytes";
}

Result<uint64_t> write_vanilla_json(AtomicFile out, uint32_t count,
                                    const std::function<std::vector<uint8_t>(uint32_t)>& blob) {
  CUZK_ASSERT(count > 0);
  for (uint32_t i = 0; i < count; ++i) {
    CUZK_TRY(out.write(bytes_of(i == 0 ? "[\"" : "\",\"")));
    CUZK_TRY(out.write(bytes_of(base64_encode(blob(i)))));
  }
  CUZK_TRY(out.write(bytes_of("\"]\n")));
  const uint64_t written = out.written_bytes();
  CUZK_TRY(out.commit());
  return written;
}

ShellLine& ShellLine::add(std::string_view option, const std::string& value) {
  text_.append(" ").append(option).append(" ").append(shell_word(value));
  return *this;
}

ResultLines& ResultLines::line(std::string_view name, const std::string& value) {
  constexpr size_t kColumn = 18;
  const size_t blanks = name.size() < kColumn ? kColumn - name.size() : 1;
  outcome_.text.append("\n").append(name).append(blanks, ' ').append(value);
  return *this;
}

ResultLines& ResultLines::both(std::string_view name, const char* key, const std::string& value) {
  outcome_.json[key] = value;
  return line(name, value);
}

std::string fr_hex(const Fr& value) { return to_hex(value.to_bytes_le()); }

}  // namespace cuzk::app
