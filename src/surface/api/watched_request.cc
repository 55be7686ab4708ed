#include "surface/api/watched_request.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/overloaded.h"
#include "surface/api/router.h"

namespace berth::api {
namespace {

constexpr const char* kIdHeader = "X-Request-Id";
constexpr int kFailedStatus = 500;  // OpenTelemetry: a server's span has failed from there on

/// The method, or OpenTelemetry's word for those that are no method of HTTP: any client can send any text there.
std::string known_method(const std::string& method) {
  constexpr std::array<std::string_view, 7> kMethods = {"GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "HEAD"};
  return std::ranges::find(kMethods, method) == kMethods.end() ? "_OTHER" : method;
}

void put_id(std::vector<HttpField>& headers, const std::string& id) {
  if (!find_header(headers, kIdHeader)) headers.push_back({kIdHeader, id});
}

/// The service, GPU or node that a route with these parameters is about.
std::optional<live::ObjectName> object_of(const Routed& routed) {
  const auto parameter = [&](std::string_view name) {
    const auto found = routed.parameters.find(name);
    return found == routed.parameters.end() ? std::string() : found->second;
  };
  const std::string_view path = routed.route->path;
  if (path.starts_with("/v1/tenants/{t}/services/{name}")) {
    return live::ObjectName{.kind = live::ObjectKind::kGpuService, .tenant = parameter("t"), .name = parameter("name")};
  }
  if (path.starts_with("/v1/gpus/{id}")) {
    return live::ObjectName{.kind = live::ObjectKind::kGpu, .tenant = "", .name = parameter("id")};
  }
  if (path.starts_with("/v1/nodes/{id}")) {
    return live::ObjectName{.kind = live::ObjectKind::kNode, .tenant = "", .name = parameter("id")};
  }
  return std::nullopt;
}

}  // namespace

WatchedRequest::WatchedRequest(const RequestWatch& watch, const HttpRequest& request, std::string id)
    : watch_(&watch),
      id_(std::move(id)),
      method_(known_method(request.method)),
      peer_(request.peer),
      parent_(trace_context_of(request.headers)),
      began_(std::chrono::steady_clock::now()) {}

void WatchedRequest::set_route(const Routed& routed, bool has_key) {
  route_ = routed.route->path;
  if (!watch_->spans || !has_key || routed.route->is_public) return;
  const bool is_write = method_ != "GET";
  span_ = watch_->spans.begin(parent_, is_write);
  if (!span_) return;
  span_->kind = SpanKind::kServer;
  span_->name = method_ + " " + std::string(*route_);
  span_->attributes = {
      {"http.request.method", method_}, {"http.route", std::string(*route_)}, {"berth.request_id", id_}};
  if (!is_write) return;
  trace_ =
      std::make_shared<live::WriteTrace>(live::WriteTrace{.context = context_of(*span_), .object = object_of(routed)});
}

void WatchedRequest::end(int status) {
  std::optional<TraceId> trace;
  if (span_) {
    trace = span_->trace;
  } else if (parent_) {
    trace = parent_->trace;
  }
  end_span(status);
  if (!watch_->answered) return;
  const auto took = std::chrono::steady_clock::now() - began_;
  watch_->answered({.id = id_,
                    .trace = trace,
                    .method = method_,
                    .route = route_,
                    .peer = peer_,
                    .status = status,
                    .took = Micros(std::chrono::duration_cast<std::chrono::microseconds>(took).count())});
}

void WatchedRequest::end_span(int status) {
  if (!span_) return;
  if (trace_ && trace_->commit) {
    Span commit = child_of(context_of(*span_), watch_->spans.next_id());
    commit.name = "journal.commit";
    commit.begin_us = trace_->commit->begin_us;
    commit.end_us = trace_->commit->end_us;
    watch_->spans.end(std::move(commit));
  }
  span_->end_us = watch_->spans.now_us();
  span_->attributes.emplace_back("http.response.status_code", std::int64_t{status});
  if (status >= kFailedStatus) span_->failure = "";
  watch_->spans.end(std::move(*std::exchange(span_, std::nullopt)));
}

void WatchedRequest::end(HttpResponse& response) {
  put_id(response.headers, id_);
  end(response.status);
}

void WatchedRequest::end(HttpAnswer& answer) {
  constexpr int kGood = 200;
  std::visit(Overloaded{[this](HttpResponse& response) { end(response); },
                        [this](HttpParts& parts) {
                          put_id(parts.headers, id_);
                          end(kGood);
                        },
                        [this](HttpEventStream& stream) {
                          put_id(stream.headers, id_);
                          end(kGood);
                        },
                        [](HttpLater&) {}},
             answer);
}

}  // namespace berth::api
