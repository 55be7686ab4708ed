#include "live/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "engine/loop/drain_stage.h"
#include "engine/loop/evict_stage.h"
#include "engine/loop/pin_stage.h"
#include "engine/loop/retire_stage.h"
#include "engine/policy/registry.h"
#include "live/session/fault_text.h"
#include "live/session/observed_gpus.h"

namespace berth::live {
namespace {

/// The stages of the policy, and before them those that clear what must go.
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

}  // namespace

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
      first_services_(scenario_.services),
      options_(std::move(options)),
      watch_(scenario_, policy::policy_named(options_.policy).replans({})),
      figures_(scenario_),
      series_(scenario_, catalog_),
      usage_(scenario_) {
  const policy::Policy& row = policy::policy_named(options_.policy);
  policy::Settings settings;
  settings.berth.has_end = options_.has_end;
  if (options_.planning_seconds) settings.berth.period_seconds = *options_.planning_seconds;
  sim::LoopOptions loop;
  loop.seed = options_.seed;
  loop.is_strict = row.obeys_constraints;
  loop.approval = options_.approval;
  loop.first_layout_takes_time = options_.first_layout_takes_time;
  loop.world.sharing = row.sharings.front();
  loop.world.dispatch = row.dispatch;
  loop.world.is_endless = !options_.has_end;
  loop.world.has_load = options_.has_load;
  loop.world.devices = options_.devices;
  loop.world.second_measured = [this](const sim::MeasuredSecond& second) { note_measured(second); };
  loop.journal = [this](const sim::JournalRecord& record) {
    if (options_.journal) options_.journal(record);
    note_record(record);
  };
  loop.observed = [this](const Event& event) {
    if (options_.seen) options_.seen(event);
    note_event(event);
  };
  loop.ordered = options_.ordered;
  loop.answered = [this](const StepAnswer& answer) { note_answer(answer); };
  loop.solve_elsewhere = options_.solve_elsewhere;
  loop.waits_for_solver = options_.waits_for_solver;
  loop.restores_engine_at = options_.restores_engine_at;
  loop_ = std::make_unique<sim::Loop>(
      scenario_, [&row, settings](const Scenario& live) { return stages_of(live, row, settings); }, std::move(loop));
  list_objects();
}

void Session::list_objects() {
  for (std::uint32_t index = 0; index < scenario_.services.size(); ++index) {
    const ServiceSpec& spec = std::as_const(scenario_.services)[index];
    if (!catalog_.tenants.contains(spec.tenant)) {
      catalog_.tenants[spec.tenant] = catalog_.new_meta({}, Instant());
      catalog_.note(catalog_.tenants[spec.tenant]);
    }
    const ServiceEntry entry{.id = {index}, .meta = catalog_.new_meta({}, Instant())};
    catalog_.services[{.tenant = spec.tenant, .name = spec.name}] = entry;
    catalog_.note(entry.meta);
  }
}

bool Session::advance(Instant until) {
  if (is_over() || awaits_answer() || now() > until) return false;
  const bool was_step = loop_->advance(until);
  if (was_step) after_step();
  tell_world(false);
  return was_step;
}

void Session::after_step() {
  if (now().second() <= read_second_) return;
  read_sums();
  keep_promises();
}

void Session::keep_promises() {
  if (snapshot().pause || is_over() || !promises_.have_failed(now())) return;
  static_cast<void>(pause(kPromisesFailed));  // where it is not recorded, the next second tries again
}

void Session::finish() {
  if (!is_over() || infeasible()) return;
  tell_all();  // there is no world to tell of afterwards
  static_cast<void>(loop_->finish());
}

// ---- objects

namespace {

/// Whether an object may be set by somebody who saw `version`.
bool is_version(const std::optional<std::string>& version, const ObjectMeta* stored) {
  if (!version) return true;
  return stored != nullptr && *version == fmt::format("{}", stored->version);
}

ObjectRefusal version_refusal(const ObjectMeta* stored) {
  ObjectRefusal refusal{.kind = ObjectRefusal::Kind::kVersion};
  if (stored != nullptr) refusal.stored_version = fmt::format("{}", stored->version);
  return refusal;
}

/// Whether the numbers of variants mean the same.
bool has_same_variants(const ServiceSpec& a, const ServiceSpec& b) {
  return std::ranges::equal(a.variants, b.variants, {}, &Variant::name, &Variant::name);
}

ObjectRefusal refusal_of(ObjectRefusal::Kind kind) { return {.kind = kind}; }

/// What a tenant holds besides its labels: its name and numbers.
constexpr std::int64_t kTenantBytes = 256;

tl::unexpected<ObjectRefusal> refuse(ObjectRefusal::Kind kind) { return tl::unexpected(refusal_of(kind)); }

}  // namespace

tl::expected<SetResult, ObjectRefusal> Session::set_tenant(const std::string& name, Labels labels,
                                                           const std::optional<std::string>& version) {
  const auto known = catalog_.tenants.find(name);
  const ObjectMeta* stored = known == catalog_.tenants.end() ? nullptr : &known->second;
  if (!is_version(version, stored)) return tl::unexpected(version_refusal(stored));
  if (stored != nullptr && stored->labels == labels) return SetResult::kUnchanged;
  const bool is_new = stored == nullptr;
  const std::int64_t growth = berth::held_bytes(labels) - (is_new ? -kTenantBytes : berth::held_bytes(stored->labels));
  if (auto excess = find_excess(growth)) return tl::unexpected(*excess);
  const TenantStored what{
      .name = name,
      .meta = is_new ? catalog_.new_meta(std::move(labels), now()) : catalog_.changed_meta(*stored, std::move(labels))};
  if (!order({{.at = now(), .what = what}})) return not_recorded();
  return is_new ? SetResult::kCreated : SetResult::kChanged;
}

void Session::store(const TenantStored& stored) {
  catalog_.tenants[stored.name] = stored.meta;
  catalog_.note(stored.meta);
  append(now(), EventKind::kTenantSet, tenant_object(stored.name), "");
}

tl::expected<void, ObjectRefusal> Session::remove_tenant(const std::string& name,
                                                         const std::optional<std::string>& version) {
  const auto known = catalog_.tenants.find(name);
  if (known == catalog_.tenants.end()) return refuse(ObjectRefusal::Kind::kNotFound);
  if (!is_version(version, &known->second)) return tl::unexpected(version_refusal(&known->second));
  if (catalog_.has_services(name)) return refuse(ObjectRefusal::Kind::kHasServices);
  if (!order({{.at = now(), .what = TenantDropped{name}}})) return not_recorded();
  return {};
}

void Session::store(const TenantDropped& dropped) {
  catalog_.tenants.erase(dropped.name);
  append(now(), EventKind::kTenantRemoved, tenant_object(dropped.name), "");
}

tl::unexpected<ObjectRefusal> Session::not_recorded() const {
  return tl::unexpected(ObjectRefusal{.kind = ObjectRefusal::Kind::kNotRecorded, .why = why_not_recorded()});
}

std::optional<ObjectRefusal> Session::find_refusal(const ServiceName& name,
                                                   const std::optional<std::string>& version) const {
  if (!catalog_.tenants.contains(name.tenant)) return refusal_of(ObjectRefusal::Kind::kNoTenant);
  const auto known = catalog_.services.find(name);
  const ObjectMeta* stored = known == catalog_.services.end() ? nullptr : &known->second.meta;
  if (is_version(version, stored)) return std::nullopt;
  return version_refusal(stored);
}

tl::expected<SetResult, ObjectRefusal> Session::set_service(const ServiceName& name, ServiceSpec spec, Labels labels,
                                                            const std::optional<std::string>& version) {
  OrderBatch batch;
  auto result = add_service(batch, name, std::move(spec), std::move(labels), version);
  if (!result || batch.empty()) return result;
  if (!commit(batch)) return not_recorded();
  return result;
}

tl::expected<SetResult, ObjectRefusal> Session::add_service(OrderBatch& batch, const ServiceName& name,
                                                            ServiceSpec spec, Labels labels,
                                                            const std::optional<std::string>& version,
                                                            RowsBlobs blobs) const {
  if (auto refusal = find_refusal(name, version)) return tl::unexpected(std::move(*refusal));
  spec.tenant = name.tenant;
  spec.name = name.name;
  const auto known = catalog_.services.find(name);
  const bool is_new = known == catalog_.services.end();
  const ServiceId id = is_new ? place_for_new(batch) : known->second.id;
  const ServiceSpec* stored = is_new ? nullptr : &scenario_.services[id.index];
  const bool is_same_spec = stored != nullptr && *stored == spec;
  if (is_same_spec && known->second.meta.labels == labels && known->second.blobs == blobs) return SetResult::kUnchanged;
  const std::int64_t held = berth::held_bytes(spec) + berth::held_bytes(labels) + berth::held_bytes(blobs) +
                            remembered_bytes(scenario_.history_seconds);
  const std::int64_t growth = held - (is_new ? 0 : held_by(known->second));
  if (auto excess = find_excess(growth, batch)) return tl::unexpected(*excess);
  batch.note_held_growth(std::max<std::int64_t>(growth, 0));
  const std::uint64_t given = batch.version_count();
  ServiceStored what{.name = name, .entry = {.id = id, .meta = {}, .blobs = std::move(blobs)}, .set = std::nullopt};
  what.entry.meta = is_new ? catalog_.new_meta(std::move(labels), now(), given)
                           : catalog_.changed_meta(known->second.meta, std::move(labels), given);
  if (!is_same_spec) {
    what.set = ServiceSet{.service = id,
                          .revision = last_revision_ + batch.revision_count() + 1,
                          .spec = nullptr,
                          .restarts_arrivals = is_new || stored->arrivals != spec.arrivals,
                          .restarts_retraining = is_new || stored->retraining != spec.retraining,
                          .renumbers_variants = !is_new && !has_same_variants(*stored, spec)};
    what.set->spec = std::make_shared<const ServiceSpec>(std::move(spec));
  }
  batch.set(now(), std::move(what), is_new, scenario_.services.size());
  return is_new ? SetResult::kCreated : SetResult::kChanged;
}

std::int64_t Session::held_by(const ServiceEntry& service) const {
  const std::size_t index = service.id.index;
  const bool is_first = index < first_services_.size() && scenario_.services.shares(first_services_, index);
  return remembered_bytes(scenario_.history_seconds) + berth::held_bytes(service.meta.labels) +
         berth::held_bytes(service.blobs) + (is_first ? 0 : berth::held_bytes(scenario_.services[index]));
}

std::int64_t Session::held_bytes() const {
  std::int64_t held = 0;
  for (const auto& [name, tenant] : catalog_.tenants) held += kTenantBytes + berth::held_bytes(tenant.labels);
  for (const auto& [name, service] : catalog_.services) held += held_by(service);
  return held;
}

std::optional<ObjectRefusal> Session::find_excess(std::int64_t growth, const OrderBatch& batch) const {
  if (growth <= 0) return std::nullopt;
  const std::int64_t held = held_bytes() + batch.held_growth() + growth;
  if (held <= options_.held_bytes_max) return std::nullopt;
  return ObjectRefusal{
      .kind = ObjectRefusal::Kind::kTooLarge, .held_bytes = held, .held_bytes_max = options_.held_bytes_max};
}

void Session::store(const ServiceStored& stored) {
  const bool is_new = !catalog_.services.contains(stored.name);
  catalog_.services[stored.name] = stored.entry;
  catalog_.note(stored.entry.meta);
  const ServiceId id = stored.entry.id;
  if (!stored.set) {
    append(now(), EventKind::kServiceSet, service_object(std::as_const(scenario_.services)[id.index]), "labels");
    return;
  }
  last_revision_ = std::max(last_revision_, stored.set->revision);
  tell_block(id);  // they are counted again, should that be needed, by the arrivals of that time
  scenario_.services.set_shared(id.index, stored.set->spec);
  if (options_.service_set) options_.service_set(id);
  if (is_new) {
    forget(id);
  } else {
    figures_.read_spec(id);
    watch_.read_spec(id);
  }
  loop_->set_service(*stored.set);
}

/// A place that nothing refers to any more, else a new one. O(places + slices).
ServiceId Session::place_for_new(const OrderBatch& batch) const {
  std::vector<bool> is_held(scenario_.services.size());
  for (const StandingSlice& standing : snapshot().slices) {
    for (const ServiceId service : standing.holding.services) is_held[service.index] = true;
  }
  // The engine may not know the latest ones yet.
  const std::size_t known = std::min(scenario_.services.size(), snapshot().services.size());
  for (std::uint32_t index = 0; index < known; ++index) {
    const bool is_free = scenario_.services[index].is_absent && snapshot().services[index].is_absent;
    if (!is_free || is_held[index] || batch.takes({index})) continue;
    if (!is_in_open_question({index}) && loop_->world().is_free({index})) return {index};
  }
  return {static_cast<std::uint32_t>(scenario_.services.size()) + batch.new_place_count()};
}

bool Session::is_in_open_question(ServiceId place) const {
  const auto asked = asked_before_.find(place);
  return is_solving() && asked != asked_before_.end() && asked->second == asked_count_;
}

tl::expected<void, ObjectRefusal> Session::remove_service(const ServiceName& name,
                                                          const std::optional<std::string>& version) {
  OrderBatch batch;
  if (auto added = add_removal(batch, name, version); !added) return added;
  if (!commit(batch)) return not_recorded();
  return {};
}

tl::expected<void, ObjectRefusal> Session::add_removal(OrderBatch& batch, const ServiceName& name,
                                                       const std::optional<std::string>& version) const {
  const auto known = catalog_.services.find(name);
  if (known == catalog_.services.end()) return refuse(ObjectRefusal::Kind::kNotFound);
  if (!is_version(version, &known->second.meta)) return tl::unexpected(version_refusal(&known->second.meta));
  batch.remove(now(), {.name = name, .id = known->second.id});
  return {};
}

bool Session::commit(const OrderBatch& batch) {
  if (!order(batch.entries())) return false;
  refresh();
  return true;
}

void Session::carry_out(const OrderBatch& batch) {
  note_recorded();
  carry_out(batch.entries());
  refresh();
}

void Session::store(const ServiceDropped& dropped) {
  const ServiceId id = dropped.id;
  catalog_.services.erase(dropped.name);
  scenario_.services.set(id.index, absent_service(std::as_const(scenario_.services)[id.index]));
  forget(id);
  asked_before_[id] = asked_count_;
  loop_->remove_service(id);
}

/// Figures and conditions of a place are those of one service.
void Session::forget(ServiceId service) {
  watch_.forget(service);
  figures_.forget(service);
  series_.forget(service);
  lost_slices_.forget(service);
}

void Session::read_sums() {
  read_second_ = now().second();
  const auto fleet = figures_.read(now(), loop_->sm_time());
  if (options_.series) give_series(fleet);
  has_unrecorded_sight_ = update_watch() || has_unrecorded_sight_;
}

bool Session::update_watch() {
  if (refreshed_step_ == step_count_) return false;
  refreshed_step_ = step_count_;
  return watch_.update(snapshot());
}

void Session::refresh() {
  const bool has_news = update_watch();
  if (!std::exchange(has_unrecorded_sight_, false) && !has_news) return;
  if (has_news) {
    tell({.at = now(), .what = Refreshed{}});
  } else {
    tell_clock();  // the step at this second saw it
  }
  // Somebody is about to read since when it holds: a kill must not take that back.
  if (options_.record && !options_.record({})) note_recorded();
}

bool Session::schedule_all(GpuRange gpus, GpuScheduling scheduling, const std::string& reason) {
  std::vector<Entry> orders;
  orders.reserve(gpus.count);
  for (std::uint32_t i = 0; i < gpus.count; ++i) {
    const GpuScheduled order{.gpu = {gpus.first.index + i}, .scheduling = scheduling, .reason = reason};
    const bool is_open = gpu_state(order.gpu).scheduling == GpuScheduling::kOpen;
    if (is_open && scheduling == GpuScheduling::kOpen) continue;
    orders.push_back({.at = now(), .what = EventSeen{{.at = now(), .what = order}}});
  }
  return orders.empty() || this->order(orders);
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

SliceState Session::slice_state(std::size_t index) const {
  // A slice of a service that is gone waits to be destroyed, even before a plan may do so.
  if (snapshot().is_orphan(snapshot().slices[index])) return SliceState::kDraining;
  return watch_.state_of(snapshot(), index);
}

// ---- approval and pause

ApprovalOutcome Session::approve(std::uint64_t id, std::string reason) {
  expire_overdue();
  if (plans_.find(id) == nullptr) return ApprovalOutcome::kUnknown;
  if (plans_.find(id)->phase == PlanPhase::kAwaitingApproval) {
    if (snapshot().pause) return ApprovalOutcome::kPaused;
    if (is_over()) return ApprovalOutcome::kNotWaiting;
    const Event approved{.at = now(), .what = PlanApproved{.plan = id, .reason = std::move(reason)}};
    if (!order({{.at = now(), .what = EventSeen{approved}}})) return ApprovalOutcome::kNotRecorded;
    if (plans_.find(id)->phase != PlanPhase::kSuperseded) return ApprovalOutcome::kAccepted;
  }
  return plans_.find(id)->difference.empty() ? ApprovalOutcome::kNotWaiting : ApprovalOutcome::kChanged;
}

void Session::expire_overdue() {
  const Plan* waiting = loop_->engine().waiting();
  if (waiting == nullptr || is_over()) return;
  const PlanStatus* status = plans_.find(waiting->id);
  if (status == nullptr || !status->expires_at_wall_us) return;
  const std::int64_t left_us = *status->expires_at_wall_us - options_.wall_clock();
  // The clock was set back: it must not wait for longer.
  if (left_us > kProposalWait.count()) {
    wait_for_approval({.plan = waiting->id, .expires_at_wall_us = options_.wall_clock() + kProposalWait.count()});
  }
  if (left_us > 0) return;
  const Event expired{.at = now(), .what = PlanExpired{.plan = waiting->id}};
  tell({.at = now(), .what = EventSeen{expired}});
  loop_->command(expired);
}

bool Session::pause(std::string reason) {
  if (snapshot().pause && snapshot().pause->reason == reason) return true;
  const Event paused{.at = now(), .what = PlanningPaused{.reason = std::move(reason)}};
  return order({{.at = now(), .what = EventSeen{paused}}});
}

bool Session::resume(std::string reason) {
  if (!snapshot().pause) return true;
  const Event resumed{.at = now(), .what = PlanningResumed{.reason = std::move(reason)}};
  return order({{.at = now(), .what = EventSeen{resumed}}});
}

bool Session::set_no_changes(NoChanges windows) {
  if (windows == scenario_.no_changes) return true;
  const Event set{.at = now(), .what = NoChangesSet{.windows = std::move(windows)}};
  return order({{.at = now(), .what = EventSeen{set}}});
}

void Session::see_gpu(GpuId gpu, const world::ObservedLayout& sight) {
  loop_->see_gpu(gpu, sight);
  tell_world(false);
}

void Session::lose_gpu(GpuId gpu, const std::string& reason) {
  loop_->lose_gpu(gpu, reason);
  tell_world(false);
}

void Session::return_gpu(GpuId gpu) {
  loop_->return_gpu(gpu);
  tell_world(false);
}

std::vector<DeviceIntent> Session::take_device_intents() {
  std::vector<DeviceIntent> intents;
  std::vector<Entry> entries;
  const std::vector<DeviceAction> actions = loop_->world().device_actions();
  if (actions.empty()) return intents;
  const std::optional<std::string> boot = options_.boot();
  if (!boot) return intents;
  for (const DeviceAction& action : actions) {
    intents.push_back({.number = options_.next_intent(), .action = action});
    entries.push_back({.at = now(),
                       .what = DeviceIntended{.intent = intents.back().number,
                                              .kind = action.kind,
                                              .slice = action.slice,
                                              .generation = action.generation,
                                              .was_ordered = action.was_ordered,
                                              .boot = *boot}});
  }
  if (!record_order(entries)) return {};
  loop_->give_out_device_actions();
  for (const Entry& entry : entries) note_intended(std::get<DeviceIntended>(entry.what));
  tell_world(false);  // that they were given out is remembered before anybody has them
  return intents;
}

void Session::end_device_intent(const DeviceIntent& intent, const DeviceEnded& ended, EndKind kind) {
  tell({.at = now(), .what = ended});
  const auto measured = note_ended(ended);
  const DeviceAction& action = intent.action;
  loop_->end_device_action({.kind = action.kind,
                            .slice = action.slice,
                            .generation = action.generation,
                            .is_done = ended.outcome == kDoneOutcome,
                            .is_known = kind != EndKind::kUnknown,
                            .message = ended.message,
                            .is_late = kind == EndKind::kLate});
  tell_world(false);
  if (measured && is_looked_at(samples_.time_of(*measured).count)) learn_time(*measured);
}

bool Session::observe(GpuId gpu, const std::optional<std::string>& why) {
  const auto order = order_to_observe(gpu, gpu_state(gpu), why);
  return !order || this->order({{.at = now(), .what = EventSeen{{.at = now(), .what = *order}}}});
}

Result<std::uint64_t> Session::inject(const sim::FaultOrder& fault) {
  auto id = loop_->admit(fault);
  if (!id) return id;
  FaultGiven given{.id = *id, .order = fault};
  if (fault.kind == sim::FaultKind::kClear) given.cleared = faults().cleared_by(fault.gpus);
  if (!order({{.at = now(), .what = given}})) return fail(ErrorCode::kUnavailable, why_not_recorded());
  return id;
}

void Session::note_fault(const FaultGiven& given) {
  const std::string text = fault_text(scenario_, given.order);
  if (given.order.kind != sim::FaultKind::kClear) {
    append(now(), EventKind::kFaultInjected, fault_object(given.id), text);
  }
  for (const std::uint64_t id : given.cleared) append(now(), EventKind::kFaultCleared, fault_object(id), text);
}

void Session::wait_for_approval(const ProposalWaits& waits) {
  tell({.at = now(), .what = waits});
  plans_.set_wall_expiry(waits.plan, waits.expires_at_wall_us);
}

}  // namespace berth::live
