/// What the parts of a program that make spans are given.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "domain/tracing/span.h"

namespace berth {

/// A struct of functions; all are set, or none: then nothing is traced. Any thread may call them, also under a lock:
/// none of them waits.
struct SpanRecorder {
  /// Begins the span of a request, which may bring a context. Nothing: it is not recorded. `is_new_allowed`: whether it
  /// may be recorded without a caller that records its trace. The span has its ids, its parent and its beginning, now.
  std::function<std::optional<Span>(const std::optional<TraceContext>& parent, bool is_new_allowed)> begin = {};
  /// A new id, for a child.
  std::function<SpanId()> next_id = {};
  /// Takes a finished span.
  std::function<void(Span)> end = {};
  /// The wall clock in microseconds since 1970, which is never set back.
  std::function<std::int64_t()> now_us = {};

  explicit operator bool() const { return static_cast<bool>(begin); }
};

/// A child of a recorded span, with its id; the rest is to be filled in.
[[nodiscard]] inline Span child_of(const TraceContext& parent, SpanId id) {
  Span span;
  span.trace = parent.trace;
  span.id = id;
  span.parent = parent.span;
  span.state = parent.state;
  return span;
}

}  // namespace berth
