#include "server/reflection.hpp"

#include <cuzk/v1/proving.pb.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpc/health/v1/health.pb.h>
#include <grpc/reflection/v1/reflection.pb.h>
#include <grpc/reflection/v1alpha/reflection.pb.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/server_context.h>

#include <set>

#include "base/memory_reserve.hpp"

namespace cuzk {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;

constexpr std::string_view kPathV1 = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
constexpr std::string_view kPathV1Alpha = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
constexpr const char* kServices[] = {"cuzk.v1.ProvingEngine", "grpc.health.v1.Health",
                                     "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"};
constexpr size_t kMaxRequestBytes = 4096;
// Of one stream; nobody asks for so many.
constexpr int kMaxRequests = 10'000;

// A linker leaves out a generated file that nobody names.
void link_descriptors() {
  grpc::health::v1::HealthCheckRequest::descriptor();
  grpc::reflection::v1alpha::ServerReflectionRequest::descriptor();
  v1::ProveRequest::descriptor();
}

void append_file(const FileDescriptor* file, std::set<const FileDescriptor*>& seen,
                 grpc::reflection::v1::FileDescriptorResponse& out) {
  if (!seen.insert(file).second) return;
  google::protobuf::FileDescriptorProto description;
  file->CopyTo(&description);
  out.add_file_descriptor_proto(description.SerializeAsString());
  for (int i = 0; i < file->dependency_count(); ++i) append_file(file->dependency(i), seen, out);
}

void answer(const grpc::reflection::v1::ServerReflectionRequest& request,
            grpc::reflection::v1::ServerReflectionResponse& out) {
  using Request = grpc::reflection::v1::ServerReflectionRequest;
  out.set_valid_host(request.host());
  *out.mutable_original_request() = request;
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  const auto fail = [&](grpc::StatusCode code, const std::string& message) {
    out.mutable_error_response()->set_error_code(code);
    out.mutable_error_response()->set_error_message(message);
  };
  const auto describe = [&](const FileDescriptor* file, const std::string& name) {
    if (file == nullptr) return fail(grpc::StatusCode::NOT_FOUND, "not found: " + name);
    std::set<const FileDescriptor*> seen;
    append_file(file, seen, *out.mutable_file_descriptor_response());
  };
  switch (request.message_request_case()) {
    case Request::kFileByFilename:
      return describe(pool.FindFileByName(request.file_by_filename()), request.file_by_filename());
    case Request::kFileContainingSymbol:
      return describe(pool.FindFileContainingSymbol(request.file_containing_symbol()),
                      request.file_containing_symbol());
    case Request::kListServices:
      for (const char* service : kServices) out.mutable_list_services_response()->add_service()->set_name(service);
      return;
    case Request::kFileContainingExtension:
    case Request::kAllExtensionNumbersOfType:
      return fail(grpc::StatusCode::NOT_FOUND, "no message here has extensions");
    case Request::MESSAGE_REQUEST_NOT_SET: break;
  }
  fail(grpc::StatusCode::INVALID_ARGUMENT, "the request asks nothing");
}

// The messages of both versions are the same on the wire. One read or write is always under way, and it fails where the
// client is gone: that ends the call.
class ReflectionCall final : public grpc::ServerGenericBidiReactor {
 public:
  ReflectionCall(const Authorizer& authorizer, grpc::CallbackServerContext& call) {
    link_descriptors();
    const grpc::Status allowed = authorizer.check(call, Role::kReader);
    if (allowed.ok()) {
      StartRead(&request_);
    } else {
      Finish(allowed);
    }
  }

 private:
  void OnReadDone(bool ok) override {
    const UsesReserve uses_reserve;
    if (!ok) return Finish(grpc::Status::OK);
    grpc::reflection::v1::ServerReflectionRequest request;
    if (request_.Length() > kMaxRequestBytes || ++requests_ > kMaxRequests ||
        !grpc::SerializationTraits<decltype(request)>::Deserialize(&request_, &request).ok()) {
      return Finish({grpc::StatusCode::INVALID_ARGUMENT, "no request of the reflection service"});
    }
    request_.Clear();
    grpc::reflection::v1::ServerReflectionResponse response;
    answer(request, response);
    grpc::ByteBuffer bytes;
    bool own = false;
    if (!grpc::SerializationTraits<decltype(response)>::Serialize(response, &bytes, &own).ok()) {
      return Finish({grpc::StatusCode::INTERNAL, "the answer cannot be written"});
    }
    response_.Swap(&bytes);
    StartWrite(&response_);
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    StartRead(&request_);
  }
  void OnDone() override { delete this; }

  grpc::ByteBuffer request_, response_;
  int requests_ = 0;
};

}  // namespace

bool is_reflection(std::string_view path) { return path == kPathV1 || path == kPathV1Alpha; }

grpc::ServerGenericBidiReactor* new_reflection_call(const Authorizer& authorizer, grpc::CallbackServerContext& call) {
  return new ReflectionCall(authorizer, call);
}

}  // namespace cuzk
