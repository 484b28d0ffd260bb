#include "config/document.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

// Parse errors are returned; nothing of toml++ leaves this file.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace cuzk {
namespace {

TomlScalar scalar_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return {text->get()};
  if (const auto* number = node.as_integer()) return {number->get()};
  if (const auto* number = node.as_floating_point()) return {number->get()};
  if (const auto* flag = node.as_boolean()) return {flag->get()};
  return {};
}

void collect(const toml::table& table, const std::vector<std::string>& path, std::vector<TomlEntry>& out) {
  for (const auto& [key, node] : table) {
    TomlEntry entry;
    entry.path = path;
    entry.path.emplace_back(key.str());
    entry.line = key.source().begin.line;
    entry.column = key.source().begin.column;
    if (const auto* inner = node.as_table(); inner != nullptr && !inner->empty()) {
      collect(*inner, entry.path, out);
      continue;
    }
    entry.is_table = node.is_table();
    if (const auto* array = node.as_array()) {
      std::vector<TomlScalar> items;
      for (const auto& item : *array) items.push_back(scalar_of(item));
      entry.value = std::move(items);
    } else {
      entry.value = scalar_of(node);
    }
    out.push_back(std::move(entry));
  }
}

// The end of the string or comment that begins at `at`; `at` itself where none begins there.
size_t end_of_text(std::string_view text, size_t at) {
  const char first = text[at];
  if (first == '#') return std::min(text.find('\n', at), text.size());
  if (first != '"' && first != '\'') return at;
  const std::string three(3, first);
  const bool multiline = text.substr(at).starts_with(three);
  for (size_t i = at + (multiline ? 3 : 1); i < text.size(); ++i) {
    if (text[i] == '\\' && first == '"') {
      ++i;
    } else if (multiline && text.substr(i).starts_with(three)) {
      i += 3;
      for (int more = 0; more < 2 && i < text.size() && text[i] == first; ++more) ++i;  // of the string
      return i;
    } else if (!multiline && (text[i] == first || text[i] == '\n')) {
      return i + 1;
    }
  }
  return text.size();
}

// The first byte that is not ASCII and neither in a string nor in a comment, where TOML has none. toml++ 3.3 assumes in
// is_non_ascii_horizontal_whitespace() that most of them do not exist.
std::optional<size_t> misplaced_byte(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  for (size_t at = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) >= 0x80) return at;
    const size_t end = end_of_text(text, at);
    at = end == at ? at + 1 : end;
  }
  return std::nullopt;
}

}  // namespace

TomlDocument read_toml(std::string_view text) {
  TomlDocument document;
  if (const auto at = misplaced_byte(text)) {
    const std::string_view before = text.substr(0, *at);
    document.syntax_error = "a character that is not ASCII is outside of strings and comments";
    document.error_line = 1 + static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n'));
    document.error_column = static_cast<uint32_t>(*at - (before.rfind('\n') + 1)) + 1;
    return document;
  }
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    document.syntax_error = std::string(parsed.error().description());
    document.error_line = parsed.error().source().begin.line;
    document.error_column = parsed.error().source().begin.column;
    return document;
  }
  collect(parsed.table(), {}, document.entries);
  std::stable_sort(document.entries.begin(), document.entries.end(), [](const TomlEntry& a, const TomlEntry& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  return document;
}

std::string toml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04X", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace cuzk
