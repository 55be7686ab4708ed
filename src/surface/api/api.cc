#include "surface/api/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.h"
#include "codec/json_text.h"
#include "json/document.h"
#include "surface/api/paging.h"
#include "yaml/reader.h"

namespace berth::api {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kEventsAtOnce = 200;
constexpr std::size_t kReasonBytesMax = 500;

ApiError not_found(const std::string& kind, const std::string& name) {
  return {.status = 404, .code = "not_found", .message = fmt::format("there is no {} {}", kind, name)};
}

/// Equal without revealing by its time how much of a wrong key is right.
bool is_same_secret(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i] ^ b[i % std::max<std::size_t>(1, b.size())]);
  }
  return difference == 0;
}

/// The events of one client.
class EventStream final : public HttpEventSource {
 public:
  EventStream(const live::Session& session, WorldEpoch epoch, std::mutex& lock, std::uint64_t after, bool has_gap)
      : session_(session), epoch_(epoch), lock_(lock), after_(after), has_gap_(has_gap) {}

  HttpStreamPiece next() override {
    const std::scoped_lock hold(lock_);
    const live::EventLog& log = session_.events();
    std::string text;
    if (has_gap_ || after_ + 1 < log.oldest_sequence()) {
      has_gap_ = false;
      after_ = log.oldest_sequence() - 1;
      text += fmt::format("event: gap\ndata: {{\"oldest\":{}}}\n\n", log.oldest_sequence());
    }
    for (const live::LoggedEvent& event : log.after(after_, kEventsAtOnce)) {
      text += fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event.sequence, live::event_word(event.kind),
                          event_data({.session = session_, .epoch = epoch_}, event));
      after_ = event.sequence;
    }
    return {.text = std::move(text), .is_last = false};
  }

 private:
  const live::Session& session_;
  WorldEpoch epoch_;
  std::mutex& lock_;
  std::uint64_t after_;
  bool has_gap_;
};

ApiError error_of(const yaml::Failure& failure) {
  ApiError error{.status = failure.code == ErrorCode::kMalformed ? 400 : 422,
                 .code = failure.code == ErrorCode::kMalformed ? "malformed" : "invalid",
                 .message = failure.message};
  if (const std::string field = failure.field(); !field.empty()) error.field = field;
  if (!failure.wanted.empty()) error.wanted = failure.wanted;
  if (!failure.found.empty()) error.found = failure.found;
  return error;
}

/// The `reason` of a body: 1 to 500 characters.
ApiResult<std::string> reason_of(const HttpRequest& request) {
  const auto type = find_header(request.headers, "Content-Type");
  if (!type || !type->starts_with("application/json")) {
    return tl::unexpected(ApiError{.status = 415,
                                   .code = "unsupported_media_type",
                                   .message = "wanted a body of the type application/json",
                                   .wanted = "application/json",
                                   .found = type ? std::optional(std::string(*type)) : std::nullopt});
  }
  const auto tree = json::parse_document(request.body, "body");
  if (!tree) {
    return tl::unexpected(ApiError{.status = tree.error().code == ErrorCode::kMalformed ? 400 : 422,
                                   .code = tree.error().code == ErrorCode::kMalformed ? "malformed" : "invalid",
                                   .message = tree.error().message});
  }
  yaml::Report report("body");
  const yaml::Value root(*tree, report);
  root.check_keys({"reason"});
  std::string reason = root.at("reason").name(kReasonBytesMax);
  if (report.has_failed()) return tl::unexpected(error_of(report.parts()));
  return reason;
}

}  // namespace

Api::Api(live::Session& session, std::mutex& lock, ApiOptions options)
    : session_(session), lock_(lock), options_(std::move(options)), router_(routes()) {}

// ---- requests

HttpAnswer Api::answer(const HttpRequest& request) {
  const std::string id = next_request_id();
  const auto routed = router_.find(request);
  const bool is_public = routed && routed->route->is_public;
  if (!is_public && !has_key(request)) {
    return error_response({.status = 401,
                           .code = "unauthorized",
                           .message = "wanted the header Authorization: Bearer KEY with the text of admin.key"},
                          id);
  }
  if (!routed) return error_response(routed.error(), id);
  auto answer = routed->route->answer({.request = request, .parameters = routed->parameters, .request_id = id});
  if (!answer) return error_response(answer.error(), id);
  return std::move(*answer);
}

HttpResponse Api::render(const HttpRefusal& refusal) {
  return error_response(api::error_of(refusal), next_request_id());
}

std::string Api::next_request_id() { return fmt::format("r-{:08}", ++request_count_); }

bool Api::has_key(const HttpRequest& request) const {
  constexpr std::string_view kScheme = "Bearer ";
  const auto header = find_header(request.headers, "Authorization");
  return header && header->starts_with(kScheme) && is_same_secret(header->substr(kScheme.size()), options_.key);
}

// ---- routes

std::vector<Route> Api::routes() {
  const auto locked = [this](auto function) {
    return [this, function](const Call& call) -> ApiResult<HttpAnswer> {
      const std::scoped_lock hold(lock_);
      return function(call);
    };
  };
  const auto text = [](std::string body) {
    return [body = std::move(body)](const Call&) -> ApiResult<HttpAnswer> { return json_response(200, body); };
  };
  const auto page = [this](const Call&) -> ApiResult<HttpAnswer> {
    return HttpResponse{
        .status = 200, .content_type = "text/html; charset=utf-8", .headers = {}, .body = options_.page};
  };
  const auto tenants = [this](const Call& call) {
    const auto names = tenants_of(session_.scenario());
    return page_of(call.request, names.size(), [&](std::size_t i) { return tenant_object(source(), names[i]); });
  };
  const auto nodes = [this](const Call& call) {
    return page_of(call.request, node_count(session_.scenario()),
                   [&](std::size_t i) { return node_object(source(), {static_cast<std::uint32_t>(i)}); });
  };
  const auto gpus = [this](const Call& call) {
    return page_of(call.request, session_.scenario().gpu_count(),
                   [&](std::size_t i) { return gpu_object(source(), {static_cast<std::uint32_t>(i)}); });
  };
  return {
      {.method = "GET", .path = "/", .is_public = true, .answer = page},
      {.method = "GET", .path = "/healthz", .is_public = true, .answer = text(R"({"status":"ok"})")},
      {.method = "GET", .path = "/readyz", .is_public = true, .answer = text(R"({"status":"ready"})")},
      {.method = "GET", .path = "/v1/tenants", .answer = locked(tenants)},
      {.method = "GET", .path = "/v1/services", .answer = locked([this](const Call& call) {
                                                  return list_services(call, "");
                                                })},
      {.method = "GET", .path = "/v1/tenants/{t}/services", .answer = locked([this](const Call& call) {
                                                              return list_services(call, call.parameter("t"));
                                                            })},
      {.method = "GET", .path = "/v1/tenants/{t}/services/{name}", .answer = locked([this](const Call& call) {
                                                                     return get_service(call);
                                                                   })},
      {.method = "GET", .path = "/v1/nodes", .answer = locked(nodes)},
      {.method = "GET", .path = "/v1/gpus", .answer = locked(gpus)},
      {.method = "GET", .path = "/v1/gpus/{id}", .answer = locked([this](const Call& call) { return get_gpu(call); })},
      {.method = "POST", .path = "/v1/gpus/{id}/cordon", .answer = locked([this](const Call& call) {
                                                           return schedule_gpu(call, GpuScheduling::kCordoned);
                                                         })},
      {.method = "POST", .path = "/v1/gpus/{id}/uncordon", .answer = locked([this](const Call& call) {
                                                             return schedule_gpu(call, GpuScheduling::kOpen);
                                                           })},
      {.method = "POST", .path = "/v1/gpus/{id}/drain", .answer = locked([this](const Call& call) {
                                                          return schedule_gpu(call, GpuScheduling::kDraining);
                                                        })},
      {.method = "GET", .path = "/v1/slices", .answer = locked([this](const Call& call) { return list_slices(call); })},
      {.method = "GET", .path = "/v1/plans", .answer = locked([this](const Call& call) { return list_plans(call); })},
      {.method = "GET", .path = "/v1/plans/{id}", .answer = locked([this](const Call& call) {
                                                    return get_plan(call);
                                                  })},
      {.method = "GET", .path = "/v1/status", .answer = locked([this](const Call&) { return get_status(); })},
      {.method = "GET", .path = "/v1/events", .answer = locked([this](const Call& call) {
                                                return stream_events(call);
                                              })},
  };
}

// ---- what they answer

ApiResult<HttpAnswer> Api::list_services(const Call& call, std::string_view tenant) {
  const Scenario& scenario = session_.scenario();
  std::vector<ServiceId> services;
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    if (tenant.empty() || scenario.services[index].tenant == tenant) services.push_back({index});
  }
  if (!tenant.empty() && services.empty()) return tl::unexpected(not_found("tenant", std::string(tenant)));
  return page_of(call.request, services.size(), [&](std::size_t i) { return service_object(source(), services[i]); });
}

ApiResult<HttpAnswer> Api::get_service(const Call& call) {
  const Scenario& scenario = session_.scenario();
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const ServiceSpec& service = scenario.services[index];
    if (service.tenant != call.parameter("t") || service.name != call.parameter("name")) continue;
    return json_response(200, service_object(source(), {index}));
  }
  return tl::unexpected(not_found("service", call.parameter("t") + "/" + call.parameter("name")));
}

ApiResult<HttpAnswer> Api::get_gpu(const Call& call) {
  const auto gpu = live::find_gpu(session_.scenario(), call.parameter("id"));
  if (!gpu) return tl::unexpected(not_found("GPU", call.parameter("id")));
  return json_response(200, gpu_object(source(), *gpu));
}

ApiResult<HttpAnswer> Api::schedule_gpu(const Call& call, GpuScheduling scheduling) {
  const auto gpu = live::find_gpu(session_.scenario(), call.parameter("id"));
  if (!gpu) return tl::unexpected(not_found("GPU", call.parameter("id")));
  std::string reason;
  if (scheduling != GpuScheduling::kOpen || !call.request.body.empty()) {
    auto given = reason_of(call.request);
    if (!given) return tl::unexpected(given.error());
    reason = std::move(*given);
  }
  session_.schedule(*gpu, scheduling, std::move(reason));
  return json_response(200, gpu_object(source(), *gpu));
}

ApiResult<HttpAnswer> Api::list_slices(const Call& call) {
  const auto& slices = session_.snapshot().slices;
  return page_of(call.request, slices.size(), [&](std::size_t i) { return slice_object(source(), slices[i]); });
}

ApiResult<HttpAnswer> Api::list_plans(const Call& call) {
  const auto& plans = session_.plans().plans();
  return page_of(call.request, plans.size(),
                 [&](std::size_t i) { return plan_object(source(), plans[plans.size() - 1 - i]); });
}

ApiResult<HttpAnswer> Api::get_plan(const Call& call) {
  const std::string& id = call.parameter("id");
  const auto& plans = session_.plans().plans();
  if (id == "current") {
    if (!plans.empty()) return json_response(200, plan_object(source(), plans.back()));
    return tl::unexpected(ApiError{.status = 404, .code = "no_plan", .message = "no plan was made yet"});
  }
  constexpr std::string_view kPrefix = "plan-";
  const auto number = id.starts_with(kPrefix) ? parse_count(id.substr(kPrefix.size()), INT64_MAX)
                                              : Result<std::int64_t>(invalid("no plan"));
  const live::PlanStatus* plan = number ? session_.plans().find(static_cast<std::uint64_t>(*number)) : nullptr;
  if (plan == nullptr) return tl::unexpected(not_found("plan", id));
  return json_response(200, plan_object(source(), *plan));
}

ApiResult<HttpAnswer> Api::stream_events(const Call& call) {
  const live::EventLog& log = session_.events();
  std::uint64_t after = log.last_sequence();
  bool has_gap = false;
  if (const auto last = find_header(call.request.headers, "Last-Event-ID")) {
    const auto given = parse_count(*last, INT64_MAX);
    const std::uint64_t number = given ? static_cast<std::uint64_t>(*given) : UINT64_MAX;
    has_gap = number > log.last_sequence() || number + 1 < log.oldest_sequence();
    after = has_gap ? log.oldest_sequence() - 1 : number;
  }
  return HttpEventStream{.headers = {{"X-Request-Id", call.request_id}},
                         .source = std::make_unique<EventStream>(session_, options_.epoch, lock_, after, has_gap)};
}

ApiResult<HttpAnswer> Api::get_status() {
  const DriverStatus driver = options_.driver_status();
  const auto ms_or_null = [](double ms, bool is_known) { return is_known ? Json(ms) : Json(nullptr); };
  const bool has_steps = driver.step_count > 0;
  Json status{{"world", "simulated"}, {"time", options_.epoch.text(session_.now())}};
  status["speed"] = driver.speed > 0 ? Json(driver.speed) : Json("max");
  status["steps"] = {{"count", driver.step_count},
                     {"p50_ms", ms_or_null(driver.step_ms_p50, has_steps)},
                     {"p99_ms", ms_or_null(driver.step_ms_p99, has_steps)},
                     {"max_ms", ms_or_null(driver.step_ms_max, has_steps)}};
  status["solver"] = {{"running", driver.is_solving},
                      {"last_ms", ms_or_null(driver.last_solve_ms, driver.last_solve_ms > 0)}};
  status["planning"] = {{"paused", false}, {"reason", nullptr}};
  status["memory_only"] = true;
  status["funnel"] = {{"allocated", nullptr}, {"busy", nullptr}, {"effective", nullptr}};
  status["goodput"] = nullptr;
  status["cost_micro_usd_per_hour"] = nullptr;
  return json_response(200, codec::json_text(status));
}

}  // namespace berth::api
