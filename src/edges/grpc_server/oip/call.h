/// A call with one message and one answer.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/core/instant.h"
#include "domain/tracing/trace_context.h"
#include "edges/grpc_server/oip/reactors.h"
#include "serving/service/inference.h"
#include "serving/service/inference_service.h"

namespace berth::edges {

class Call;

/// Answers a call or refuses it, now or later, once.
using CallHandler = void (*)(const std::shared_ptr<Call>& call, const grpc::ByteBuffer& message);

/// Reads its message, has it handled, and ends once: answered, refused, cancelled by its client, or ended with the
/// server. What comes after its end does nothing: an answer may come at any time, also after the server is gone.
class Call final : public grpc::ServerGenericBidiReactor, public std::enable_shared_from_this<Call> {
 public:
  /// Context and service are borrowed until the call has ended.
  Call(grpc::GenericCallbackServerContext& context, serving::InferenceService& service,
       std::shared_ptr<Reactors<Call>> calls)
      : context_(context), service_(service), calls_(std::move(calls)) {}

  /// Reads the message. Requires: it is among the calls.
  void begin(CallHandler handler, serving::TenantIndex tenant);

  [[nodiscard]] serving::InferenceService& service() const { return service_; }
  [[nodiscard]] serving::TenantIndex tenant() const { return tenant_; }
  /// Until the deadline of the client; nothing if it has none. Not above 0 if it has passed. Only before the end.
  [[nodiscard]] std::optional<Micros> time_left() const;
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  /// The context of a trace in its metadata. Only before the end.
  [[nodiscard]] std::optional<TraceContext> caller() const;

  /// For the trace of a request for inference that is refused before the service gets it. Only before the end.
  void note_refused(const std::string& model, serving::ServeFault fault);
  void answer(const grpc::ByteBuffer& answer);
  void refuse(const serving::ServeError& error);
  /// The service knows the call's request by this number: if the client leaves, or has left, it is cancelled.
  void set_number(serving::InferenceService::RequestNumber number);
  /// The server ends.
  void end();

  // Called by gRPC.
  void OnReadDone(bool is_read) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  /// Whether the caller, and no other, ends the call.
  [[nodiscard]] bool claim_end() { return !has_ended_.exchange(true); }
  void cancel_request();

  grpc::GenericCallbackServerContext& context_;
  serving::InferenceService& service_;
  const std::shared_ptr<Reactors<Call>> calls_;
  CallHandler handler_ = nullptr;
  serving::TenantIndex tenant_ = {};
  grpc::ByteBuffer message_;
  grpc::ByteBuffer answer_;
  std::atomic<bool> has_ended_ = false;

  std::mutex cancelling_;
  std::optional<serving::InferenceService::RequestNumber> number_;
  bool is_cancelled_ = false;
};

}  // namespace berth::edges
