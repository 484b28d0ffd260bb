#include "server/authorizer.hpp"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/server_context.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "hash/sha256.hpp"

namespace cuzk {
namespace {

constexpr size_t kMinTokenBytes = 16, kMaxTokenBytes = 512;
constexpr std::string_view kCertificate = "certificate:";

std::array<uint8_t, 32> digest_of(std::string_view token) {
  const Sha256Digest digest = sha256({reinterpret_cast<const uint8_t*>(token.data()), token.size()});
  std::array<uint8_t, 32> out;
  std::copy(digest.begin(), digest.end(), out.begin());
  return out;
}

std::optional<Role> role_by_name(std::string_view name) {
  for (const Role role : {Role::kReader, Role::kSubmitter, Role::kAdmin}) {
    if (name == to_string(role)) return role;
  }
  return std::nullopt;
}

// Of a client's certificate that TLS has checked; none where it has shown none.
std::vector<std::string> checked_names(const grpc::ServerContextBase& call) {
  const std::shared_ptr<const grpc::AuthContext> peer = call.auth_context();
  std::vector<std::string> names;
  if (peer == nullptr || !peer->IsPeerAuthenticated()) return names;
  for (const char* property : {GRPC_X509_CN_PROPERTY_NAME, GRPC_X509_SAN_PROPERTY_NAME}) {
    for (const grpc::string_ref& name : peer->FindPropertyValues(property))
      names.emplace_back(name.data(), name.size());
  }
  return names;
}

grpc::Status allowed(Role role, Role needed, const char* what) {
  if (role >= needed) return grpc::Status::OK;
  return {grpc::StatusCode::PERMISSION_DENIED,
          std::string("the ") + what + "'s role is " + to_string(role) + "; this call needs " + to_string(needed)};
}

}  // namespace

Result<Authorizer::Known> Authorizer::read(const std::string& file, Stamp& stamp) {
  struct stat information {};
  if (stat(file.c_str(), &information) != 0) {
    return Error(ErrorClass::kIo, std::string("the tokens cannot be read: ") + std::strerror(errno)).in_file(file);
  }
  stamp = {information.st_dev, information.st_ino, static_cast<uint64_t>(information.st_size),
           information.st_mtim.tv_sec, information.st_mtim.tv_nsec};
  if ((information.st_mode & 077) != 0) {
    return Error(ErrorClass::kUsage, "others may read the file of tokens; its mode must be 0600 or stricter")
        .in_file(file);
  }
  std::ifstream stream(file);
  if (!stream) return Error(ErrorClass::kIo, "the tokens cannot be read").in_file(file);
  Known known;
  uint64_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    std::istringstream words(line);
    std::string name, token, more;
    if (!(words >> name) || name.front() == '#') continue;
    const auto bad = [&](const std::string& what) {  // never with the token
      return Error(ErrorClass::kUsage, "line " + std::to_string(number) + ": " + what).in_file(file);
    };
    const std::optional<Role> role = role_by_name(name);
    if (!role) return bad("the first word must be reader, submitter or admin");
    if (!(words >> token) || (words >> more)) return bad("expected ROLE TOKEN, the token without blanks");
    if (token.starts_with(kCertificate)) {
      token.erase(0, kCertificate.size());
      if (token.empty()) return bad("expected ROLE certificate:NAME");
      Role& highest = known.certificates.try_emplace(token, *role).first->second;
      highest = std::max(highest, *role);
      continue;
    }
    if (token.size() < kMinTokenBytes || token.size() > kMaxTokenBytes) return bad("a token has 16 to 512 characters");
    known.tokens.push_back({digest_of(token), *role});
  }
  if (known.tokens.empty() && known.certificates.empty()) {
    return Error(ErrorClass::kUsage, "there is no token in it").in_file(file);
  }
  return known;
}

Result<std::unique_ptr<Authorizer>> Authorizer::load(const std::string& tokens_file) {
  auto out = std::make_unique<Authorizer>();
  out->file_ = tokens_file;
  if (!tokens_file.empty()) {
    CUZK_ASSIGN(out->known_, read(tokens_file, out->stamp_));
  }
  return out;
}

std::optional<Role> Authorizer::role_of(std::string_view token) const {
  const std::array<uint8_t, 32> digest = digest_of(token);
  std::optional<Role> found;
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : known_.tokens) {
    unsigned different = 0;
    for (size_t i = 0; i < digest.size(); ++i) different |= digest[i] ^ entry.digest[i];
    if (different == 0 && (!found || *found < entry.role)) found = entry.role;
  }
  return found;
}

std::optional<Role> Authorizer::role_of_certificate(const std::vector<std::string>& names) const {
  std::optional<Role> found;
  const std::lock_guard lock(mutex_);
  for (const std::string& name : names) {
    const auto at = known_.certificates.find(name);
    if (at != known_.certificates.end() && (!found || *found < at->second)) found = at->second;
  }
  return found;
}

grpc::Status Authorizer::check(const grpc::ServerContextBase& call, Role needed) const {
  if (file_.empty() || call.peer().starts_with("unix:")) return grpc::Status::OK;
  if (call.client_metadata().contains("authorization")) return check_token(call, needed);
  const std::vector<std::string> names = checked_names(call);
  if (names.empty()) return check_token(call, needed);
  const std::optional<Role> role = role_of_certificate(names);
  if (!role) return {grpc::StatusCode::UNAUTHENTICATED, "no name of the client's certificate is known"};
  return allowed(*role, needed, "certificate");
}

grpc::Status Authorizer::check_token(const grpc::ServerContextBase& call, Role needed) const {
  const auto& metadata = call.client_metadata();
  const auto found = metadata.find("authorization");
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view value =
      found == metadata.end() ? std::string_view() : std::string_view(found->second.data(), found->second.size());
  const bool bearer = value.size() > kScheme.size() && strncasecmp(value.data(), kScheme.data(), kScheme.size()) == 0;
  if (!bearer || metadata.count("authorization") != 1) {
    return {grpc::StatusCode::UNAUTHENTICATED, "this daemon asks for \"authorization: Bearer TOKEN\""};
  }
  const std::optional<Role> role = role_of(value.substr(kScheme.size()));
  if (!role) return {grpc::StatusCode::UNAUTHENTICATED, "the token is not known"};
  return allowed(*role, needed, "token");
}

Status Authorizer::reload_if_changed() {
  if (file_.empty()) return {};
  struct stat information {};
  Stamp now;
  if (stat(file_.c_str(), &information) == 0) {
    now = {information.st_dev, information.st_ino, static_cast<uint64_t>(information.st_size),
           information.st_mtim.tv_sec, information.st_mtim.tv_nsec};
  }
  {
    const std::lock_guard lock(mutex_);
    if (now == stamp_) return {};
    stamp_ = now;  // also where it is bad: one complaint a change
  }
  CUZK_ASSIGN(Known known, read(file_, now));
  const std::lock_guard lock(mutex_);
  stamp_ = now;
  known_ = std::move(known);
  return {};
}

}  // namespace cuzk
