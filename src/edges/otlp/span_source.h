/// Begins spans: which requests are traced, and ids that no other process has.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "base/core/rng.h"
#include "domain/tracing/sampling.h"
#include "domain/tracing/span.h"

namespace berth::edges {

struct SpanSourceOptions {
  Sampler sampler = {};
  std::int64_t new_per_second_max = 300;
  /// Whether the limit also counts requests whose caller records their trace.
  bool limits_callers = false;
  std::function<std::int64_t()> now_us = {};  ///< SpanRecorder::now_us
  std::uint64_t seed = 0;                     ///< random
};

/// Any thread may call its functions.
class SpanSource {
 public:
  explicit SpanSource(SpanSourceOptions options);

  /// SpanRecorder::begin.
  [[nodiscard]] std::optional<Span> begin(const std::optional<TraceContext>& parent, bool is_new_allowed);
  [[nodiscard]] SpanId next_id();

 private:
  [[nodiscard]] TraceId draw_trace();
  [[nodiscard]] SpanId draw_span();

  SpanSourceOptions options_;
  std::mutex lock_;
  Rng rng_;  ///< under lock_, like the rest
  RateLimit limit_;
};

/// 64 random bits of the system.
[[nodiscard]] std::uint64_t random_seed();

}  // namespace berth::edges
