#include "engine/loop/counter_plan.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "domain/mig/geometry.h"
#include "domain/profile/operating_point.h"
#include "engine/loop/constraints.h"

namespace berth {
namespace {

/// The rate that a service needs and the rate that it has, in requests per second.
struct FloorSupply {
  double needed = 0;  ///< 0: no floor
  double has = 0;

  [[nodiscard]] double short_of() const { return std::max(0.0, needed - has); }
};

using FloorSupplies = std::vector<FloorSupply>;

/// The latency of a point, or of a smaller batch with as many processes if that is slower: tables are not monotone.
double slowest_ms(const std::vector<PerformancePoint>& points, const PerformancePoint& point) {
  double slowest = 0;
  for (const PerformancePoint& other : points) {
    if (other.processes == point.processes && other.batch <= point.batch) {
      slowest = std::max(slowest, other.latency_ms.to_double());
    }
  }
  return slowest;
}

/// Requests per second that every planner gets from a slice: those of the default point, or of the best point at which
/// a request may wait for a whole batch before its own, whichever is less; without such points the least of all usable
/// ones.
double sure_rate(const Scenario& scenario, const ServiceSpec& service, const GpuModel& model, ProfileId profile) {
  const auto preset = profile::choose_point(service, model, profile);  // none where the TierRule forbids the model
  if (!preset) return 0;
  const double interference = worst_interference(scenario);
  const double preset_rate = 1000.0 * preset->processes * preset->batch / preset->latency_ms.to_double();
  const double target_ms = service.target_ms.to_double();
  double patient = 0;
  double least = preset_rate;
  const std::vector<PerformancePoint> points = profile::points_on(service.table, model, profile);
  for (const PerformancePoint& point : points) {
    if (point.processes > service.batching.processes_max) continue;
    const double latency_ms = point.latency_ms.to_double();
    const double rate = 1000.0 * point.processes * point.batch / latency_ms;
    if (latency_ms <= target_ms) least = std::min(least, rate);
    if (2 * slowest_ms(points, point) * interference <= target_ms) patient = std::max(patient, rate);
  }
  return std::min(preset_rate, patient > 0 ? patient : least) / interference;
}

/// Requests per second of an existing slice for each of its holders.
double standing_rate(const Scenario& scenario, const StandingSlice& standing, ServiceId service) {
  if (standing.holding.role != Role::kInference) return 0;
  const ServiceSpec& spec = scenario.services[service.index];
  const GpuModel& model = scenario.model_of(standing.holding.slice.gpu);
  const ProfileId profile = standing.holding.slice.profile;
  const auto point = profile::point_for(spec, model, profile, standing.point);
  if (!point) return 0;
  return 1000.0 * point->processes * point->batch / point->latency_ms.to_double() / worst_interference(scenario) /
         static_cast<double>(standing.holding.services.size());
}

using Contents = std::map<Slice, Holding>;

class CounterPlanner {
 public:
  CounterPlanner(const Scenario& scenario, const Snapshot& snapshot, std::span<const PlannedFloor> floors)
      : scenario_(scenario), is_first_(snapshot.is_before_first_layout()), supplies_(scenario.services.size()) {
    for (std::uint32_t gpu = 0; gpu < snapshot.gpus.size(); ++gpu) {
      // If actions failed and no creation has succeeded since, no plan is known to work.
      if (!snapshot.is_open({gpu}) || snapshot.gpus[gpu].failures.count > 0) locked_.insert({gpu});
    }
    for (const GpuId gpu : snapshot.gpus_with_foreign_slices()) locked_.insert(gpu);
    for (const PlannedFloor& floor : floors) supplies_[floor.service.index].needed = floor.needed;
    for (const StandingSlice& standing : snapshot.slices) {
      const GpuId gpu = standing.holding.slice.gpu;
      const bool is_orphan = snapshot.is_orphan(standing);
      if (is_under_way(standing) || is_orphan) locked_.insert(gpu);
      if (standing.is_leaving || is_orphan || snapshot.is_draining(gpu)) continue;
      standing_[gpu].push_back(&standing);
      add(standing, 1, supplies_);
    }
    for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
      for (const Pin& pin : scenario.services[index].pins) pins_[pin.slice.gpu].emplace_back(pin.slice, index);
    }
  }

  Plan propose() {
    Plan plan;
    for (std::uint32_t index = 0; index < scenario_.gpu_count(); ++index) {
      const GpuId gpu{index};
      const bool must_be_filled = is_first_ && pins_.contains(gpu);  // pinned slices exist from the first layout on
      if (locked_.contains(gpu) || !(is_short(supplies_) || must_be_filled)) continue;
      FloorSupplies after = supplies_;
      for (const StandingSlice* standing : standing_[gpu]) add(*standing, -1, after);
      const Contents contents = fill(gpu, after);
      if (shortfall(after) >= shortfall(supplies_) && !must_be_filled) continue;
      supplies_ = after;
      add_actions(gpu, contents, plan);
    }
    if (is_short(supplies_)) plan.actions.clear();
    return plan;
  }

 private:
  static bool is_short(const FloorSupplies& supplies) {
    return std::ranges::any_of(supplies, [](const FloorSupply& supply) { return supply.short_of() > 0; });
  }

  /// The sum over the floors of the share that is unmet.
  static double shortfall(const FloorSupplies& supplies) {
    double sum = 0;
    for (const FloorSupply& supply : supplies) {
      if (supply.needed > 0) sum += supply.short_of() / supply.needed;
    }
    return sum;
  }

  void add(const StandingSlice& standing, int sign, FloorSupplies& supplies) const {
    for (const ServiceId service : standing.holding.services) {
      supplies[service.index].has += sign * standing_rate(scenario_, standing, service);
    }
  }

  double rate_of(GpuId gpu, ProfileId profile, ServiceId service) {
    const GpuModel& model = scenario_.model_of(gpu);
    const auto [known, is_new] = rates_.try_emplace({model.name, profile, service}, 0.0);
    if (is_new) known->second = sure_rate(scenario_, scenario_.services[service.index], model, profile);
    return known->second;
  }

  /// Whether a service may join the services on a GPU.
  [[nodiscard]] bool may_join(ServiceId service, const Contents& contents) const {
    const ServiceSpec& spec = scenario_.services[service.index];
    return std::ranges::all_of(contents, [&](const auto& each) {
      const ServiceId there = each.second.services.front();
      if (there == service) return true;
      const ServiceSpec& other = scenario_.services[there.index];
      const bool is_alone = spec.isolation == Isolation::kGpu || other.isolation == Isolation::kGpu;
      return !is_alone && spec.trust_domain == other.trust_domain;
    });
  }

  /// The slice with the larger rank is taken: slices that are enough come first, small ones before large ones; then the
  /// others, by their rate per unit of space.
  struct Rank {
    bool is_enough = false;
    double worth = 0;
    double rate = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };

  /// The smallest slice that is enough for the service, else the one with the highest rate per unit of space; ties: the
  /// first.
  std::optional<Slice> next_slice(GpuId gpu, const Contents& contents, ServiceId service, double wanted) {
    const GpuModel& model = scenario_.model_of(gpu);
    std::vector<Slice> fitting;
    if (contents.empty() && model.has_full) fitting.push_back({.gpu = gpu, .start = 0, .profile = ProfileId::full()});
    const bool is_whole = std::ranges::any_of(contents, [](const auto& each) { return each.first.profile.is_full(); });
    if (!is_whole && !model.profiles.empty()) {
      mig::State state;
      for (const auto& [slice, holding] : contents) state.push_back({.start = slice.start, .profile = slice.profile});
      std::ranges::sort(state);
      for (const mig::Placement& place : mig::placements_that_fit(model, state, mig::plain_rules(model))) {
        fitting.push_back({.gpu = gpu, .start = place.start, .profile = place.profile});
      }
    }
    std::optional<Slice> best;
    Rank best_rank;
    for (const Slice& slice : fitting) {
      const double rate = rate_of(gpu, slice.profile, service);
      if (rate <= 0) continue;
      const double units =
          slice.profile.is_full() ? std::max(1, model.units) : model.profiles[slice.profile.index].length;
      const Rank rank = rate >= wanted ? Rank{.is_enough = true, .worth = -units, .rate = -rate}
                                       : Rank{.is_enough = false, .worth = rate / units, .rate = rate};
      if (best && rank <= best_rank) continue;
      best = slice;
      best_rank = rank;
    }
    return best;
  }

  /// Fills an empty GPU and adds the rates of its slices to `supplies`.
  Contents fill(GpuId gpu, FloorSupplies& supplies) {
    Contents contents;
    const auto pins = pins_.find(gpu);
    for (std::size_t i = 0; pins != pins_.end() && i < pins->second.size(); ++i) {
      const auto& [slice, owner] = pins->second[i];
      const double rate = rate_of(gpu, slice.profile, {owner});
      contents[slice] = {
          .slice = slice, .role = rate > 0 ? Role::kInference : Role::kRetraining, .services = {ServiceId{owner}}};
      supplies[owner].has += rate;
    }
    std::set<std::uint32_t> tried;  // services that get nothing more here
    while (const auto service = shortest(supplies, tried)) {
      const auto slice = may_join({*service}, contents)
                             ? next_slice(gpu, contents, {*service}, supplies[*service].short_of())
                             : std::nullopt;
      if (!slice) {
        tried.insert(*service);
        continue;
      }
      contents[*slice] = {.slice = *slice, .role = Role::kInference, .services = {ServiceId{*service}}};
      supplies[*service].has += rate_of(gpu, slice->profile, {*service});
    }
    return contents;
  }

  /// The service that is short of the largest share of its floor; ties: the earlier.
  static std::optional<std::uint32_t> shortest(const FloorSupplies& supplies, const std::set<std::uint32_t>& without) {
    std::optional<std::uint32_t> shortest;
    double most = 0;
    for (std::uint32_t index = 0; index < supplies.size(); ++index) {
      if (supplies[index].short_of() <= 0 || without.contains(index)) continue;
      const double share = supplies[index].short_of() / supplies[index].needed;
      if (share > most) shortest = index;
      most = std::max(most, share);
    }
    return shortest;
  }

  void add_actions(GpuId gpu, const Contents& contents, Plan& plan) {
    std::set<Slice> stands;
    for (const StandingSlice* standing : standing_[gpu]) {
      stands.insert(standing->holding.slice);
      if (contents.contains(standing->holding.slice)) continue;
      plan.actions.push_back({.what = DestroySlice{standing->holding.slice}, .reason = {}});
    }
    for (const auto& [slice, holding] : contents) {
      if (!stands.contains(slice)) plan.actions.push_back({.what = CreateSlice{slice}, .reason = {}});
    }
    for (const auto& [slice, holding] : contents) {
      plan.actions.push_back({.what = AssignSlice{.holding = holding, .point = std::nullopt}, .reason = {}});
    }
  }

  const Scenario& scenario_;
  bool is_first_;
  FloorSupplies supplies_;
  std::set<GpuId> locked_;
  std::map<GpuId, std::vector<const StandingSlice*>> standing_;  ///< without those that leave
  std::map<GpuId, std::vector<std::pair<Slice, std::uint32_t>>> pins_;
  std::map<std::tuple<std::string, ProfileId, ServiceId>, double> rates_;
};

}  // namespace

bool is_under_way(const StandingSlice& standing) {
  return standing.is_leaving || (!standing.is_ready && !standing.holding.services.empty());
}

Plan propose_counter_plan(const Scenario& scenario, const Snapshot& snapshot, std::span<const PlannedFloor> floors) {
  return CounterPlanner(scenario, snapshot, floors).propose();
}

}  // namespace berth
