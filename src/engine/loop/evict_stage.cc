#include "engine/loop/evict_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "domain/values/frozen.h"
#include "planner/window/frame.h"

namespace berth {
namespace {

bool is_pinned_to(const ServiceSpec& spec, const Slice& slice) {
  return std::ranges::find(spec.pins, slice, &Pin::slice) != spec.pins.end();
}

/// Where a service can be served with one spec; computed on demand.
class ServingPlaces {
 public:
  explicit ServingPlaces(std::uint64_t revision) : revision_(revision) {}

  [[nodiscard]] std::uint64_t revision() const { return revision_; }

  [[nodiscard]] bool has(const Scenario& scenario, const ServiceSpec& spec, const GpuModel& model, ProfileId profile) {
    const auto [known, is_new] = places_.try_emplace({&model, profile}, false);
    if (is_new) known->second = planner::can_serve(scenario, spec, model, profile);
    return known->second;
  }

  [[nodiscard]] bool has_any(const Scenario& scenario, const ServiceSpec& spec) {
    if (!has_any_) {
      has_any_ = std::ranges::any_of(scenario.fleet, [&](const FleetEntry& entry) {
        if (has(scenario, spec, entry.model, ProfileId::full())) return true;
        for (std::size_t index = 0; index < entry.model.profiles.size(); ++index) {
          if (has(scenario, spec, entry.model, {static_cast<std::uint16_t>(index)})) return true;
        }
        return false;
      });
    }
    return *has_any_;
  }

 private:
  std::uint64_t revision_;
  std::map<std::pair<const GpuModel*, ProfileId>, bool> places_;
  std::optional<bool> has_any_;
};

/// What to do with a slice.
struct Eviction {
  std::set<ServiceId> services;  ///< that lose it
  std::string why;               ///< for the first of them
};

/// Its state is a cache that follows from the snapshot and the scenario, so it is not saved.
class Evictor {
 public:
  explicit Evictor(const Scenario& scenario) : scenario_(scenario) {}

  StageAnswer ask(const Snapshot& snapshot, Plan& plan) {
    if (snapshot.is_before_first_layout()) return Settled{};
    if (is_frozen(scenario_, snapshot.takes_effect_at(scenario_.planning))) return Settled{};
    const std::pair versions(snapshot.layout_version, snapshot.specs_version);
    if (versions == idle_at_ && (!wakes_at_ || snapshot.now < *wakes_at_)) return Settled{};
    wakes_at_.reset();
    const bool is_idle = !add_evictions(snapshot, plan);
    idle_at_ = is_idle ? std::optional(versions) : std::nullopt;
    return Settled{};
  }

 private:
  using Slices = std::vector<const StandingSlice*>;

  /// Returns whether there is something to do.
  bool add_evictions(const Snapshot& snapshot, Plan& plan) {
    bool has_any = false;
    Slices on_gpu;
    const auto settle_gpu = [&] {
      for (const StandingSlice* standing : on_gpu) {
        const Eviction eviction = find_eviction(snapshot, *standing, on_gpu);
        if (eviction.services.empty()) continue;
        has_any = true;
        add(*standing, eviction, plan);
      }
      on_gpu.clear();
    };
    for (const StandingSlice& standing : snapshot.staying()) {
      if (standing.is_foreign || standing.holding.services.empty() || snapshot.is_orphan(standing)) continue;
      if (!on_gpu.empty() && on_gpu.front()->holding.slice.gpu != standing.holding.slice.gpu) settle_gpu();
      on_gpu.push_back(&standing);
    }
    settle_gpu();
    return has_any;
  }

  Eviction find_eviction(const Snapshot& snapshot, const StandingSlice& standing, const Slices& on_gpu) {
    Eviction eviction;
    for (const ServiceId service : standing.holding.services) {
      if (snapshot.services[service.index].revision == 0 || is_pinned_to(spec(service), standing.holding.slice))
        continue;
      auto why = find_unwelcome_neighbour(snapshot, service, on_gpu);
      if (!why) why = find_uselessness(snapshot, standing, service);
      if (!why) continue;
      if (eviction.services.empty()) eviction.why = std::move(*why);
      eviction.services.insert(service);
    }
    return eviction;
  }

  [[nodiscard]] std::optional<std::string> find_unwelcome_neighbour(const Snapshot& snapshot, ServiceId service,
                                                                    const Slices& on_gpu) const {
    for (const StandingSlice* standing : on_gpu) {
      for (const ServiceId other : standing->holding.services) {
        const bool was_set_last = set_revision(snapshot.services[service.index].revision) >
                                  set_revision(snapshot.services[other.index].revision);
        if (other == service || !was_set_last || may_share_gpu(spec(service), spec(other))) continue;
        return fmt::format("{} and {} may not share a GPU", service_label(scenario_, service),
                           service_label(scenario_, other));
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> find_uselessness(const Snapshot& snapshot, const StandingSlice& standing,
                                              ServiceId service) {
    const GpuModel& model = scenario_.model_of(standing.holding.slice.gpu);
    if (standing.holding.role != Role::kInference && spec(service).tier.allows(model.name)) return std::nullopt;
    const ServiceState& state = snapshot.services[service.index];
    ServingPlaces& places = places_of(service, state.revision);
    const ProfileId profile = standing.holding.slice.profile;
    if (places.has(scenario_, spec(service), model, profile)) return std::nullopt;
    const Instant leaves_at = state.revised_at + kUselessAtMost;
    if (snapshot.now < leaves_at && places.has_any(scenario_, spec(service))) {
      wakes_at_ = wakes_at_ ? std::min(*wakes_at_, leaves_at) : leaves_at;
      return std::nullopt;
    }
    return fmt::format("{} on {} cannot serve {} any more", profile_name(model, profile), model.name,
                       service_label(scenario_, service));
  }

  static void add(const StandingSlice& standing, const Eviction& eviction, Plan& plan) {
    const Slice& slice = standing.holding.slice;
    const bool is_changed =
        std::ranges::any_of(plan.actions, [&](const Action& action) { return slice_of(action.what) == slice; });
    if (is_changed) return;
    plan.is_ordered = true;
    const Reason reason{.text = eviction.why, .numbers = {}};
    Holding rest = standing.holding;
    std::erase_if(rest.services, [&](ServiceId service) { return eviction.services.contains(service); });
    if (rest.services.empty()) {
      plan.actions.push_back({.what = DestroySlice{slice}, .reason = reason});
    } else {
      plan.actions.push_back(
          {.what = AssignSlice{.holding = std::move(rest), .point = standing.point}, .reason = reason});
    }
  }

  [[nodiscard]] const ServiceSpec& spec(ServiceId service) const { return scenario_.services[service.index]; }

  ServingPlaces& places_of(ServiceId service, std::uint64_t revision) {
    const auto [known, is_new] = places_.try_emplace(service, revision);
    if (known->second.revision() != revision) known->second = ServingPlaces(revision);
    return known->second;
  }

  const Scenario& scenario_;
  std::map<ServiceId, ServingPlaces> places_;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> idle_at_;  ///< layout and specs without anything to do
  std::optional<Instant> wakes_at_;                                 ///< when there will be something even so
};

}  // namespace

Stage evict_stage(const Scenario& scenario) {
  return {.name = "evict",
          .observe = {},
          .ask = [evictor = std::make_shared<Evictor>(scenario)](const Snapshot& snapshot,
                                                                 Plan& plan) { return evictor->ask(snapshot, plan); },
          .learn = {}};
}

}  // namespace berth
