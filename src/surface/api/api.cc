#include "surface/api/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.h"
#include "codec/json_text.h"
#include "codec/json_value.h"
#include "surface/api/fault_routes.h"
#include "surface/api/overview.h"
#include "surface/api/paging.h"
#include "surface/api/plan_routes.h"
#include "surface/api/request_body.h"
#include "surface/api/service_routes.h"

namespace berth::api {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kEventsAtOnce = 200;

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

/// Whether the path has parameters in its query.
bool takes_query(const Route& route) {
  constexpr std::string_view kLists[] = {"/v1/tenants", "/v1/services", "/v1/tenants/{t}/services",
                                         "/v1/nodes",   "/v1/gpus",     "/v1/slices",
                                         "/v1/plans",   "/v1/overview", "/v1/sim/faults"};
  return route.method == "GET" && std::ranges::find(kLists, route.path) != std::end(kLists);
}

/// The reason of an order about a GPU or node; opening needs none.
ApiResult<std::string> order_reason(const HttpRequest& request, GpuScheduling scheduling) {
  return scheduling == GpuScheduling::kOpen ? optional_reason(request) : required_reason(request);
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
  if (!is_public && !takes_query(*routed->route)) {
    if (const auto none = check_no_query(request); !none) return error_response(none.error(), id);
  }
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
      session_.refresh();
      return function(call);
    };
  };
  const auto text = [](std::string body) {
    return [body = std::move(body)](const Call&) -> ApiResult<HttpAnswer> { return json_response(200, body); };
  };
  const auto page = [this](const Call&) -> ApiResult<HttpAnswer> {
    return HttpResponse{
        .status = 200,
        .content_type = "text/html; charset=utf-8",
        .headers = {{"Content-Security-Policy",
                     "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
                     "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
                    {"Cache-Control", "no-store"},
                    {"Referrer-Policy", "no-referrer"},
                    {"X-Content-Type-Options", "nosniff"}},
        .body = options_.page};
  };
  const auto tenants = [this](const Call& call) {
    std::vector<std::string> names;
    for (const auto& [name, meta] : session_.catalog().tenants) names.push_back(name);
    return page_of(call.request, {.count = names.size(),
                                  .key = [&](std::size_t i) { return names[i]; },
                                  .item = [&](std::size_t i) { return tenant_object(source(), names[i]); }});
  };
  const auto nodes = [this](const Call& call) {
    const auto node = [&](std::size_t i) { return node_object(source(), {static_cast<std::uint32_t>(i)}); };
    return page_of(call.request, {.count = node_count(session_.scenario()), .key = number_key, .item = node});
  };
  const auto gpus = [this](const Call& call) {
    const auto gpu = [&](std::size_t i) { return gpu_object(source(), {static_cast<std::uint32_t>(i)}); };
    return page_of(call.request, {.count = session_.scenario().gpu_count(), .key = number_key, .item = gpu});
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
      {.method = "GET", .path = "/v1/tenants/{t}", .answer = locked([this](const Call& call) {
                                                     return get_tenant(source(), call);
                                                   })},
      {.method = "PUT", .path = "/v1/tenants/{t}", .answer = locked([this](const Call& call) {
                                                     return put_tenant(session_, source(), call);
                                                   })},
      {.method = "DELETE", .path = "/v1/tenants/{t}", .answer = locked([this](const Call& call) {
                                                        return delete_tenant(session_, source(), call);
                                                      })},
      {.method = "PUT", .path = "/v1/tenants/{t}/services/{name}", .answer = locked([this](const Call& call) {
                                                                     return put_service(session_, source(), call);
                                                                   })},
      {.method = "DELETE", .path = "/v1/tenants/{t}/services/{name}", .answer = locked([this](const Call& call) {
                                                                        return delete_service(session_, source(), call);
                                                                      })},
      {.method = "GET", .path = "/v1/nodes", .answer = locked(nodes)},
      {.method = "GET", .path = "/v1/nodes/{id}", .answer = locked([this](const Call& call) {
                                                    return get_node(call);
                                                  })},
      {.method = "POST", .path = "/v1/nodes/{id}/cordon", .answer = locked([this](const Call& call) {
                                                            return schedule_node(call, GpuScheduling::kCordoned);
                                                          })},
      {.method = "POST", .path = "/v1/nodes/{id}/uncordon", .answer = locked([this](const Call& call) {
                                                              return schedule_node(call, GpuScheduling::kOpen);
                                                            })},
      {.method = "POST", .path = "/v1/nodes/{id}/drain", .answer = locked([this](const Call& call) {
                                                           return schedule_node(call, GpuScheduling::kDraining);
                                                         })},
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
                                                    return get_plan(source(), call);
                                                  })},
      {.method = "POST", .path = "/v1/plans/{id}/approve", .answer = locked([this](const Call& call) {
                                                             return approve_plan(session_, source(), call);
                                                           })},
      {.method = "GET", .path = "/v1/planning", .answer = locked([this](const Call&) -> ApiResult<HttpAnswer> {
                                                  return json_response(200, planning_object(source()));
                                                })},
      {.method = "PUT", .path = "/v1/planning", .answer = locked([this](const Call& call) {
                                                  return set_planning(session_, source(), call);
                                                })},
      {.method = "GET", .path = "/v1/status", .answer = locked([this](const Call&) { return get_status(); })},
      {.method = "GET", .path = "/v1/overview", .answer = locked([this](const Call& call) {
                                                  return get_overview(call);
                                                })},
      {.method = "GET", .path = "/v1/sim/faults", .answer = locked([this](const Call& call) {
                                                    return list_faults(session_, options_.epoch, call);
                                                  })},
      {.method = "POST", .path = "/v1/sim/faults", .answer = locked([this](const Call& call) {
                                                     return post_fault(session_, call);
                                                   })},
      {.method = "GET", .path = "/v1/events", .answer = locked([this](const Call& call) {
                                                return stream_events(call);
                                              })},
  };
}

// ---- what they answer

ApiResult<HttpAnswer> Api::list_services(const Call& call, std::string_view tenant) {
  const live::Catalog& catalog = session_.catalog();
  if (!tenant.empty() && !catalog.tenants.contains(std::string(tenant))) {
    return tl::unexpected(not_found("tenant", std::string(tenant)));
  }
  std::vector<const live::ServiceEntry*> services;
  for (const auto& [name, entry] : catalog.services) {
    if (tenant.empty() || name.tenant == tenant) services.push_back(&entry);
  }
  return page_of(
      call.request,
      {.count = services.size(),
       .key = [&](std::size_t i) { return service_key(session_.scenario().services[services[i]->id.index]); },
       .item = [&](std::size_t i) { return service_object(source(), *services[i]); }});
}

ApiResult<HttpAnswer> Api::get_service(const Call& call) {
  const auto& services = session_.catalog().services;
  const auto known = services.find({.tenant = call.parameter("t"), .name = call.parameter("name")});
  if (known != services.end()) return json_response(200, service_object(source(), known->second));
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
  const auto reason = order_reason(call.request, scheduling);
  if (!reason) return tl::unexpected(reason.error());
  session_.schedule(*gpu, scheduling, *reason);
  return json_response(200, gpu_object(source(), *gpu));
}

ApiResult<HttpAnswer> Api::get_node(const Call& call) {
  const auto node = live::find_node(session_.scenario(), call.parameter("id"));
  if (!node) return tl::unexpected(not_found("node", call.parameter("id")));
  return json_response(200, node_object(source(), *node));
}

ApiResult<HttpAnswer> Api::schedule_node(const Call& call, GpuScheduling scheduling) {
  const auto node = live::find_node(session_.scenario(), call.parameter("id"));
  if (!node) return tl::unexpected(not_found("node", call.parameter("id")));
  const auto reason = order_reason(call.request, scheduling);
  if (!reason) return tl::unexpected(reason.error());
  const GpuRange gpus = gpus_of(session_.scenario(), *node);
  for (std::uint32_t i = 0; i < gpus.count; ++i) session_.schedule({gpus.first.index + i}, scheduling, *reason);
  return json_response(200, node_object(source(), *node));
}

ApiResult<HttpAnswer> Api::list_slices(const Call& call) {
  const auto& slices = session_.snapshot().slices;
  return page_of(call.request, {.count = slices.size(),
                                .key = [&](std::size_t i) { return slice_key(slices[i]); },
                                .item = [&](std::size_t i) { return slice_object(source(), i); }});
}

ApiResult<HttpAnswer> Api::list_plans(const Call& call) {
  const auto& plans = session_.plans().plans();
  const auto plan = [&](std::size_t i) -> const live::PlanStatus& { return plans[plans.size() - 1 - i]; };
  return page_of(call.request, {.count = plans.size(),
                                .key = [&](std::size_t i) { return number_key(UINT64_MAX - plan(i).plan.id); },
                                .item = [&](std::size_t i) { return plan_object(source(), plan(i)); }});
}

ApiResult<HttpAnswer> Api::stream_events(const Call& call) {
  const live::EventLog& log = session_.events();
  std::uint64_t after = log.last_sequence();
  bool has_gap = false;
  if (const auto last = find_header(call.request.headers, "Last-Event-ID")) {
    const bool has_digits_only =
        !last->empty() && std::ranges::all_of(*last, [](char c) { return c >= '0' && c <= '9'; });
    if (!has_digits_only) {
      return tl::unexpected(ApiError{.status = 400,
                                     .code = "bad_header",
                                     .message = "Last-Event-ID: wanted the id of an event, digits only",
                                     .field = "Last-Event-ID",
                                     .wanted = "digits",
                                     .found = std::string(*last)});
    }
    const auto given = parse_count(*last, INT64_MAX);
    const std::uint64_t number = given ? static_cast<std::uint64_t>(*given) : UINT64_MAX;  // of no event
    has_gap = number > log.last_sequence() || number + 1 < log.oldest_sequence();
    after = has_gap ? log.oldest_sequence() - 1 : number;
  }
  return HttpEventStream{.headers = {{"X-Request-Id", call.request_id}},
                         .source = std::make_unique<EventStream>(session_, options_.epoch, lock_, after, has_gap)};
}

ApiResult<HttpAnswer> Api::get_status() { return json_response(200, status_json()); }

ApiResult<HttpAnswer> Api::get_overview(const Call& call) {
  const auto query = parse_overview_query(call.request);
  if (!query) return tl::unexpected(query.error());
  return json_response(200, overview_object(source(), *query, status_json()));
}

std::string Api::status_json() {
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
  const auto& pause = session_.snapshot().pause;
  status["planning"] = {{"paused", pause.has_value()}, {"reason", pause ? Json(pause->reason) : Json(nullptr)}};
  status["memory_only"] = true;
  const auto funnel = session_.figures().funnel();
  const auto share = [&](double live::FunnelShares::* of) { return funnel ? Json((*funnel).*of) : Json(nullptr); };
  status["funnel"] = {{"allocated", share(&live::FunnelShares::allocated)},
                      {"busy", share(&live::FunnelShares::busy)},
                      {"effective", share(&live::FunnelShares::effective)}};
  status["goodput"] = codec::or_null(session_.figures().goodput());
  status["cost_micro_usd_per_hour"] = codec::or_null(live::cost_micro_usd_per_hour(session_.scenario()));
  return codec::json_text(status);
}

}  // namespace berth::api
