/// The figures of a replay: what each policy achieved and cost. A figure over nothing is absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/constraint.h"
#include "domain/values/plan.h"
#include "domain/values/request_counts.h"
#include "domain/values/scenario.h"
#include "domain/values/slice.h"

namespace berth::measure {

/// SM-time, each as a share of the fleet's.
struct Utilisation {
  double allocated = 0;  ///< slices that have an owner
  double busy = 0;       ///< running a batch or a retraining
  double effective = 0;  ///< the answers given, in SM-time at the best point that their service has on any slice
};

/// The figures of a policy, or of one service under it.
struct Figures : RequestCounts {
  std::optional<double> goodput;
  std::optional<double> goodput_mean_of_services;
  std::optional<double> goodput_worst_service;
  std::optional<double> slo_attainment;
  std::optional<double> mean_accuracy;
  double gpu_seconds = 0;  ///< of a service: its share, by SMs, of the GPUs that it holds
  double gpu_seconds_fleet = 0;
  std::optional<std::int64_t> cost_micro_usd;
  std::optional<std::int64_t> cost_micro_usd_per_million_in_time;
  Utilisation utilisation;
  std::int64_t changes = 0;
  double lost_slice_seconds = 0;
  std::optional<double> latency_mean_ms;
  std::optional<double> latency_p50_ms;
  std::optional<double> latency_p99_ms;
  std::optional<std::int64_t> cold_requests;   ///< warm_meter.h; absent without a warm pool
  std::optional<std::int64_t> idle_micro_usd;  ///< the same; absent without prices, too
};

struct ServiceFigures {
  std::string name;
  Figures figures;
};

/// A timeline for charts has at most this many equal bins.
inline constexpr int kTimelineBinsMax = 600;

/// One service over time; vectors are by bin.
struct ServiceTimeline {
  std::vector<double> arrivals_per_second;
  std::vector<double> capacity_per_second;     ///< of the slices that serve it, at their points' measured throughput
  std::vector<std::optional<double>> goodput;  ///< of the requests that arrived in the bin
};

/// The state of one slice from `from` until `until`.
struct SliceSpan {
  enum class State { kIdle, kChanging, kServing, kRetraining };
  Slice slice;
  std::vector<ServiceId> services;
  Role role = Role::kInference;
  State state = State::kIdle;
  Instant from;
  Instant until;
};

struct Timeline {
  Micros bin;
  std::vector<std::optional<double>> goodput;                   ///< over all requests, by bin
  std::vector<std::optional<double>> goodput_mean_of_services;  ///< by bin
  std::vector<ServiceTimeline> services;
  std::vector<SliceSpan> spans;  ///< sorted by slice, then time; at most kSpansMax
  bool are_spans_cut = false;
  bool shares_slices = false;  ///< some slice had several owners at once
};
inline constexpr std::size_t kSpansMax = 20'000;

/// A policy's forecast for one service; vectors are by bin of the timeline, in requests per second.
struct ServiceForecast {
  /// Mean over the bin's seconds of the lower edge of the band, the median and the upper edge; absent unless each of
  /// those seconds was forecast.
  std::vector<std::optional<double>> low;
  std::vector<std::optional<double>> median;
  std::vector<std::optional<double>> high;
  // Over all seconds that were forecast, each compared with its arrivals.
  std::int64_t judged_seconds = 0;
  std::optional<double> inside_share = std::nullopt;  ///< arrivals in the band, its edges included
  std::optional<double> wape = std::nullopt;  ///< sum of |arrivals - median| / sum of arrivals; absent without arrivals
};

/// The forecasts at one lead: for each second that of the latest plan that began at least `lead_seconds` before it.
struct LeadForecast {
  std::int64_t lead_seconds = 0;
  std::vector<ServiceForecast> services;  ///< the first kForecastServicesMax
};
inline constexpr std::size_t kForecastServicesMax = 64;

/// The changes of one GPU by a plan, and the reason.
struct Decision {
  Instant acts_at;
  GpuId gpu;
  Reason reason;
  std::vector<SliceChange> steps;  ///< in the order in which they begin
};
inline constexpr std::size_t kDecisionsMax = 20'000;

/// The forecasts and decisions of a policy, kept only if ReplayHooks asks for them. Bounded for any length of the run.
struct Insight {
  double band_share = 0;                ///< the probability that the band of a forecast holds
  std::vector<LeadForecast> forecasts;  ///< by lead; empty: the policy makes no forecasts
  std::vector<Decision> decisions;      ///< in order of time; the first kDecisionsMax
  std::int64_t decision_count = 0;      ///< all of them
};

/// The fleet of a policy, where those of one replay have different ones.
struct RowFleet {
  std::string policy;  ///< the name of the policy, which its rows share
  std::int64_t gpus = 0;
  std::optional<std::int64_t> cost_micro_usd;  ///< of the whole fleet for the run; absent if a GPU has no price
};

struct PolicyResult {
  std::string name;
  std::string how;  ///< which form of sharing was better ("time slices", "MPS"), what a search tried; may be empty
  bool is_hindsight = false;
  std::optional<RowFleet> fleet;          ///< absent: ReplayResult says it
  std::optional<std::string> infeasible;  ///< why the policy cannot run; there are no figures then
  std::vector<NamedConstraint> ignores;   ///< constraints of the scenario that it does not keep
  std::vector<std::string> notes;         ///< e.g. estimated SM counts
  Figures figures;
  std::vector<ServiceFigures> services;
  Timeline timeline;
  Insight insight;
  double wall_seconds = 0;  ///< filled in by the caller, who has a clock
};

}  // namespace berth::measure
