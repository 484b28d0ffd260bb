#include "worker/faults.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace cuzk {
namespace {

constexpr std::array<std::pair<std::string_view, WorkerFault>, 12> kNames = {{
    {"crash", WorkerFault::kCrash},
    {"exit", WorkerFault::kExit},
    {"hang", WorkerFault::kHang},
    {"freeze", WorkerFault::kFreeze},
    {"wrong-proof", WorkerFault::kWrongProof},
    {"bad-alloc", WorkerFault::kBadAlloc},
    {"slow", WorkerFault::kSlow},
    {"garbage", WorkerFault::kGarbage},
    {"shout", WorkerFault::kShout},
    {"fail", WorkerFault::kFail},
    {"lose-device", WorkerFault::kLoseDevice},
    {"trap", WorkerFault::kTrap},
}};

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<PlannedFault> parse_one(std::string_view text) {
  const size_t at = text.find('@');
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(0, at);
  std::string_view task = text.substr(at + 1);
  PlannedFault out;
  if (const size_t equals = task.find('='); equals != std::string_view::npos) {
    const std::optional<uint64_t> ms = number(task.substr(equals + 1));
    if (!ms || *ms > 3'600'000) return std::nullopt;
    out.time = std::chrono::milliseconds(*ms);
    task = task.substr(0, equals);
  }
  if (task != "*") {
    const std::optional<uint64_t> k = number(task);
    if (!k) return std::nullopt;
    out.task = *k;
  }
  for (const auto& [known, fault] : kNames) {
    if (known != name) continue;
    out.fault = fault;
    return out;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<PlannedFault>> parse_faults(std::string_view text) {
  std::vector<PlannedFault> out;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view one = text.substr(0, comma);
    const std::optional<PlannedFault> fault = parse_one(one);
    if (!fault)
      return Error(ErrorClass::kUsage, std::string(one) + ": no fault is written so (\"crash@3\", \"slow@*=200\")");
    out.push_back(*fault);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return out;
}

}  // namespace cuzk
