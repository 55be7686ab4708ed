#include "engine/loop/moving_layout.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "base/core/archive.h"
#include "domain/values/frozen.h"
#include "engine/loop/retraining_watch.h"

namespace berth {
namespace {

using StandingBySlice = std::map<Slice, const StandingSlice*>;

StandingBySlice staying_slices(const Snapshot& snapshot) {
  StandingBySlice staying;
  for (const StandingSlice& standing : snapshot.staying()) staying.emplace(standing.holding.slice, &standing);
  return staying;
}

/// The state of the stage: the policy, and the progress of retrainings that it is given.
class Mover {
 public:
  Mover(const Scenario& scenario, MovingPolicy policy)
      : scenario_(scenario), policy_(std::move(policy)), watch_(scenario) {}

  void observe(const Snapshot& snapshot) { watch_.observe(snapshot); }

  StageAnswer ask(const Snapshot& snapshot, Plan& plan) {
    const Instant acts_at = snapshot.takes_effect_at(scenario_.planning);
    if (!snapshot.is_before_first_layout() && is_frozen(scenario_, acts_at)) return Settled{};
    std::vector<double> progress;
    progress.reserve(snapshot.services.size());
    for (std::uint32_t service = 0; service < snapshot.services.size(); ++service) {
      progress.push_back(std::min(1.0, watch_.at(ServiceId{service}, snapshot.now).progress));
    }
    const partition::Decision decision = policy_.decide({.snapshot = snapshot, .retraining_progress = progress});
    if (const auto* infeasible = std::get_if<partition::Infeasible>(&decision)) return NoPlan{infeasible->why};
    const auto* target = std::get_if<partition::Target>(&decision);
    if (target == nullptr) return Settled{};
    for (Action& action : actions_towards(snapshot, *target)) plan.actions.push_back(std::move(action));
    plan.objective = target->objective;
    plan.bound = target->bound;
    return Settled{};
  }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.watch_, self.policy_.memory);
  }

 private:
  const Scenario& scenario_;
  MovingPolicy policy_;
  RetrainingWatch watch_;
};

}  // namespace

std::vector<Action> actions_towards(const Snapshot& snapshot, const partition::Target& target) {
  StandingBySlice unwanted = staying_slices(snapshot);
  std::vector<Action> creates;
  std::vector<Action> assigns;
  for (const partition::Wanted& wanted : target.holdings) {
    const auto stands = unwanted.find(wanted.holding.slice);
    const bool is_new = stands == unwanted.end();
    if (is_new) creates.push_back({.what = CreateSlice{wanted.holding.slice}, .reason = target.reason});
    const bool is_as_wanted = is_new
                                  ? wanted.holding.services.empty()
                                  : stands->second->holding == wanted.holding && stands->second->point == wanted.point;
    if (!is_as_wanted) {
      assigns.push_back(
          {.what = AssignSlice{.holding = wanted.holding, .point = wanted.point}, .reason = target.reason});
    }
    if (!is_new) unwanted.erase(stands);
  }
  std::vector<Action> actions;
  actions.reserve(unwanted.size() + creates.size() + assigns.size());
  for (const auto& [slice, standing] : unwanted) {
    actions.push_back({.what = DestroySlice{slice}, .reason = target.reason});
  }
  for (std::vector<Action>* part : {&creates, &assigns}) {
    for (Action& action : *part) actions.push_back(std::move(action));
  }
  return actions;
}

Stage moving_layout_stage(const Scenario& scenario, std::string name, MovingPolicy policy) {
  const auto mover = std::make_shared<Mover>(scenario, std::move(policy));
  return {.name = std::move(name),
          .observe = [mover](const Snapshot& snapshot) { mover->observe(snapshot); },
          .ask = [mover](const Snapshot& snapshot, Plan& plan) { return mover->ask(snapshot, plan); },
          .learn = {},
          .memory = memory_of(mover)};
}

}  // namespace berth
