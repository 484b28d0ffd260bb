// Who may call what.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
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
//
// A line of the file is "ROLE TOKEN", or "ROLE certificate:NAME" for clients whose certificate, which TLS has checked,
// has that common name or alternative name. Who sends a token is known by it and not by the certificate.
class Authorizer {
 public:
  // Without a file everybody may do everything. Errors of a file: kIo; kUsage with the line for an unknown role, a
  // token of fewer than 16 or more than 512 characters or with a blank, no line at all, or a file that others may
  // read.
  static Result<std::unique_ptr<Authorizer>> load(const std::string& tokens_file);

  // OK, UNAUTHENTICATED or PERMISSION_DENIED.
  grpc::Status check(const grpc::ServerContextBase& call, Role needed) const;
  // The role of a token; nothing for one that is not known.
  std::optional<Role> role_of(std::string_view token) const;
  // The highest role of a certificate's names; nothing where none is known.
  std::optional<Role> role_of_certificate(const std::vector<std::string>& names) const;

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
  struct Known {
    std::vector<Entry> tokens;
    std::map<std::string, Role, std::less<>> certificates;
  };
  static Result<Known> read(const std::string& file, Stamp& stamp);
  grpc::Status check_token(const grpc::ServerContextBase& call, Role needed) const;

  std::string file_;
  mutable std::mutex mutex_;
  Known known_;
  Stamp stamp_;
};

}  // namespace cuzk
