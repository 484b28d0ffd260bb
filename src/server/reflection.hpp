// grpc.reflection.v1 and v1alpha: what services there are, for grpcurl and its like.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <string_view>

#include "server/authorizer.hpp"

namespace cuzk {

// gRPC's own reflection service holds a thread for each client; this one holds none.
bool is_reflection(std::string_view path);
// Deletes itself.
grpc::ServerGenericBidiReactor* new_reflection_call(const Authorizer& authorizer, grpc::CallbackServerContext& call);

}  // namespace cuzk
