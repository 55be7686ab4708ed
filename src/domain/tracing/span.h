/// A finished piece of work in a trace, as a value (OpenTelemetry's span).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "domain/tracing/trace_context.h"

namespace berth {

/// OpenTelemetry's numbers.
enum class SpanKind : std::uint8_t { kInternal = 1, kServer = 2, kClient = 3 };

/// A name of OpenTelemetry's or of ours ("berth.request_id"), with its value.
using SpanAttribute = std::pair<std::string, std::variant<std::string, std::int64_t, double, bool>>;

struct SpanLink {
  TraceId trace;
  SpanId span;

  friend bool operator==(const SpanLink&, const SpanLink&) = default;
};

inline constexpr std::size_t kSpanLinksMax = 128;

struct Span {
  TraceId trace;
  SpanId id;
  std::optional<SpanId> parent = std::nullopt;  ///< absent: it begins the trace
  bool has_remote_parent = false;               ///< the parent is a span of another process
  std::string state = {};                       ///< TraceContext::state
  std::string name;
  SpanKind kind = SpanKind::kInternal;
  std::int64_t begin_us = 0;  ///< wall time in microseconds since 1970
  std::int64_t end_us = 0;    ///< not before it
  std::vector<SpanAttribute> attributes = {};
  std::vector<SpanLink> links = {};                   ///< at most kSpanLinksMax
  std::optional<std::string> failure = std::nullopt;  ///< why it failed; absent: it is not known to have failed

  friend bool operator==(const Span&, const Span&) = default;
};

/// The context of what is done for a span that is recorded.
[[nodiscard]] inline TraceContext context_of(const Span& span) {
  return {.trace = span.trace, .span = span.id, .is_sampled = true, .state = span.state};
}

}  // namespace berth
