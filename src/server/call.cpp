#include "server/call.hpp"

#include <grpcpp/server_context.h>

#include "base/memory_reserve.hpp"
#include "server/messages.hpp"

namespace cuzk {
namespace {

constexpr uint64_t kMaxSmallRequestBytes = 65536;
constexpr size_t kMaxSmallRequests = 1024;
constexpr std::chrono::milliseconds kSmallRequestPatience{1000}, kSmallRequestTimeout{20'000};
// Requests up to this are read and given to the engine on gRPC's thread.
constexpr size_t kInlineBytes = 65536;

}  // namespace

ServiceContext::ServiceContext(Engine& engine_in, const ServerOptions& options_in, const ServerHooks& hooks_in,
                               const Authorizer& authorizer_in)
    : engine(engine_in),
      options(options_in),
      hooks(hooks_in),
      authorizer(authorizer_in),
      uploads(options_in.max_uploads, options_in.upload_patience, options_in.upload_timeout),
      small_requests(kMaxSmallRequests, kSmallRequestPatience, kSmallRequestTimeout) {}

grpc::Status UploadSlots::no_memory_for_uploads() {
  constexpr uint64_t kRetryMs = 1000;
  return status_with_retry(grpc::StatusCode::RESOURCE_EXHAUSTED,
                           "there is no memory for this request now [retry in " + std::to_string(kRetryMs) + " ms]",
                           kRetryMs);
}

void CallHandle::refuse(const grpc::Status& status) const {
  const UsesReserve uses_reserve;
  if (end->take()) call->finish(status);
}

void CallHandle::refuse_taken(const grpc::Status& status) const {
  const UsesReserve uses_reserve;
  call->finish(status);
}

Call::Call(ServiceContext& context, const Method& method, grpc::CallbackServerContext& call)
    : context_(context), method_(method), self_{this, std::make_shared<CallEnd>(context.engine), call.deadline()} {
  const grpc::Status admitted = admit(call);
  if (admitted.ok()) {
    StartRead(&request_);
  } else {
    self_.refuse(admitted);
  }
}

grpc::Status Call::admit(const grpc::CallbackServerContext& call) {
  grpc::Status allowed = context_.authorizer.check(call, method_.role);
  if (!allowed.ok()) {
    context_.hooks.log(LogLevel::kWarn, "call refused",
                       {{"method", std::string(method_.name)},
                        {"peer", call.peer()},
                        {"status", std::string(code_name(allowed.error_code()))}});
    return allowed;
  }
  if (method_.takes_jobs && context_.draining.load()) {
    return {grpc::StatusCode::UNAVAILABLE,
            "the daemon is going down and takes no more jobs [retry elsewhere, or after its restart]"};
  }
  if (slots().admit(self_.end.get(), [self = self_](const grpc::Status& status) { self.refuse(status); })) {
    return grpc::Status::OK;
  }
  const auto wait = static_cast<uint64_t>(slots().patience().count());
  return status_with_retry(grpc::StatusCode::RESOURCE_EXHAUSTED,
                           "too many requests are being received [retry in " + std::to_string(wait) + " ms]", wait);
}

uint64_t Call::max_bytes() const {
  return method_.takes_jobs ? context_.options.max_message_bytes : kMaxSmallRequestBytes;
}

void Call::OnReadDone(bool ok) {
  const UsesReserve uses_reserve;
  // OnDone() waits for this to return, so `this` may be used whoever has taken the end.
  slots().release(self_.end.get());
  if (!ok) return self_.refuse({grpc::StatusCode::INVALID_ARGUMENT, "the call has no message"});
  const uint64_t bytes = request_.Length();
  if (method_.takes_jobs) context_.hooks.on_received(bytes);
  if (bytes > max_bytes()) {
    request_.Clear();
    return self_.refuse(
        {grpc::StatusCode::OUT_OF_RANGE, "Error, decoded message length too large: found " + std::to_string(bytes) +
                                             " bytes, the limit is: " + std::to_string(max_bytes()) + " bytes"});
  }
  auto request = std::make_shared<Received>();
  request->bytes = std::move(request_);
  if (bytes <= kInlineBytes && !method_.may_block) return handle(context_, method_, self_, std::move(*request));
  if (method_.takes_jobs) {
    Result<Reservation> memory = context_.engine.reserve_upload(2 * bytes);
    if (!memory.ok()) {
      request->bytes.Clear();
      return self_.refuse(UploadSlots::no_memory_for_uploads());
    }
    request->memory = std::move(memory).value();
  }
  // Clients that are gone have their request forgotten, not taken.
  context_.tasks.post([&context = context_, &method = method_, self = self_, request] {
    if (!self.over()) handle(context, method, self, std::move(*request));
  });
}

// What a request takes may be more than there is, whatever was counted: that ends the call and nothing else.
void Call::handle(ServiceContext& context, const Method& method, const CallHandle& call, Received&& request) {
  try {
    const SparesReserve spares_reserve;
    method.handle(context, call, std::move(request));
  } catch (const std::bad_alloc&) {
    call.refuse(UploadSlots::no_memory_for_uploads());
  }
}

void Call::OnCancel() {
  const UsesReserve uses_reserve;
  if (!self_.end->take()) return;
  self_.end->release();
  finish(grpc::Status::CANCELLED);
}

void Call::OnDone() {
  const UsesReserve uses_reserve;
  slots().release(self_.end.get());
  context_.waiting.remove(self_.end.get());
  self_.end->release();
  delete this;
}

void Call::count(grpc::StatusCode code) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  context_.hooks.on_call(method_.name, code_name(code), elapsed.count());
}

void Call::finish(const grpc::Status& status) {
  count(status.error_code());
  Finish(status);
}

void Call::finish_with(grpc::ByteBuffer&& answer) {
  answer_ = std::move(answer);
  count(grpc::StatusCode::OK);
  StartWriteAndFinish(&answer_, grpc::WriteOptions(), grpc::Status::OK);
}

}  // namespace cuzk
