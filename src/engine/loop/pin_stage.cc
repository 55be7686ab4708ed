#include "engine/loop/pin_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/mig/geometry.h"
#include "domain/profile/operating_point.h"
#include "domain/values/frozen.h"
#include "domain/values/gpu_name.h"
#include "engine/loop/restore_stage.h"

namespace berth {
namespace {

/// Whether two slices of a GPU exclude each other, regardless of other slices.
bool clash(const GpuModel& model, const Slice& a, const Slice& b) {
  if (a.profile.is_full() || b.profile.is_full()) return true;
  mig::State both{{.start = a.start, .profile = a.profile}, {.start = b.start, .profile = b.profile}};
  std::ranges::sort(both);
  return mig::find_clash(model, both).has_value();
}

/// Makes one pin on its GPU, with the actions that clear space for it.
class PinMaker {
 public:
  PinMaker(const Scenario& scenario, const Snapshot& snapshot, ServiceId owner, const Slice& slice)
      : scenario_(scenario), snapshot_(snapshot), owner_(owner), slice_(slice) {}

  [[nodiscard]] bool is_held() const {
    return std::ranges::any_of(snapshot_.slices_at(slice_), [&](const StandingSlice& standing) {
      return !standing.is_leaving && standing.holding.services == std::vector{owner_} && is_used_well(standing);
    });
  }

  /// Adds the actions, or nothing if the pin cannot be made now.
  void make(Plan& plan) const {
    const ActionFailures failures = snapshot_.gpu_state(slice_.gpu).failures;
    if (!snapshot_.is_open(slice_.gpu) || snapshot_.now < failures.latest + wait_after(failures)) return;
    const auto holding = wanted();
    if (!holding) return;
    std::vector<Slice> in_the_way;
    bool stands = false;
    for (const StandingSlice& standing : snapshot_.slices_on(slice_.gpu)) {
      if (standing.is_leaving) continue;
      if (standing.holding.slice == slice_ && !standing.is_foreign) {
        stands = true;
      } else if (is_in_the_way(standing)) {
        if (standing.is_foreign || is_pinned(standing)) return;
        in_the_way.push_back(standing.holding.slice);
      }
    }
    plan.is_ordered = true;
    const auto add = [&](SliceChange what) { plan.actions.push_back({.what = std::move(what), .reason = reason()}); };
    for (const Slice& slice : in_the_way) add(DestroySlice{slice});
    if (!stands) add(CreateSlice{slice_});
    add(*holding);
  }

 private:
  [[nodiscard]] const ServiceSpec& spec() const { return scenario_.services[owner_.index]; }

  /// Whether the owner's use of the slice is allowed by its spec: a later spec may no longer retrain, or have another
  /// target or profile.
  [[nodiscard]] bool is_used_well(const StandingSlice& standing) const {
    if (snapshot_.services[owner_.index].revision == 0) return true;  // as the first layout has it
    if (standing.holding.role == Role::kRetraining && spec().retraining) return true;
    const auto point = profile::point_for(spec(), scenario_.model_of(slice_.gpu), slice_.profile, standing.point);
    const bool serves = point && point->latency_ms <= spec().target_ms;
    if (standing.holding.role == Role::kInference && serves) return true;
    const auto better = wanted();
    return !better || (better->holding == standing.holding && better->point == standing.point);
  }

  [[nodiscard]] bool is_in_the_way(const StandingSlice& standing) const {
    if (clash(scenario_.model_of(slice_.gpu), slice_, standing.holding.slice)) return true;
    return std::ranges::any_of(standing.holding.services, [&](ServiceId service) {
      return service != owner_ && !may_share_gpu(spec(), scenario_.services[service.index]);
    });
  }

  [[nodiscard]] bool is_pinned(const StandingSlice& standing) const {
    return std::ranges::any_of(standing.holding.services, [&](ServiceId service) {
      return std::ranges::find(scenario_.services[service.index].pins, standing.holding.slice, &Pin::slice) !=
             scenario_.services[service.index].pins.end();
    });
  }

  /// The owner's use of the slice: it serves with the first variant that has a default point, or else at the quickest
  /// point within the target (then requests can hardly wait), or else retrains.
  [[nodiscard]] std::optional<AssignSlice> wanted() const {
    const GpuModel& model = scenario_.model_of(slice_.gpu);
    AssignSlice wanted{.holding = {.slice = slice_, .role = Role::kInference, .services = {owner_}},
                       .point = std::nullopt};
    if (profile::choose_point(spec(), model, slice_.profile, 0)) return wanted;
    for (int variant = 1; variant <= static_cast<int>(spec().variants.size()); ++variant) {
      const auto point = profile::choose_point(spec(), model, slice_.profile, variant);
      if (!point) continue;
      wanted.point = PointChoice{.variant = variant, .batch = point->batch, .processes = point->processes};
      return wanted;
    }
    if (const auto quickest = quickest_point()) {
      wanted.point = quickest;
      return wanted;
    }
    if (!spec().retraining || !retraining_time_on(*spec().retraining, model, slice_.profile)) return std::nullopt;
    wanted.holding.role = Role::kRetraining;
    return wanted;
  }

  /// The quickest of the points with which a pin can be met (engine/loop/static_conflict.h).
  [[nodiscard]] std::optional<PointChoice> quickest_point() const {
    std::optional<PointChoice> quickest;
    Decimal latency_ms = spec().target_ms;
    const auto look_at = [&](const PerformanceTable& table, int variant) {
      for (const PerformancePoint& point : profile::points_on(table, scenario_.model_of(slice_.gpu), slice_.profile)) {
        if (point.processes > spec().batching.processes_max || point.latency_ms > latency_ms) continue;
        if (quickest && point.latency_ms == latency_ms) continue;
        quickest = PointChoice{.variant = variant, .batch = point.batch, .processes = point.processes};
        latency_ms = point.latency_ms;
      }
    };
    look_at(spec().table, 0);
    for (std::size_t i = 0; i < spec().variants.size(); ++i) look_at(spec().variants[i].table, static_cast<int>(i) + 1);
    return quickest;
  }

  [[nodiscard]] Reason reason() const {
    return {.text = fmt::format("{} has a slice that is pinned to {}", gpu_name(slice_.gpu),
                                service_label(scenario_, owner_)),
            .numbers = {}};
  }

  const Scenario& scenario_;
  const Snapshot& snapshot_;
  ServiceId owner_;
  Slice slice_;
};

StageAnswer ask(const Scenario& scenario, const Snapshot& snapshot, Plan& plan) {
  if (snapshot.is_before_first_layout() || !plan.actions.empty()) return Settled{};
  if (is_frozen(scenario, snapshot.takes_effect_at(scenario.planning))) return Settled{};
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    if (scenario.services[index].is_absent) continue;
    for (const Pin& pin : scenario.services[index].pins) {
      const bool has_actions = std::ranges::any_of(
          plan.actions, [&](const Action& action) { return slice_of(action.what).gpu == pin.slice.gpu; });
      if (has_actions) continue;  // one pin per GPU at a time
      const PinMaker maker(scenario, snapshot, {index}, pin.slice);
      if (!maker.is_held()) maker.make(plan);
    }
  }
  return Settled{};
}

}  // namespace

Stage pin_stage(const Scenario& scenario) {
  return {.name = "pin",
          .observe = {},
          .ask = [&scenario](const Snapshot& snapshot, Plan& plan) { return ask(scenario, snapshot, plan); },
          .learn = {}};
}

}  // namespace berth
