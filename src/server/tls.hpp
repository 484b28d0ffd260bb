// Certificates of the TCP listeners.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "base/result.hpp"
#include "server/options.hpp"

namespace cuzk {

// Errors: kUsage naming the file: absent, no PEM, a key that is not the certificate's, or a key that others may read.
Result<std::shared_ptr<grpc::ServerCredentials>> tls_credentials(const TlsOptions& options);

}  // namespace cuzk
