#include "planner/window/frame.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/core/ensure.h"
#include "domain/mig/geometry.h"
#include "domain/mig/site_map.h"
#include "domain/profile/operating_point.h"

namespace berth::planner {
namespace {

/// A point with its rate.
struct RatedPoint {
  PointChoice choice;
  double requests_per_second = 0;
};

/// The profiles that slices of the problem may have, ascending, `full` last.
std::vector<ProfileId> profiles_in_use(const Scenario& scenario, const GpuModel& model) {
  std::set<ProfileId> used;
  if (model.has_full) used.insert(ProfileId::full());
  const auto note = [&](const Slice& slice) {
    if (slice.gpu.index >= scenario.gpu_count()) return;  // a pin that no plan can keep: engine/loop/static_conflict.h
    const GpuModel& there = scenario.model_of(slice.gpu);
    if (&there == &model || there == model) used.insert(slice.profile);
  };
  for (const Holding& holding : scenario.layout.value_or(std::vector<Holding>())) note(holding.slice);
  for (const ServiceSpec& service : scenario.services) {
    for (const Pin& pin : service.pins) note(pin.slice);
  }
  for (const ProfileId id : mig::all_rules(model).profiles) {
    const MigProfile& profile = model.profiles[id.index];
    const bool is_measured = std::ranges::any_of(scenario.services, [&](const ServiceSpec& service) {
      return !profile::points_on(service.table, model, id).empty();
    });
    if (profile.is_plain() || (is_measured && profile.is_double_memory)) used.insert(id);
  }
  return {used.begin(), used.end()};
}

double max_interference(const Scenario& scenario) {
  double factor = 1;
  for (const Decimal& each : scenario.interference) factor = std::max(factor, each.to_double());
  return factor;
}

/// The best point of one variant on a profile that keeps the target, if any; see make_frame.
std::optional<RatedPoint> best_point(const Scenario& scenario, const ServiceSpec& service, const GpuModel& model,
                                     ProfileId profile, int variant) {
  const PerformanceTable& table =
      variant == 0 ? service.table : service.variants[static_cast<std::size_t>(variant) - 1].table;
  const double target_ms = service.target_ms.to_double() / max_interference(scenario);
  std::optional<RatedPoint> best;
  double slowest_ms = 0;  // of the smaller batches of this number of processes: tables are not monotone
  int processes = 0;
  for (const PerformancePoint& point : profile::points_on(table, model, profile)) {
    if (point.processes > service.batching.processes_max) continue;
    if (point.processes != processes) slowest_ms = 0;
    processes = point.processes;
    const double latency_ms = point.latency_ms.to_double();
    slowest_ms = std::max(slowest_ms, latency_ms);
    if (slowest_ms * (1 + 1.0 / point.processes) > target_ms) continue;
    const double rate = 1000.0 * point.processes * point.batch / latency_ms / max_interference(scenario);
    const auto rank = [](double r, const PointChoice& choice) {
      return std::tuple(-r, choice.batch, choice.processes);
    };
    const PointChoice choice{.variant = variant, .batch = point.batch, .processes = point.processes};
    if (!best || rank(rate, choice) < rank(best->requests_per_second, best->choice)) best = RatedPoint{choice, rate};
  }
  return best;
}

/// A variant of a service.
struct Form {
  const ServiceSpec& service;
  int variant = 0;
};

std::optional<RatedPoint> rated_point(const Scenario& scenario, const FrameOptions& options, const Form& form,
                                      const GpuModel& model, ProfileId profile) {
  const auto& [service, variant] = form;
  if (!service.tier.allows(model.name) || (variant != 0 && !options.has_variants)) return std::nullopt;
  if (options.chooses_points) {
    if (auto best = best_point(scenario, service, model, profile, variant)) return best;
  }
  if (variant != 0) return std::nullopt;
  const auto point = profile::choose_point(service, model, profile);
  if (!point) return std::nullopt;
  const double rate =
      1000.0 * point->processes * point->batch / point->latency_ms.to_double() / max_interference(scenario);
  return RatedPoint{{.variant = 0, .batch = point->batch, .processes = point->processes}, rate};
}

using PointsOfKind = std::vector<std::vector<std::optional<PointChoice>>>;

/// The rates of each service on a profile.
std::vector<Rates> rates_on(const Scenario& scenario, const FrameOptions& options, const GpuModel& model,
                            ProfileId profile, PointsOfKind& points) {
  std::vector<Rates> rates;
  rates.reserve(scenario.services.size());
  for (const ServiceSpec& service : scenario.services) {
    Rates& each = rates.emplace_back();
    auto& choices = points.emplace_back();
    const bool is_allowed = service.tier.allows(model.name);
    const bool may_serve = !service.running.replicas || service.running.replicas->slices_max != 0;
    for (int variant = 0; variant <= static_cast<int>(service.variants.size()); ++variant) {
      std::optional<RatedPoint> point;
      if (may_serve) point = rated_point(scenario, options, {.service = service, .variant = variant}, model, profile);
      each.requests_per_second.push_back(point ? point->requests_per_second : 0);
      choices.push_back(point ? std::optional(point->choice) : std::nullopt);
    }
    if (!service.retraining || !is_allowed) continue;
    if (const auto time = retraining_time_on(*service.retraining, model, profile)) {
      each.retraining_slots = time->to_seconds();
    }
  }
  return rates;
}

/// Of variant 0, or of the fastest one if that has none.
std::optional<RatedPoint> planned_rated_point(const Scenario& scenario, const ServiceSpec& service,
                                              const GpuModel& model, ProfileId profile) {
  std::optional<RatedPoint> fastest;
  for (int variant = 0; variant <= static_cast<int>(service.variants.size()); ++variant) {
    auto point = rated_point(scenario, {}, {.service = service, .variant = variant}, model, profile);
    if (!point) continue;
    if (variant == 0) return point;
    if (!fastest || point->requests_per_second > fastest->requests_per_second) fastest = point;
  }
  return fastest;
}

}  // namespace

std::optional<SiteIndex> Frame::site_of(const Slice& slice) const {
  const auto& sites = models[static_cast<std::size_t>(model_of_gpu[slice.gpu.index])].sites;
  const auto it = std::ranges::find_if(
      sites, [&](const Site& site) { return site.start == slice.start && site.profile == slice.profile; });
  if (it == sites.end()) return std::nullopt;
  return SiteIndex(it - sites.begin());
}

Slice Frame::slice_at(GpuId gpu, SiteIndex site) const {
  const Site& at = models[static_cast<std::size_t>(model_of_gpu[gpu.index])].sites[static_cast<std::size_t>(site)];
  return {.gpu = gpu, .start = at.start, .profile = at.profile};
}

Frame make_frame(const Scenario& scenario, const FrameOptions& options) {
  Frame frame;
  std::vector<const GpuModel*> known_models;  // two of one name may differ: one of them has no `full`
  for (const FleetEntry& entry : scenario.fleet) {
    const auto known = std::ranges::find_if(known_models, [&](const GpuModel* model) { return *model == entry.model; });
    const ModelIndex number(known - known_models.begin());
    frame.model_of_gpu.insert(frame.model_of_gpu.end(), static_cast<std::size_t>(entry.count), number);
    if (known != known_models.end()) continue;
    known_models.push_back(&entry.model);
    ModelTerms& model = frame.models.emplace_back();
    auto& points = frame.points.emplace_back();
    const mig::SiteMap map = mig::make_site_map(entry.model, profiles_in_use(scenario, entry.model));
    model.sites = map.sites;
    for (const mig::SiteKind& kind : map.kinds) {
      model.rates.push_back(rates_on(scenario, options, entry.model, kind.profile, points.emplace_back()));
      model.sms.push_back(kind.sms);
    }
  }
  return frame;
}

bool can_serve(const Scenario& scenario, const ServiceSpec& service, const GpuModel& model, ProfileId profile) {
  return planned_rate(scenario, service, model, profile) > 0;
}

double planned_rate(const Scenario& scenario, const ServiceSpec& service, const GpuModel& model, ProfileId profile) {
  const auto point = planned_rated_point(scenario, service, model, profile);
  return point ? point->requests_per_second : 0;
}

std::optional<PointChoice> planned_point(const Scenario& scenario, const ServiceSpec& service, const GpuModel& model,
                                         ProfileId profile) {
  const auto point = planned_rated_point(scenario, service, model, profile);
  return point ? std::optional(point->choice) : std::nullopt;
}

}  // namespace berth::planner
