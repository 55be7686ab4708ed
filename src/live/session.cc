#include "live/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <variant>

#include "base/overloaded.h"
#include "engine/drain_stage.h"
#include "engine/pin_stage.h"
#include "engine/retire_stage.h"
#include "live/fault_text.h"
#include "live/observed_slices.h"
#include "policy/registry.h"

namespace berth::live {
namespace {

ObjectName gpu_object(GpuId gpu) { return {.kind = ObjectKind::kGpu, .tenant = "", .name = gpu_name(gpu)}; }
ObjectName plan_object(std::uint64_t id) { return {.kind = ObjectKind::kPlan, .tenant = "", .name = plan_name(id)}; }

ObjectName planning_object() { return {.kind = ObjectKind::kPlanning, .tenant = "", .name = "planning"}; }

/// A slice and who holds it, as events name them.
struct SliceEventSource {
  Slice slice;
  std::uint64_t generation = 0;  ///< 0: of others
  std::string holder;            ///< "tenant/name"; empty: unowned
  std::size_t tenant_size = 0;   ///< of `holder`

  SliceEventSource(const Scenario& scenario, const Slice& of, std::uint64_t number, std::optional<ServiceId> service)
      : slice(of), generation(number) {
    if (!service) return;
    const ServiceSpec& spec = scenario.services[service->index];
    tenant_size = spec.tenant.size();
    holder.reserve(tenant_size + 1 + spec.name.size());
    holder.append(spec.tenant).append("/").append(spec.name);
  }
  [[nodiscard]] EventWords words(const Scenario& scenario, std::string message) const {
    return {.object = {.kind = ObjectKind::kGpuSlice,
                       .tenant = holder.substr(0, tenant_size),
                       .name = slice_name(scenario, slice, generation)},
            .message = std::move(message),
            .generation = generation == 0 ? std::nullopt : std::optional(generation)};
  }
};

std::optional<ServiceId> first_of(const std::vector<ServiceId>& services) {
  return services.empty() ? std::nullopt : std::optional(services.front());
}

/// Who holds the slice of that generation.
std::optional<ServiceId> holder_of(const Snapshot& snapshot, const Slice& slice, std::uint64_t generation) {
  for (const StandingSlice& standing : snapshot.slices_at(slice)) {
    if (standing.generation == generation) return first_of(standing.holding.services);
  }
  return std::nullopt;
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
  if (row.obeys_constraints) stages.push_back(pin_stage(scenario));
  for (Stage& stage : row.make({.scenario = scenario, .settings = settings}).stages) stages.push_back(std::move(stage));
  return stages;
}

}  // namespace

// ---- names

std::string gpu_name(GpuId gpu) { return fmt::format("gpu-{}", gpu.index); }

std::string place_name(const Scenario& scenario, const Slice& slice) {
  return fmt::format("{}-{}-{}", gpu_name(slice.gpu), profile_name(scenario.model_of(slice.gpu), slice.profile),
                     slice.start);
}

std::string slice_name(const Scenario& scenario, const Slice& slice, std::uint64_t generation) {
  const std::string place = place_name(scenario, slice);
  return generation == 0 ? place + "-foreign" : fmt::format("{}-{}", place, generation);
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
    : scenario_(std::move(scenario)),
      options_(std::move(options)),
      watch_(scenario_, policy::policy_named(options_.policy).replans({})),
      figures_(scenario_) {
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
    watch_.read_spec(id);
  }
  loop_->set_service(set);
  watch_.update(snapshot());
  return is_new ? SetResult::kCreated : SetResult::kChanged;
}

/// A place that nothing refers to any more, else a new one. O(places + slices).
ServiceId Session::place_for_new() const {
  const ServiceId next{static_cast<std::uint32_t>(scenario_.services.size())};
  std::vector<bool> is_held(scenario_.services.size());
  for (const StandingSlice& standing : snapshot().slices) {
    for (const ServiceId service : standing.holding.services) is_held[service.index] = true;
  }
  for (std::uint32_t index = 0; index < next.index; ++index) {
    const bool is_free = std::as_const(scenario_.services)[index].is_absent && snapshot().services[index].is_absent;
    if (is_free && !is_held[index] && !is_in_open_question({index})) return {index};
  }
  return next;
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
  lost_slices_.forget(service);
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

void Session::schedule_all(GpuRange gpus, GpuScheduling scheduling, const std::string& reason) {
  std::vector<Event> events;
  events.reserve(gpus.count);
  for (std::uint32_t i = 0; i < gpus.count; ++i) {
    const GpuScheduled order{.gpu = {gpus.first.index + i}, .scheduling = scheduling, .reason = reason};
    ordered_[order.gpu] = order;
    events.push_back({.at = now(), .what = order});
  }
  loop_->command(events);
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
  if (slice->event == sim::SliceEvent::kLost) note_lost(*slice);
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
  events_.append(
      slice->at, *kind,
      [this, source = SliceEventSource(scenario_, slice->slice, slice->generation, first_of(slice->services))] {
        return source.words(scenario_, source.holder.empty() ? "unowned" : source.holder);
      });
}

/// The snapshot is still that from before the loss.
void Session::note_lost(const sim::SliceRecord& record) {
  LostSlice lost{.slice = {.holding = {.slice = record.slice, .role = record.role, .services = record.services},
                           .generation = record.generation},
                 .seen_at = record.at};
  if (snapshot().is_orphan(lost.slice)) return;
  const auto standing = snapshot().slices_at(record.slice);
  const auto it = std::ranges::find(standing, record.generation, &StandingSlice::generation);
  if (it != standing.end() && refreshed_step_ == step_count_) {
    lost.seen_at = watch_.seen_at(static_cast<std::size_t>(it - snapshot().slices.begin()));
  }
  lost_slices_.add(std::move(lost));
}

SliceState Session::slice_state(std::size_t index) const {
  // A slice of a service that is gone waits to be destroyed, even before a plan may do so.
  if (snapshot().is_orphan(snapshot().slices[index])) return SliceState::kDraining;
  return watch_.state_of(snapshot(), index);
}

void Session::note_failed(const auto& slices, const std::string& how) {
  for (const StandingSlice& standing : slices) {
    for (const ServiceId service : standing.holding.services) watch_.slice_failed(service, how);
  }
}

void Session::note_event(const Event& event) {
  const std::vector<ActionChange> changes = plans_.apply(event);
  note_changes(changes);
  std::visit(
      Overloaded{
          [&](const GpuLost& lost) {
            append(event.at, EventKind::kGpuLost, gpu_object(lost.gpu), lost.reason);
            note_failed(snapshot().slices_on(lost.gpu), "its slice was lost with " + gpu_name(lost.gpu));
          },
          [&](const GpuReturned& returned) {
            lost_slices_.forget(returned.gpu);
            append(event.at, EventKind::kGpuReturned, gpu_object(returned.gpu), "");
          },
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
            note_failed(snapshot().slices_at(failed.slice), fmt::format("the {} of a slice on {} failed: {}", what,
                                                                        gpu_name(failed.slice.gpu), failed.message));
            // That of the plan's action says it already.
            if (std::ranges::find(changes, ActionPhase::kFailed, &ActionChange::phase) != changes.end()) return;
            const SliceEventSource source(scenario_, failed.slice, failed.generation,
                                          holder_of(snapshot(), failed.slice, failed.generation));
            events_.append(event.at, EventKind::kActionFailed,
                           [this, source, message = fmt::format("{}: {}", what, failed.message)] {
                             return source.words(scenario_, message);
                           });
          },
          [&](const GpuObserved& observed) { note_observed(event, observed); },
          [&](const RetrainingDue& due) {
            append(event.at, EventKind::kRetrainingDue,
                   service_object(std::as_const(scenario_.services)[due.service.index]), "");
          },
          [&](const RetrainingDone& done) {
            append(event.at, EventKind::kRetrainingDone,
                   service_object(std::as_const(scenario_.services)[done.service.index]), "");
          },
          [&](const ServiceSet& set) { append(event.at, EventKind::kServiceSet, service_object(*set.spec), ""); },
          [&](const ServiceRemoved& removed) {
            append(event.at, EventKind::kServiceRemoved,
                   service_object(std::as_const(scenario_.services)[removed.service.index]), "");
          },
          [&](const PlanApproved& approved) { approval_reason_ = approved.reason; },
          [&](const PlanningPaused& paused) {
            append(event.at, EventKind::kPlanningPaused, planning_object(), paused.reason);
          },
          [&](const PlanningResumed& resumed) {
            append(event.at, EventKind::kPlanningResumed, planning_object(), resumed.reason);
          },
          [&](const SolveFinished& finished) { arrived_ = finished.solution; },
          [](const auto&) {},
      },
      event.what);
}

void Session::note_observed(const Event& event, const GpuObserved& observed) {
  for (const SliceNews& news : news_of(snapshot(), failed_, observed)) {
    const bool is_missing = news.kind == EventKind::kSliceMissing;
    events_.append(event.at, news.kind,
                   [this, is_missing, source = SliceEventSource(scenario_, news.slice, news.generation, news.holder)] {
                     return source.words(scenario_, is_missing ? "it is not there" : "made by others");
                   });
  }
}

void Session::note_answer(const StepAnswer& answer) {
  ++step_count_;
  if (answer.request) asked_count_ = answer.request->question;
  if (answer.held) watch_.proposal_waits(*answer.held);
  if (answer.ended) note_end_of_proposal(answer);
  ordered_.clear();
  note_drained();
  failed_.clear();
  const std::shared_ptr<const Solution> arrived = std::exchange(arrived_, nullptr);
  if (!arrived) return;
  if (!answer.refused) watch_.plan_made(*arrived);
  // The plan lives on with its solution.
  if (!arrived->plan.actions.empty()) note_arrival({arrived, &arrived->plan}, answer);
}

/// A draining GPU became cordoned.
void Session::note_drained() {
  std::erase_if(draining_, [this](GpuId gpu) {
    if (snapshot().is_draining(gpu)) return false;
    append(snapshot().now, EventKind::kGpuDrained, gpu_object(gpu), snapshot().gpu_state(gpu).scheduling_reason);
    return true;
  });
}

void Session::note_arrival(const std::shared_ptr<const Plan>& arrived, const StepAnswer& answer) {
  const ObjectName object = plan_object(arrived->id);
  const Instant at = snapshot().now;
  append(at, EventKind::kPlanProposed, object,
         fmt::format("{} actions{}", arrived->actions.size(), answer.held ? "; it awaits approval" : ""));
  const std::vector<ActionChange> changes = plans_.add(arrived, scenario_, answer, snapshot());
  const std::string& message = plans_.find(arrived->id)->message;
  if (answer.held) {
    if (options_.wall_clock) {
      plans_.set_wall_expiry(arrived->id, options_.wall_clock() + kProposalWait.count());
    }
  } else if (answer.refused) {
    append(at, EventKind::kPlanRefused, object, message);
  } else if (answer.paused) {
    append(at, EventKind::kPlanSuperseded, object, message);
  } else {
    append(at, EventKind::kPlanAccepted, object,
           fmt::format("{} of {} actions", answer.plan.actions.size(), arrived->actions.size()));
  }
  note_changes(changes);
}

void Session::note_end_of_proposal(const StepAnswer& answer) {
  watch_.proposal_ended();
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
    const SliceChange& what = plan->plan->actions[change.action].what;
    events_.append(loop_->now(), *kind,
                   [this, change, word = action_word(what), slice = slice_of(what),
                    generation = plan->actions->generation(change.action)] {
                     const bool is_known = generation > 0;
                     const std::string name =
                         is_known ? slice_name(scenario_, slice, generation) : place_name(scenario_, slice);
                     return EventWords{.object = plan_object(change.plan),
                                       .message = fmt::format("action {}: {} {}{}{}", change.action + 1, word, name,
                                                              change.message.empty() ? "" : ": ", change.message),
                                       .generation = is_known ? std::optional(generation) : std::nullopt};
                   });
  }
}

}  // namespace berth::live
