#include "engine/loop/tier_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/sort_stably.h"
#include "domain/values/frozen.h"
#include "engine/loop/minute_rates.h"
#include "planner/window/frame.h"

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

  /// Destroys what is not needed.
  void release(Plan& plan) const {
    const bool is_settled = std::ranges::all_of(
        slices_, [](const OwnSlice& slice) { return slice.standing->is_ready && slice.is_allowed; });
    if (!is_settled || spec_.floor_attainment || spec_.changes_per_hour) return;
    const std::vector<double> loads = rates();
    const double needed = kKeptCapacity * *std::ranges::max_element(loads);
    double left = ready_rate();
    std::vector<OwnSlice> by_price = slices_;
    sort_stably(by_price, &OwnSlice::usd, std::greater<>());
    std::size_t count = by_price.size();
    for (const OwnSlice& slice : by_price) {
      if (count == 1 || slice.standing->holding.role != Role::kInference || left - slice.rate < needed) continue;
      left -= slice.rate;
      --count;
      add(slice,
          fmt::format("the other slices of {} carry {:.4g} requests per second, {:.3g} x its highest load of a minute",
                      service_label(scenario_, service_), left, left / std::max(1e-9, needed / kKeptCapacity)),
          plan);
    }
  }

 private:
  void add(const StandingSlice& standing) {
    const FleetEntry& entry = scenario_.entry_of(standing.holding.slice.gpu);
    const ProfileId profile = standing.holding.slice.profile;
    OwnSlice slice{.standing = &standing, .rate = 0, .usd = 0, .is_allowed = spec_.tier.allows(entry.model.name)};
    if (standing.holding.role == Role::kInference && slice.is_allowed) {
      slice.rate = planner::planned_rate(scenario_, spec_, entry.model, profile);
    }
    slice.usd = entry.usd_per_gpu_hour.value_or(Decimal()).to_double() * profile_sms(entry.model, profile) /
                std::max(1, entry.model.sms);
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
    if (is_time && spec.tier.is_auto) slices.release(plan);
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
