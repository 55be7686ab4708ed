/// Watches one request from its arrival until its answer.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "domain/ports/http_server.h"
#include "domain/tracing/trace_context.h"
#include "live/session/write_trace.h"
#include "surface/api/request_watch.h"

namespace berth::api {

struct Routed;

/// One request. `end` is to be called once, unless it is never answered.
class WatchedRequest {
 public:
  /// `watch` is borrowed; of the request what is needed is copied.
  WatchedRequest(const RequestWatch& watch, const HttpRequest& request, std::string id);

  [[nodiscard]] const std::string& id() const { return id_; }
  /// Its route is known. `has_key`: it may be traced.
  void set_route(const Routed& routed, bool has_key);
  /// Of a write; null: it is not traced.
  [[nodiscard]] const std::shared_ptr<live::WriteTrace>& trace() const { return trace_; }
  /// It was answered with this status.
  void end(int status);
  /// Gives its id to the answer, unless it has it, and ends it.
  void end(HttpResponse& response);
  void end(HttpAnswer& answer);

 private:
  void end_span(int status);

  const RequestWatch* watch_;
  std::string id_;
  std::string method_;
  std::string peer_;
  std::optional<TraceContext> parent_;
  std::chrono::steady_clock::time_point began_;
  std::optional<std::string_view> route_;
  std::optional<Span> span_;
  std::shared_ptr<live::WriteTrace> trace_;
};

}  // namespace berth::api
