// Who may call what.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace grpc {
class ServerContextBase;
class Status;
}  // namespace grpc

namespace cuzk {

// Each may also do what those before it may.
enum class Role : uint8_t {
  kReader,     // GetStatus, GetMetrics, reflection
  kSubmitter,  // SubmitProof, AwaitProof, Prove, CancelProof
  kAdmin,      // PreloadSRS, EvictSRS
};
constexpr const char* to_string(Role role) {
  switch (role) {
    case Role::kReader: return "reader";
    case Role::kSubmitter: return "submitter";
    case Role::kAdmin: return "admin";
  }
  return "unknown";
}

// Thread safe. Tokens are kept as their SHA-256 and compared in constant time.
class Authorizer {
 public:
  // Without a file everybody may do everything. Errors of a file: kIo; kUsage with the line for an unknown role, a
  // token of fewer than 16 or more than 512 characters or with a blank, no token at all, or a file that others may
  // read.
  static Result<std::unique_ptr<Authorizer>> load(const std::string& tokens_file);

  // OK, UNAUTHENTICATED or PERMISSION_DENIED.
  grpc::Status check(const grpc::ServerContextBase& call, Role needed) const;
  // The role of a token; nothing for one that is not known.
  std::optional<Role> role_of(std::string_view token) const;

  // Reads the file again where it changed. Errors: as load(); what was known stays.
  Status reload_if_changed();

 private:
  struct Entry {
    std::array<uint8_t, 32> digest;
    Role role;
  };
  struct Stamp {
    uint64_t device = 0, inode = 0, size = 0;
    int64_t seconds = 0, nanoseconds = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  static Result<std::vector<Entry>> read(const std::string& file, Stamp& stamp);

  std::string file_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  Stamp stamp_;
};

}  // namespace cuzk
