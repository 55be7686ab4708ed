#include "engine/loop/drain_stage.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/core/archive.h"
#include "domain/values/frozen.h"
#include "engine/loop/restore_stage.h"

namespace berth {
namespace {

class Drains {
 public:
  Drains(const Scenario& scenario, bool has_planner) : scenario_(scenario), has_planner_(has_planner) {}

  StageAnswer ask(const Snapshot& snapshot, Plan& plan) const {
    if (is_frozen(scenario_, snapshot.takes_effect_at(scenario_.planning))) return Settled{};
    for (std::uint32_t gpu = 0; gpu < snapshot.gpus.size(); ++gpu) {
      if (snapshot.is_draining({gpu}) && is_time(snapshot, {gpu})) empty(snapshot, {gpu}, plan);
    }
    return Settled{};
  }

  void learn(const Solution& solution) {
    if (!solution.plan.is_ordered) planned_at_ = solution.plan.made_at;
  }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.planned_at_);
  }

 private:
  [[nodiscard]] bool is_time(const Snapshot& snapshot, GpuId gpu) const {
    const ActionFailures failures = snapshot.gpu_state(gpu).failures;
    if (snapshot.now < failures.latest + wait_after(failures)) return false;
    const Instant since = snapshot.gpu_state(gpu).scheduling_since;
    if (snapshot.now - since >= kDrainWaitMax) return true;
    if (has_planner_ && !(planned_at_ && *planned_at_ >= since)) return false;
    if (has_planner_ && *planned_at_ < latest_change(snapshot) && leaves_none(snapshot, gpu)) return false;
    return !has_others_on_their_way(snapshot, gpu);
  }

  /// When an action failed last, or a GPU was opened or closed: a plan of before does not know of it.
  static Instant latest_change(const Snapshot& snapshot) {
    Instant latest;
    for (const GpuState& gpu : snapshot.gpus) {
      latest = std::max({latest, gpu.failures.latest, gpu.scheduling_since});
    }
    return latest;
  }

  /// Whether a service with a program on the GPU has none that serves on a GPU that is not drained. Others have no
  /// requests that wait for real.
  [[nodiscard]] bool leaves_none(const Snapshot& snapshot, GpuId gpu) const {
    std::set<ServiceId> here;
    std::set<ServiceId> elsewhere;
    for (const StandingSlice& standing : snapshot.staying()) {
      const GpuId of = standing.holding.slice.gpu;
      if (!standing.is_ready || standing.holding.role != Role::kInference) continue;
      if (of != gpu && snapshot.is_draining(of)) continue;
      std::set<ServiceId>& services = of == gpu ? here : elsewhere;
      for (const ServiceId service : standing.holding.services) {
        if (scenario_.services[service.index].running.program) services.insert(service);
      }
    }
    return !std::ranges::includes(elsewhere, here);
  }

  /// Whether a service with a slice on the GPU has one elsewhere that is not ready yet.
  static bool has_others_on_their_way(const Snapshot& snapshot, GpuId gpu) {
    std::set<ServiceId> services;
    for (const StandingSlice& standing : snapshot.staying()) {
      const Holding& holding = standing.holding;
      if (holding.slice.gpu == gpu) services.insert(holding.services.begin(), holding.services.end());
    }
    return std::ranges::any_of(snapshot.staying(), [&](const StandingSlice& standing) {
      if (standing.is_ready || standing.holding.slice.gpu == gpu) return false;
      return std::ranges::any_of(standing.holding.services,
                                 [&](ServiceId service) { return services.contains(service); });
    });
  }

  static void empty(const Snapshot& snapshot, GpuId gpu, Plan& plan) {
    const std::string why = "the GPU is drained: " + snapshot.gpu_state(gpu).scheduling_reason;
    for (const StandingSlice& standing : snapshot.slices_on(gpu)) {
      if (standing.is_leaving || standing.is_foreign) continue;
      plan.is_ordered = true;
      plan.actions.push_back({.what = DestroySlice{standing.holding.slice}, .reason = {.text = why, .numbers = {}}});
    }
  }

  const Scenario& scenario_;
  bool has_planner_;
  std::optional<Instant> planned_at_;  ///< when the latest plan of another stage was asked for
};

}  // namespace

Stage drain_stage(const Scenario& scenario, bool has_planner) {
  const auto drains = std::make_shared<Drains>(scenario, has_planner);
  return {.name = "drain",
          .observe = {},
          .ask = [drains](const Snapshot& snapshot, Plan& plan) { return drains->ask(snapshot, plan); },
          .learn = [drains](const Solution& solution) { drains->learn(solution); },
          .memory = memory_of(drains)};
}

}  // namespace berth
