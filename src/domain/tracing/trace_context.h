/// The context of a trace that a request brings and takes along: the headers `traceparent` and `tracestate` (W3C Trace
/// Context, Recommendation of 2021-11-23).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "domain/ports/http_message.h"

namespace berth {

struct TraceId {
  std::array<std::uint8_t, 16> bytes = {};  ///< not all zero

  friend auto operator<=>(const TraceId&, const TraceId&) = default;
};

struct SpanId {
  std::array<std::uint8_t, 8> bytes = {};  ///< not all zero

  friend auto operator<=>(const SpanId&, const SpanId&) = default;
};

/// Lower-case hexadecimal.
[[nodiscard]] std::string hex_of(const TraceId& id);
[[nodiscard]] std::string hex_of(const SpanId& id);

/// Where a caller's span is: the parent of what is done for it.
struct TraceContext {
  TraceId trace;
  SpanId span;
  bool is_sampled = false;  ///< the caller records the trace
  std::string state = {};   ///< `tracestate`, to be passed on unchanged; empty: none

  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

/// The context of a `traceparent`: of version 00 exactly, of a later one as far as version 00 goes. Nothing: it is
/// malformed, has an id of zeros, or the version ff.
[[nodiscard]] std::optional<TraceContext> parse_traceparent(std::string_view text);

/// A `traceparent` of version 00, for a request made for this span.
[[nodiscard]] std::string traceparent_of(const TraceContext& context);

/// What may be passed on of a `tracestate`: all of it, or nothing if it has more than 32 members, more than 512 bytes,
/// or bytes that are not printable ASCII.
[[nodiscard]] std::string passed_tracestate(std::string_view text);

/// The context of a request's headers. Nothing without exactly one well-formed `traceparent`. Several `tracestate` are
/// one, in their order.
[[nodiscard]] std::optional<TraceContext> trace_context_of(std::span<const HttpField> headers);

}  // namespace berth
