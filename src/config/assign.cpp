#include "config/assign.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/overloaded.hpp"
#include "config/nearest.hpp"

namespace cuzk {
namespace {

Error wrong(std::string message) { return Error(ErrorClass::kInvalidInput, std::move(message)); }

std::string kind_of(const ConfigValue& value) {
  if (std::holds_alternative<std::vector<TomlScalar>>(value)) return "a list";
  static constexpr const char* kKinds[] = {"a date, a time or a table", "text", "a whole number", "a decimal number",
                                           "a truth value"};
  return kKinds[std::get<TomlScalar>(value).value.index()];
}

template <class T>
const T* get(const ConfigValue& value) {
  const auto* scalar = std::get_if<TomlScalar>(&value);
  return scalar == nullptr ? nullptr : std::get_if<T>(&scalar->value);
}

Status check_range(const ConfigKey& key, uint64_t value, std::string (*shown)(uint64_t)) {
  if (value >= key.min && value <= key.max) return {};
  const bool low = value < key.min;
  return wrong(shown(value) + " is too " + (low ? "small: at least " : "large: at most ") +
               shown(low ? key.min : key.max));
}

std::string show_number(uint64_t value) { return std::to_string(value); }
std::string show_size(uint64_t value) { return value == 0 ? "0" : format_size({value}); }
std::string show_duration(uint64_t value) { return format_duration(Duration(value)); }

Result<uint64_t> number_of(const ConfigKey& key, const ConfigValue& value) {
  const auto* number = get<int64_t>(value);
  if (number == nullptr) {
    const auto* text = get<std::string>(value);
    return wrong("must be a whole number, not " + (text != nullptr ? "'" + *text + "'" : kind_of(value)));
  }
  if (*number < 0) return wrong(std::to_string(*number) + " is negative");
  CUZK_TRY(check_range(key, static_cast<uint64_t>(*number), show_number));
  return static_cast<uint64_t>(*number);
}

Result<Size> size_of(const ConfigKey& key, const ConfigValue& value) {
  Size size;
  if (const auto* text = get<std::string>(value)) {
    CUZK_ASSIGN(size, parse_size(*text));
  } else if (const auto* number = get<int64_t>(value); number != nullptr && *number >= 0) {
    size.bytes = static_cast<uint64_t>(*number);
  } else {
    return wrong("must be a size such as \"64GiB\", not " + kind_of(value));
  }
  CUZK_TRY(check_range(key, size.bytes, show_size));
  return size;
}

Result<Duration> duration_of(const ConfigKey& key, const ConfigValue& value) {
  Duration duration{};
  if (const auto* text = get<std::string>(value)) {
    CUZK_ASSIGN(duration, parse_duration(*text));
  } else if (const auto* number = get<int64_t>(value);
             number != nullptr && *number >= 0 && *number < INT64_MAX / 1000) {
    duration = std::chrono::seconds(*number);
  } else {
    return wrong("must be a duration such as \"5m\", not " + kind_of(value));
  }
  CUZK_TRY(check_range(key, static_cast<uint64_t>(duration.count()), show_duration));
  return duration;
}

Result<std::string> text_of(const ConfigKey& key, const ConfigValue& value) {
  const auto* text = get<std::string>(value);
  if (text == nullptr) return wrong("must be text in quotes, not " + kind_of(value));
  if (text->find('\0') != std::string::npos) return wrong("has a zero byte in it");
  if (key.choices.empty()) return *text;
  std::string lower = *text;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  std::string all;
  std::vector<std::string> choices(key.choices.begin(), key.choices.end());
  for (const std::string& choice : choices) {
    if (lower == choice) return choice;
    all += (all.empty() ? "" : ", ") + choice;
  }
  const auto near = nearest_name(lower, choices);
  return wrong("'" + *text + "' is none of " + all + (near ? "; did you mean '" + *near + "'?" : ""));
}

// A number as text, too.
Result<std::string> device_of(const ConfigKey& key, const ConfigValue& value) {
  if (get<std::string>(value) == nullptr) {
    CUZK_ASSIGN(const uint64_t number, number_of(key, value));
    return std::to_string(number);
  }
  CUZK_ASSIGN(std::string text, text_of(key, value));
  if (text.empty()) return wrong("has an empty item");
  return text;
}

// A list, or the only item of one.
std::vector<ConfigValue> items_of(const ConfigValue& value) {
  if (const auto* list = std::get_if<std::vector<TomlScalar>>(&value)) return {list->begin(), list->end()};
  return {value};
}

std::optional<TomlScalar> number_in(const std::string& text) {
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return TomlScalar{number};
}

TomlScalar scalar_of_text(const ConfigMember& member, const std::string& text) {
  const bool number = std::holds_alternative<uint64_t Config::*>(member);
  if (number) return number_in(text).value_or(TomlScalar{text});
  if (std::holds_alternative<bool Config::*>(member)) {
    if (text == "true" || text == "1") return {true};
    if (text == "false" || text == "0") return {false};
  }
  return {text};
}

}  // namespace

ConfigValue value_of_text(const ConfigKey& key, const std::string& text) {
  const bool list = std::holds_alternative<std::vector<std::string> Config::*>(key.member) ||
                    std::holds_alternative<DeviceNames Config::*>(key.member);
  if (!list) return scalar_of_text(key.member, text);
  std::vector<TomlScalar> items;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    items.push_back(scalar_of_text(key.member, text.substr(start, end - start)));
    start = end + 1;
  }
  return items;
}

Status assign(Config& config, const ConfigKey& key, const ConfigValue& value) {
  return std::visit(Overloaded{
                        [&](std::string Config::*m) -> Status {
                          CUZK_ASSIGN(config.*m, text_of(key, value));
                          return {};
                        },
                        [&](bool Config::*m) -> Status {
                          const auto* flag = get<bool>(value);
                          if (flag == nullptr) return wrong("must be true or false, not " + kind_of(value));
                          config.*m = *flag;
                          return {};
                        },
                        [&](uint64_t Config::*m) -> Status {
                          CUZK_ASSIGN(config.*m, number_of(key, value));
                          return {};
                        },
                        [&](Size Config::*m) -> Status {
                          CUZK_ASSIGN(config.*m, size_of(key, value));
                          return {};
                        },
                        [&](std::optional<Size> Config::*m) -> Status {
                          const auto* text = get<std::string>(value);
                          if (text != nullptr && *text == "auto") {
                            config.*m = std::nullopt;
                            return {};
                          }
                          CUZK_ASSIGN(config.*m, size_of(key, value));
                          return {};
                        },
                        [&](Duration Config::*m) -> Status {
                          CUZK_ASSIGN(config.*m, duration_of(key, value));
                          return {};
                        },
                        [&](std::vector<std::string> Config::*m) -> Status {
                          std::vector<std::string> items;
                          for (const ConfigValue& item : items_of(value)) {
                            CUZK_ASSIGN(items.emplace_back(), text_of(key, item));
                            if (items.back().empty()) return wrong("has an empty item");
                          }
                          config.*m = std::move(items);
                          return {};
                        },
                        [&](DeviceNames Config::*m) -> Status {
                          std::vector<std::string> items;
                          for (const ConfigValue& item : items_of(value)) {
                            CUZK_ASSIGN(items.emplace_back(), device_of(key, item));
                            if (std::count(items.begin(), items.end(), items.back()) > 1) {
                              return wrong("has " + items.back() + " twice");
                            }
                          }
                          (config.*m).names = std::move(items);
                          return {};
                        },
                    },
                    key.member);
}

std::vector<ConfigContradiction> contradictions(const Config& config) {
  std::vector<ConfigContradiction> found;
  if (config.daemon_listen.empty()) found.push_back({"daemon.listen", "names no address"});
  if (config.tls_certificate.empty() != config.tls_key.empty()) {
    const bool key_missing = config.tls_key.empty();
    found.push_back({key_missing ? "tls.certificate" : "tls.key",
                     std::string("needs ") + (key_missing ? "tls.key" : "tls.certificate") + " beside it"});
  }
  if (!config.tls_client_ca.empty() && config.tls_certificate.empty()) {
    found.push_back({"tls.client_ca", "needs tls.certificate and tls.key beside it"});
  }
  const std::string& mode = config.daemon_socket_mode;
  if (mode.empty() || mode.size() > 4 || mode.find_first_not_of("01234567") != std::string::npos ||
      std::stoul(mode, nullptr, 8) > 0777) {
    found.push_back({"daemon.socket_mode", "'" + mode + "' is no mode of three octal digits, such as \"0660\""});
  }
  return found;
}

}  // namespace cuzk
