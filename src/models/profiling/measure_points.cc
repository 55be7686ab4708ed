#include "models/profiling/measure_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/rng.h"
#include "models/profiling/point_figures.h"

namespace berth::models {
namespace {

constexpr double kMicrosPerSecond = 1e6;
/// Of the wanted time of a point: few enough that turns are long, enough that they say how much they differ.
constexpr int kTurnsPerPoint = 16;
constexpr std::size_t kTurnsMin = 2;
/// The longest time of a point, in terms of the shortest.
constexpr double kTimeFactorMax = 3;
constexpr double kWarmUpSeconds = 0.1;

struct MeasuredPoint {
  int batch = 1;
  int processes = 1;
  bool fits = true;
  bool is_done = false;
  bool is_short = false;
  double elapsed_us = 0;
  std::optional<std::int64_t> memory_bytes = {};
  std::vector<TurnTimes> turns = {};
};

/// What the processes of a turn took on average.
double elapsed_of(const TurnTimes& turn) {
  double all = 0;
  for (const ProcessTimes& process : turn.processes) all += process.elapsed_us;
  return turn.processes.empty() ? 0 : all / static_cast<double>(turn.processes.size());
}

class Measurement {
 public:
  Measurement(const MeasureTerms& terms, const MeasureTools& tools)
      : terms_(terms), tools_(tools), rng_(Rng(terms.seed).split("profile turns")) {
    for (const int processes : terms.processes) {
      for (const int batch : terms.batches) points_.push_back({.batch = batch, .processes = processes});
    }
  }

  Result<void> warm_up() {
    const double length_us = std::min(kWarmUpSeconds, terms_.seconds_min / kTurnsPerPoint) * kMicrosPerSecond;
    for (MeasuredPoint& point : points_) {
      if (auto turn = run(point, length_us, "warming up"); !turn) return pass_on(turn.error());
    }
    for (MeasuredPoint& point : points_) {
      point.turns.clear();
      point.elapsed_us = 0;
    }
    return {};
  }

  /// Whether a point is left that is not done.
  [[nodiscard]] bool is_under_way() const {
    return std::ranges::any_of(points_, [](const MeasuredPoint& point) { return !point.is_done; });
  }

  Result<void> run_round() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!points_[i].is_done) order.push_back(i);
    }
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng_.below(i)]);
    for (const std::size_t index : order) {
      MeasuredPoint& point = points_[index];
      const double left_us = kTimeFactorMax * time_us() - point.elapsed_us;
      const double length_us = std::clamp(left_us, 0.0, time_us() / kTurnsPerPoint);
      if (auto turn = run(point, length_us, "measuring"); !turn) return pass_on(turn.error());
      if (!point.is_done) decide(point);
    }
    return {};
  }

  [[nodiscard]] std::vector<ProfilePoint> points() const {
    std::vector<ProfilePoint> points;
    for (const MeasuredPoint& measured : points_) {
      ProfilePoint point{.batch = measured.batch, .fits = measured.fits};
      if (measured.fits) point = point_figures(measured.turns, measured.batch);
      point.processes = measured.processes;
      point.is_short = measured.is_short;
      if (measured.fits) point.memory_bytes = measured.memory_bytes;
      points.push_back(std::move(point));
    }
    return points;
  }

 private:
  [[nodiscard]] double time_us() const { return terms_.seconds_min * kMicrosPerSecond; }

  Result<void> run(MeasuredPoint& point, double length_us, std::string_view what) {
    if (tools_.should_stop()) return fail(ErrorCode::kInterrupted, "the measurement was stopped");
    tools_.report(share_done(), fmt::format("{} batch {} x {}", what, point.batch, point.processes));
    auto turn = tools_.run_turn({.batch = point.batch, .processes = point.processes, .length_us = length_us});
    if (!turn) return pass_on(turn.error());
    if (!turn->fits) {
      point.fits = false;
      point.is_done = true;
      return {};
    }
    // Later turns follow larger batches: what they took says nothing of this one.
    if (!point.memory_bytes) point.memory_bytes = turn->memory_bytes;
    point.elapsed_us += elapsed_of(*turn);
    point.turns.push_back(*std::move(turn));
    return {};
  }

  void decide(MeasuredPoint& point) const {
    if (point.turns.size() < kTurnsMin || point.elapsed_us < time_us()) return;
    const bool is_narrow = mean_interval(point.turns).relative_width() <= terms_.width_target;
    point.is_short = !is_narrow && point.elapsed_us >= kTimeFactorMax * time_us();
    point.is_done = is_narrow || point.is_short;
  }

  [[nodiscard]] double share_done() const {
    double done = 0;
    for (const MeasuredPoint& point : points_) {
      done += point.is_done ? 1 : std::min(point.elapsed_us / (kTimeFactorMax * time_us()), 1.0);
    }
    return done / static_cast<double>(points_.size());
  }

  const MeasureTerms& terms_;
  const MeasureTools& tools_;
  Rng rng_;
  std::vector<MeasuredPoint> points_;
};

}  // namespace

Result<std::vector<ProfilePoint>> measure_points(const MeasureTerms& terms, const MeasureTools& tools) {
  ENSURE(!terms.batches.empty() && !terms.processes.empty() && terms.seconds_min > 0);
  ENSURE(std::ranges::is_sorted(terms.batches) && std::ranges::is_sorted(terms.processes));
  Measurement measurement(terms, tools);
  if (auto warm = measurement.warm_up(); !warm) return pass_on(warm.error());
  while (measurement.is_under_way()) {
    if (auto round = measurement.run_round(); !round) return pass_on(round.error());
  }
  return measurement.points();
}

}  // namespace berth::models
