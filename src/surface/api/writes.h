/// Writes that are answered when they are on the disk: handed to whoever carries them out in groups, with the key under
/// which a client may repeat them (Idempotency-Key).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "domain/ports/http_server.h"
#include "live/session/write.h"
#include "surface/api/router.h"

namespace berth::api {

/// A request about a service, read and checked as far as that can be done without the session. Its functions are called
/// in this order.
struct ServiceCall {
  std::function<std::optional<int>(const live::Session&, live::OrderBatch&)> join;  ///< live::ServiceWrite
  std::function<bool()> is_answer_known = nullptr;  ///< by `answer`, if its order is recorded
  std::function<void(const live::Session&, const std::optional<std::string>& failure)> settle;  ///< the same
  std::function<ApiResult<HttpAnswer>()> answer;                                                ///< without the lock
};

/// The key of the header, if the request has one. Error, 400: it is not 1 to 255 printable ASCII characters.
[[nodiscard]] ApiResult<std::optional<std::string>> idempotency_key(const HttpRequest& request);

/// How the write is carried out at once, by a caller that has the session to itself.
[[nodiscard]] ApiResult<HttpAnswer> carry_out_now(const ApiContext& context, const ServiceCall& call);

/// The response of a route's answer; `request_id` is for errors.
[[nodiscard]] HttpResponse response_of(ApiResult<HttpAnswer> answer, const std::string& request_id);

/// A write on its way. It owns what its answer needs.
class PendingWrite : public std::enable_shared_from_this<PendingWrite> {
 public:
  PendingWrite(const ApiContext& context, const Router& router, HttpRequest request, const Routed& routed,
               std::string request_id);

  /// Whether `make` takes long: it is not for a thread that others wait for.
  [[nodiscard]] bool is_slow() const;
  /// `key`: of the header. `reply` gets the answer.
  [[nodiscard]] live::Write make(const std::optional<std::string>& key, std::unique_ptr<HttpLateReply> reply);

 private:
  [[nodiscard]] Call call() const { return {.request = request_, .parameters = parameters_, .request_id = id_}; }
  [[nodiscard]] live::WriteKey key_of(const std::string& key);
  [[nodiscard]] live::ServiceWrite service_write();
  void repeat(const StoreResult<KeyedOutcome>& before);
  /// The answer to a write that was recorded before the process ended, and not answered.
  [[nodiscard]] HttpResponse answer_begun(int status) const;
  const live::WriteAnswer& render();

  const ApiContext& context_;
  const Router& router_;
  HttpRequest request_;
  std::map<std::string, std::string, std::less<>> parameters_;
  const Route& route_;
  std::string id_;
  std::optional<ServiceCall> service_;
  std::optional<HttpResponse> response_;
  live::WriteAnswer answer_;
  std::unique_ptr<HttpLateReply> reply_;
};

}  // namespace berth::api
