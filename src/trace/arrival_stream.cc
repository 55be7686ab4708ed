#include "trace/arrival_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ensure.h"
#include "base/overloaded.h"
#include "trace/readers.h"

namespace berth {
namespace {

__extension__ using Wide = __int128;

bool is_unscaled(const Arrivals& arrivals) { return arrivals.scale == Decimal(1); }

struct SecondMean {
  std::int64_t second = 0;
  detail::SmoothedWindow window;
};

/// The second around which the trace's smoothed mean is largest; if there are several, the first.
SecondMean largest_mean(const detail::RecordedSums& sums, std::int64_t smooth_seconds) {
  SecondMean largest;
  for (std::int64_t second = 0; second < sums.seconds(); ++second) {
    const detail::SmoothedWindow window = detail::smoothed_window(sums, second, smooth_seconds);
    const Wide product = Wide{window.parts} * largest.window.seconds;
    if (product > Wide{largest.window.parts} * window.seconds) largest = {second, window};
  }
  return largest;
}

}  // namespace

ArrivalStream::ArrivalStream(const Arrivals& arrivals, Rng rng)
    : arrivals_(&arrivals), rng_(rng), trace_seconds_(trace_seconds(arrivals)), law_(law_of(arrivals, rng)) {
  ENSURE(arrivals.from_second >= 0 && arrivals.seconds > 0);
}

std::int64_t ArrivalStream::count(std::int64_t second) const {
  const std::optional<std::int64_t> at = trace_second(second);
  return at ? count_at(*at) : 0;
}

bool ArrivalStream::has_history(std::int64_t second) const { return trace_second(second).has_value(); }

void ArrivalStream::offsets(std::int64_t second, std::vector<std::uint32_t>& out) const {
  out.clear();
  const std::optional<std::int64_t> at = trace_second(second);
  if (!at) return;
  if (const auto* spacing = std::get_if<detail::EvenSpacing>(&law_)) return spacing->offsets(*at, out);
  const std::int64_t request_count = count_at(*at);
  if (!std::holds_alternative<RecordedTimes>(law_)) {
    remembered_.uniform.draw(rng_.split("offsets", static_cast<std::uint64_t>(*at)), request_count, out);
    return;
  }
  const auto& requests = std::get<TimedTrace>(arrivals_->source).requests;
  for (std::size_t i = remembered_.timed_begin; i < remembered_.timed_end; ++i) {
    out.push_back(static_cast<std::uint32_t>(requests[i].at_us - *at * kMicrosPerSecond));
  }
}

ArrivalStream::Law ArrivalStream::law_of(const Arrivals& arrivals, Rng rng) {
  if (std::holds_alternative<Generator>(arrivals.source)) return generator_law_of(arrivals, rng);
  if (!is_unscaled(arrivals)) {
    return Scaled{detail::RecordedSums(arrivals), arrivals.scale.to_double(), arrivals.smooth_seconds};
  }
  if (std::holds_alternative<CountTrace>(arrivals.source)) return RecordedCounts{};
  if (std::holds_alternative<MinuteTrace>(arrivals.source)) return RecordedMinutes{};
  return RecordedTimes{};
}

ArrivalStream::Law ArrivalStream::generator_law_of(const Arrivals& arrivals, Rng rng) {
  const auto& generator = std::get<Generator>(arrivals.source);
  const Decimal rate = generator.requests_per_second * arrivals.scale;
  switch (generator.kind) {
    case Generator::Kind::kConstant:
      return detail::EvenSpacing(rate);
    case Generator::Kind::kPoisson:
      return Steady{rate.to_double()};
    case Generator::Kind::kBursty:
      return Bursty{rate.to_double(), detail::BurstyShape(rng.split("bursty"))};
    case Generator::Kind::kDiurnal:
      return Diurnal{rate.to_double(), detail::DiurnalShape({arrivals.from_second, arrivals.seconds})};
  }
  ENSURE(false);
  return Steady{};
}

std::optional<std::int64_t> ArrivalStream::trace_second(std::int64_t second) const {
  if (second < -arrivals_->from_second || second >= arrivals_->seconds) return std::nullopt;
  const std::int64_t at = arrivals_->from_second + second;
  return at < trace_seconds_ ? std::optional(at) : std::nullopt;
}

std::int64_t ArrivalStream::count_at(std::int64_t at) const {
  return std::visit(Overloaded{
                        [&](const RecordedCounts&) {
                          const auto& counts = std::get<CountTrace>(arrivals_->source).counts;
                          return std::int64_t{counts[static_cast<std::size_t>(at)]};
                        },
                        [&](const RecordedTimes&) {
                          read_times(at);
                          return static_cast<std::int64_t>(remembered_.timed_end - remembered_.timed_begin);
                        },
                        [&](const RecordedMinutes&) {
                          read_minute(at / kMinuteSeconds);
                          const auto second = static_cast<std::size_t>(at % kMinuteSeconds);
                          return std::int64_t{remembered_.minute_counts[second]};
                        },
                        [&](const detail::EvenSpacing& spacing) { return spacing.count(at); },
                        [&](const auto&) { return drawn_count(at); },
                    },
                    law_);
}

std::int64_t ArrivalStream::drawn_count(std::int64_t at) const {
  if (remembered_.drawn_second != at) {
    remembered_.drawn_count = rng_.split("count", static_cast<std::uint64_t>(at)).poisson(mean_at(at));
    remembered_.drawn_second = at;
  }
  return remembered_.drawn_count;
}

double ArrivalStream::mean_at(std::int64_t at) const {
  return std::visit(Overloaded{
                        [&](const Scaled& scaled) {
                          const detail::SmoothedWindow window =
                              detail::smoothed_window(scaled.sums, at, scaled.smooth_seconds);
                          const auto divisor = static_cast<double>(scaled.sums.parts() * window.seconds);
                          return scaled.scale * static_cast<double>(window.parts) / divisor;
                        },
                        [&](const Steady& steady) { return steady.rate; },
                        [&](const Bursty& bursty) { return bursty.rate * bursty.shape.factor(at); },
                        [&](const Diurnal& diurnal) { return diurnal.rate * diurnal.shape.factor(at); },
                        [&](const auto&) {
                          ENSURE(false);
                          return 0.0;
                        },
                    },
                    law_);
}

void ArrivalStream::read_minute(std::int64_t minute) const {
  if (remembered_.minute == minute) return;
  remembered_.minute = minute;
  remembered_.minute_counts.fill(0);
  Rng rng = rng_.split("minute", static_cast<std::uint64_t>(minute));
  const std::uint32_t call_count = std::get<MinuteTrace>(arrivals_->source).counts[static_cast<std::size_t>(minute)];
  for (std::uint32_t i = 0; i < call_count; ++i) ++remembered_.minute_counts[rng.below(kMinuteSeconds)];
}

void ArrivalStream::read_times(std::int64_t at) const {
  if (remembered_.timed_second == at) return;
  const auto& requests = std::get<TimedTrace>(arrivals_->source).requests;
  const auto is_before = [](const TimedTrace::Request& request, std::int64_t end_us) { return request.at_us < end_us; };
  const auto first_from = [&](std::int64_t us) {
    return static_cast<std::size_t>(std::lower_bound(requests.begin(), requests.end(), us, is_before) -
                                    requests.begin());
  };
  const bool is_next = remembered_.timed_second == at - 1;
  remembered_.timed_begin = is_next ? remembered_.timed_end : first_from(at * kMicrosPerSecond);
  std::size_t end = remembered_.timed_begin;
  while (end < requests.size() && requests[end].at_us < (at + 1) * kMicrosPerSecond) ++end;
  remembered_.timed_end = end;
  remembered_.timed_second = at;
}

std::optional<std::string> find_overload(const Arrivals& arrivals) {
  const Decimal limit(kRequestsPerSecondMax);
  if (const auto* generator = std::get_if<Generator>(&arrivals.source)) {
    const bool is_level = generator->kind == Generator::Kind::kConstant || generator->kind == Generator::Kind::kPoisson;
    const Decimal peak =
        generator->requests_per_second * arrivals.scale * Decimal(is_level ? 1 : detail::kShapeFactorMax);
    if (peak <= limit) return std::nullopt;
    return fmt::format("wanted at most {} requests in a second, found up to {:.15g} after scaling by {:.15g}",
                       kRequestsPerSecondMax, peak.to_double(), arrivals.scale.to_double());
  }
  if (is_unscaled(arrivals)) return std::nullopt;
  const detail::RecordedSums sums(arrivals);
  if (sums.seconds() == 0) return std::nullopt;
  if (arrivals.scale * Decimal(sums.second_parts_max()) <= limit * Decimal(sums.parts())) return std::nullopt;
  const SecondMean largest = largest_mean(sums, arrivals.smooth_seconds);
  const Decimal mean = arrivals.scale * Decimal(largest.window.parts) / Decimal(sums.parts() * largest.window.seconds);
  if (mean <= limit) return std::nullopt;
  return fmt::format(
      "wanted at most {} requests in a second, found a mean of {:.15g} around second {} after scaling by {:.15g}",
      kRequestsPerSecondMax, mean.to_double(), largest.second, arrivals.scale.to_double());
}

}  // namespace berth
