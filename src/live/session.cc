#include "live/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <variant>

#include "base/overloaded.h"
#include "engine/drain_stage.h"
#include "engine/retire_stage.h"
#include "live/fault_text.h"
#include "live/observed_slices.h"
#include "policy/registry.h"

namespace berth::live {
namespace {

ObjectName gpu_object(GpuId gpu) { return {.kind = ObjectKind::kGpu, .tenant = "", .name = gpu_name(gpu)}; }
ObjectName plan_object(std::uint64_t id) { return {.kind = ObjectKind::kPlan, .tenant = "", .name = plan_name(id)}; }

ObjectName planning_object() { return {.kind = ObjectKind::kPlanning, .tenant = "", .name = "planning"}; }

ObjectName slice_object(const Scenario& scenario, const Slice& slice) {
  return {.kind = ObjectKind::kGpuSlice, .tenant = "", .name = slice_name(scenario, slice)};
}

ObjectName fault_object(std::uint64_t id) { return {.kind = ObjectKind::kFault, .tenant = "", .name = fault_name(id)}; }

ObjectName service_object(const ServiceSpec& service) {
  return {.kind = ObjectKind::kGpuService, .tenant = service.tenant, .name = service.name};
}

/// The number of "gpu-3" without leading zeros.
std::optional<std::uint64_t> number_behind(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = name.substr(prefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || fmt::format("{}", number) != digits) return std::nullopt;
  return number;
}

/// The stages of the policy, and before them those that clear what must go.
std::vector<Stage> stages_of(const Scenario& scenario, const policy::Policy& row, const policy::Settings& settings) {
  std::vector<Stage> stages;
  stages.push_back(drain_stage(scenario, row.replans(settings)));
  stages.push_back(retire_stage(scenario));
  for (Stage& stage : row.make({.scenario = scenario, .settings = settings}).stages) stages.push_back(std::move(stage));
  return stages;
}

}  // namespace

// ---- names

std::string gpu_name(GpuId gpu) { return fmt::format("gpu-{}", gpu.index); }

std::string slice_name(const Scenario& scenario, const Slice& slice) {
  return fmt::format("{}-{}-{}", gpu_name(slice.gpu), profile_name(scenario.model_of(slice.gpu), slice.profile),
                     slice.start);
}

std::string plan_name(std::uint64_t id) { return fmt::format("plan-{}", id); }

std::optional<std::uint64_t> plan_number(std::string_view name) { return number_behind("plan-", name); }

std::string_view action_word(const SliceChange& change) {
  return std::visit(Overloaded{
                        [](const CreateSlice&) -> std::string_view { return "create"; },
                        [](const DestroySlice&) -> std::string_view { return "destroy"; },
                        [](const AssignSlice&) -> std::string_view { return "assign"; },
                    },
                    change);
}

std::optional<GpuId> find_gpu(const Scenario& scenario, std::string_view name) {
  const auto index = number_behind("gpu-", name);
  if (!index || *index >= scenario.gpu_count()) return std::nullopt;
  return GpuId{static_cast<std::uint32_t>(*index)};
}

std::optional<NodeId> find_node(const Scenario& scenario, std::string_view name) {
  constexpr std::string_view kPrefix = "node-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), index);
  const bool is_known = error == std::errc() && index < node_count(scenario) && node_name({index}) == name;
  return is_known ? std::optional(NodeId{index}) : std::nullopt;
}

// ---- the session

Result<std::unique_ptr<Session>> Session::make(Scenario scenario, SessionOptions options) {
  const policy::Policy* row = policy::find_policy(options.policy);
  if (row == nullptr || row->is_hindsight()) {
    return invalid(fmt::format("wanted a policy that can run live, found {}", options.policy));
  }
  return std::make_unique<Session>(std::move(scenario), std::move(options));
}

Session::Session(Scenario scenario, SessionOptions options)
    : scenario_(std::move(scenario)), options_(std::move(options)), watch_(scenario_), figures_(scenario_) {
  const policy::Policy& row = policy::policy_named(options_.policy);
  policy::Settings settings;
  settings.berth.has_end = options_.has_end;
  sim::LoopOptions loop;
  loop.seed = options_.seed;
  loop.is_strict = row.obeys_constraints;
  loop.approval = options_.approval;
  loop.world.sharing = row.sharings.front();
  loop.world.dispatch = row.dispatch;
  loop.world.is_endless = !options_.has_end;
  loop.world.second_measured = [this](const sim::MeasuredSecond& second) { figures_.add(second); };
  loop.journal = [this](const sim::JournalRecord& record) {
    if (options_.journal) options_.journal(record);
    note_record(record);
  };
  loop.observed = [this](const Event& event) { note_event(event); };
  loop.answered = [this](const StepAnswer& answer) { note_answer(answer); };
  loop.solve_elsewhere = options_.solve_elsewhere;
  loop_ = std::make_unique<sim::Loop>(
      scenario_, [&row, settings](const Scenario& live) { return stages_of(live, row, settings); }, std::move(loop));
  list_objects();
}

void Session::list_objects() {
  for (std::uint32_t index = 0; index < scenario_.services.size(); ++index) {
    const ServiceSpec& spec = std::as_const(scenario_.services)[index];
    if (!catalog_.tenants.contains(spec.tenant)) catalog_.tenants[spec.tenant] = catalog_.new_meta({}, Instant());
    catalog_.services[{.tenant = spec.tenant, .name = spec.name}] = {.id = {index},
                                                                     .meta = catalog_.new_meta({}, Instant())};
  }
}

bool Session::advance(Instant until) {
  if (is_over() || loop_->next_stop() > until) return false;
  loop_->advance();
  if (now().second() > read_second_) read_sums();
  return true;
}

void Session::finish() {
  if (is_over() && !infeasible()) static_cast<void>(loop_->finish());
}

// ---- objects

namespace {

/// Whether an object may be set by somebody who saw `version`.
bool is_version(const std::optional<std::string>& version, const ObjectMeta* stored) {
  if (!version) return true;
  return stored != nullptr && *version == fmt::format("{}", stored->version);
}

tl::unexpected<ObjectRefusal> refuse_version(const ObjectMeta* stored) {
  ObjectRefusal refusal{.kind = ObjectRefusal::Kind::kVersion, .stored_version = std::nullopt};
  if (stored != nullptr) refusal.stored_version = fmt::format("{}", stored->version);
  return tl::unexpected(std::move(refusal));
}

tl::unexpected<ObjectRefusal> refuse(ObjectRefusal::Kind kind) {
  return tl::unexpected(ObjectRefusal{.kind = kind, .stored_version = std::nullopt});
}

ObjectName tenant_object(const std::string& name) { return {.kind = ObjectKind::kTenant, .tenant = "", .name = name}; }

}  // namespace

tl::expected<SetResult, ObjectRefusal> Session::set_tenant(const std::string& name, Labels labels,
                                                           const std::optional<std::string>& version) {
  const auto known = catalog_.tenants.find(name);
  ObjectMeta* stored = known == catalog_.tenants.end() ? nullptr : &known->second;
  if (!is_version(version, stored)) return refuse_version(stored);
  if (stored != nullptr && stored->labels == labels) return SetResult::kUnchanged;
  if (stored != nullptr) {
    catalog_.change(*stored, std::move(labels));
  } else {
    catalog_.tenants[name] = catalog_.new_meta(std::move(labels), now());
  }
  append(now(), EventKind::kTenantSet, tenant_object(name), "");
  return stored != nullptr ? SetResult::kChanged : SetResult::kCreated;
}

tl::expected<void, ObjectRefusal> Session::remove_tenant(const std::string& name) {
  if (!catalog_.tenants.contains(name)) return refuse(ObjectRefusal::Kind::kNotFound);
  if (catalog_.has_services(name)) return refuse(ObjectRefusal::Kind::kHasServices);
  catalog_.tenants.erase(name);
  append(now(), EventKind::kTenantRemoved, tenant_object(name), "");
  return {};
}

tl::expected<SetResult, ObjectRefusal> Session::set_service(const ServiceName& name, ServiceSpec spec, Labels labels,
                                                            const std::optional<std::string>& version) {
  if (!catalog_.tenants.contains(name.tenant)) return refuse(ObjectRefusal::Kind::kNoTenant);
  spec.tenant = name.tenant;
  spec.name = name.name;
  const auto known = catalog_.services.find(name);
  const bool is_new = known == catalog_.services.end();
  ObjectMeta* meta = is_new ? nullptr : &known->second.meta;
  if (!is_version(version, meta)) return refuse_version(meta);
  const ServiceId id = is_new ? place_for_new() : known->second.id;
  const ServiceSpec* stored = is_new ? nullptr : &std::as_const(scenario_.services)[id.index];
  const bool is_same_spec = stored != nullptr && *stored == spec;
  if (is_same_spec && meta->labels == labels) return SetResult::kUnchanged;
  if (is_new) {
    catalog_.services[name] = {.id = id, .meta = catalog_.new_meta(std::move(labels), now())};
  } else {
    catalog_.change(*meta, std::move(labels));
  }
  if (is_same_spec) {
    append(now(), EventKind::kServiceSet, service_object(*stored), "labels");
    return SetResult::kChanged;
  }
  const ServiceSet set{.service = id,
                       .revision = ++last_revision_,
                       .spec = std::make_shared<const ServiceSpec>(spec),
                       .restarts_arrivals = is_new || stored->arrivals != spec.arrivals,
                       .restarts_retraining = is_new || stored->retraining != spec.retraining};
  if (id.index == scenario_.services.size()) {
    scenario_.services.push_back(std::move(spec));
  } else {
    scenario_.services.set(id.index, std::move(spec));
  }
  if (options_.service_set) options_.service_set(id);
  if (is_new) {
    forget(id);
  } else {
    figures_.read_spec(id);
    watch_.forget(id);
  }
  loop_->set_service(set);
  watch_.update(snapshot());
  return is_new ? SetResult::kCreated : SetResult::kChanged;
}

/// A place that nothing refers to any more, else a new one.
ServiceId Session::place_for_new() const {
  const auto held = [&](ServiceId service) {
    return std::ranges::any_of(snapshot().slices, [&](const StandingSlice& standing) {
      return std::ranges::find(standing.holding.services, service) != standing.holding.services.end();
    });
  };
  for (std::uint32_t index = 0; index < scenario_.services.size(); ++index) {
    const bool is_free = scenario_.services[index].is_absent && snapshot().services[index].is_absent;
    if (is_free && !is_in_open_question({index}) && !held({index})) return {index};
  }
  return {static_cast<std::uint32_t>(scenario_.services.size())};
}

bool Session::is_in_open_question(ServiceId place) const {
  const auto asked = asked_before_.find(place);
  return is_solving() && asked != asked_before_.end() && asked->second == asked_count_;
}

tl::expected<void, ObjectRefusal> Session::remove_service(const ServiceName& name) {
  const auto known = catalog_.services.find(name);
  if (known == catalog_.services.end()) return refuse(ObjectRefusal::Kind::kNotFound);
  const ServiceId id = known->second.id;
  catalog_.services.erase(known);
  scenario_.services.set(id.index, absent_service(std::as_const(scenario_.services)[id.index]));
  forget(id);
  asked_before_[id] = asked_count_;
  loop_->remove_service(id);
  watch_.update(snapshot());
  return {};
}

/// Figures and conditions of a place are those of one service.
void Session::forget(ServiceId service) {
  watch_.forget(service);
  figures_.forget(service);
}

void Session::read_sums() {
  read_second_ = now().second();
  figures_.add(now(), loop_->sm_time());
  refresh();
}

void Session::refresh() {
  if (refreshed_step_ == step_count_) return;
  refreshed_step_ = step_count_;
  watch_.update(snapshot());
}

void Session::schedule(GpuId gpu, GpuScheduling scheduling, std::string reason) {
  const GpuScheduled order{.gpu = gpu, .scheduling = scheduling, .reason = std::move(reason)};
  ordered_[gpu] = order;
  loop_->command({.at = now(), .what = order});
}

GpuState Session::gpu_state(GpuId gpu) const {
  GpuState state = snapshot().gpu_state(gpu);
  const auto order = ordered_.find(gpu);
  if (order == ordered_.end()) return state;
  state.scheduling = order->second.scheduling;
  state.scheduling_reason = order->second.reason;
  state.scheduling_since = now();
  return state;
}

// ---- approval and pause

ApprovalOutcome Session::approve(std::uint64_t id, std::string reason) {
  expire_overdue();
  if (plans_.find(id) == nullptr) return ApprovalOutcome::kUnknown;
  if (plans_.find(id)->phase == PlanPhase::kAwaitingApproval) {
    if (snapshot().pause) return ApprovalOutcome::kPaused;
    if (is_over()) return ApprovalOutcome::kNotWaiting;
    loop_->command({.at = now(), .what = PlanApproved{.plan = id, .reason = std::move(reason)}});
    if (plans_.find(id)->phase != PlanPhase::kSuperseded) return ApprovalOutcome::kAccepted;
  }
  return plans_.find(id)->difference.empty() ? ApprovalOutcome::kNotWaiting : ApprovalOutcome::kChanged;
}

void Session::expire_overdue() {
  const Plan* waiting = loop_->engine().waiting();
  if (waiting == nullptr || is_over()) return;
  const PlanStatus* status = plans_.find(waiting->id);
  if (status == nullptr || !status->expires_at_wall_us || options_.wall_clock() < *status->expires_at_wall_us) return;
  loop_->command({.at = now(), .what = PlanExpired{.plan = waiting->id}});
}

void Session::pause(std::string reason) {
  if (snapshot().pause && snapshot().pause->reason == reason) return;
  loop_->command({.at = now(), .what = PlanningPaused{.reason = std::move(reason)}});
}

void Session::resume(std::string reason) {
  if (!snapshot().pause) return;
  loop_->command({.at = now(), .what = PlanningResumed{.reason = std::move(reason)}});
}

Result<std::uint64_t> Session::inject(const sim::FaultOrder& order) {
  const auto admitted = [&](std::uint64_t id) {
    append(now(), EventKind::kFaultInjected, fault_object(id), fault_text(scenario_, order));
  };
  if (order.kind != sim::FaultKind::kClear) return loop_->inject(order, admitted);
  std::vector<std::uint64_t> waited;
  for (const sim::WaitingFault& fault : faults().waiting()) waited.push_back(fault.id);
  auto id = loop_->inject(order);
  for (const std::uint64_t before : waited) {
    const auto& waiting = faults().waiting();
    if (std::ranges::find(waiting, before, &sim::WaitingFault::id) != waiting.end()) continue;
    append(now(), EventKind::kFaultCleared, fault_object(before), fault_text(scenario_, order));
  }
  return id;
}

// ---- what is noted

void Session::append(Instant at, EventKind kind, ObjectName object, std::string message) {
  events_.append(at, kind, std::move(object), std::move(message));
}

void Session::note_record(const sim::JournalRecord& record) {
  const auto* slice = std::get_if<sim::SliceRecord>(&record);
  if (slice == nullptr) return;
  if (slice->event == sim::SliceEvent::kCreated) watch_.slice_created(slice->slice);
  const bool is_gone = slice->event == sim::SliceEvent::kDestroyed || slice->event == sim::SliceEvent::kLost;
  if (is_gone) watch_.slice_gone(slice->slice);
  const auto kind = [&]() -> std::optional<EventKind> {
    switch (slice->event) {
      case sim::SliceEvent::kCreated:
        return EventKind::kSliceCreated;
      case sim::SliceEvent::kServing:
        return slice->role == Role::kInference ? std::optional(EventKind::kSliceServing) : std::nullopt;
      case sim::SliceEvent::kDestroyed:
      case sim::SliceEvent::kLost:
        return EventKind::kSliceGone;
      case sim::SliceEvent::kDraining:
      case sim::SliceEvent::kRetrainingStarted:
      case sim::SliceEvent::kRetrainingDone:
        return std::nullopt;
    }
    return std::nullopt;
  }();
  if (!kind) return;
  const std::string holder =
      slice->services.empty() ? "nobody's" : scenario_.services[slice->services.front().index].name;
  append(slice->at, *kind, slice_object(scenario_, slice->slice), holder);
}

void Session::note_event(const Event& event) {
  note_changes(plans_.apply(event));
  std::visit(
      Overloaded{
          [&](const GpuLost& lost) { append(event.at, EventKind::kGpuLost, gpu_object(lost.gpu), lost.reason); },
          [&](const GpuReturned& returned) { append(event.at, EventKind::kGpuReturned, gpu_object(returned.gpu), ""); },
          [&](const GpuScheduled& scheduled) {
            const EventKind kind =
                scheduled.scheduling == GpuScheduling::kOpen ? EventKind::kGpuUncordoned : EventKind::kGpuCordoned;
            append(event.at, kind, gpu_object(scheduled.gpu), scheduled.reason);
            if (scheduled.scheduling == GpuScheduling::kDraining) {
              draining_.insert(scheduled.gpu);
            } else {
              draining_.erase(scheduled.gpu);
            }
          },
          [&](const ActionFailed& failed) {
            failed_.push_back(failed);
            const char* what = failed.kind == ActionKind::kCreation ? "creation" : "destruction";
            append(event.at, EventKind::kActionFailed, slice_object(scenario_, failed.slice),
                   fmt::format("{}: {}", what, failed.message));
          },
          [&](const GpuObserved& observed) { note_observed(event, observed); },
          [&](const RetrainingDue& due) {
            append(event.at, EventKind::kRetrainingDue, service_object(scenario_.services[due.service.index]), "");
          },
          [&](const RetrainingDone& done) {
            append(event.at, EventKind::kRetrainingDone, service_object(scenario_.services[done.service.index]), "");
          },
          [&](const ServiceSet& set) { append(event.at, EventKind::kServiceSet, service_object(*set.spec), ""); },
          [&](const ServiceRemoved& removed) {
            append(event.at, EventKind::kServiceRemoved, service_object(scenario_.services[removed.service.index]), "");
          },
          [&](const PlanApproved& approved) { approval_reason_ = approved.reason; },
          [&](const PlanningPaused& paused) {
            append(event.at, EventKind::kPlanningPaused, planning_object(), paused.reason);
          },
          [&](const PlanningResumed& resumed) {
            append(event.at, EventKind::kPlanningResumed, planning_object(), resumed.reason);
          },
          [&](const SolveFinished& finished) { arrived_ = finished.solution->plan; },
          [](const auto&) {},
      },
      event.what);
}

void Session::note_observed(const Event& event, const GpuObserved& observed) {
  for (const SliceNews& news : news_of(snapshot(), failed_, observed)) {
    const bool is_missing = news.kind == EventKind::kSliceMissing;
    append(event.at, news.kind, slice_object(scenario_, news.slice), is_missing ? "it is not there" : "made by others");
  }
}

void Session::note_answer(const StepAnswer& answer) {
  ++step_count_;
  if (answer.request) asked_count_ = answer.request->question;
  if (answer.ended) note_end_of_proposal(answer);
  ordered_.clear();
  note_drained();
  failed_.clear();
  if (!arrived_) return;
  const Plan arrived = *std::exchange(arrived_, std::nullopt);
  if (!answer.refused) watch_.plan_made(arrived);
  if (!arrived.actions.empty()) note_arrival(arrived, answer);
}

/// A draining GPU became cordoned.
void Session::note_drained() {
  std::erase_if(draining_, [this](GpuId gpu) {
    if (snapshot().is_draining(gpu)) return false;
    append(snapshot().now, EventKind::kGpuDrained, gpu_object(gpu), snapshot().gpu_state(gpu).scheduling_reason);
    return true;
  });
}

void Session::note_arrival(const Plan& arrived, const StepAnswer& answer) {
  const ObjectName object = plan_object(arrived.id);
  const Instant at = snapshot().now;
  append(at, EventKind::kPlanProposed, object,
         fmt::format("{} actions{}", arrived.actions.size(), answer.held ? "; it awaits approval" : ""));
  const std::vector<ActionChange> changes = plans_.add(arrived, answer, snapshot());
  const std::string& message = plans_.find(arrived.id)->message;
  if (answer.held) {
    if (options_.wall_clock) {
      plans_.set_wall_expiry(arrived.id, options_.wall_clock() + kProposalWait.count());
    }
  } else if (answer.refused) {
    append(at, EventKind::kPlanRefused, object, message);
  } else if (answer.paused) {
    append(at, EventKind::kPlanSuperseded, object, message);
  } else {
    append(at, EventKind::kPlanAccepted, object,
           fmt::format("{} of {} actions", answer.plan.actions.size(), arrived.actions.size()));
  }
  note_changes(changes);
}

void Session::note_end_of_proposal(const StepAnswer& answer) {
  const ObjectName object = plan_object(answer.ended->plan);
  const Instant at = snapshot().now;
  const std::vector<ActionChange> changes = plans_.end_proposal(answer, snapshot());
  const PlanStatus* status = plans_.find(answer.ended->plan);
  const std::string message = status == nullptr ? "" : status->message;
  switch (answer.ended->end) {
    case ProposalEnd::kApproved:
      append(at, EventKind::kPlanApproved, object, approval_reason_);
      append(at, EventKind::kPlanAccepted, object, fmt::format("{} actions", answer.plan.actions.size()));
      break;
    case ProposalEnd::kExpired:
      append(at, EventKind::kPlanExpired, object, message);
      break;
    case ProposalEnd::kSuperseded:
      append(at, EventKind::kPlanSuperseded, object, message);
      break;
  }
  note_changes(changes);
}

void Session::note_changes(const std::vector<ActionChange>& changes) {
  for (const ActionChange& change : changes) {
    const auto kind = [&]() -> std::optional<EventKind> {
      switch (change.phase) {
        case ActionPhase::kPlanned:
          return std::nullopt;
        case ActionPhase::kRunning:
          return EventKind::kActionIntended;
        case ActionPhase::kDone:
          return EventKind::kActionDone;
        case ActionPhase::kFailed:
          return EventKind::kActionFailed;
        case ActionPhase::kDropped:
          return EventKind::kActionDropped;
      }
      return std::nullopt;
    }();
    const PlanStatus* plan = plans_.find(change.plan);
    if (!kind || plan == nullptr) continue;
    const SliceChange& what = plan->actions[change.action].action.what;
    append(loop_->now(), *kind, plan_object(change.plan),
           fmt::format("action {}: {} {}{}{}", change.action + 1, action_word(what),
                       slice_name(scenario_, slice_of(what)), change.message.empty() ? "" : ": ", change.message));
  }
}

}  // namespace berth::live
