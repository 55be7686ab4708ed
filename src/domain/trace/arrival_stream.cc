#include "domain/trace/arrival_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "base/core/instant.h"
#include "base/core/overloaded.h"
#include "domain/trace/detail/even_spacing.h"
#include "domain/trace/detail/rate_shape.h"
#include "domain/trace/detail/recorded_sums.h"
#include "domain/trace/detail/uniform_offsets.h"
#include "domain/trace/readers.h"

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

/// Reads second after second, by the distribution of the arrivals' source.
class ArrivalStream::Reader {
 public:
  Reader(const Arrivals& arrivals, Rng rng, Laps laps);
  Reader(std::shared_ptr<const Arrivals> arrivals, Rng rng, Laps laps, std::int64_t begins_at_second)
      : Reader(*arrivals, rng, laps) {
    shared_ = std::move(arrivals);
    begins_at_second_ = begins_at_second;
  }

  [[nodiscard]] std::int64_t count(std::int64_t second) const;
  [[nodiscard]] bool has_history(std::int64_t second) const;
  void offsets(std::int64_t second, std::vector<std::uint32_t>& out) const;

 private:
  // A trace at scale 1, as it is.
  struct RecordedCounts {};
  struct RecordedTimes {};
  struct RecordedMinutes {};
  // Drawn from a Poisson distribution around a mean, or spaced evenly.
  struct Scaled {
    detail::RecordedSums sums;
    double scale = 1;
    std::int64_t smooth_seconds = 1;
  };
  struct Steady {
    double rate = 0;
  };
  struct Bursty {
    double rate = 0;
    detail::BurstyShape shape;
  };
  struct Diurnal {
    double rate = 0;
    detail::DiurnalShape shape;
  };
  using Law = std::variant<RecordedCounts, RecordedTimes, RecordedMinutes, Scaled, detail::EvenSpacing, Steady, Bursty,
                           Diurnal>;

  /// A cache of the last reads, which makes sequential reads fast; never changes an answer.
  struct Remembered {
    std::int64_t drawn_second = -1;  ///< of `drawn_count`
    std::int64_t drawn_count = 0;
    std::int64_t minute = -1;  ///< of `minute_counts`
    std::array<std::uint32_t, 60> minute_counts{};
    std::int64_t timed_second = -1;  ///< of `timed_begin` and `timed_end`, indices of requests
    std::size_t timed_begin = 0;
    std::size_t timed_end = 0;
    detail::UniformOffsets uniform;
  };

  [[nodiscard]] static Law law_of(const Arrivals& arrivals, Rng rng);
  [[nodiscard]] static Law generator_law_of(const Arrivals& arrivals, Rng rng);
  /// The trace's second, if it lies in the window or its history, and in the trace.
  [[nodiscard]] std::optional<std::int64_t> trace_second(std::int64_t second) const;
  [[nodiscard]] std::int64_t count_at(std::int64_t trace_second) const;
  [[nodiscard]] std::int64_t drawn_count(std::int64_t trace_second) const;
  /// The mean of a second. Requires: the source is drawn around a mean.
  [[nodiscard]] double mean_at(std::int64_t trace_second) const;
  void read_minute(std::int64_t minute) const;
  void read_times(std::int64_t trace_second) const;

  const Arrivals* arrivals_;
  std::shared_ptr<const Arrivals> shared_;  ///< keeps shared arrivals alive
  std::int64_t begins_at_second_ = 0;
  Rng rng_;
  bool starts_again_;
  std::int64_t trace_seconds_;
  Law law_;
  mutable Remembered remembered_;
};

ArrivalStream::ArrivalStream(const Arrivals& arrivals, Rng rng, Laps laps)
    : reader_(std::make_unique<Reader>(arrivals, rng, laps)) {}
ArrivalStream::ArrivalStream(std::shared_ptr<const Arrivals> arrivals, Rng rng, Laps laps,
                             std::int64_t begins_at_second)
    : reader_(std::make_unique<Reader>(std::move(arrivals), rng, laps, begins_at_second)) {}
ArrivalStream::ArrivalStream(const ArrivalStream& other) : reader_(std::make_unique<Reader>(*other.reader_)) {}
ArrivalStream::ArrivalStream(ArrivalStream&& other) noexcept = default;
ArrivalStream& ArrivalStream::operator=(const ArrivalStream& other) {
  *reader_ = *other.reader_;
  return *this;
}
ArrivalStream& ArrivalStream::operator=(ArrivalStream&& other) noexcept = default;
ArrivalStream::~ArrivalStream() = default;

std::int64_t ArrivalStream::count(std::int64_t second) const { return reader_->count(second); }
bool ArrivalStream::has_history(std::int64_t second) const { return reader_->has_history(second); }
void ArrivalStream::offsets(std::int64_t second, std::vector<std::uint32_t>& out) const {
  reader_->offsets(second, out);
}

ArrivalStream::Reader::Reader(const Arrivals& arrivals, Rng rng, Laps laps)
    : arrivals_(&arrivals),
      rng_(rng),
      starts_again_(laps == Laps::kEndless && arrivals.repeat),
      trace_seconds_(trace_seconds(arrivals)),
      law_(law_of(arrivals, rng)) {
  ENSURE(arrivals.from_second >= 0 && arrivals.seconds > 0);
}

std::int64_t ArrivalStream::Reader::count(std::int64_t second) const {
  const std::optional<std::int64_t> at = trace_second(second);
  return at ? count_at(*at) : 0;
}

bool ArrivalStream::Reader::has_history(std::int64_t second) const { return trace_second(second).has_value(); }

void ArrivalStream::Reader::offsets(std::int64_t second, std::vector<std::uint32_t>& out) const {
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

ArrivalStream::Reader::Law ArrivalStream::Reader::law_of(const Arrivals& arrivals, Rng rng) {
  if (std::holds_alternative<Generator>(arrivals.source)) return generator_law_of(arrivals, rng);
  if (!is_unscaled(arrivals)) {
    return Scaled{detail::RecordedSums(arrivals), arrivals.scale.to_double(), arrivals.smooth_seconds};
  }
  if (std::holds_alternative<CountTrace>(arrivals.source)) return RecordedCounts{};
  if (std::holds_alternative<MinuteTrace>(arrivals.source)) return RecordedMinutes{};
  return RecordedTimes{};
}

ArrivalStream::Reader::Law ArrivalStream::Reader::generator_law_of(const Arrivals& arrivals, Rng rng) {
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

std::optional<std::int64_t> ArrivalStream::Reader::trace_second(std::int64_t second) const {
  if (begins_at_second_ > 0) {
    second -= begins_at_second_;
    if (second < 0) return std::nullopt;
  }
  if (starts_again_ && second >= arrivals_->seconds) second %= arrivals_->seconds;
  if (second < -arrivals_->from_second || second >= arrivals_->seconds) return std::nullopt;
  const std::int64_t at = arrivals_->from_second + second;
  return at < trace_seconds_ ? std::optional(at) : std::nullopt;
}

std::int64_t ArrivalStream::Reader::count_at(std::int64_t at) const {
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

std::int64_t ArrivalStream::Reader::drawn_count(std::int64_t at) const {
  if (remembered_.drawn_second != at) {
    remembered_.drawn_count = rng_.split("count", static_cast<std::uint64_t>(at)).poisson(mean_at(at));
    remembered_.drawn_second = at;
  }
  return remembered_.drawn_count;
}

double ArrivalStream::Reader::mean_at(std::int64_t at) const {
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

void ArrivalStream::Reader::read_minute(std::int64_t minute) const {
  if (remembered_.minute == minute) return;
  remembered_.minute = minute;
  remembered_.minute_counts.fill(0);
  Rng rng = rng_.split("minute", static_cast<std::uint64_t>(minute));
  const std::uint32_t call_count = std::get<MinuteTrace>(arrivals_->source).counts[static_cast<std::size_t>(minute)];
  for (std::uint32_t i = 0; i < call_count; ++i) ++remembered_.minute_counts[rng.below(kMinuteSeconds)];
}

void ArrivalStream::Reader::read_times(std::int64_t at) const {
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
