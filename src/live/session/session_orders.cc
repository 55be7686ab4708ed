/// Session: commands of operators and clients, recorded first, then carried out.
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "base/core/overloaded.h"
#include "domain/values/event.h"
#include "domain/values/node.h"
#include "engine/loop/engine.h"
#include "live/session/entry_emitter.h"
#include "live/session/forecast_book.h"
#include "live/session/object_names.h"
#include "live/session/order_batch.h"
#include "live/session/request_book.h"
#include "live/session/series_feed.h"
#include "live/session/session.h"
#include "live/session/session_log.h"
#include "live/session/session_objects.h"
#include "live/session/session_options.h"
#include "live/session/speed_estimator.h"
#include "sim/world/loop.h"

namespace berth::live {

// ---- how orders are carried out

bool Session::order(const std::vector<Entry>& orders) {
  if (!emitter_->record(orders)) return false;
  carry_out(orders);
  return true;
}

bool Session::order_event(const Event& event) { return order({{.at = event.at, .what = EventSeen{event}}}); }

void Session::carry_out(const std::vector<Entry>& orders) {
  std::vector<Event> events;
  bool has_services = false;
  for (const Entry& each : orders) {
    std::visit(Overloaded{
                   [&](const EventSeen& seen) {
                     if (const auto* scheduled = std::get_if<GpuScheduled>(&seen.event.what)) {
                       ordered_[scheduled->gpu] = {.scheduling = scheduled->scheduling, .reason = scheduled->reason};
                     }
                     events.push_back(seen.event);
                   },
                   [&](const FaultGiven& given) {
                     log_->on_fault(given, now());
                     loop_->inject(given.id, given.order);
                   },
                   [&](const SolutionKnown& known) {
                     emitter_->know_answer(known.finished.question);
                     loop_->answer(known.finished);
                   },
                   [&](const TenantStored& stored) { apply(stored); },
                   [&](const TenantDropped& dropped) { apply(dropped); },
                   [&](const ServiceStored& stored) {
                     apply(stored);
                     has_services = has_services || stored.set;
                   },
                   [&](const ServiceDropped& dropped) {
                     apply(dropped);
                     has_services = true;
                   },
                   [](const auto&) { ENSURE(false && "no order"); },
               },
               each.what);
  }
  if (has_services) loop_->step_for_services();
  if (!events.empty()) loop_->command(events);
  report_world(false);
}

tl::unexpected<ObjectRefusal> Session::not_recorded() const {
  return tl::unexpected(ObjectRefusal{.kind = ObjectRefusal::Kind::kNotRecorded, .why = why_not_recorded()});
}

bool Session::answer(SolveFinished finished) {
  return order({{.at = now(), .what = SolutionKnown{std::move(finished)}}});
}

// ---- tenants

tl::expected<SetResult, ObjectRefusal> Session::set_tenant(const std::string& name, Labels labels,
                                                           const std::optional<std::string>& version) {
  const bool is_new = !catalog().tenants.contains(name);
  auto stored = objects_->check_tenant(name, std::move(labels), version, now());
  if (!stored) return tl::unexpected(std::move(stored.error()));
  if (!*stored) return SetResult::kUnchanged;
  if (!order({{.at = now(), .what = **std::move(stored)}})) return not_recorded();
  return is_new ? SetResult::kCreated : SetResult::kChanged;
}

tl::expected<void, ObjectRefusal> Session::remove_tenant(const std::string& name,
                                                         const std::optional<std::string>& version) {
  auto dropped = objects_->check_tenant_removal(name, version);
  if (!dropped) return tl::unexpected(std::move(dropped.error()));
  if (!order({{.at = now(), .what = *std::move(dropped)}})) return not_recorded();
  return {};
}

void Session::apply(const TenantStored& stored) {
  objects_->store(stored);
  log_->append(now(), EventKind::kTenantSet, tenant_object(stored.name), "");
}

void Session::apply(const TenantDropped& dropped) {
  objects_->store(dropped);
  log_->append(now(), EventKind::kTenantRemoved, tenant_object(dropped.name), "");
}

// ---- services

std::optional<ObjectRefusal> Session::find_refusal(const ServiceName& name,
                                                   const std::optional<std::string>& version) const {
  return objects_->find_refusal(name, version);
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
  const PlaceState places{.snapshot = snapshot(), .is_solving = is_solving(), .is_world_free = [this](ServiceId place) {
                            return loop_->world().is_free(place);
                          }};
  return objects_->add_service(batch,
                               {.name = name,
                                .spec = std::move(spec),
                                .labels = std::move(labels),
                                .version = version,
                                .blobs = std::move(blobs)},
                               places, now());
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
  return objects_->add_removal(batch, name, version, now());
}

void Session::announce(const OrderBatch& batch) { emitter_->announce(batch.entries().front().at); }

bool Session::commit(const OrderBatch& batch) {
  if (!order(batch.entries())) return false;
  refresh();
  return true;
}

void Session::carry_out(const OrderBatch& batch) {
  set_recorded();
  carry_out(batch.entries());
  refresh();
}

void Session::apply(const ServiceStored& stored) {
  const bool is_new = objects_->store(stored);
  const ServiceId id = stored.entry.id;
  if (!stored.set) {
    log_->append(now(), EventKind::kServiceSet, service_object(std::as_const(scenario_->services)[id.index]), "labels");
    return;
  }
  const bool is_place_known = id.index < scenario_->services.size();
  if (!is_place_known || has_new_table(std::as_const(scenario_->services)[id.index], *stored.set->spec)) {
    forget_speeds(scenario_->speeds, id);
    measured_speeds_->forget(id);
  }
  emitter_->emit_block(id, now());  // if these must be counted again, that uses the arrivals of that time
  scenario_->services.set_shared(id.index, stored.set->spec);
  options_->listener.service_set(id);
  if (is_new) {
    forget(id);
  } else {
    series_->figures().read_spec(id);
    log_->watch().read_spec(id);
  }
  loop_->set_service(*stored.set);
}

void Session::apply(const ServiceDropped& dropped) {
  const ServiceId id = dropped.id;
  objects_->store(dropped);
  scenario_->services.set(id.index, absent_service(std::as_const(scenario_->services)[id.index]));
  forget(id);
  loop_->remove_service(id);
}

/// Figures and conditions of a place belong to one service.
void Session::forget(ServiceId service) {
  log_->forget(service);
  series_->forget(service);
  forget_speeds(scenario_->speeds, service);
  measured_speeds_->forget(service);
  forecasts_->forget(service);
  requests_->forget(service);
}

// ---- GPUs and faults

bool Session::schedule(GpuId gpu, GpuScheduling scheduling, const std::string& reason) {
  return schedule_all({.first = gpu, .count = 1}, scheduling, reason);
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

Result<std::uint64_t> Session::inject(const sim::FaultOrder& fault) {
  auto id = loop_->admit(fault);
  if (!id) return id;
  FaultGiven given{.id = *id, .order = fault};
  if (fault.kind == sim::FaultKind::kClear) {
    given.cleared = faults().cleared_by(fault);
    if (!faults().has_serving()) given.order.serving.reset();  // rows of worlds without such faults stay as they were
  }
  if (!order({{.at = now(), .what = given}})) return fail(ErrorCode::kUnavailable, why_not_recorded());
  return id;
}

// ---- approval and pause

ApprovalOutcome Session::approve(std::uint64_t id, std::string reason) {
  expire_overdue();
  if (plans().find(id) == nullptr) return ApprovalOutcome::kUnknown;
  if (plans().find(id)->phase == PlanPhase::kAwaitingApproval) {
    if (snapshot().pause) return ApprovalOutcome::kPaused;
    if (is_over()) return ApprovalOutcome::kNotWaiting;
    if (!order_event({.at = now(), .what = PlanApproved{.plan = id, .reason = std::move(reason)}})) {
      return ApprovalOutcome::kNotRecorded;
    }
    if (plans().find(id)->phase != PlanPhase::kSuperseded) return ApprovalOutcome::kAccepted;
  }
  return plans().find(id)->difference.empty() ? ApprovalOutcome::kNotWaiting : ApprovalOutcome::kChanged;
}

void Session::expire_overdue() {
  const Plan* waiting = loop_->engine().waiting();
  if (waiting == nullptr || is_over()) return;
  const PlanStatus* status = plans().find(waiting->id);
  if (status == nullptr || !status->expires_at_wall_us) return;
  const std::int64_t left_us = *status->expires_at_wall_us - options_->listener.wall_clock();
  // The clock was set back: the proposal must not wait longer.
  if (left_us > kProposalWait.count()) wait_for_approval(waiting->id);
  if (left_us > 0) return;
  const Event expired{.at = now(), .what = PlanExpired{.plan = waiting->id}};
  emitter_->emit({.at = now(), .what = EventSeen{expired}});
  loop_->command(expired);
}

void Session::wait_for_approval(std::uint64_t plan) {
  if (!options_->proposals_expire) return;
  apply(ProposalWaits{.plan = plan, .expires_at_wall_us = options_->listener.wall_clock() + kProposalWait.count()});
}

void Session::apply(const ProposalWaits& waits) {
  emitter_->emit({.at = now(), .what = waits});
  log_->plans().set_wall_expiry(waits.plan, waits.expires_at_wall_us);
}

bool Session::pause(std::string reason) {
  if (snapshot().pause && snapshot().pause->reason == reason) return true;
  return order_event({.at = now(), .what = PlanningPaused{.reason = std::move(reason)}});
}

bool Session::resume(std::string reason) {
  if (!snapshot().pause) return true;
  return order_event({.at = now(), .what = PlanningResumed{.reason = std::move(reason)}});
}

bool Session::set_no_changes(NoChanges windows) {
  if (windows == scenario_->no_changes) return true;
  return order_event({.at = now(), .what = NoChangesSet{.windows = std::move(windows)}});
}

}  // namespace berth::live
