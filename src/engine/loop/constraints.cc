#include "engine/loop/constraints.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "domain/profile/operating_point.h"
#include "domain/values/gpu_name.h"
#include "domain/values/start_times.h"
#include "engine/loop/counter_plan.h"
#include "engine/loop/fleet_after.h"
#include "engine/loop/slice_limits.h"
#include "engine/loop/static_conflict.h"
#include "engine/loop/verify.h"
#include "engine/state/changes.h"

namespace berth {
namespace {

using Breach = std::optional<std::string>;

/// A floor counts as met when the rate is short of it by at most this share; two sums of the same rates may differ by
/// as much.
constexpr double kRateTolerance = 1e-9;

struct Judged {
  const Scenario& scenario;
  const Snapshot& snapshot;
  const Plan& plan;
  Instant acts_at;
};

FleetAfter fleet_after(const Judged& judged) {
  FleetAfter fleet(judged.snapshot);
  for (const Action& action : judged.plan.actions) fleet.apply(action);
  return fleet;
}

/// The GPUs on which constraints must hold after the plan: those that it changes, or all for the first layout.
std::set<GpuId> judged_gpus(const Judged& judged) {
  std::set<GpuId> gpus;
  for (const Action& action : judged.plan.actions) gpus.insert(slice_of(action.what).gpu);
  if (judged.snapshot.is_before_first_layout()) {
    for (std::uint32_t gpu = 0; gpu < judged.scenario.gpu_count(); ++gpu) gpus.insert(GpuId{gpu});
  }
  return gpus;
}

const ServiceSpec& spec_of(const Scenario& scenario, ServiceId service) { return scenario.services[service.index]; }

std::string place_of(const Scenario& scenario, const Slice& slice) {
  return fmt::format("{}@{}", profile_name(scenario.model_of(slice.gpu), slice.profile), slice.start);
}

std::string holders_shown(const Scenario& scenario, const std::vector<ServiceId>& services) {
  std::string shown;
  for (const ServiceId service : services) {
    shown += (shown.empty() ? "" : " and ") + service_label(scenario, service);
  }
  return shown.empty() ? "no service" : shown;
}

// ---- pins

std::map<Slice, ServiceId> pin_owners(const Scenario& scenario) {
  std::map<Slice, ServiceId> owners;
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    for (const Pin& pin : scenario.services[index].pins) owners.emplace(pin.slice, ServiceId{index});
  }
  return owners;
}

Breach breach_of_pinned_actions(const Judged& judged, const std::map<Slice, ServiceId>& owners) {
  for (const Action& action : judged.plan.actions) {
    if (std::holds_alternative<CreateSlice>(action.what)) continue;
    const auto pin = owners.find(slice_of(action.what));
    if (pin == owners.end()) continue;
    const std::string owner = service_label(judged.scenario, pin->second);
    const std::string where = fmt::format("{}: wanted {} to stay {}'s own ({}.pins)", gpu_name(pin->first.gpu),
                                          place_of(judged.scenario, pin->first), owner, owner);
    const auto* assign = std::get_if<AssignSlice>(&action.what);
    if (assign == nullptr) return where + ", found that the plan destroys it";
    if (assign->holding.services == std::vector{pin->second}) continue;
    return fmt::format("{}, found that the plan gives it to {}", where,
                       holders_shown(judged.scenario, assign->holding.services));
  }
  return std::nullopt;
}

Breach breach_of_pins(const Judged& judged, const FleetAfter& fleet, const std::map<Slice, ServiceId>& owners) {
  const Scenario& scenario = judged.scenario;
  const std::set<GpuId> gpus = judged_gpus(judged);
  for (const auto& [slice, owner] : owners) {
    if (!gpus.contains(slice.gpu)) continue;
    const auto found = fleet.slices().find(slice);
    if (found != fleet.slices().end() && found->second.holding.services == std::vector{owner}) continue;
    const std::string name = service_label(scenario, owner);
    return fmt::format(
        "{}: wanted {} for {} alone ({}.pins), found {}", gpu_name(slice.gpu), place_of(scenario, slice), name, name,
        found == fleet.slices().end() ? "no such slice"
                                      : "it held by " + holders_shown(scenario, found->second.holding.services));
  }
  return std::nullopt;
}

// ---- GPU models

/// Whether the service held the slice before, or has it in the scenario's layout, which an `auto` service may leave.
bool has_stood(const Judged& judged, const Slice& slice, ServiceId service) {
  const auto is_holder = [&](const Holding& holding) {
    return holding.slice == slice && std::ranges::find(holding.services, service) != holding.services.end();
  };
  if (!judged.snapshot.is_before_first_layout()) {
    return std::ranges::any_of(judged.snapshot.slices_at(slice), [&](const StandingSlice& standing) {
      return !standing.is_leaving && is_holder(standing.holding);
    });
  }
  const auto& layout = judged.scenario.layout;
  return spec_of(judged.scenario, service).tier.is_auto && layout && std::ranges::any_of(*layout, is_holder);
}

Breach breach_of_tiers(const Judged& judged) {
  for (const Action& action : judged.plan.actions) {
    const auto* assign = std::get_if<AssignSlice>(&action.what);
    if (assign == nullptr) continue;
    const Slice& slice = assign->holding.slice;
    const std::string& model = judged.scenario.model_of(slice.gpu).name;
    for (const ServiceId service : assign->holding.services) {
      const TierRule& rule = spec_of(judged.scenario, service).tier;
      if (rule.allows(model) || has_stood(judged, slice, service)) continue;
      const std::string name = service_label(judged.scenario, service);
      return fmt::format("{}: wanted slices of {} on GPUs of the model {} only ({}.tier), found {} of a {}",
                         gpu_name(slice.gpu), name, rule.gpu, name, place_of(judged.scenario, slice), model);
    }
  }
  return std::nullopt;
}

// ---- isolation and trust domains

Breach breach_in_slice(const Scenario& scenario, const Slice& slice, const std::vector<ServiceId>& services) {
  if (services.size() < 2) return std::nullopt;
  for (const ServiceId service : services) {
    if (spec_of(scenario, service).isolation != Isolation::kMig) continue;  // `gpu` is judged with the whole GPU
    return fmt::format("{}: wanted {} for one service ({}.isolation), found {} in it", gpu_name(slice.gpu),
                       place_of(scenario, slice), service_label(scenario, service), holders_shown(scenario, services));
  }
  return std::nullopt;
}

std::string domain_shown(const ServiceSpec& spec) {
  return spec.trust_domain ? "trust domain " + *spec.trust_domain : "no trust domain";
}

/// The constraint of `service` that `other` breaks by being on the same GPU, if any.
Breach breach_between(const Scenario& scenario, GpuId gpu, ServiceId service, ServiceId other) {
  const ServiceSpec& spec = spec_of(scenario, service);
  const ServiceSpec& there = spec_of(scenario, other);
  if (spec.isolation == Isolation::kGpu) {
    const std::string name = service_label(scenario, service);
    return fmt::format("{}: wanted {} alone ({}.isolation), found {} there too", gpu_name(gpu), name, name,
                       service_label(scenario, other));
  }
  if (spec.trust_domain && there.trust_domain != spec.trust_domain) {
    const std::string name = service_label(scenario, service);
    return fmt::format("{}: wanted only services of trust domain {} together with {} ({}.trust_domain), found {} of {}",
                       gpu_name(gpu), *spec.trust_domain, name, name, service_label(scenario, other),
                       domain_shown(there));
  }
  return std::nullopt;
}

Breach breach_on_gpu(const Scenario& scenario, const FleetAfter& fleet, GpuId gpu) {
  std::set<ServiceId> present;
  for (const Slice& slice : fleet.slices_on(gpu)) {
    const std::vector<ServiceId>& services = fleet.slices().at(slice).holding.services;
    if (Breach breach = breach_in_slice(scenario, slice, services)) return breach;
    present.insert(services.begin(), services.end());
  }
  for (const ServiceId service : present) {
    for (const ServiceId other : present) {
      if (other == service) continue;
      if (Breach breach = breach_between(scenario, gpu, service, other)) return breach;
    }
  }
  return std::nullopt;
}

// ---- operating points and rates

/// Requests per second of services on whole slices at operating points; each is worked out once.
class PointRates {
 public:
  explicit PointRates(const Scenario& scenario) : scenario_(scenario), interference_(worst_interference(scenario)) {}

  /// Nothing if the point named was not measured; 0 if none is named and the slice cannot serve.
  std::optional<double> of(ServiceId service, const Slice& slice, const std::optional<PointChoice>& choice) {
    const GpuModel& model = scenario_.model_of(slice.gpu);
    const PointChoice named = choice.value_or(PointChoice{.variant = -1, .batch = 0, .processes = 0});
    const Key key{model.name, slice.profile, service, named.variant, named.batch, named.processes};
    const auto known = rates_.find(key);
    if (known != rates_.end()) return known->second;
    return rates_.emplace(key, measured(spec_of(scenario_, service), model, slice.profile, choice)).first->second;
  }

 private:
  using Key = std::tuple<std::string, ProfileId, ServiceId, int, int, int>;

  [[nodiscard]] std::optional<double> measured(const ServiceSpec& service, const GpuModel& model, ProfileId profile,
                                               const std::optional<PointChoice>& choice) const {
    const auto point = profile::point_for(service, model, profile, choice);
    if (!point) return choice ? std::nullopt : std::optional<double>(0);
    return 1000.0 * point->processes * point->batch / point->latency_ms.to_double() / interference_;
  }

  const Scenario& scenario_;
  double interference_;
  std::map<Key, std::optional<double>> rates_;
};

Breach breach_of_points(const Judged& judged, PointRates& rates) {
  for (const Action& action : judged.plan.actions) {
    const auto* assign = std::get_if<AssignSlice>(&action.what);
    if (assign == nullptr || !assign->point || assign->holding.role != Role::kInference) continue;
    const Slice& slice = assign->holding.slice;
    for (const ServiceId service : assign->holding.services) {
      if (rates.of(service, slice, assign->point)) continue;
      return fmt::format("{}: wanted a measured point of {} on {}, found variant {}, batch {}, processes {}",
                         gpu_name(slice.gpu), spec_of(judged.scenario, service).name, place_of(judged.scenario, slice),
                         assign->point->variant, assign->point->batch, assign->point->processes);
    }
  }
  return std::nullopt;
}

// ---- budgets

Breach breach_of_budgets(const Judged& judged) {
  if (judged.snapshot.is_before_first_layout()) return std::nullopt;
  const std::vector<std::int64_t> planned = changes_by_service(judged.snapshot, judged.plan);
  for (std::size_t index = 0; index < judged.scenario.services.size(); ++index) {
    const ServiceSpec& spec = judged.scenario.services[index];
    if (!spec.changes_per_hour || planned[index] == 0) continue;
    const std::int64_t before = changes_in_hour(judged.snapshot.services[index], judged.acts_at);
    if (before + planned[index] <= *spec.changes_per_hour) continue;
    const std::string name = service_label(judged.scenario, {static_cast<std::uint32_t>(index)});
    return fmt::format("{}: wanted at most {} changes per hour ({}.changes_per_hour), found {} and {} of the plan",
                       name, *spec.changes_per_hour, name, before, planned[index]);
  }
  return std::nullopt;
}

// ---- floors

std::vector<double> planned_rates(const Scenario& scenario, const FleetAfter& fleet, PointRates& rates) {
  std::vector<double> sums(scenario.services.size(), 0.0);
  for (const auto& [slice, after] : fleet.slices()) {
    if (after.holding.role != Role::kInference) continue;
    for (const ServiceId service : after.holding.services) {
      if (!spec_of(scenario, service).floor_attainment) continue;
      sums[service.index] +=
          rates.of(service, slice, after.point).value_or(0) / static_cast<double>(after.holding.services.size());
    }
  }
  return sums;
}

Breach breach_of_floor_figures(const Scenario& scenario, ServiceId service, const PlannedFloor* stated,
                               double planned) {
  if (stated == nullptr) {
    const std::string name = service_label(scenario, service);
    return fmt::format("{}: wanted the capacity that the plan counts on ({}.floor), found none", name, name);
  }
  if (!std::isfinite(stated->needed) || stated->needed < 0) {
    const std::string name = service_label(scenario, service);
    return fmt::format("{}: wanted the needed rate as a finite number, 0 or more ({}.floor), found {}", name, name,
                       stated->needed);
  }
  if (std::abs(stated->planned - planned) <= kRateTolerance * std::max(1.0, planned)) return std::nullopt;
  const std::string name = service_label(scenario, service);
  return fmt::format(
      "{}: wanted the capacity of its slices, {} requests per second ({}.floor), found that the plan "
      "counts on {}",
      name, planned, name, stated->planned);
}

double seconds_of(Instant at) { return (at - Instant()).to_seconds(); }

/// The latest end of all changes that began before a plan takes effect, not counting batches that drain; nothing if no
/// change is under way. The end is rounded up to whole seconds, as expectations are.
std::optional<Instant> latest_end_of_changes(const Judged& judged) {
  const bool is_any = std::ranges::any_of(judged.snapshot.slices, is_under_way);
  if (!is_any) return std::nullopt;
  const Micros destroy = longest_change_time(judged.scenario, ActionKind::kDestruction);
  const Micros create = longest_change_time(judged.scenario, ActionKind::kCreation);
  Micros start;
  for (const ServiceSpec& service : judged.scenario.services)
    start = std::max(start, start_time(judged.scenario, service));
  return judged.acts_at + destroy + create + judged.scenario.changes.plumbing + start + Micros::seconds(1);
}

/// What is wrong with a plan's reason for unmet floors, judged by the scenario and the snapshot alone.
class UnmetFloorsJudge {
 public:
  UnmetFloorsJudge(const Judged& judged, const std::set<ServiceId>& unmet) : judged_(judged), unmet_(unmet) {}

  Breach operator()(const ProvenConflict& conflict) const {
    const std::vector<ConstraintId> known = constraints_of(judged_.scenario);
    bool has_unmet = false;
    for (const ConstraintId& id : conflict.constraints) {
      if (std::ranges::find(known, id) == known.end()) {
        return fmt::format("conflict: wanted constraints of the scenario, found {}", shown(id));
      }
      has_unmet = has_unmet || (id.kind == ConstraintKind::kFloor && unmet_.contains(*id.service));
    }
    if (has_unmet) return std::nullopt;
    return std::string("found a conflict of constraints all of which the plan keeps");
  }

  Breach operator()(const ChangeUnderWay& change) const {
    const auto latest = latest_end_of_changes(judged_);
    if (!latest) return std::string("found no change under way that the plan could wait for");
    if (change.until > judged_.acts_at && change.until <= *latest) return std::nullopt;
    return fmt::format("wanted the end of the changes under way, after {} s and by {} s, found {} s",
                       seconds_of(judged_.acts_at), seconds_of(*latest), seconds_of(change.until));
  }

  Breach operator()(const FloorsNotDecided&) const { return std::nullopt; }

 private:
  [[nodiscard]] std::string shown(const ConstraintId& id) const {
    if (id.service && id.service->index >= judged_.scenario.services.size()) {
      return fmt::format("one of service {}", id.service->index);
    }
    return constraint_name(judged_.scenario, id);
  }

  const Judged& judged_;
  const std::set<ServiceId>& unmet_;
};

/// The constraints that every plan must keep, even one that leaves a floor unmet.
Breach hard_breach(const Judged& judged, const FleetAfter& fleet, PointRates& rates) {
  const std::map<Slice, ServiceId> owners = pin_owners(judged.scenario);
  if (Breach breach = breach_of_pinned_actions(judged, owners)) return breach;
  if (Breach breach = breach_of_pins(judged, fleet, owners)) return breach;
  if (Breach breach = breach_of_tiers(judged)) return breach;
  if (Breach breach = find_limit_breach(judged.scenario, judged.snapshot, fleet)) return breach;
  for (const GpuId gpu : judged_gpus(judged)) {
    if (Breach breach = breach_on_gpu(judged.scenario, fleet, gpu)) return breach;
  }
  if (Breach breach = breach_of_points(judged, rates)) return breach;
  return breach_of_budgets(judged);
}

/// Whether another plan would meet all floors in place of the one that is judged.
bool can_all_floors_be_met(const Judged& judged, PointRates& rates) {
  const Scenario& scenario = judged.scenario;
  Plan counter = propose_counter_plan(scenario, judged.snapshot, judged.plan.floors);
  if (counter.actions.empty()) return false;
  counter.base_version = judged.snapshot.version;
  if (find_objection(scenario, judged.snapshot, counter, judged.acts_at)) return false;
  const Judged other{.scenario = scenario, .snapshot = judged.snapshot, .plan = counter, .acts_at = judged.acts_at};
  const FleetAfter fleet = fleet_after(other);
  if (hard_breach(other, fleet, rates)) return false;
  const std::vector<double> planned = planned_rates(scenario, fleet, rates);
  return std::ranges::all_of(judged.plan.floors,
                             [&](const PlannedFloor& floor) { return planned[floor.service.index] >= floor.needed; });
}

Breach breach_of_floors(const Judged& judged, const FleetAfter& fleet, PointRates& rates) {
  const Scenario& scenario = judged.scenario;
  const std::vector<double> planned = planned_rates(scenario, fleet, rates);
  std::set<ServiceId> unmet;
  std::string wanted;  // of the first one that is unmet
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    if (!scenario.services[index].floor_attainment) continue;
    const auto stated = std::ranges::find(judged.plan.floors, ServiceId{index}, &PlannedFloor::service);
    const PlannedFloor* floor = stated == judged.plan.floors.end() ? nullptr : &*stated;
    if (Breach breach = breach_of_floor_figures(scenario, {index}, floor, planned[index])) return breach;
    if (planned[index] >= floor->needed * (1 - kRateTolerance)) continue;
    unmet.insert({index});
    if (!wanted.empty()) continue;
    const std::string name = service_label(scenario, {index});
    wanted = fmt::format("{}: wanted {} requests per second ({}.floor), found slices for {}", name, floor->needed, name,
                         planned[index]);
  }
  if (unmet.empty()) return std::nullopt;
  if (!judged.plan.unmet_floors) return wanted;
  if (Breach breach = std::visit(UnmetFloorsJudge(judged, unmet), *judged.plan.unmet_floors)) {
    return wanted + "; " + *breach;
  }
  // Without a first layout the fleet would stay empty: an incomplete layout is better than none.
  const bool may_be_bettered =
      judged.snapshot.is_before_first_layout() && std::holds_alternative<FloorsNotDecided>(*judged.plan.unmet_floors);
  if (may_be_bettered) return std::nullopt;
  if (can_all_floors_be_met(judged, rates)) return wanted + ", though another plan meets all floors";
  return std::nullopt;
}

}  // namespace

double worst_interference(const Scenario& scenario) {
  double worst = 1;
  for (const Decimal& factor : scenario.interference) worst = std::max(worst, factor.to_double());
  return worst;
}

std::optional<std::string> find_breach(const Scenario& scenario, const Snapshot& snapshot, const Plan& plan,
                                       Instant acts_at) {
  if (plan.actions.empty()) return std::nullopt;
  const Judged judged{.scenario = scenario, .snapshot = snapshot, .plan = plan, .acts_at = acts_at};
  const FleetAfter fleet = fleet_after(judged);
  PointRates rates(scenario);
  if (Breach breach = hard_breach(judged, fleet, rates)) return breach;
  return breach_of_floors(judged, fleet, rates);
}

}  // namespace berth
