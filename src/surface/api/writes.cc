#include "surface/api/writes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/json/writer.h"
#include "live/chain/field_hash.h"
#include "live/session/session.h"
#include "surface/api/api_context.h"
#include "surface/api/blob_rows.h"

namespace berth::api {
namespace {

constexpr std::string_view kKeyHeader = "Idempotency-Key";
constexpr std::size_t kKeyBytesMax = 255;
constexpr const char* kOwner = "admin";  // the holder of admin.key

ApiError key_reused() {
  return {.status = 422,
          .code = "key_reused",
          .message = "the Idempotency-Key was used for another request: method, path or body differ",
          .field = std::string(kKeyHeader)};
}

ApiError key_expired() {
  return {.status = 409,
          .code = "key_expired",
          .message = "the Idempotency-Key was used so long ago that its outcome is not kept: nothing was changed",
          .field = std::string(kKeyHeader)};
}

}  // namespace

ApiResult<std::optional<std::string>> idempotency_key(const HttpRequest& request) {
  const auto is_key = [](const HttpField& field) { return is_same_header(field.name, kKeyHeader); };
  const auto count = std::ranges::count_if(request.headers, is_key);
  if (count == 0) return std::nullopt;
  std::string key(*find_header(request.headers, kKeyHeader));
  const auto is_printable = [](char c) { return c >= ' ' && c <= '~'; };
  if (count == 1 && !key.empty() && key.size() <= kKeyBytesMax && std::ranges::all_of(key, is_printable)) return key;
  const std::string wanted = "one key of 1 to 255 printable ASCII characters";
  const std::string found = count > 1 ? fmt::format("{} keys", count) : fmt::format("{} bytes", key.size());
  return tl::unexpected(ApiError{.status = 400,
                                 .code = "malformed",
                                 .message = fmt::format("{}: wanted {}, found {}", kKeyHeader, wanted, found),
                                 .field = std::string(kKeyHeader),
                                 .wanted = wanted,
                                 .found = found});
}

ApiResult<HttpAnswer> carry_out_now(const ApiContext& context, const ServiceCall& call) {
  context.session.with([&](live::Session& session) {
    live::OrderBatch batch;
    static_cast<void>(call.join(session, batch));
    const bool is_recorded = batch.empty() || session.commit(batch);
    call.settle(session, is_recorded ? std::nullopt : std::optional(session.why_not_recorded()));
    return true;
  });
  return call.answer();
}

HttpResponse response_of(ApiResult<HttpAnswer> answer, const std::string& request_id) {
  if (!answer) return error_response(answer.error(), request_id);
  return std::get<HttpResponse>(std::move(*answer));
}

PendingWrite::PendingWrite(const ApiContext& context, const Router& router, HttpRequest request, const Routed& routed,
                           WatchedRequest watched)
    : context_(context),
      router_(router),
      request_(std::move(request)),
      parameters_(routed.parameters),
      route_(*routed.route),
      watched_(std::move(watched)),
      id_(watched_.id()) {}

bool PendingWrite::is_slow() const {
  if (!context_.blobs.run_slowly) return false;
  return route_.ahead != nullptr || (route_.prepare != nullptr && may_refer_to_blobs(request_));
}

live::Write PendingWrite::make(const std::optional<std::string>& key, std::unique_ptr<HttpLateReply> reply) {
  reply_ = std::move(reply);
  const auto self = shared_from_this();
  live::Write write;
  if (route_.ahead != nullptr) {
    const auto done = route_.ahead(context_, call());
    if (!done) response_ = error_response(done.error(), id_);
  }
  if (route_.prepare != nullptr) {
    auto prepared = route_.prepare(context_, call());
    if (prepared) {
      service_ = std::move(*prepared);
    } else {
      response_ = error_response(prepared.error(), id_);
    }
  }
  if (service_) {
    write.what = service_write();
  } else {
    const auto run = [self] {
      if (!self->response_) self->response_ = response_of(self->route_.answer(self->context_, self->call()), self->id_);
    };
    live::LoneWrite lone{.status = route_.success_status, .run = run};
    if (route_.foretell != nullptr && !response_)
      lone.foretell = [self] { return self->route_.foretell(self->context_, self->call()); };
    write.what = std::move(lone);
  }
  if (key) write.key = key_of(*key);
  write.render = [self]() -> const live::WriteAnswer& { return self->render(); };
  write.refuse = [self](const std::string& failure) {
    self->response_ = error_response(read_only_error(failure), self->id_);
  };
  write.send = [self] {
    self->watched_.end(*self->response_);
    self->reply_->send(std::move(*self->response_));
  };
  write.trace = watched_.trace();
  return write;
}

live::ServiceWrite PendingWrite::service_write() {
  const auto foretell = [self = shared_from_this()]() -> std::optional<std::string> {
    if (!self->service_->is_answer_known()) return std::nullopt;
    return self->render().body;
  };
  const auto settle = [self = shared_from_this()](const live::Session& session,
                                                  const std::optional<std::string>& failure) {
    self->service_->settle(session, failure);
    if (failure) self->response_.reset();  // it was predicted for a success
  };
  return {.join = service_->join, .foretell = foretell, .settle = settle};
}

live::WriteKey PendingWrite::key_of(const std::string& key) {
  std::string request = request_.method;
  for (const std::string& segment : request_.path) request.append("\0/", 2).append(segment);
  for (const HttpField& field : request_.query)
    request.append("\0?", 2).append(field.name).append("\0=", 2).append(field.value);
  request.append("\0\0", 2).append(request_.body);
  return {
      .key = chain::sha256(std::string(kOwner) + '\0' + key),
      .request = chain::sha256(request),
      .repeat = [self = shared_from_this(), hash = chain::sha256(request)](const StoreResult<KeyedOutcome>& before) {
        if (before && before->request != hash) {
          self->response_ = error_response(key_reused(), self->id_);
        } else {
          self->repeat(before);
        }
      }};
}

void PendingWrite::repeat(const StoreResult<KeyedOutcome>& before) {
  if (!before) {
    response_ = error_response(read_only_error(before.error().message), id_);
  } else if (before->is_expired()) {
    response_ = error_response(key_expired(), id_);
  } else if (before->is_finished()) {
    response_ = {.status = before->status, .content_type = "application/json", .headers = {}, .body = before->body};
    response_->headers.push_back({"Idempotent-Replay", "true"});
  } else {
    response_ = answer_begun(before->status);
    response_->headers.push_back({"Idempotent-Replay", "true"});
  }
}

HttpResponse PendingWrite::answer_begun(int status) const {
  if (route_.answer_begun != nullptr) return response_of(route_.answer_begun(context_, call()), id_);
  HttpRequest get = request_;
  get.method = "GET";
  get.query.clear();
  if (request_.method == "POST") get.path.pop_back();  // "/v1/gpus/{id}/cordon" is about that GPU
  if (const auto routed = router_.find(get); routed && !routed->route->takes_query) {
    auto read = routed->route->answer(context_, {.request = get, .parameters = routed->parameters, .request_id = id_});
    auto* response = read ? std::get_if<HttpResponse>(&*read) : nullptr;
    if (response != nullptr) {
      response->status = status;
      return std::move(*response);
    }
  }
  // Its object no longer exists or has no path: all that is known is that the write was carried out.
  json::Writer body;
  body.open_object().open_object("metadata").member("name", request_.path.back()).close_object().close_object();
  return {.status = status, .content_type = "application/json", .headers = {}, .body = body.take_line()};
}

const live::WriteAnswer& PendingWrite::render() {
  if (!response_) response_ = response_of(service_->answer(), id_);
  answer_ = {.status = response_->status, .body = response_->body};
  return answer_;
}

}  // namespace berth::api
