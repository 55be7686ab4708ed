/// Writes that are answered once they are durable: submitted to be carried out in groups (live/session/write.h), with
/// the key under which a client may repeat them (Idempotency-Key).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "domain/ports/http_server.h"
#include "live/session/write.h"
#include "surface/api/router.h"
#include "surface/api/watched_request.h"

namespace berth::api {

/// A request about a service, parsed and checked as far as possible without the session. Its functions are called in
/// this order.
struct ServiceCall {
  std::function<std::optional<int>(const live::Session&, live::OrderBatch&)> join;  ///< live::ServiceWrite
  std::function<bool()> is_answer_known = nullptr;  ///< whether `answer` is known, if the order gets recorded
  std::function<void(const live::Session&, const std::optional<std::string>& failure)> settle;  ///< the same
  std::function<ApiResult<HttpAnswer>()> answer;                                                ///< without the lock
};

/// The key of the header, if the request has one. Error, 400: it is not 1 to 255 printable ASCII characters.
[[nodiscard]] ApiResult<std::optional<std::string>> idempotency_key(const HttpRequest& request);

/// Carries out the write at once, under the session's lock.
[[nodiscard]] ApiResult<HttpAnswer> carry_out_now(const ApiContext& context, const ServiceCall& call);

/// The response for a route's answer; `request_id` is for errors.
[[nodiscard]] HttpResponse response_of(ApiResult<HttpAnswer> answer, const std::string& request_id);

/// A write in progress. It owns what its answer needs.
class PendingWrite : public std::enable_shared_from_this<PendingWrite> {
 public:
  PendingWrite(const ApiContext& context, const Router& router, HttpRequest request, const Routed& routed,
               WatchedRequest watched);

  /// Whether `make` is slow, so that it must not run on a thread that other requests need.
  [[nodiscard]] bool is_slow() const;
  /// The write to submit. `key`: from the header. `reply` gets the answer. Called once.
  [[nodiscard]] live::Write make(const std::optional<std::string>& key, std::unique_ptr<HttpLateReply> reply);

 private:
  [[nodiscard]] Call call() const { return {.request = request_, .parameters = parameters_, .request_id = id_}; }
  [[nodiscard]] live::WriteKey key_of(const std::string& key);
  [[nodiscard]] live::ServiceWrite service_write();
  void repeat(const StoreResult<KeyedOutcome>& before);
  /// The answer to a repeat of a write that was recorded, but not answered before the process ended.
  [[nodiscard]] HttpResponse answer_begun(int status) const;
  const live::WriteAnswer& render();

  const ApiContext& context_;
  const Router& router_;
  HttpRequest request_;
  std::map<std::string, std::string, std::less<>> parameters_;
  const Route& route_;
  WatchedRequest watched_;
  std::string id_;
  std::optional<ServiceCall> service_;
  std::optional<HttpResponse> response_;
  live::WriteAnswer answer_;
  std::unique_ptr<HttpLateReply> reply_;
};

}  // namespace berth::api
