// One call of the service, from its headers to its status.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string_view>

#include "base/memory_reserve.hpp"
#include "server/authorizer.hpp"
#include "server/call_end.hpp"
#include "server/options.hpp"
#include "server/task_threads.hpp"
#include "server/upload_slots.hpp"

namespace cuzk {

// What all calls share.
struct ServiceContext {
  ServiceContext(Engine& engine_in, const ServerOptions& options_in, const ServerHooks& hooks_in,
                 const Authorizer& authorizer_in);

  Engine& engine;
  const ServerOptions& options;
  const ServerHooks& hooks;
  const Authorizer& authorizer;
  std::atomic<bool> draining{false};
  UploadSlots uploads;         // of Prove and SubmitProof
  UploadSlots small_requests;  // of the others
  WaitingCalls waiting;
  TaskThreads tasks{2};
};

class Call;

// A call that may be over already. Copies are the same call.
struct CallHandle {
  Call* call = nullptr;  // only for who has taken the end
  std::shared_ptr<CallEnd> end;
  std::chrono::system_clock::time_point deadline;  // the client's; max() for none

  bool over() const { return end->taken(); }
  // Nothing where the call is over.
  void refuse(const grpc::Status& status) const;
  template <class Message>
  void answer(const Message& message) const;
  // For who has taken the end.
  template <class Message>
  void answer_taken(const Message& message) const;
  void refuse_taken(const grpc::Status& status) const;
};

// A request as it came, and what it and its parsed form are counted with in the engine's budget.
struct Received {
  grpc::ByteBuffer bytes;
  Reservation memory;
};

struct Method {
  std::string_view name;
  Role role;
  bool takes_jobs;  // its requests are large, and it is refused while the server drains
  bool may_block;   // briefly: on the disk or on a large message
  void (*handle)(ServiceContext& context, const CallHandle& call, Received&& request);
};

// The wire's unary calls, taken as streams of bytes: so a call is refused by its headers, before its message is
// received, and a slow one can be ended. Deletes itself.
class Call final : public grpc::ServerGenericBidiReactor {
 public:
  Call(ServiceContext& context, const Method& method, grpc::CallbackServerContext& call);

 private:
  friend struct CallHandle;

  // OK where the message may be received.
  grpc::Status admit(const grpc::CallbackServerContext& call);
  void OnReadDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  static void handle(ServiceContext& context, const Method& method, const CallHandle& call, Received&& request);
  // For who has taken the end.
  void finish(const grpc::Status& status);
  void finish_with(grpc::ByteBuffer&& answer);
  void count(grpc::StatusCode code);

  UploadSlots& slots() { return method_.takes_jobs ? context_.uploads : context_.small_requests; }
  uint64_t max_bytes() const;

  ServiceContext& context_;
  const Method& method_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  CallHandle self_;
  grpc::ByteBuffer request_, answer_;
};

// An end that has been taken is reached, whatever memory there is; before that a call may fail.
template <class Message>
void CallHandle::answer_taken(const Message& message) const {
  const UsesReserve uses_reserve;
  grpc::ByteBuffer bytes;
  bool own = false;
  const grpc::Status status = grpc::SerializationTraits<Message>::Serialize(message, &bytes, &own);
  if (status.ok()) {
    call->finish_with(std::move(bytes));
  } else {
    call->finish(status);
  }
}

template <class Message>
void CallHandle::answer(const Message& message) const {
  grpc::ByteBuffer bytes;
  bool own = false;
  const grpc::Status status = grpc::SerializationTraits<Message>::Serialize(message, &bytes, &own);
  if (!status.ok()) return refuse(status);
  const UsesReserve uses_reserve;
  if (end->take()) call->finish_with(std::move(bytes));
}

}  // namespace cuzk
