#include "residency/remembered_digests.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/hex.hpp"
#include "base/random_access_file.hpp"
#include "hash/sha256.hpp"
#include "residency/circuit_cache.hpp"

namespace cuzk {
namespace {

constexpr std::string_view kHead = "cuzk-digests 1\n";
constexpr std::string_view kTail = "sha256 ";
constexpr uint64_t kMaxBytes = uint64_t{1} << 20;
constexpr size_t kDigestDigits = 32;

std::string absolute(const std::string& path) {
  std::error_code failure;
  const std::filesystem::path full = std::filesystem::absolute(path, failure);
  return failure ? path : full.lexically_normal().string();
}

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

bool is_digest(std::string_view text) {
  return text.size() == kDigestDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string_view take_word(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

template <class Number>
bool take_number(std::string_view& line, Number& number) {
  const std::string_view word = take_word(line);
  const auto [end, wrong] = std::from_chars(word.data(), word.data() + word.size(), number);
  return wrong == std::errc() && end == word.data() + word.size();
}

// All of the file; nothing where it is absent, unreadable or far too large.
std::string contents(const std::string& path) {
  const Result<RandomAccessFile> file = RandomAccessFile::open(path);
  if (!file.ok() || file.value().size() > kMaxBytes) return "";
  std::string text(file.value().size(), '\0');
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(text.data()), text.size());
  return file.value().read_at(0, bytes).ok() ? text : "";
}

// The lines between head and tail, where both are right.
std::optional<std::string_view> checked_lines(std::string_view text) {
  const size_t tail = text.rfind(kTail);
  if (!text.starts_with(kHead) || tail == std::string_view::npos || tail < kHead.size()) return std::nullopt;
  const std::string_view body = text.substr(0, tail);
  if (text.substr(tail) != std::string(kTail) + to_hex(sha256(bytes_of(body))) + "\n") return std::nullopt;
  return body.substr(kHead.size());
}

}  // namespace

RememberedDigests::Entries RememberedDigests::read() const {
  if (directory_.empty()) return {};
  const std::string text = contents(file());
  const auto lines = checked_lines(text);
  if (!lines) return {};
  Entries entries;
  for (std::string_view rest = *lines; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    Entry entry;
    entry.digest = std::string(take_word(line));
    FileStamp& stamp = entry.stamp;
    if (!is_digest(entry.digest) || !take_number(line, stamp.bytes) || !take_number(line, stamp.inode) ||
        !take_number(line, stamp.modified_ns) || !take_number(line, stamp.changed_ns) || line.empty()) {
      return {};
    }
    entries[std::string(line)] = std::move(entry);
  }
  return entries;
}

std::optional<std::string> RememberedDigests::find(const std::string& path, const FileStamp& stamp) const {
  const std::lock_guard lock(mutex_);
  const Entries entries = read();
  const auto entry = entries.find(absolute(path));
  if (entry == entries.end() || entry->second.stamp != stamp) return std::nullopt;
  return entry->second.digest;
}

Status RememberedDigests::remember(const std::string& path, const FileStamp& stamp, std::string_view digest) {
  const std::string full = absolute(path);
  if (directory_.empty() || full.find('\n') != std::string::npos) return {};
  CUZK_ASSERT(is_digest(digest));
  const std::lock_guard lock(mutex_);
  CUZK_TRY(make_cache_directory(directory_));
  Entries entries = read();
  entries[full] = {stamp, std::string(digest)};
  std::string text(kHead);
  for (const auto& [name, entry] : entries) {
    const FileStamp& s = entry.stamp;
    text += entry.digest + " " + std::to_string(s.bytes) + " " + std::to_string(s.inode) + " " +
            std::to_string(s.modified_ns) + " " + std::to_string(s.changed_ns) + " " + name + "\n";
  }
  text += std::string(kTail) + to_hex(sha256(bytes_of(text))) + "\n";
  CUZK_ASSIGN(AtomicFile out, AtomicFile::create(file()));
  CUZK_TRY(out.write(bytes_of(text)));
  return out.commit();
}

}  // namespace cuzk
