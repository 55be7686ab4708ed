#include "sim/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <variant>

#include "base/ensure.h"

namespace berth::sim {
namespace {

/// Carries events to the engine, questions to the solver and plans to the world. Observations and solutions have their
/// delays; a plan takes effect at once.
class Loop {
 public:
  Loop(const Scenario& scenario, const MakeStages& make_stages, const RunOptions& options)
      : scenario_(scenario),
        options_(options),
        make_stages_(make_stages),
        world_(std::make_unique<World>(scenario, options.seed, options.world, options.journal)),
        engine_(new_engine()) {}

  Result<RunOutcome> run() {
    observe_history();
    step(Instant());
    Instant now;
    while (!outcome_.infeasible) {
      now = world_->advance(next_stop(now));
      for (const Event& event : world_->take_events()) delay(event);
      if (now == world_->end()) break;
      deliver(now);
      if (may_step(now)) step(now);
      if (options_.progress && !options_.progress(done_share(now))) {
        return fail(ErrorCode::kInterrupted, "interrupted");
      }
    }
    if (outcome_.infeasible) return std::move(outcome_);
    world_->finish();
    outcome_.world = std::move(world_);
    return std::move(outcome_);
  }

 private:
  /// A solution that is known, but not yet delivered.
  struct PendingSolution {
    Instant due_at;
    SolveFinished finished;
  };
  /// What the engine was given for one step.
  struct LoggedStep {
    Instant now;
    std::vector<Event> events;
  };

  /// An engine that has seen nothing.
  [[nodiscard]] std::unique_ptr<Engine> new_engine() const {
    return std::make_unique<Engine>(scenario_, make_stages_(), EngineRules{.is_strict = options_.is_strict});
  }

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

  /// The next whole second, or the next solution.
  [[nodiscard]] Instant next_stop(Instant now) const {
    Instant stop = std::min(Instant::at_second(now.second() + 1), world_->end());
    if (pending_) stop = std::min(stop, pending_->due_at);
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
      observe(event);
    }
  }

  void observe(const Event& event) {
    engine_->observe(event);
    if (options_.rebuilds_engine_at) observed_.push_back(event);
  }

  void deliver(Instant now) {
    while (!observations_.empty() && observations_.front().at + scenario_.observation_delay <= now) {
      observe(observations_.front());
      observations_.pop_front();
    }
    if (pending_ && pending_->due_at <= now) deliver_solution(now);
  }

  void deliver_solution(Instant now) {
    observe({.at = now, .what = std::move(pending_->finished)});
    pending_.reset();
  }

  /// One step of the engine. A question that needs no time is answered in a step of its own, before anything else.
  void step(Instant now) {
    act_on(step_engine(now), now);
    while (pending_ && pending_->due_at <= now) {
      deliver_solution(now);
      act_on(step_engine(now), now);
    }
  }

  StepAnswer step_engine(Instant now) {
    StepAnswer answer = engine_->step(now);
    if (!options_.rebuilds_engine_at) return answer;
    log_.push_back({.now = now, .events = std::exchange(observed_, {})});
    if (options_.rebuilds_engine_at(now)) rebuild_engine();
    return answer;
  }

  /// Nothing is solved: the solutions are events.
  void rebuild_engine() {
    engine_ = new_engine();
    for (const LoggedStep& logged : log_) {
      for (const Event& event : logged.events) engine_->observe(event);
      static_cast<void>(engine_->step(logged.now));
    }
  }

  void act_on(StepAnswer answer, Instant now) {
    if (answer.refused) {
      if (outcome_.refused_plans++ == 0) {
        outcome_.first_refusal = fmt::format("at second {}: {}", (now - Instant()).to_seconds(), *answer.refused);
      }
    }
    outcome_.infeasible = std::move(answer.infeasible);
    if (!answer.plan.actions.empty()) {
      if (options_.plan_made) options_.plan_made(answer.plan, now);
      world_->act(answer.plan, now);
    }
    if (answer.request) solve(*answer.request);
  }

  /// Solves at once, and delivers the answer when it is due.
  void solve(const SolveRequest& request) {
    auto solution = std::make_shared<const Solution>(request.solve());
    if (options_.solved) options_.solved(*request.posed, *solution);
    pending_ = {.due_at = request.acts_at, .finished = {.question = request.question, .solution = std::move(solution)}};
  }

  [[nodiscard]] double done_share(Instant now) const {
    return static_cast<double>(now.micros()) / static_cast<double>(world_->end().micros());
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  const MakeStages& make_stages_;
  std::unique_ptr<World> world_;
  std::unique_ptr<Engine> engine_;
  RunOutcome outcome_;
  std::deque<Event> observations_;  ///< not yet visible to the engine
  std::optional<PendingSolution> pending_;
  std::vector<Event> observed_;  ///< since the last step, if steps are logged
  std::vector<LoggedStep> log_;
  Instant stepped_at_;
  int steps_there_ = 0;
};

}  // namespace

Result<RunOutcome> run_scenario(const Scenario& scenario, const MakeStages& make_stages, const RunOptions& options) {
  return Loop(scenario, make_stages, options).run();
}

Result<RunOutcome> run_scenario(const Scenario& scenario, std::vector<Stage> stages, const RunOptions& options) {
  ENSURE(!options.rebuilds_engine_at);
  const MakeStages make_stages = [&stages] { return std::move(stages); };
  return run_scenario(scenario, make_stages, options);
}

}  // namespace berth::sim
