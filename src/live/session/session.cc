#include "live/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "domain/values/event.h"
#include "domain/values/node.h"
#include "domain/values/series.h"
#include "engine/loop/drain_stage.h"
#include "engine/loop/evict_stage.h"
#include "engine/loop/pin_stage.h"
#include "engine/loop/retire_stage.h"
#include "engine/policy/registry.h"
#include "live/session/device_changes.h"
#include "live/session/entry_emitter.h"
#include "live/session/forecast_book.h"
#include "live/session/order_batch.h"
#include "live/session/request_book.h"
#include "live/session/series_feed.h"
#include "live/session/session_log.h"
#include "live/session/session_objects.h"
#include "live/session/session_options.h"
#include "live/session/speed_estimator.h"
#include "sim/world/loop.h"

namespace berth::live {
namespace {

/// The stages of the policy, preceded by those that clear what must go.
std::vector<Stage> stages_of(const Scenario& scenario, const policy::Policy& row, const policy::Settings& settings) {
  std::vector<Stage> stages;
  stages.push_back(drain_stage(scenario, row.replans(settings)));
  stages.push_back(retire_stage(scenario));
  if (row.obeys_constraints) {
    stages.push_back(evict_stage(scenario));
    stages.push_back(pin_stage(scenario));
  }
  for (Stage& stage : row.make({.scenario = scenario, .settings = settings}).stages) stages.push_back(std::move(stage));
  return stages;
}

policy::Settings settings_of(const SessionOptions& options) {
  policy::Settings settings;
  settings.berth.has_end = options.has_end;
  if (options.planning_seconds) settings.berth.period_seconds = *options.planning_seconds;
  return settings;
}

}  // namespace

// ---- construction

Result<std::unique_ptr<Session>> Session::make(Scenario scenario, SessionOptions options) {
  const policy::Policy* row = policy::find_policy(options.policy);
  if (row == nullptr || row->is_hindsight()) {
    return invalid(fmt::format("wanted a policy that can run live, found {}", options.policy));
  }
  return std::make_unique<Session>(std::move(scenario), std::move(options));
}

Session::Session(Scenario scenario, SessionOptions options)
    : scenario_(std::make_unique<Scenario>(std::move(scenario))),
      options_(std::make_unique<const SessionOptions>(std::move(options))),
      objects_(std::make_unique<SessionObjects>(*scenario_, options_->held_bytes_max)),
      log_(std::make_unique<SessionLog>(*scenario_, policy::policy_named(options_->policy).replans({}))),
      emitter_(std::make_unique<EntryEmitter>(options_->listener, options_->records_first, log_->events())),
      changes_(std::make_unique<DeviceChanges>(*scenario_, options_->device_speed)),
      series_(std::make_unique<SeriesFeed>(*scenario_, objects_->catalog(), options_->listener.series)),
      measured_speeds_(std::make_unique<SpeedEstimator>()),
      requests_(std::make_unique<RequestBook>()),
      forecasts_(std::make_unique<ForecastBook>()) {
  const policy::Policy& row = policy::policy_named(options_->policy);
  const policy::Settings settings = settings_of(*options_);
  if (options_->measures_load) series_->wait_for_services();
  loop_ = std::make_unique<sim::Loop>(
      *scenario_, [&row, settings](const Scenario& live) { return stages_of(live, row, settings); }, loop_options());
  log_->on_action([this](const PlanStatus& plan, const ActionChange& change) {
    if (change.phase != ActionPhase::kRunning && !emitter_->is_repeating()) {
      options_->listener.action_ended(plan, change);
    }
  });
}

Session::~Session() = default;

sim::LoopOptions Session::loop_options() {
  const policy::Policy& row = policy::policy_named(options_->policy);
  const SessionListener& listener = options_->listener;
  sim::LoopOptions loop;
  loop.seed = options_->seed;
  loop.is_strict = row.obeys_constraints;
  loop.has_warm_pools = row.obeys_warm_pools;
  loop.approval = options_->approval;
  loop.first_layout_takes_time = options_->first_layout_takes_time;
  loop.solving = options_->solving;
  loop.world.sharing = row.sharings.front();
  loop.world.dispatch = row.dispatch;
  loop.world.is_endless = !options_->has_end;
  loop.world.has_load = options_->has_load;
  loop.world.programs = options_->runs_all_services ? world::ProgramsOf::kAll : world::ProgramsOf::kRun;
  loop.world.devices = options_->has_outside_devices ? sim::Devices::kOutside : sim::Devices::kSimulated;
  loop.world.second_measured = [this](const sim::MeasuredSecond& second) { series_->add(second); };
  loop.world.batches_measured = [this](const std::vector<sim::BatchTimes>& measured) {
    for (const sim::BatchTimes& times : measured) measured_speeds_->add(times);
  };
  loop.listener.journal = [this](const sim::JournalRecord& record) {
    options_->listener.journal(record);
    if (const auto* slice = std::get_if<world::SliceRecord>(&record)) on_slice(*slice);
  };
  loop.listener.event = [this](const Event& event) { on_event(event); };
  loop.listener.answer = [this](const StepAnswer& answer) { on_answer(answer); };
  loop.listener.order = listener.order;
  loop.listener.question = listener.question;
  return loop;
}

// ---- the clock

bool Session::advance(Instant until) {
  if (is_over() || awaits_answer() || now() > until) return false;
  const bool was_step = loop_->advance(until);
  if (was_step) after_step();
  report_world(false);
  return was_step;
}

void Session::skip_to(Instant at) {
  if (is_over() || awaits_answer() || at <= now()) return;
  note_jump(at);
  loop_->skip_to(at);
  series_->figures().begin(now(), loop_->sm_time());
  after_step();
  report_world(true);
}

void Session::after_step() {
  if (now().second() <= read_second_) return;
  read_sums();
  keep_promises();
  learn_speeds();
}

void Session::read_sums() {
  read_second_ = now().second();
  const auto fleet = series_->figures().read(now(), loop_->sm_time());
  series_->give(fleet, now(), snapshot());
  has_unrecorded_sight_ = update_watch() || has_unrecorded_sight_;
}

void Session::keep_promises() {
  if (snapshot().pause || is_over() || !promises().have_failed(now())) return;
  static_cast<void>(pause(kPromisesFailed));  // if that is not recorded, the next second tries again
}

void Session::finish() {
  if (!is_over() || infeasible()) return;
  emit_all();  // there is no world to report on afterwards
  static_cast<void>(loop_->finish());
}

bool Session::update_watch() {
  if (refreshed_step_ == step_count_) return false;
  refreshed_step_ = step_count_;
  return log_->watch().update(snapshot());
}

void Session::refresh() {
  const bool has_news = update_watch();
  if (!std::exchange(has_unrecorded_sight_, false) && !has_news) return;
  if (has_news) {
    emitter_->emit({.at = now(), .what = Refreshed{}});
  } else {
    report_clock();  // the step at this second saw it
  }
  // A client is about to read since when conditions hold: a crash must not take that back.
  emitter_->record_emitted();
}

// ---- reports of the loop

void Session::on_slice(const world::SliceRecord& record) {
  // What happened while the clock jumped is noted behind that entry.
  emitter_->emit({.at = std::max(record.at, now()), .what = SliceNoted{record}});
  log_->on_slice(record, snapshot());
}

void Session::on_event(const Event& event) {
  options_->listener.event(event);
  emitter_->emit_event(event, now());
  log_->on_event(event, snapshot(), now());
  if (const auto* set = std::get_if<NoChangesSet>(&event.what)) scenario_->no_changes = set->windows;
  if (const auto* measured = std::get_if<TimesMeasured>(&event.what)) {
    scenario_->measured_times[measured->change] = measured->time;
  } else if (const auto* speed = std::get_if<SpeedMeasured>(&event.what)) {
    note_speed(scenario_->speeds, *speed, event.at);
    read_speed(speed->place.service);
  } else if (const auto* second = std::get_if<ServiceSecond>(&event.what)) {
    judge_forecast(*second);
  }
}

void Session::on_answer(const StepAnswer& answer) {
  ++step_count_;
  const bool is_repeating = emitter_->is_repeating();
  emitter_->emit_step(answer, now());
  // Directly after the entry of the step, so that a store has both or neither.
  log_->usage().update(snapshot(), *scenario_, is_repeating ? options_->listener.past_usage : options_->listener.usage);
  if (answer.request) {
    emitter_->emit_blocks(now());  // the plan may depend on them
    objects_->set_asked(answer.request->question);
  }
  ordered_.clear();
  keep_forecasts();
  if (const auto waiting = log_->on_step(answer, snapshot(), now()); waiting && !is_repeating) {
    wait_for_approval(*waiting);
  }
  // The world's next actions are recorded first. If that fails, the solution or approval that leads to them is recorded
  // already, and they follow from it again.
  if (answer.plan.actions.empty() || is_repeating) return;
  emitter_->record_emitted();
  if (const PlanStatus* plan = plans().find(answer.plan.id)) options_->listener.plan_acts(*plan, snapshot());
}

// ---- reports to the listener

void Session::report_world(bool with_clock) {
  WorldChanges changes{.now = now(), .devices = {}};
  for (const GpuId gpu : loop_->take_changed_gpus()) changes.devices.emplace_back(gpu, loop_->world().memory_of(gpu));
  const bool is_changed = loop_->take_is_world_changed() || reported_orders_ != loop_->order_count();
  if (is_changed || with_clock) {
    changes.world = loop_->world().memory();
    changes.world->orders = reported_orders_ = loop_->order_count();
  }
  options_->listener.world_changed(changes);
}

void Session::report_clock() {
  report_world(true);
  emitter_->emit_plain_step();
}

void Session::emit_all() {
  // The observation delay holds back seconds that the engine will not see, but that did happen.
  if (is_over()) {
    for (const ServiceSecond& second : loop_->take_unseen_seconds()) emitter_->emit_second(second, now());
  }
  emitter_->emit_blocks(now());
  series_->give(std::nullopt, now(), snapshot());  // a second that ended with the world
  report_clock();
}

void Session::restore_figures(const std::vector<SeriesSpan>& seconds) {
  series_->restore(seconds);
  for (const SeriesSpan& span : seconds) {
    if (!span.services.empty()) requests_->skip_to(span.second + 1);
  }
}

// ---- queries

bool Session::is_at_rest() const { return loop_->is_at_rest(); }
bool Session::is_over() const { return loop_->is_over(); }
bool Session::awaits_answer() const { return loop_->awaits_answer(); }
bool Session::is_solving() const { return loop_->engine().has_open_question(); }
std::uint64_t Session::order_count() const { return loop_->order_count(); }
Instant Session::now() const { return loop_->now(); }
std::optional<Instant> Session::planned_at() const {
  return policy::policy_named(options_->policy).replans({}) ? log_->planned_at() : std::nullopt;
}
std::int64_t Session::figured_second() const { return std::max(std::int64_t{0}, read_second_); }
const Snapshot& Session::snapshot() const { return loop_->engine().snapshot(); }

const WarmStatus* Session::warm_of(ServiceId service) const { return loop_->engine().warm_of(service); }

const TierChoice* Session::tier_of(ServiceId service) const { return loop_->engine().tier_of(service); }
const std::optional<std::string>& Session::infeasible() const { return loop_->infeasible(); }
const sim::FaultBook& Session::faults() const { return loop_->world().faults(); }
const Catalog& Session::catalog() const { return objects_->catalog(); }
std::int64_t Session::held_bytes() const { return objects_->held_bytes(); }
const EventLog& Session::events() const { return log_->events(); }
const PlanLog& Session::plans() const { return std::as_const(*log_).plans(); }
const ServiceWatch& Session::watch() const { return std::as_const(*log_).watch(); }
const LostSlices& Session::lost_slices() const { return log_->lost_slices(); }
const UsageBook& Session::usage() const { return std::as_const(*log_).usage(); }
const PromiseBook& Session::promises() const { return std::as_const(*log_).promises(); }
const LiveFigures& Session::figures() const { return std::as_const(*series_).figures(); }
std::uint64_t Session::last_safe_event() const { return emitter_->last_safe_event(); }
void Session::set_recorded() {
  emitter_->set_recorded();
  counted_recorded_ = counted_;
}
std::string Session::why_not_recorded() const { return emitter_->why_not_recorded().value_or(""); }

GpuState Session::gpu_state(GpuId gpu) const {
  GpuState state = snapshot().gpu_state(gpu);
  const auto order = ordered_.find(gpu);
  if (order == ordered_.end()) return state;
  state.scheduling = order->second.scheduling;
  state.scheduling_reason = order->second.reason;
  state.scheduling_since = now();
  return state;
}

bool Session::is_drained(GpuId gpu) const {
  if (!log_->is_drained(gpu, snapshot()) || snapshot().gpu_state(gpu).scheduling != GpuScheduling::kCordoned)
    return false;
  return std::ranges::all_of(snapshot().slices_on(gpu), &StandingSlice::is_foreign);
}

SliceState Session::slice_state(std::size_t index) const {
  // A slice of a removed service waits to be destroyed, even before a plan may do so.
  if (snapshot().is_orphan(snapshot().slices[index])) return SliceState::kDraining;
  return watch().state_of(snapshot(), index);
}

}  // namespace berth::live
