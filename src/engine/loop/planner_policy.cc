#include "engine/loop/planner_policy.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/core/archive.h"
#include "domain/values/frozen.h"
#include "engine/loop/restore_stage.h"
#include "engine/loop/retraining_watch.h"
#include "engine/loop/window_question.h"
#include "engine/state/changes.h"
#include "planner/window/window.h"

namespace berth {
namespace {

/// The remaining seconds that plans assume for an endless run: far beyond any window and its tail.
constexpr std::int64_t kEndlessSeconds = 1'000'000'000;

/// The policy's state from one question to the next. All of it follows from the snapshots and solutions seen.
class PlannerPolicy {
 public:
  PlannerPolicy(const Scenario& scenario, OutlookSource outlook, const PlannerOptions& options)
      : scenario_(scenario), options_(options), outlook_(std::move(outlook)), watch_(scenario) {
    forget_specs();
  }

  void observe(const Snapshot& snapshot) {
    if (snapshot.specs_version != specs_version_) {
      specs_version_ = snapshot.specs_version;
      forget_specs();
      has_news_ = true;
    }
    watch_.observe(snapshot);
    if (outlook_.observe) outlook_.observe(snapshot);
    note_retraining(snapshot);
  }

  StageAnswer ask(const Snapshot& snapshot, const Plan& so_far) {
    if (so_far.is_ordered) return Settled{};  // an ordered plan takes effect alone
    if (!has_work(snapshot)) return Settled{};
    const Instant acts_at = snapshot.takes_effect_at(scenario_.planning);
    if (!is_time(snapshot, so_far, acts_at)) return Settled{};
    if (snapshot.now == options_.plans_also_at) feasibility_.reset();  // the caller asked about that instant
    next_plan_ = Instant::at_second(snapshot.now.second() + std::max(1, options_.period_seconds));
    asked_for_ = acts_at;
    if (!specs_) read_specs();
    asked_with_ = specs_;
    const auto question = std::make_shared<WindowQuestion>();
    question->scenario = specs_;
    question->frame = frame_;
    question->options = options_;
    question->moment = moment_of(snapshot, acts_at);
    question->stretch = stretch_of(question->moment);
    question->expect = outlook_.ask();
    question->is_first_layout = snapshot.is_before_first_layout();
    question->turn = turn_++;
    question->previous = previous_;
    question->previous_begins = previous_begins_;
    question->feasibility = feasibility_;
    return [question](const Snapshot& posed, Solution& solution) { solve(*question, posed, solution); };
  }

  void learn(const Solution& solution) {
    if (!asked_for_) return;  // the answer to another stage
    if (outlook_.learn) outlook_.learn(asked_for_->second(), solution.mean_rates);
    if (asked_with_ == specs_) {
      previous_ = std::make_shared<const planner::Schedule>(schedule_of(*frame_, solution.plan.ahead));
      previous_begins_ = *asked_for_;
      feasibility_ = solution.feasibility;
    }
    asked_for_.reset();
    asked_with_.reset();
    for (const ExpectedReady& ready : solution.ready) ready_at_[ready.slice] = ready.at;
  }

  [[nodiscard]] std::optional<forecast::Bands> forecast(ServiceId service, std::int64_t second) const {
    return outlook_.forecast ? outlook_.forecast(service, second) : std::nullopt;
  }

  /// Saved only between questions. Values derived from the specs are rebuilt from the scenario.
  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.outlook_.memory, self.specs_version_, self.watch_, self.next_plan_, self.turn_, self.is_done_,
            self.was_stale_, self.has_news_, self.ready_at_, self.feasibility_, self.previous_, self.previous_begins_);
    archive.require(self.was_stale_.size() == self.scenario_.services.size());
  }

 private:
  /// Forgets the specs, with all plans and findings based on them.
  void forget_specs() {
    specs_.reset();
    frame_.reset();
    was_stale_.resize(scenario_.services.size());
    previous_ = std::make_shared<const planner::Schedule>();
    feasibility_.reset();
  }

  /// Only a question needs this: it takes time, and specs may change many times between two questions.
  void read_specs() {
    // GPUs were added since: the last plan says nothing of them.
    const bool is_of_fleet = previous_->gpus.empty() || previous_->gpus.size() == scenario_.gpu_count();
    if (!is_of_fleet) previous_ = std::make_shared<const planner::Schedule>();
    specs_ = std::make_shared<const Scenario>(scenario_);
    frame_ = std::make_shared<const planner::Frame>(
        planner::make_frame(*specs_, {.chooses_points = options_.points != 0, .has_variants = options_.variants != 0}));
  }

  /// Whether there is a service that may have slices, and a GPU for it.
  [[nodiscard]] bool has_work(const Snapshot& snapshot) const {
    if (scenario_.gpu_count() == 0) return false;
    for (std::size_t index = 0; index < snapshot.services.size(); ++index) {
      const auto& limits = scenario_.services[index].running.replicas;
      if (!snapshot.services[index].is_absent && !(limits && limits->slices_max == 0)) return true;
    }
    return false;
  }

  [[nodiscard]] bool is_time(const Snapshot& snapshot, const Plan& plan, Instant acts_at) {
    const bool is_news = std::exchange(has_news_, false);
    if (options_.recuts == 0 && !snapshot.is_before_first_layout()) return false;
    if (options_.plans_once_at) {
      if (is_done_ || snapshot.now < *options_.plans_once_at || !plan.actions.empty()) return false;
      is_done_ = true;
      return true;
    }
    if (snapshot.is_before_first_layout() || snapshot.now == options_.plans_also_at) return true;
    return (is_news || snapshot.now >= next_plan_) && !is_frozen(scenario_, acts_at);
  }

  /// Records whether a retraining became due or was done since the policy was last asked.
  void note_retraining(const Snapshot& snapshot) {
    for (std::size_t index = 0; index < was_stale_.size(); ++index) {
      const bool is_stale = snapshot.services[index].is_retraining_due;
      has_news_ = has_news_ || is_stale != (was_stale_[index] != 0);
      was_stale_[index] = is_stale ? 1 : 0;
    }
  }

  /// The moment, without the services' expected loads.
  [[nodiscard]] planner::Moment moment_of(const Snapshot& snapshot, Instant acts_at) {
    planner::Moment moment;
    const std::int64_t rest = options_.has_end
                                  ? std::max<std::int64_t>(1, scenario_.simulated_seconds() - acts_at.second())
                                  : kEndlessSeconds;
    moment.begins = acts_at;
    const std::int64_t window = options_.recuts == 0 ? rest : scenario_.window_seconds;
    moment.slots = static_cast<int>(std::min(window, rest));
    moment.samples = outlook_.samples;
    moment.tail_seconds = std::min(options_.tail_seconds, static_cast<double>(rest - moment.slots));
    moment.seconds_beyond_tail = static_cast<double>(rest - moment.slots) - moment.tail_seconds;
    moment.is_gpu_leaving.assign(scenario_.gpu_count(), 0);
    for (std::uint32_t gpu = 0; gpu < snapshot.gpus.size(); ++gpu) {
      if (snapshot.is_open({gpu}) && !has_just_failed(snapshot, {gpu})) continue;
      moment.is_gpu_closed.resize(scenario_.gpu_count());
      moment.is_gpu_closed[gpu] = 1;
    }
    for (const StandingSlice& standing : snapshot.slices) {
      if (standing.is_foreign) {
        moment.others.push_back(standing.holding.slice);
      } else if (standing.is_leaving || snapshot.is_orphan(standing) ||
                 snapshot.is_draining(standing.holding.slice.gpu)) {
        moment.is_gpu_leaving[standing.holding.slice.gpu.index] = 1;
      } else {
        moment.standing.push_back(standing_now(standing, acts_at));
      }
    }
    for (std::uint32_t index = 0; index < scenario_.services.size(); ++index) {
      const ServiceId service{index};
      moment.retraining.push_back(watch_.at(service, acts_at));
      planner::Outlook& outlook = moment.outlooks.emplace_back();
      const auto& budget = scenario_.services[index].changes_per_hour;
      if (budget) outlook.changes_left = *budget - changes_in_hour(snapshot.services[index], acts_at);
    }
    return moment;
  }

  /// Whether actions failed there so recently that the plan must do without the GPU. At least one plan does after each
  /// failure: an action may fail only after kActionTimeMax, and a shorter wait would be over before the next plan.
  [[nodiscard]] bool has_just_failed(const Snapshot& snapshot, GpuId gpu) const {
    const ActionFailures& failures = snapshot.gpus[gpu.index].failures;
    if (failures.count == 0) return false;
    const Micros wait = std::max(wait_after(failures), Micros::seconds(std::max(1, options_.period_seconds)));
    return snapshot.now <= failures.latest + wait;
  }

  [[nodiscard]] static Stretch stretch_of(const planner::Moment& moment) {
    return {.from_second = moment.begins.second(),
            .seconds = moment.slots,
            .tail_seconds = std::max<std::int64_t>(1, static_cast<std::int64_t>(moment.tail_seconds))};
  }

  [[nodiscard]] planner::StandingNow standing_now(const StandingSlice& standing, Instant acts_at) const {
    planner::StandingNow now;
    now.holding = standing.holding;
    const bool retrains = standing.holding.role == Role::kRetraining;
    now.use = retrains ? planner::kRetraining : (standing.point ? standing.point->variant : 0);
    if (standing.is_ready || standing.holding.services.empty()) return now;
    const auto known = ready_at_.find(standing.holding.slice);
    now.ready_in = Micros::seconds(1);
    if (known != ready_at_.end()) now.ready_in = std::max(now.ready_in, known->second - acts_at);
    return now;
  }

  const Scenario& scenario_;
  PlannerOptions options_;
  OutlookSource outlook_;
  std::uint64_t specs_version_ = 0;
  std::shared_ptr<const Scenario> specs_;        ///< a copy of that version; empty until a question needs it
  std::shared_ptr<const planner::Frame> frame_;  ///< derived from the services' specs alone; likewise
  RetrainingWatch watch_;
  Instant next_plan_;
  int turn_ = 0;          ///< number of questions so far
  bool is_done_ = false;  ///< has planned, if it plans only once
  std::vector<char> was_stale_;
  bool has_news_ = false;
  std::optional<Instant> asked_for_;            ///< when the plan of the open question takes effect
  std::shared_ptr<const Scenario> asked_with_;  ///< the specs of that question
  std::map<Slice, Instant> ready_at_;
  std::optional<FoundFeasibility> feasibility_;        ///< of all constraints, by the last search
  std::shared_ptr<const planner::Schedule> previous_;  ///< the previous plan, empty before the first
  Instant previous_begins_;
};

}  // namespace

Stage planner_stage(const Scenario& scenario, OutlookSource outlook, const PlannerOptions& options) {
  const auto policy = std::make_shared<PlannerPolicy>(scenario, std::move(outlook), options);
  return {.name = "berth",
          .observe = [policy](const Snapshot& snapshot) { policy->observe(snapshot); },
          .ask = [policy](const Snapshot& snapshot, Plan& so_far) { return policy->ask(snapshot, so_far); },
          .learn = [policy](const Solution& solution) { policy->learn(solution); },
          .memory = memory_of(policy),
          .forecast = [policy](ServiceId service, std::int64_t second) { return policy->forecast(service, second); }};
}

}  // namespace berth
