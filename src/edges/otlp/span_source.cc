#include "edges/otlp/span_source.h"

#include <array>
#include <cstring>
#include <random>
#include <utility>

namespace berth::edges {
namespace {

/// A number that is not 0, as 8 bytes.
std::array<std::uint8_t, 8> draw_bytes(Rng& rng) {
  std::uint64_t number = 0;
  while (number == 0) number = rng();
  std::array<std::uint8_t, 8> bytes{};
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

}  // namespace

SpanSource::SpanSource(SpanSourceOptions options)
    : options_(std::move(options)), rng_(options_.seed), limit_(options_.new_per_second_max) {}

std::optional<Span> SpanSource::begin(const std::optional<TraceContext>& parent, bool is_new_allowed) {
  const bool is_below = parent && parent->is_sampled;
  if (!is_new_allowed && !is_below) return std::nullopt;
  Span span;
  span.begin_us = options_.now_us();
  const std::scoped_lock hold(lock_);
  span.trace = parent ? parent->trace : draw_trace();
  if (!is_recorded(options_.sampler, span.trace, parent)) return std::nullopt;
  if ((!is_below || options_.limits_callers) && !limit_.take(span.begin_us)) return std::nullopt;
  span.id = draw_span();
  if (!parent) return span;
  span.parent = parent->span;
  span.has_remote_parent = true;
  span.state = parent->state;
  return span;
}

SpanId SpanSource::next_id() {
  const std::scoped_lock hold(lock_);
  return draw_span();
}

TraceId SpanSource::draw_trace() {
  TraceId id;
  const auto first = draw_bytes(rng_);
  const auto second = draw_bytes(rng_);
  std::memcpy(id.bytes.data(), first.data(), first.size());
  std::memcpy(id.bytes.data() + first.size(), second.data(), second.size());
  return id;
}

SpanId SpanSource::draw_span() { return {.bytes = draw_bytes(rng_)}; }

std::uint64_t random_seed() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32U | device();
}

}  // namespace berth::edges
