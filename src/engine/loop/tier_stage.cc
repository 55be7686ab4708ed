#include "engine/loop/tier_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/sort_stably.h"
#include "domain/values/frozen.h"
#include "domain/values/gpu_name.h"
#include "engine/loop/cheaper_slices.h"
#include "engine/loop/minute_rates.h"
#include "planner/window/frame.h"
#include "tier/enforce/choose_tier.h"

namespace berth {
namespace {

/// A slice that one service holds alone.
struct OwnSlice {
  const StandingSlice* standing = nullptr;
  double rate = 0;  ///< requests per second
  double usd = 0;   ///< per hour
  bool is_allowed = true;
};

class TierSlices {
 public:
  TierSlices(const Scenario& scenario, const Snapshot& snapshot, ServiceId service)
      : scenario_(scenario), snapshot_(snapshot), service_(service), spec_(scenario.services[service.index]) {
    for (const StandingSlice& standing : snapshot.staying()) {
      if (standing.holding.services == std::vector{service}) add(standing);
    }
  }

  /// Destroys what is on other models.
  void leave_models(Plan& plan) const {
    if (std::ranges::none_of(slices_, std::logical_not<>(), &OwnSlice::is_allowed)) return;
    const bool is_over = snapshot_.now >= snapshot_.services[service_.index].revised_at + kLeftAtMost;
    if (!is_over && ready_rate() < rates().back()) return;
    for (const OwnSlice& slice : slices_) {
      if (slice.is_allowed) continue;
      add(slice, fmt::format("{} is on {} now", service_label(scenario_, service_), spec_.tier.gpu), plan);
    }
  }

  /// Whether slices may be given back or replaced: all are ready on the chosen model, and nothing else counts them.
  [[nodiscard]] bool is_settled() const {
    if (spec_.floor_attainment || spec_.changes_per_hour) return false;
    return std::ranges::all_of(slices_,
                               [](const OwnSlice& slice) { return slice.standing->is_ready && slice.is_allowed; });
  }

  /// Destroys what is not needed. Returns whether there was something.
  bool release(Plan& plan) const {
    const double needed = needed_rate();
    double left = ready_rate();
    std::vector<OwnSlice> by_price = slices_;
    sort_stably(by_price, &OwnSlice::usd, std::greater<>());
    std::size_t count = by_price.size();
    const std::size_t before = plan.actions.size();
    for (const OwnSlice& slice : by_price) {
      if (count == 1 || slice.standing->holding.role != Role::kInference || left - slice.rate < needed) continue;
      left -= slice.rate;
      --count;
      add(slice,
          fmt::format("the other slices of {} carry {:.4g} requests per second, {:.3g} x its highest load of a minute",
                      service_label(scenario_, service_), left, left / std::max(1e-9, needed / kKeptCapacity)),
          plan);
    }
    return plan.actions.size() > before;
  }

  /// Creates cheaper slices with which the most expensive one is not needed any more: later it is released.
  void replace(Plan& plan) const {
    if (slices_.empty() || spec_.running.replicas || is_predicted()) return;
    const OwnSlice& dearest = *std::ranges::max_element(slices_, {}, &OwnSlice::usd);
    if (dearest.standing->holding.role != Role::kInference) return;
    const double missing = std::max(0.0, needed_rate() - (ready_rate() - dearest.rate));
    const FleetEntry& entry = scenario_.entry_of(dearest.standing->holding.slice.gpu);
    const std::vector<PricedProfile> offers = priced_profiles(scenario_, spec_, entry);
    for (const auto& profiles : sets_for(offers, missing, dearest.usd * (1 - tier::kSavingShare))) {
      const auto places = free_places(scenario_, snapshot_, plan, service_, spec_.tier.gpu, profiles);
      if (!places) continue;
      for (const Slice& place : *places) create(place, *dearest.standing, plan);
      return;
    }
  }

 private:
  [[nodiscard]] bool is_predicted() const {
    return std::ranges::find(spec_.tier.predicted_on, spec_.tier.gpu) != spec_.tier.predicted_on.end();
  }

  void create(const Slice& place, const StandingSlice& dearest, Plan& plan) const {
    const GpuModel& model = scenario_.model_of(place.gpu);
    const Reason reason{
        .text = fmt::format("cheaper slices of {} carry {:.3g} x its highest load of a minute without {} of {}",
                            service_label(scenario_, service_), kKeptCapacity,
                            profile_name(model, dearest.holding.slice.profile), gpu_name(dearest.holding.slice.gpu)),
        .numbers = {}};
    plan.is_ordered = true;
    plan.actions.push_back({.what = CreateSlice{place}, .reason = reason});
    const Holding holding{.slice = place, .role = Role::kInference, .services = {service_}};
    const auto point = planner::planned_point(scenario_, spec_, model, place.profile);
    plan.actions.push_back({.what = AssignSlice{.holding = holding, .point = point}, .reason = reason});
  }

  /// The capacity that is kept.
  [[nodiscard]] double needed_rate() const {
    const std::vector<double> loads = rates();
    return kKeptCapacity * *std::ranges::max_element(loads);
  }

  void add(const StandingSlice& standing) {
    const FleetEntry& entry = scenario_.entry_of(standing.holding.slice.gpu);
    const ProfileId profile = standing.holding.slice.profile;
    OwnSlice slice{.standing = &standing, .rate = 0, .usd = 0, .is_allowed = spec_.tier.allows(entry.model.name)};
    if (standing.holding.role == Role::kInference && slice.is_allowed) {
      slice.rate = planner::planned_rate(scenario_, spec_, entry.model, profile);
    }
    slice.usd = slice_usd(entry, profile);
    slices_.push_back(slice);
  }

  [[nodiscard]] std::vector<double> rates() const {
    return minute_rates(snapshot_.services[service_.index], spec_, snapshot_.now);
  }

  [[nodiscard]] double ready_rate() const {
    double sum = 0;
    for (const OwnSlice& slice : slices_) {
      if (slice.standing->is_ready) sum += slice.rate;
    }
    return sum;
  }

  void add(const OwnSlice& slice, std::string why, Plan& plan) const {
    const Slice& place = slice.standing->holding.slice;
    const auto changes = [&](const Action& action) { return slice_of(action.what) == place; };
    if (slice.standing->is_foreign || std::ranges::any_of(plan.actions, changes) || !snapshot_.is_open(place.gpu))
      return;
    plan.is_ordered = true;
    plan.actions.push_back({.what = DestroySlice{place}, .reason = {.text = std::move(why), .numbers = {}}});
  }

  const Scenario& scenario_;
  const Snapshot& snapshot_;
  ServiceId service_;
  const ServiceSpec& spec_;
  std::vector<OwnSlice> slices_;
};

StageAnswer ask_tiers(const Scenario& scenario, const Snapshot& snapshot, Plan& plan) {
  if (snapshot.is_before_first_layout()) return Settled{};
  if (is_frozen(scenario, snapshot.takes_effect_at(scenario.planning))) return Settled{};
  const std::int64_t second = snapshot.now.second();
  const bool is_time = second > 0 && second % kReleaseSeconds == 0 && snapshot.now == Instant::at_second(second);
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const ServiceSpec& spec = scenario.services[index];
    const bool was_changed = snapshot.services[index].revision != set_revision(snapshot.services[index].revision);
    if (spec.is_absent || spec.tier.gpu.empty() || (!was_changed && !is_time)) continue;
    const TierSlices slices(scenario, snapshot, {index});
    slices.leave_models(plan);
    if (!is_time || !spec.tier.is_auto || !slices.is_settled()) continue;
    if (!slices.release(plan)) slices.replace(plan);
  }
  return Settled{};
}

}  // namespace

Stage tier_stage(const Scenario& scenario) {
  return {.name = "tier-slices",
          .observe = {},
          .ask = [&scenario](const Snapshot& snapshot, Plan& plan) { return ask_tiers(scenario, snapshot, plan); },
          .learn = {}};
}

}  // namespace berth
