#include "surface/openai_api/openai_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <utility>

#include "base/core/text.h"
#include "base/json/writer.h"
#include "surface/openai_api/detail/call_fields.h"
#include "surface/openai_api/detail/error_answer.h"
#include "surface/openai_api/detail/forwarded_call.h"
#include "surface/openai_api/detail/forwarded_headers.h"

namespace berth::openai {
namespace {

using detail::ApiError;
using detail::error_answer;

constexpr std::string_view kVersionSegment = "v1";
constexpr std::array<std::string_view, 3> kForwardedRoutes = {"chat/completions", "completions", "embeddings"};
constexpr Micros kRetryAfter = Micros(500'000);  // a place is free when any request ends

HttpResponse bad_request(int status, std::string_view code, std::string message) {
  return error_answer({.status = status, .type = "invalid_request_error", .code = code, .message = std::move(message)});
}

HttpResponse unknown_model(std::string_view model) {
  return bad_request(404, "model_not_found", fmt::format("wanted a model of /v1/models, found {}", in_quotes(model)));
}

HttpResponse wrong_method(const HttpRequest& request, std::string_view wanted) {
  HttpResponse answer =
      bad_request(405, "method_not_allowed", fmt::format("wanted {}, found {}", wanted, in_quotes(request.method)));
  answer.headers.push_back({"Allow", std::string(wanted)});
  return answer;
}

/// The segments behind /v1, with slashes: names of models may have some.
std::string route_of(const HttpRequest& request) {
  std::string route;
  for (std::size_t i = 1; i < request.path.size(); ++i) route += (i == 1 ? "" : "/") + request.path[i];
  return route;
}

/// The address of a route of a backend. A URL may end with /v1, as clients of OpenAI's API have it, or without.
std::string url_of(std::string url, std::string_view route) {
  while (url.ends_with('/')) url.pop_back();
  if (!url.ends_with("/v1")) url += "/v1";
  return fmt::format("{}/{}", url, route);
}

void write_model(json::Writer& json, const std::string& name, const std::string& backend, std::int64_t created) {
  json.open_object();
  json.key("id").value(name).key("object").value("model").key("created").value(created);
  json.key("owned_by").value(backend).close_object();
}

}  // namespace

struct OpenAiApi::ServingBackend {
  Backend backend;
  std::atomic<std::int64_t> in_flight_count = 0;
};

struct OpenAiApi::Model {
  std::string name;
  ServingBackend* backend;
};

struct OpenAiApi::State {
  State(OpenAiOptions given, HttpStreamClient& client) : options(std::move(given)), calls(client) {}

  const OpenAiOptions options;
  std::vector<std::unique_ptr<ServingBackend>> backends = {};
  std::map<std::string, Model, std::less<>> models = {};
  detail::OpenCalls calls;
  std::function<void(ProxiedRequest)> on_end = {};
};

Result<std::string> backend_key(std::string_view text, std::string_view file) {
  while (text.ends_with('\n') || text.ends_with('\r') || text.ends_with(' ')) text.remove_suffix(1);
  const bool is_key = !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
  if (is_key) return std::string(text);
  return invalid(fmt::format("{}: wanted a key in one line, of visible ASCII characters", file));
}

OpenAiApi::OpenAiApi(OpenAiOptions options, HttpStreamClient& client)
    : state_(std::make_unique<State>(std::move(options), client)) {
  state_->on_end = [this](ProxiedRequest request) { record(std::move(request)); };
  for (const Backend& backend : state_->options.backends) {
    auto& serving = state_->backends.emplace_back(std::make_unique<ServingBackend>());
    serving->backend = backend;
    for (const std::string& model : backend.configured.models)
      state_->models.emplace(model, Model{model, serving.get()});
  }
}

OpenAiApi::~OpenAiApi() { close(); }

bool OpenAiApi::is_for(const HttpRequest& request) {
  return !request.path.empty() && request.path.front() == kVersionSegment;
}

HttpAnswer OpenAiApi::answer(const HttpRequest& request) {
  const auto tenant = state_->options.keys.tenant_of(find_header(request.headers, "Authorization"));
  if (!tenant)
    return bad_request(401, "invalid_api_key", "wanted the header Authorization: Bearer KEY with a tenant's key");
  const std::string route = is_for(request) ? route_of(request) : "";
  if (std::ranges::find(kForwardedRoutes, route) != kForwardedRoutes.end()) {
    if (request.method != "POST") return wrong_method(request, "POST");
    return forward(request, route, *tenant);
  }
  const bool is_list = route == "models";
  if (!is_list && !route.starts_with("models/")) {
    return bad_request(404, "unknown_url", fmt::format("wanted a path of this API, found /v1/{}", route));
  }
  if (request.method != "GET") return wrong_method(request, "GET");
  return is_list ? list_models() : show_model(route.substr(std::string_view("models/").size()));
}

std::optional<std::size_t> OpenAiApi::body_bytes_max(const HttpRequest& request) {
  return is_for(request) && request.method == "POST" ? std::optional(state_->options.body_bytes_max) : std::nullopt;
}

HttpResponse OpenAiApi::render(const HttpRefusal& refusal) {
  if (refusal.request != nullptr) note_refused(*refusal.request, refusal.status);
  const bool is_ours = refusal.status >= 500;
  return error_answer({.status = refusal.status,
                       .type = is_ours ? "server_error" : "invalid_request_error",
                       .code = {},
                       .message = refusal.message});
}

void OpenAiApi::note_refused(const HttpRequest& request, int status) const {
  const std::string route = is_for(request) ? route_of(request) : "";
  if (std::ranges::find(kForwardedRoutes, route) == kForwardedRoutes.end() || request.method != "POST") return;
  if (state_->options.keys.tenant_of(find_header(request.headers, "Authorization"))) {
    trace_refused(request, route, status);
  }
}

const OpenAiApi::Model* OpenAiApi::find(std::string_view model) const {
  const auto at = state_->models.find(model);
  return at == state_->models.end() ? nullptr : &at->second;
}

HttpAnswer OpenAiApi::forward(const HttpRequest& request, const std::string& route, serving::TenantIndex tenant) {
  const auto fields = detail::read_call(request.body);
  if (!fields) {
    trace_refused(request, route, 400);
    return bad_request(400, "invalid_body", fields.error().message);
  }
  const Model* model = find(fields->model);
  if (model == nullptr) {
    trace_refused(request, route, 404);
    return unknown_model(fields->model);
  }
  ServingBackend& serving = *model->backend;
  const serving::ConfiguredBackend& configured = serving.backend.configured;
  ProxiedRequest record_of{.model = model->name, .tenant = tenant, .began = state_->options.now()};
  record_of.span = begin_span(request, route);
  if (record_of.span) {
    record_of.span->attributes.emplace_back("gen_ai.request.model", model->name);
    record_of.span->attributes.emplace_back("berth.backend", configured.name);
  }
  auto in_flight = detail::InFlight::enter(serving.in_flight_count, configured.in_flight_max);
  if (in_flight == nullptr) {
    record_of.outcome = ProxiedOutcome::kRejected;
    record_of.status = 429;
    record(std::move(record_of));
    return error_answer({.status = 429,
                         .type = "rate_limit_error",
                         .code = "too_many_requests",
                         .message = fmt::format("wanted at most {} requests of backend {} at a time: try again",
                                                configured.in_flight_max, configured.name),
                         .retry_after = kRetryAfter});
  }
  HttpCall call{.method = "POST",
                .url = url_of(configured.url, route),
                .headers = detail::headers_to_backend(request.headers, serving.backend.key),
                .body = request.body,
                .timeout = state_->options.answer_timeout};
  if (record_of.span) detail::put_trace(call.headers, context_of(*record_of.span));
  return HttpLater{.start = [this, call = std::move(call), record_of = std::move(record_of),
                             in_flight = std::move(in_flight), is_stream = fields->is_stream,
                             &configured](std::unique_ptr<HttpLateReply> reply) mutable {
    if (!state_->calls.enter()) {
      record_of.outcome = ProxiedOutcome::kFailed;
      record_of.status = 503;
      record(std::move(record_of));
      return reply->send(error_answer(
          {.status = 503, .type = "server_error", .code = "server_stops", .message = "the server is about to end"}));
    }
    detail::ForwardedCallOptions options{.calls = state_->calls,
                                         .backend = configured.name,
                                         .url = call.url,
                                         .is_stream = is_stream,
                                         .record = std::move(record_of),
                                         .in_flight = std::move(in_flight),
                                         .on_end = state_->on_end};
    auto reader = std::make_unique<detail::ForwardedCall>(std::move(options), std::move(reply));
    state_->calls.client().start(std::move(call), std::move(reader));
  }};
}

HttpResponse OpenAiApi::list_models() const {
  json::Writer json;
  json.open_object().key("object").value("list");
  json.open_list("data");
  for (const auto& [name, model] : state_->models) {
    write_model(json, name, model.backend->backend.configured.name, state_->options.created_seconds);
  }
  json.close_list().close_object();
  return {200, "application/json", {}, json.take_line()};
}

HttpResponse OpenAiApi::show_model(const std::string& id) const {
  const Model* model = find(id);
  if (model == nullptr) return unknown_model(id);
  json::Writer json;
  write_model(json, model->name, model->backend->backend.configured.name, state_->options.created_seconds);
  return {200, "application/json", {}, json.take_line()};
}

std::optional<Span> OpenAiApi::begin_span(const HttpRequest& request, const std::string& route) const {
  const SpanRecorder& spans = state_->options.spans;
  auto span = spans ? spans.begin(trace_context_of(request.headers), true) : std::nullopt;
  if (!span) return std::nullopt;
  span->name = "POST /v1/" + route;
  span->kind = SpanKind::kServer;
  span->attributes = {{"http.request.method", "POST"}, {"http.route", "/v1/" + route}};
  return span;
}

void OpenAiApi::end_span(Span span, int status) const {
  constexpr int kFailedStatus = 500;
  span.end_us = state_->options.spans.now_us();
  span.attributes.emplace_back("http.response.status_code", std::int64_t{status});
  if (status >= kFailedStatus) span.failure = "";
  state_->options.spans.end(std::move(span));
}

void OpenAiApi::trace_refused(const HttpRequest& request, const std::string& route, int status) const {
  if (auto span = begin_span(request, route)) end_span(*std::move(span), status);
}

void OpenAiApi::record(ProxiedRequest request) {
  request.ended = state_->options.now();
  if (auto span = std::exchange(request.span, std::nullopt)) end_span(*std::move(span), request.status);
  if (state_->options.on_end) state_->options.on_end(request);
}

std::vector<std::string> OpenAiApi::models() const {
  std::vector<std::string> names;
  for (const auto& [name, model] : state_->models) names.push_back(name);
  return names;
}

std::size_t OpenAiApi::open_count() const { return state_->calls.count(); }

void OpenAiApi::refuse_new() { state_->calls.refuse_new(); }

void OpenAiApi::close() { state_->calls.close(); }

}  // namespace berth::openai
