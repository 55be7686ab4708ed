#include "engine/loop/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <variant>
#include <vector>

#include "domain/mig/geometry.h"
#include "domain/values/frozen.h"
#include "domain/values/gpu_name.h"
#include "engine/loop/facts.h"
#include "engine/loop/fleet_after.h"

namespace berth {
namespace {

std::string slice_shown(const Scenario& scenario, const Slice& slice) {
  return fmt::format("{}@{} on {}", profile_name(scenario.model_of(slice.gpu), slice.profile), slice.start,
                     gpu_name(slice.gpu));
}

bool is_known(const Scenario& scenario, const Slice& slice) {
  if (slice.gpu.index >= scenario.gpu_count()) return false;
  return slice.profile.is_full() || slice.profile.index < scenario.model_of(slice.gpu).profiles.size();
}

std::optional<std::string> find_clash_on(const Scenario& scenario, GpuId gpu, const std::vector<Slice>& slices) {
  const GpuModel& model = scenario.model_of(gpu);
  mig::State state;
  for (const Slice& slice : slices) {
    if (slice.profile.is_full()) {
      if (slices.size() > 1 || slice.start != 0) {
        return fmt::format("{} must be the only slice of its GPU, at start 0", slice_shown(scenario, slice));
      }
      return std::nullopt;
    }
    state.push_back({.start = slice.start, .profile = slice.profile});
  }
  std::sort(state.begin(), state.end());
  if (const auto clash = mig::find_clash(model, state)) return fmt::format("{}: {}", gpu_name(gpu), *clash);
  return std::nullopt;
}

std::optional<std::string> check_holding(const Scenario& scenario, const Holding& holding) {
  for (const ServiceId service : holding.services) {
    const bool is_known = service.index < scenario.services.size() && !scenario.services[service.index].is_absent;
    if (!is_known) return fmt::format("service {} does not exist", service.index);
  }
  const auto is_not_before = [](ServiceId first, ServiceId second) { return first >= second; };
  if (std::ranges::adjacent_find(holding.services, is_not_before) != holding.services.end()) {
    return std::string("holders are not in order");
  }
  const bool is_one = holding.services.size() == 1;
  if (!is_one && holding.role == Role::kRetraining) return std::string("a retraining slice has one holder");
  return std::nullopt;
}

/// Whether an action only destroys a slice or takes it from some of its holders.
bool only_takes(const Snapshot& snapshot, const Action& action) {
  if (std::holds_alternative<DestroySlice>(action.what)) return true;
  const auto* assign = std::get_if<AssignSlice>(&action.what);
  if (assign == nullptr) return false;
  const std::vector<ServiceId>& after = assign->holding.services;
  return std::ranges::any_of(snapshot.slices_at(assign->holding.slice), [&](const StandingSlice& standing) {
    const std::vector<ServiceId>& before = standing.holding.services;
    return !standing.is_leaving && after.size() < before.size() && std::ranges::includes(before, after);
  });
}

/// Why an action may not begin on its GPU: it is lost or cordoned. A draining GPU may only lose slices; on a cordoned
/// one only the slices of removed services may be cleared.
std::optional<std::string> find_closed(const Snapshot& snapshot, const Plan& plan, const Action& action) {
  const GpuId gpu = slice_of(action.what).gpu;
  if (snapshot.is_open(gpu)) return std::nullopt;
  const GpuState state = snapshot.gpu_state(gpu);
  if (state.health == GpuHealth::kLost) return fmt::format("{} is lost", gpu_name(gpu));
  if (state.scheduling == GpuScheduling::kAbsent) return fmt::format("{} is not rented", gpu_name(gpu));
  if (state.scheduling == GpuScheduling::kOrdered) return fmt::format("{} is ordered and not there yet", gpu_name(gpu));
  const bool is_clearing = plan.is_ordered && only_takes(snapshot, action);
  if (state.scheduling == GpuScheduling::kCordoned && is_clearing) return std::nullopt;
  if (state.scheduling == GpuScheduling::kCordoned) return fmt::format("{} is cordoned", gpu_name(gpu));
  if (std::holds_alternative<DestroySlice>(action.what)) return std::nullopt;
  return fmt::format("{} is draining", gpu_name(gpu));
}

/// Why the plan may not order or release its GPUs.
std::optional<std::string> find_wrong_order(const Scenario& scenario, const Snapshot& snapshot, const Plan& plan) {
  if (plan.gpu_orders.empty()) return std::nullopt;
  if (!scenario.provision_seconds) return std::string("the fleet is constant: no GPU can be ordered or released");
  std::set<GpuId> seen;
  for (const GpuOrder& order : plan.gpu_orders) {
    if (order.gpu.index >= scenario.gpu_count()) return fmt::format("{} does not exist", gpu_name(order.gpu));
    if (!seen.insert(order.gpu).second) return fmt::format("{} is ordered or released twice", gpu_name(order.gpu));
    const GpuScheduling scheduling = snapshot.gpu_state(order.gpu).scheduling;
    if (!order.is_release && scheduling != GpuScheduling::kAbsent) {
      return fmt::format("{} is rented already", gpu_name(order.gpu));
    }
    if (order.is_release && scheduling != GpuScheduling::kOpen && scheduling != GpuScheduling::kOrdered) {
      return fmt::format("{} is not open and cannot be released", gpu_name(order.gpu));
    }
  }
  // A plan that releases a GPU may empty it, but not change it otherwise.
  const auto changes = [&](const Action& action) {
    return !std::holds_alternative<DestroySlice>(action.what) && seen.contains(slice_of(action.what).gpu);
  };
  const auto action = std::ranges::find_if(plan.actions, changes);
  if (action == plan.actions.end()) return std::nullopt;
  return fmt::format("{} is ordered or released, and changed by the same plan", gpu_name(slice_of(action->what).gpu));
}

/// Whether the slice at that place is foreign.
bool is_foreign(const Snapshot& snapshot, const Slice& slice) {
  return std::ranges::any_of(snapshot.slices_at(slice), &StandingSlice::is_foreign);
}

/// Applies one action to the fleet, or returns why it cannot be applied.
std::optional<std::string> check_action(const Scenario& scenario, const Snapshot& snapshot, const Plan& plan,
                                        const Action& action, FleetAfter& fleet) {
  const Slice& slice = slice_of(action.what);
  const bool creates = std::holds_alternative<CreateSlice>(action.what);
  if (auto closed = find_closed(snapshot, plan, action)) return closed;
  if (creates && !is_known(scenario, slice)) {
    return fmt::format("{} or its profile does not exist", gpu_name(slice.gpu));
  }
  if (creates && slice.profile.is_full() && !scenario.model_of(slice.gpu).has_full) {
    return slice_shown(scenario, slice) + " cannot be used: MIG partitions the GPU";
  }
  if (!creates && is_foreign(snapshot, slice)) return slice_shown(scenario, slice) + " was made by others";
  if (!fleet.apply(action)) {
    if (creates) return slice_shown(scenario, slice) + " exists already";
    return fmt::format("a slice to {} does not exist",
                       std::holds_alternative<DestroySlice>(action.what) ? "destroy" : "assign");
  }
  const auto* assign = std::get_if<AssignSlice>(&action.what);
  return assign == nullptr ? std::nullopt : check_holding(scenario, assign->holding);
}

}  // namespace

std::optional<std::string> find_objection(const Scenario& scenario, const Snapshot& snapshot, const Plan& plan,
                                          Instant acts_at) {
  if (auto wrong = find_wrong_order(scenario, snapshot, plan)) return wrong;
  if (plan.actions.empty()) return std::nullopt;
  for (const GpuFact& fact : plan.facts) {
    if (auto broken = find_broken_fact(scenario, snapshot, fact)) return broken;
  }
  const bool is_first_layout = snapshot.is_before_first_layout();
  if (!is_first_layout && is_frozen(scenario, acts_at)) return std::string(kFrozenObjection);

  FleetAfter fleet(snapshot, plan);
  std::set<GpuId> touched;
  for (const Action& action : plan.actions) {
    if (auto objection = check_action(scenario, snapshot, plan, action, fleet)) return objection;
    if (std::holds_alternative<CreateSlice>(action.what)) touched.insert(slice_of(action.what).gpu);
  }
  for (const GpuId gpu : touched) {
    if (auto clash = find_clash_on(scenario, gpu, fleet.slices_on(gpu))) return clash;
  }
  return std::nullopt;
}

}  // namespace berth
