// The eight calls of cuzk.v1.ProvingEngine, and reflection.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include "server/call.hpp"

namespace cuzk {

class Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(ServiceContext& context) : context_(context) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* call) override;

 private:
  ServiceContext& context_;
};

}  // namespace cuzk
