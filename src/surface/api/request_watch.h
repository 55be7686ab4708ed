/// What is told of each request: spans for a collector, and what a log or metrics need.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/instant.h"
#include "domain/tracing/recorder.h"

namespace berth::api {

/// A request that was answered, or refused.
struct AnsweredRequest {
  std::string id;                               ///< X-Request-Id
  std::optional<TraceId> trace = std::nullopt;  ///< of its `traceparent`, or begun here
  std::string_view method = {};                 ///< empty: it is not known
  std::optional<std::string_view> route = {};   ///< the pattern; absent: there is no such route
  std::string_view peer = {};                   ///< HttpRequest::peer
  int status = 0;
  Micros took;  ///< from its arrival until its answer was there

  /// Neither read nor refused.
  [[nodiscard]] bool is_write() const { return !method.empty() && method != "GET"; }
  [[nodiscard]] bool is_refused() const { return status >= 400; }
};

/// Who is told of requests. Any thread calls its functions.
struct RequestWatch {
  SpanRecorder spans = {};  ///< may be empty
  /// Must return soon; may be empty.
  std::function<void(const AnsweredRequest&)> answered = {};
};

}  // namespace berth::api
