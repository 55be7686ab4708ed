#include "sim/run.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/ensure.h"

namespace berth::sim {
namespace {

/// Carries events to the engine and plans to the world, each with its delay.
class Loop {
 public:
  Loop(const Scenario& scenario, std::vector<Stage> stages, const RunOptions& options)
      : scenario_(scenario),
        options_(options),
        world_(std::make_unique<World>(scenario, options.seed, options.world, options.journal)),
        engine_(scenario, std::move(stages), {.is_strict = options.is_strict}) {}

  Result<RunOutcome> run() {
    observe_history();
    if (const auto infeasible = step(Instant())) return RunOutcome{.world = nullptr, .infeasible = infeasible};
    Instant now;
    while (true) {
      now = world_->advance(next_stop(now));
      for (const Event& event : world_->take_events()) delay(event);
      if (now == world_->end()) break;
      deliver(now);
      if (may_step(now)) {
        if (const auto infeasible = step(now)) return RunOutcome{.world = nullptr, .infeasible = infeasible};
      }
      act(now);
      if (options_.progress && !options_.progress(done_share(now))) {
        return fail(ErrorCode::kInterrupted, "interrupted");
      }
    }
    world_->finish();
    return RunOutcome{.world = std::move(world_), .infeasible = std::nullopt};
  }

 private:
  struct PendingPlan {
    Instant acts_at;
    Plan plan;
  };

  void observe_history() {
    std::int64_t known_seconds = 0;
    for (const ServiceSpec& service : scenario_.services) {
      known_seconds = std::max(known_seconds, service.arrivals.from_second);
    }
    for (std::int64_t second = -std::min(scenario_.history_seconds, known_seconds); second < 0; ++second) {
      for (std::uint32_t index = 0; index < scenario_.services.size(); ++index) {
        const auto arrivals = world_->arrivals().history(ServiceId{index}, second);
        if (!arrivals) continue;
        ServiceSecond seen;
        seen.service = ServiceId{index};
        seen.second = second;
        seen.arrivals = *arrivals;
        delay({.at = Instant::at_second(second + 1), .what = seen});
      }
    }
    deliver(Instant());
  }

  /// The next whole second, or the next plan that takes effect.
  [[nodiscard]] Instant next_stop(Instant now) const {
    Instant stop = std::min(Instant::at_second(now.second() + 1), world_->end());
    if (!plans_.empty()) stop = std::min(stop, plans_.front().acts_at);
    return stop;
  }

  /// Limits the steps at one instant: a policy whose free and immediate changes lead to further ones would otherwise
  /// stay there for ever. After the limit it waits for the next instant.
  [[nodiscard]] bool may_step(Instant now) {
    constexpr int kStepsAtOneInstantMax = 100;
    if (now != stepped_at_) steps_there_ = 0;
    stepped_at_ = now;
    return ++steps_there_ <= kStepsAtOneInstantMax;
  }

  void delay(const Event& event) {
    const bool is_observation = std::holds_alternative<ServiceSecond>(event.what);
    if (is_observation && scenario_.observation_delay > Micros()) {
      observations_.push_back(event);
    } else {
      engine_.observe(event);
    }
  }

  void deliver(Instant now) {
    while (!observations_.empty() && observations_.front().at + scenario_.observation_delay <= now) {
      engine_.observe(observations_.front());
      observations_.pop_front();
    }
  }

  /// One step of the engine. A first layout takes effect at once, later plans after `scenario.planning`. Returns why no
  /// plan can exist, if so.
  std::optional<std::string> step(Instant now) {
    StepAnswer answer = engine_.step(now);
    ENSURE(!answer.refused);
    if (answer.infeasible) return answer.infeasible;
    if (answer.plan.actions.empty()) return std::nullopt;
    if (options_.plan_made) options_.plan_made(answer.plan, answer.acts_at);
    if (answer.is_first_layout) {
      world_->act(answer.plan, now);
    } else {
      plans_.push_back({.acts_at = answer.acts_at, .plan = std::move(answer.plan)});
    }
    return std::nullopt;
  }

  void act(Instant now) {
    while (!plans_.empty() && plans_.front().acts_at <= now) {
      world_->act(plans_.front().plan, now);
      plans_.pop_front();
    }
  }

  [[nodiscard]] double done_share(Instant now) const {
    return static_cast<double>(now.micros()) / static_cast<double>(world_->end().micros());
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  std::unique_ptr<World> world_;
  Engine engine_;
  std::deque<Event> observations_;  ///< not yet visible to the engine
  std::deque<PendingPlan> plans_;   ///< not yet in effect
  Instant stepped_at_;
  int steps_there_ = 0;
};

}  // namespace

Result<RunOutcome> run_scenario(const Scenario& scenario, std::vector<Stage> stages, const RunOptions& options) {
  return Loop(scenario, std::move(stages), options).run();
}

}  // namespace berth::sim
