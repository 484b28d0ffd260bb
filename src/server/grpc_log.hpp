// What gRPC's library would print.
#pragma once

#include "server/options.hpp"

namespace cuzk {

// While it exists, gRPC's warnings and errors go to `log` and not to standard error. gRPC has one log in a process: of
// several routes the youngest gets everything. Clients can cause such lines (a handshake that fails), so errors of
// gRPC are warnings here.
class GrpcLogRoute {
 public:
  using Sink = decltype(ServerHooks::log);
  explicit GrpcLogRoute(const Sink& log);
  ~GrpcLogRoute();
  GrpcLogRoute(const GrpcLogRoute&) = delete;
  GrpcLogRoute& operator=(const GrpcLogRoute&) = delete;

 private:
  const Sink& log_;
};

}  // namespace cuzk
