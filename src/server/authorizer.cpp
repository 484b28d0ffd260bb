#include "server/authorizer.hpp"

#include <grpcpp/server_context.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "hash/sha256.hpp"

namespace cuzk {
namespace {

constexpr size_t kMinTokenBytes = 16, kMaxTokenBytes = 512;

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

}  // namespace

Result<std::vector<Authorizer::Entry>> Authorizer::read(const std::string& file, Stamp& stamp) {
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
  std::vector<Entry> entries;
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
    if (token.size() < kMinTokenBytes || token.size() > kMaxTokenBytes) return bad("a token has 16 to 512 characters");
    entries.push_back({digest_of(token), *role});
  }
  if (entries.empty()) return Error(ErrorClass::kUsage, "there is no token in it").in_file(file);
  return entries;
}

Result<std::unique_ptr<Authorizer>> Authorizer::load(const std::string& tokens_file) {
  auto out = std::make_unique<Authorizer>();
  out->file_ = tokens_file;
  if (!tokens_file.empty()) {
    CUZK_ASSIGN(out->entries_, read(tokens_file, out->stamp_));
  }
  return out;
}

std::optional<Role> Authorizer::role_of(std::string_view token) const {
  const std::array<uint8_t, 32> digest = digest_of(token);
  std::optional<Role> found;
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    unsigned different = 0;
    for (size_t i = 0; i < digest.size(); ++i) different |= digest[i] ^ entry.digest[i];
    if (different == 0 && (!found || *found < entry.role)) found = entry.role;
  }
  return found;
}

grpc::Status Authorizer::check(const grpc::ServerContextBase& call, Role needed) const {
  if (file_.empty() || call.peer().starts_with("unix:")) return grpc::Status::OK;
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
  if (*role < needed) {
    return {grpc::StatusCode::PERMISSION_DENIED,
            std::string("the token's role is ") + to_string(*role) + "; this call needs " + to_string(needed)};
  }
  return grpc::Status::OK;
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
  CUZK_ASSIGN(std::vector<Entry> entries, read(file_, now));
  const std::lock_guard lock(mutex_);
  stamp_ = now;
  entries_ = std::move(entries);
  return {};
}

}  // namespace cuzk
