#include "config/document.hpp"

#include <algorithm>
#include <cstdio>

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

}  // namespace

TomlDocument read_toml(std::string_view text) {
  TomlDocument document;
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
