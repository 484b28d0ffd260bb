#include "server/tls.hpp"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

namespace cuzk {
namespace {

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

Error bad(const std::string& what, const std::string& file) { return Error(ErrorClass::kUsage, what).in_file(file); }

// gRPC would start with files that it cannot use, and refuse every handshake.
Status check_files(const TlsOptions& options) {
  const std::unique_ptr<SSL_CTX, FreeContext> context(SSL_CTX_new(TLS_server_method()));
  if (!context) return Error(ErrorClass::kResource, "OpenSSL has no memory");
  if (SSL_CTX_use_certificate_chain_file(context.get(), options.certificate_file.c_str()) != 1) {
    return bad("no certificate in PEM", options.certificate_file);
  }
  struct stat information {};
  if (stat(options.key_file.c_str(), &information) == 0 && (information.st_mode & 07) != 0) {
    return bad("everybody may read the private key; its mode must be 0640 or stricter", options.key_file);
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), options.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return bad("no private key in PEM that belongs to the certificate", options.key_file);
  }
  if (!options.client_ca_file.empty() &&
      SSL_CTX_load_verify_locations(context.get(), options.client_ca_file.c_str(), nullptr) != 1) {
    return bad("no certificates in PEM", options.client_ca_file);
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<grpc::ServerCredentials>> tls_credentials(const TlsOptions& options) {
  CUZK_TRY(check_files(options));
  const auto interval = static_cast<unsigned>(std::max<int64_t>(options.reload_interval.count(), 1));
  const bool mutual = !options.client_ca_file.empty();
  auto files = std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      options.key_file, options.certificate_file, options.client_ca_file, interval);
  grpc::experimental::TlsServerCredentialsOptions tls(files);
  tls.watch_identity_key_cert_pairs();
  if (mutual) tls.watch_root_certs();
  tls.set_cert_request_type(mutual ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                   : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  auto credentials = grpc::experimental::TlsServerCredentials(tls);
  if (!credentials) return Error(ErrorClass::kInternal, "gRPC takes no such credentials");
  return credentials;
}

}  // namespace cuzk
