#include "engine/loop/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "base/core/archive.h"
#include "base/core/ensure.h"
#include "domain/profile/at_speed.h"
#include "domain/profile/slice_price.h"
#include "domain/values/frozen.h"
#include "engine/loop/constraints.h"
#include "engine/loop/facts.h"
#include "engine/loop/slice_limits.h"
#include "engine/loop/tier_stage.h"
#include "engine/loop/verify.h"

namespace berth {
namespace {

/// Removes the actions on GPUs whose facts no longer hold from the plan.
std::vector<DroppedPart> drop_broken_parts(const Scenario& scenario, const Snapshot& snapshot, Plan& plan) {
  std::vector<DroppedPart> dropped;
  for (const GpuFact& fact : plan.facts) {
    if (auto why = find_broken_fact(scenario, snapshot, fact))
      dropped.push_back({.gpu = fact.gpu, .why = std::move(*why)});
  }
  if (dropped.empty()) return dropped;
  const auto is_dropped = [&](GpuId gpu) {
    return std::ranges::find(dropped, gpu, &DroppedPart::gpu) != dropped.end();
  };
  std::erase_if(plan.actions, [&](const Action& action) { return is_dropped(slice_of(action.what).gpu); });
  std::erase_if(plan.facts, [&](const GpuFact& fact) { return is_dropped(fact.gpu); });
  return dropped;
}

/// Adds to the reasons of a plan what is to be said of the services that get slices.
void add_remarks(const std::map<ServiceId, std::string>& remarks, Plan& plan) {
  for (Action& action : plan.actions) {
    const auto* assign = std::get_if<AssignSlice>(&action.what);
    if (assign == nullptr) continue;
    for (const ServiceId service : assign->holding.services) {
      const auto remark = remarks.find(service);
      if (remark != remarks.end()) action.reason.text += remark->second;
    }
  }
}

/// Whether a slice with these holders can exist in the fleet.
bool is_possible(const Scenario& scenario, const Holding& holding) {
  const Slice& slice = holding.slice;
  if (slice.gpu.index >= scenario.gpu_count()) return false;
  const std::size_t profiles = scenario.model_of(slice.gpu).profiles.size();
  if (!slice.profile.is_full() && slice.profile.index >= profiles) return false;
  if (holding.role == Role::kRetraining && holding.services.empty()) return false;
  return std::ranges::all_of(holding.services,
                             [&](ServiceId service) { return service.index < scenario.services.size(); });
}

/// Why a snapshot cannot be one of the scenario, if it cannot.
std::optional<std::string> find_misfit(const Scenario& scenario, const Snapshot& snapshot) {
  if (snapshot.services.size() != scenario.services.size()) {
    return fmt::format("wanted the memory of {} services, found that of {}", scenario.services.size(),
                       snapshot.services.size());
  }
  const std::size_t known_gpus = std::max(snapshot.gpus.size(), snapshot.gpu_versions.size());
  const bool has_all =
      known_gpus <= scenario.gpu_count() && std::ranges::all_of(snapshot.slices, [&](const StandingSlice& standing) {
        return is_possible(scenario, standing.holding);
      });
  if (!has_all) return "wanted the memory of this fleet and its services, found slices or GPUs that it does not have";
  return std::nullopt;
}

/// What is kept besides the stages under a name of its own, where there are services with such rules.
constexpr const char* kTierMemory = "tier";
constexpr const char* kWarmMemory = "warm";
/// To be raised whenever those bytes change their meaning.
constexpr int kWarmMemoryFormat = 1;

/// Returns whether the stage has the memory that was saved for it.
bool load(Stage& stage, const EngineMemory& memory) {
  const auto saved = std::ranges::find(memory.stages, stage.name, &StageMemory::stage);
  if (saved == memory.stages.end()) return !stage.memory.load;
  if (saved->format != kStageMemoryFormat) return false;
  ArchiveReader archive(saved->bytes);
  archive(stage.memory);
  return archive.is_at_end();
}

}  // namespace

std::int64_t seen_seconds(const Scenario& scenario) {
  constexpr std::int64_t kSecondsMin = 100;
  return std::max(scenario.history_seconds, kSecondsMin);
}

Engine::Engine(const Scenario& scenario, const MakeStages& make_stages, const EngineRules& rules)
    : given_(scenario),
      enforcement_(given_, rules.is_strict),
      warm_(given_, rules.has_warm_pools),
      scenario_(scenario),
      make_stages_(make_stages),
      rules_(rules),
      state_(scenario.services.size(), seen_seconds(scenario)) {
  show_all();
  stages_ = made_stages();
}

Engine::~Engine() = default;

void Engine::observe(const Event& event) { inbox_.push_back(event); }

StepAnswer Engine::step(Instant now) {
  ENSURE(now >= state_.snapshot().now);
  state_.set_now(now);
  StepAnswer answer;
  const bool has_one_event = inbox_.size() == 1;
  const News news = apply_events();
  choose_tiers(answer);
  decide_warm(answer);
  settle_proposal(news, now, answer);
  if (news.solution) {
    take(*news.solution, now, answer);
    state_.end_first_layout();
    if (has_one_event || answer.infeasible) return answer;
  }
  for (const Stage& stage : stages_) {
    if (stage.observe) stage.observe(state_.snapshot());
  }
  if (may_ask()) ask(now, answer);
  if (!open_question_) state_.end_first_layout();  // nothing is asked: it stays empty
  return answer;
}

/// Whether a plan that takes effect now is a first layout that is in place at once.
bool Engine::layout_stands_at_once() const {
  return state_.snapshot().is_before_first_layout() && !rules_.first_layout_takes_time;
}

/// Whether it is a first layout whose actions take their time.
bool Engine::layout_takes_time() const {
  return state_.snapshot().is_before_first_layout() && rules_.first_layout_takes_time;
}

bool Engine::may_ask() const {
  if (open_question_ || proposal_ || state_.snapshot().pause) return false;
  // In a window without changes policies would still ask for a first layout, because they assume it may begin there.
  return !(layout_takes_time() && is_frozen(scenario_, state_.snapshot().now));
}

Engine::News Engine::apply_events() {
  News news;
  for (const Event& event : inbox_) {
    state_.apply(event);
    // Most events are such seconds, which concern only the state.
    if (std::holds_alternative<ServiceSecond>(event.what)) continue;
    change_specs(event);
    note(event, news);
  }
  inbox_.clear();
  return news;
}

void Engine::note(const Event& event, News& news) {
  const auto is_waiting = [&](std::uint64_t plan) { return proposal_ && proposal_->plan.id == plan; };
  if (const auto* finished = std::get_if<SolveFinished>(&event.what)) {
    if (finished->question != open_question_) return;
    news.solution = finished->solution;
    open_question_.reset();
  } else if (const auto* approved = std::get_if<PlanApproved>(&event.what)) {
    // Before the expiry, and not while planning is paused.
    if (is_waiting(approved->plan) && !news.is_expired && !state_.snapshot().pause) news.is_approved = true;
  } else if (const auto* expired = std::get_if<PlanExpired>(&event.what)) {
    if (is_waiting(expired->plan)) news.is_expired = true;
  }
}

// ---- a proposal

void Engine::settle_proposal(const News& news, Instant now, StepAnswer& answer) {
  if (!proposal_) return;
  EndedProposal ended{.plan = proposal_->plan.id, .end = ProposalEnd::kSuperseded, .difference = {}};
  ended.difference = find_differences(scenario_, state_.snapshot(), *proposal_, now);
  if (ended.difference.empty() && news.is_approved) {
    if (auto objection = find_reason_to_refuse(proposal_->plan, now)) {
      ended.difference.push_back(std::move(*objection));
    } else {
      ended.end = ProposalEnd::kApproved;
    }
  } else if (ended.difference.empty()) {
    if (!news.is_expired) return;
    ended.end = ProposalEnd::kExpired;
  }
  Plan plan = std::exchange(proposal_, std::nullopt)->plan;
  if (ended.end == ProposalEnd::kApproved) accept(std::move(plan), now, answer);
  answer.ended = std::move(ended);
}

bool Engine::needs_approval(const Plan& plan) const {
  if (layout_stands_at_once()) return false;
  return rules_.approval == Approval::kAlways || (rules_.approval == Approval::kFirst && changed_gpus_.has_new(plan));
}

void Engine::change_specs(const Event& event) {
  if (const auto* set = std::get_if<ServiceSet>(&event.what)) {
    set_spec(*set);
  } else if (const auto* removed = std::get_if<ServiceRemoved>(&event.what)) {
    const ServiceSpec& before = std::as_const(given_.services)[removed->service.index];
    forget_speeds(given_.speeds, removed->service);
    scenario_.speeds = given_.speeds;
    given_.services.set(removed->service.index, absent_service(before));
    scenario_.services.set_shared(removed->service.index, given_.services.share(removed->service.index));
    enforcement_.note_changed(removed->service);
    warm_.note_changed(removed->service);
    note_limits(removed->service);
  } else if (const auto* windows = std::get_if<NoChangesSet>(&event.what)) {
    given_.no_changes = scenario_.no_changes = windows->windows;
  } else if (const auto* measured = std::get_if<TimesMeasured>(&event.what)) {
    given_.measured_times[measured->change] = scenario_.measured_times[measured->change] = measured->time;
  } else if (const auto* tier = std::get_if<TierMeasured>(&event.what)) {
    if (!enforcement_.note(*tier)) return;
    show(tier->service);
    state_.show_anew(tier->service);
  } else if (const auto* speed = std::get_if<SpeedMeasured>(&event.what)) {
    note_speed(*speed, event.at);
  }
}

void Engine::set_spec(const ServiceSet& set) {
  const std::size_t index = set.service.index;
  ENSURE(index <= scenario_.services.size());
  const bool is_new = index == given_.services.size();
  if (is_new || has_new_table(std::as_const(given_.services)[index], *set.spec)) {
    forget_speeds(given_.speeds, set.service);
  }
  scenario_.speeds = given_.speeds;
  given_.services.set_shared(index, set.spec);
  scenario_.services.set_shared(index, set.spec);
  enforcement_.note_changed(set.service);
  warm_.note_changed(set.service);
  if (is_shown_otherwise(set.service)) show(set.service);
  note_limits(set.service);
}

/// The revision of the spec stays: plans under way remain possible, and are replaced by the next ones.
void Engine::note_speed(const SpeedMeasured& measured, Instant at) {
  if (measured.place.service.index >= given_.services.size()) return;
  const auto before = given_.speeds.find(measured.place);
  const bool has_ended = !measured.factor && before != given_.speeds.end() && before->second.is_used;
  berth::note_speed(given_.speeds, measured, at);
  // Slices may stand at points that it made the best: a factor of 1 by no batch lets plans move them back.
  if (has_ended) given_.speeds[measured.place] = {.factor = Decimal(1), .batches = 0, .at = at, .is_used = true};
  scenario_.speeds = given_.speeds;
  enforcement_.note_speed(measured.place.service);
  show(measured.place.service);
}

// ---- GPU models

/// The policy's stages; where models are chosen, after the one that clears slices for that.
std::vector<Stage> Engine::made_stages() const {
  std::vector<Stage> stages = make_stages_(scenario_);
  if (enforcement_.is_used()) stages.insert(stages.begin(), tier_stage(scenario_));
  return stages;
}

bool Engine::is_shown_otherwise(ServiceId service) const {
  return enforcement_.has(service) || has_speed(given_.speeds, service) || warm_.has(service);
}

/// Lets the stages see what they may see of the service now.
void Engine::show(ServiceId service) {
  if (warm_.has(service)) {
    ServiceSpec seen = std::as_const(given_.services)[service.index];
    if (enforcement_.has(service)) {
      seen = enforcement_.seen_spec(service);
    } else if (has_speed(given_.speeds, service)) {
      seen = profile::spec_at_speed(given_, service);
    }
    seen.running.replicas = warm_.limits(service);
    const bool is_idle = warm_.status_of(service)->last.phase == WarmPhase::kWarm;
    if (is_idle) seen = profile::on_cheapest_slices(given_, std::move(seen));
    // What has no slice keeps no floor: its load is that of nobody.
    if (seen.running.replicas->slices_max == 0) seen.floor_attainment.reset();
    scenario_.services.set(service.index, std::move(seen));
    note_limits(service);
  } else if (enforcement_.has(service)) {
    scenario_.services.set(service.index, enforcement_.seen_spec(service));
  } else if (has_speed(given_.speeds, service)) {
    scenario_.services.set(service.index, profile::spec_at_speed(given_, service));
  } else {
    scenario_.services.set_shared(service.index, std::as_const(given_.services).share(service.index));
  }
}

void Engine::show_all() {
  for (std::uint32_t index = 0; index < given_.services.size(); ++index) {
    if (is_shown_otherwise({index})) show({index});
    note_limits({index});
  }
}

// ---- slices kept and not kept

void Engine::note_limits(ServiceId service) {
  const ServiceSpec& seen = std::as_const(scenario_.services)[service.index];
  const bool has_limit = !seen.is_absent && seen.running.replicas && seen.running.replicas->slices_max;
  if (has_limit && rules_.is_strict) {
    limited_.insert(service);
  } else {
    limited_.erase(service);
  }
}

void Engine::decide_warm(StepAnswer& answer) {
  if (!warm_.is_used()) return;
  answer.warm = warm_.decide(state_.snapshot());
  for (const WarmDecision& decision : answer.warm) {
    show(decision.service);
    state_.show_anew(decision.service);
  }
}

bool Engine::restore_warm(const EngineMemory& memory) {
  const auto saved = std::ranges::find(memory.stages, kWarmMemory, &StageMemory::stage);
  if (saved == memory.stages.end() || saved->format != kWarmMemoryFormat) return false;
  ArchiveReader archive(saved->bytes);
  warm_.load(archive);
  return archive.is_at_end();
}

void Engine::choose_tiers(StepAnswer& answer) {
  if (!enforcement_.is_used()) return;
  answer.tiers = enforcement_.choose(state_.snapshot());
  for (const TierChoice& choice : answer.tiers) {
    show(choice.service);
    state_.show_anew(choice.service);
  }
}

bool Engine::restore_tiers(const EngineMemory& memory) {
  const auto saved = std::ranges::find(memory.stages, kTierMemory, &StageMemory::stage);
  if (saved == memory.stages.end() || saved->format != kStageMemoryFormat) return false;
  ArchiveReader archive(saved->bytes);
  enforcement_.load(archive);
  return archive.is_at_end();
}

std::optional<forecast::Bands> Engine::forecast(ServiceId service, std::int64_t second) const {
  for (const Stage& stage : stages_) {
    if (stage.forecast) return stage.forecast(service, second);
  }
  return std::nullopt;
}

// ---- a solution takes effect

void Engine::take(const Solution& solution, Instant now, StepAnswer& answer) {
  for (const Stage& stage : stages_) {
    if (stage.learn) stage.learn(solution);
  }
  answer.infeasible = solution.infeasible;
  if (solution.infeasible || solution.plan.is_empty()) return;
  Plan plan = solution.plan;
  answer.dropped = drop_broken_parts(scenario_, state_.snapshot(), plan);
  if (plan.is_empty()) return;
  answer.refused = find_reason_to_refuse(plan, now);
  if (answer.refused) return;
  if (state_.snapshot().pause && !layout_stands_at_once()) {
    answer.paused = state_.snapshot().pause->reason;
  } else if (needs_approval(plan)) {
    answer.held = plan;
    proposal_ = propose(state_.snapshot(), std::move(plan));
  } else {
    accept(std::move(plan), now, answer);
  }
}

void Engine::accept(Plan plan, Instant now, StepAnswer& answer) {
  answer.is_first_layout = layout_stands_at_once();
  if (!answer.is_first_layout) changed_gpus_.add(plan);
  state_.number(plan);
  state_.apply(plan, now);
  answer.plan = std::move(plan);
}

std::optional<std::string> Engine::find_reason_to_refuse(const Plan& plan, Instant now) const {
  if (layout_takes_time() && is_frozen(scenario_, now)) return std::string(kFrozenObjection);
  auto objection = find_objection(scenario_, state_.snapshot(), plan, now);
  if (objection || !rules_.is_strict || plan.is_ordered) return objection;
  return find_breach(scenario_, state_.snapshot(), plan, now);
}

// ---- a question

void Engine::ask(Instant now, StepAnswer& answer) {
  Solution begun;
  begun.plan.id = question_count_ + 1;
  begun.plan.base_version = state_.snapshot().version;
  begun.plan.made_at = now;
  if (!limited_.empty()) {
    const auto reason = [this](ServiceId service) {
      const WarmStatus* warm = warm_.status_of(service);
      return warm != nullptr ? warm->last.reason : std::string("more slices than replicas.max");
    };
    destroy_excess(scenario_, state_.snapshot(), limited_, reason, begun.plan);
  }
  for (const Stage& stage : stages_) {
    StageAnswer asked = stage.ask(state_.snapshot(), begun.plan);
    if (auto* none = std::get_if<NoPlan>(&asked)) {
      answer.infeasible = std::move(none->why);
      return;
    }
    if (auto* solve = std::get_if<Solve>(&asked)) {
      answer.request = request_for(std::move(begun), std::move(*solve));
      return;
    }
  }
  if (!begun.plan.is_empty()) answer.request = request_for(std::move(begun), nullptr);
}

SolveRequest Engine::request_for(Solution begun, Solve solve) {
  open_question_ = ++question_count_;
  const Snapshot& snapshot = state_.snapshot();
  SolveRequest request{.question = question_count_,
                       .made_at = snapshot.now,
                       .acts_at = snapshot.takes_effect_at(scenario_.planning),
                       .posed = std::make_shared<const Snapshot>(snapshot),
                       .solve = {}};
  std::map<ServiceId, std::string> remarks;
  for (const ServiceId service : enforcement_.services()) {
    if (std::string remark = enforcement_.remark_on(service); !remark.empty()) remarks[service] = std::move(remark);
  }
  for (const ServiceId service : warm_.services()) {
    remarks[service] += "; " + warm_.status_of(service)->last.reason;
  }
  request.solve = [posed = request.posed, begun = std::move(begun), solve = std::move(solve),
                   remarks = std::move(remarks)] {
    Solution solution = begun;
    if (solve) solve(*posed, solution);
    if (!remarks.empty()) add_remarks(remarks, solution.plan);
    solution.plan.facts = facts_of(*posed, solution.plan);
    return solution;
  };
  return request;
}

// ---- memory

EngineMemory Engine::memory() const {
  ENSURE(!open_question_ && inbox_.empty());
  EngineMemory memory{.cluster = state_.memory(),
                      .question_count = question_count_,
                      .proposal = proposal_,
                      .changed_gpus = changed_gpus_,
                      .no_changes = scenario_.no_changes,
                      .measured_times = scenario_.measured_times,
                      .speeds = given_.speeds,
                      .stages = {}};
  for (const Stage& stage : stages_) memory.stages.push_back({.stage = stage.name, .bytes = bytes_of(stage.memory)});
  if (enforcement_.is_used()) {
    ArchiveWriter archive;
    enforcement_.save(archive);
    memory.stages.push_back({.stage = kTierMemory, .bytes = archive.take()});
  }
  if (warm_.is_used()) {
    ArchiveWriter archive;
    warm_.save(archive);
    memory.stages.push_back({.stage = kWarmMemory, .format = kWarmMemoryFormat, .bytes = archive.take()});
  }
  return memory;
}

Result<std::vector<std::string>> Engine::restore(const EngineMemory& memory) {
  ENSURE(state_.snapshot().version == 0 && question_count_ == 0 && inbox_.empty());
  if (auto misfit = find_misfit(scenario_, memory.cluster.snapshot)) return invalid(std::move(*misfit));
  state_.restore(memory.cluster);
  question_count_ = memory.question_count;
  proposal_ = memory.proposal;
  changed_gpus_ = memory.changed_gpus;
  given_.speeds = scenario_.speeds = memory.speeds;
  std::vector<std::string> unread;
  if (enforcement_.is_used() && !restore_tiers(memory)) {
    unread.emplace_back(kTierMemory);
    for (const ServiceId service : enforcement_.services()) enforcement_.note_changed(service);
  }
  if (warm_.is_used() && !restore_warm(memory)) {
    unread.emplace_back(kWarmMemory);
    warm_.begin_anew();
  }
  show_all();
  if (enforcement_.is_used() || warm_.is_used() || !given_.speeds.empty() ||
      scenario_.no_changes != memory.no_changes || scenario_.measured_times != memory.measured_times) {
    given_.no_changes = scenario_.no_changes = memory.no_changes;
    given_.measured_times = scenario_.measured_times = memory.measured_times;
    stages_ = made_stages();  // stages may have read the former values
  }
  for (Stage& stage : stages_) {
    if (!load(stage, memory)) unread.push_back(stage.name);
  }
  if (unread.empty()) return unread;
  // Stages whose memory could not be read may be in any state now.
  stages_ = made_stages();
  for (Stage& stage : stages_) {
    if (std::ranges::find(unread, stage.name) == unread.end()) ENSURE(load(stage, memory));
  }
  return unread;
}

}  // namespace berth
