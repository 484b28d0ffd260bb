// What the commands that make vanilla proofs have in common: their arguments, the file they write, and the `cuzk prove`
// command that takes it.
#pragma once

#include <charconv>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/result.hpp"
#include "cuzk/console.hpp"
#include "field/fr.hpp"
#include "filecoin/porep.hpp"

namespace cuzk::app {

inline std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// 32 bytes from 64 hexadecimal digits; `option` is named in errors. Errors: kUsage.
Result<NodeBytes> parse_bytes32(const std::string& text, const char* option);
// The same, or a hash of `seed` and `name` where the text is empty.
Result<NodeBytes> given_or_derived(const std::string& text, const char* option, std::string_view name,
                                   const NodeBytes& seed);
// PoSt randomness, with the two top bits cleared as clients do; says so where it changes anything.
Result<NodeBytes> parse_randomness(const std::string& text, Console& console);

// A registered proof by number or name, out of a table indexed by number (`proofs`) and a search by name. Errors:
// kUsage.
template <class Proof>
Result<const Proof*> parse_registered_proof(const std::string& text, std::span<const Proof> proofs,
                                            const Proof* (*by_name)(std::string_view)) {
  uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = failure == std::errc() && end == text.data() + text.size();
  const Proof* proof = !is_number ? by_name(text) : number < proofs.size() ? &proofs[number] : nullptr;
  if (proof != nullptr) return proof;
  return Error(ErrorClass::kUsage,
               "--registered-proof " + text + " is not known; numbers 0 to " + std::to_string(proofs.size() - 1));
}

// Writes a JSON array of base64 texts, one a blob (at least one), commits the file and returns its bytes. Errors: those
// of AtomicFile.
Result<uint64_t> write_vanilla_json(AtomicFile out, uint32_t count,
                                    const std::function<std::vector<uint8_t>(uint32_t)>& blob);

// "16 synthetic vanilla proofs of 561,768 bytes"
std::string proofs_text(uint64_t count, bool synthetic, uint64_t proof_bytes);

// A command line for a shell, put together from words.
class ShellLine {
 public:
  explicit ShellLine(std::string start) : text_(std::move(start)) {}
  ShellLine& add(std::string_view option, const std::string& value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A result told as lines "name  value" and as JSON.
class ResultLines {
 public:
  explicit ResultLines(std::string first_line) { outcome_.text = std::move(first_line); }
  // The line; nothing is added to the JSON.
  ResultLines& line(std::string_view name, const std::string& value);
  // The line and, under `key`, the same text.
  ResultLines& both(std::string_view name, const char* key, const std::string& value);
  Json& json() { return outcome_.json; }
  Outcome take() { return std::move(outcome_); }

 private:
  Outcome outcome_;
};

// 64 digits, lowest byte first, as commitments are written.
std::string fr_hex(const Fr& value);

}  // namespace cuzk::app
