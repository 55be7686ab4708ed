#include "engine/state/cluster_state.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

#include "base/core/ensure.h"
#include "base/core/overloaded.h"
#include "engine/state/changes.h"

namespace berth {
namespace {

constexpr std::size_t kChangeInstantsMax = 4096;

void note_change(ChunkedList<ChangeCount>& changes, Instant at, std::int64_t count) {
  if (!changes.empty() && changes.back().at == at) {
    changes.change(changes.size() - 1).count += count;
  } else {
    changes.push_back({.at = at, .count = count});
  }
  if (changes.size() <= kChangeInstantsMax) return;
  changes.change(1).count += changes.front().count;
  changes.pop_front();
}

/// The GPU whose slices or state an event changes, if any. A slice becoming ready is not such a change.
std::optional<GpuId> changed_gpu(const Event& event) {
  using Changed = std::optional<GpuId>;
  return std::visit(Overloaded{
                        [](const SliceGone& gone) -> Changed { return gone.slice.gpu; },
                        [](const ActionFailed& failed) -> Changed { return failed.slice.gpu; },
                        [](const GpuObserved& observed) -> Changed { return observed.gpu; },
                        [](const SliceAdopted& adopted) -> Changed { return adopted.slice.gpu; },
                        [](const GpuLost& lost) -> Changed { return lost.gpu; },
                        [](const GpuReturned& returned) -> Changed { return returned.gpu; },
                        [](const GpuScheduled& scheduled) -> Changed { return scheduled.gpu; },
                        [](const GpuRented& rented) -> Changed { return rented.gpu; },
                        [](const auto&) -> Changed { return std::nullopt; },
                    },
                    event.what);
}

}  // namespace

ClusterState::ClusterState(std::size_t service_count, std::int64_t history_seconds)
    : history_seconds_(history_seconds) {
  snapshot_.services.resize(service_count);
}

StandingSlice* ClusterState::find_staying(const Slice& slice) {
  // A leaving slice and its successor at the same place are both kept until the first is gone.
  const auto here = snapshot_.slices_at(slice);
  const auto found = std::ranges::find(here, false, &StandingSlice::is_leaving);
  return found == here.end() ? nullptr : &snapshot_.slices.change(found);
}

void ClusterState::insert(StandingSlice standing) {
  const auto place = snapshot_.slices_at(standing.holding.slice).begin();
  snapshot_.slices.insert(place, std::move(standing));
}

void ClusterState::remove(const SliceGone& gone) {
  const auto here = snapshot_.slices_at(gone.slice);
  const auto found = std::ranges::find(here, gone.generation, &StandingSlice::generation);
  if (found != here.end()) snapshot_.slices.erase(found);
}

void ClusterState::fail(const ActionFailed& failed, Instant at) {
  if (failed.kind == ActionKind::kCreation) {
    note_failed_creation(failed, at);
    return remove({.slice = failed.slice, .generation = failed.generation});
  }
  const auto here = snapshot_.slices_at(failed.slice);
  const auto found = std::ranges::find_if(here, [&](const StandingSlice& standing) {
    return standing.generation == failed.generation && standing.is_leaving;
  });
  if (found == here.end()) return;
  // The event does not say which order failed: the GPU's latest one is assumed.
  note_failure(failed.slice.gpu, last_number(failed.slice.gpu), at);
  // The slice stays. Its holders were ordered off it, and have left.
  StandingSlice& standing = snapshot_.slices.change(found);
  standing.holding = {.slice = failed.slice, .services = {}};
  standing.point.reset();
  standing.is_leaving = false;
  standing.is_ready = true;
}

void ClusterState::note_failed_creation(const ActionFailed& failed, Instant at) {
  const auto here = snapshot_.slices_at(failed.slice);
  if (std::ranges::find(here, failed.generation, &StandingSlice::generation) == here.end()) return;
  note_failure(failed.slice.gpu, failed.generation, at);
}

void ClusterState::note_failure(GpuId gpu, std::uint64_t number, Instant at) {
  ActionFailures& failures = gpu_state(gpu).failures;
  failures.latest = at;
  if (number <= failures.known_number) return;
  ++failures.count;
  failures.known_number = last_number(gpu);
}

void ClusterState::make_ready(const SliceReady& ready) {
  StandingSlice* slice = find_staying(ready.slice);
  if (slice == nullptr || slice->assignment != ready.assignment) return;
  slice->is_ready = true;
  const GpuId gpu = ready.slice.gpu;
  if (gpu.index < snapshot_.gpus.size() && slice->generation > snapshot_.gpus[gpu.index].failures.known_number) {
    snapshot_.gpus[gpu.index].failures = {};
  }
}

void ClusterState::touch(GpuId gpu) {
  if (gpu.index >= snapshot_.gpu_versions.size()) snapshot_.gpu_versions.resize(gpu.index + std::size_t{1});
  snapshot_.gpu_versions[gpu.index] = ++snapshot_.layout_version;
}

std::uint64_t ClusterState::last_number(GpuId gpu) const {
  return gpu.index < last_numbers_.size() ? last_numbers_[gpu.index] : 0;
}

void ClusterState::reconcile(const GpuObserved& observed) {
  const auto place_of = [](const StandingSlice& standing) { return standing.holding.slice; };
  const auto is_standing = [&](const SeenSlice& seen, const StandingSlice& standing) {
    return seen.slice == place_of(standing) && seen.generation == standing.generation;
  };
  std::vector<StandingSlice> corrected;
  for (const StandingSlice& standing : snapshot_.slices_on(observed.gpu)) {
    const bool is_seen =
        std::ranges::any_of(observed.slices, [&](const SeenSlice& seen) { return is_standing(seen, standing); });
    if (is_seen || standing.generation > observed.known_number) corrected.push_back(standing);
  }
  for (const SeenSlice& seen : observed.slices) {
    const auto is_it = [&](const StandingSlice& standing) { return is_standing(seen, standing); };
    if (seen.is_pending || std::ranges::any_of(corrected, is_it)) continue;
    const StandingSlice found{.holding = {.slice = seen.slice, .services = {}},
                              .is_ready = !seen.is_leaving,
                              .is_leaving = seen.is_leaving,
                              .generation = seen.generation,
                              .assignment = seen.generation,
                              .is_foreign = seen.is_foreign};
    corrected.insert(std::ranges::lower_bound(corrected, seen.slice, {}, place_of), found);
  }
  clear(observed.gpu);
  const auto place = static_cast<std::ptrdiff_t>(snapshot_.slices_on(observed.gpu).begin().index());
  for (auto it = corrected.rbegin(); it != corrected.rend(); ++it) {
    snapshot_.slices.insert(snapshot_.slices.begin() + place, std::move(*it));
  }
}

void ClusterState::adopt(const SliceAdopted& adopted) {
  const auto is_it = [&](const StandingSlice& standing) {
    return standing.holding.slice == adopted.slice && standing.is_foreign;
  };
  const auto here = snapshot_.slices_at(adopted.slice);
  if (const auto foreign = std::ranges::find_if(here, is_it); foreign != here.end())
    snapshot_.slices.erase(foreign, std::next(foreign));
  const std::uint32_t gpu = adopted.slice.gpu.index;
  if (gpu >= last_numbers_.size()) last_numbers_.resize(gpu + std::size_t{1});
  last_numbers_[gpu] = std::max(last_numbers_[gpu], adopted.number);
  insert({.holding = {.slice = adopted.slice, .services = {adopted.service}},
          .generation = adopted.number,
          .assignment = adopted.number});
}

void ClusterState::clear(GpuId gpu) {
  const auto here = snapshot_.slices_on(gpu);
  snapshot_.slices.erase(here.begin(), here.end());
}

GpuState& ClusterState::gpu_state(GpuId gpu) {
  if (gpu.index >= snapshot_.gpus.size()) snapshot_.gpus.resize(gpu.index + std::size_t{1});
  return snapshot_.gpus[gpu.index];
}

void ClusterState::lose(const GpuLost& lost, Instant at) {
  GpuState& gpu = gpu_state(lost.gpu);
  gpu.health = GpuHealth::kLost;
  gpu.health_since = at;
  gpu.health_reason = lost.reason;
  gpu.failures = {};
  clear(lost.gpu);
  end_drain(lost.gpu, at);
}

void ClusterState::end_drain(GpuId id, Instant at) {
  if (!snapshot_.is_draining(id)) return;
  const bool has_slices = std::ranges::any_of(snapshot_.slices_on(id), std::not_fn(&StandingSlice::is_foreign));
  if (has_slices) return;
  GpuState& gpu = gpu_state(id);
  gpu.scheduling = GpuScheduling::kCordoned;
  gpu.scheduling_since = at;
}

void ClusterState::set_scheduling(GpuId id, GpuScheduling scheduling, const std::string& reason, Instant at) {
  GpuState& gpu = gpu_state(id);
  gpu.scheduling = scheduling;
  gpu.scheduling_since = at;
  gpu.scheduling_reason = reason;
  gpu.failures = {};
}

/// The GPU may have been released before its arrival was reported.
void ClusterState::note_rented(const GpuRented& rented, Instant at) {
  const bool is_awaited = gpu_state(rented.gpu).scheduling == GpuScheduling::kOrdered;
  if (rented.is_here && !is_awaited) return;
  set_scheduling(rented.gpu, rented.is_here ? GpuScheduling::kOpen : GpuScheduling::kAbsent, "", at);
}

/// The service, if it is present.
ServiceState* ClusterState::find(ServiceId service) {
  const bool is_there = service.index < snapshot_.services.size() && !snapshot_.services[service.index].is_absent;
  return is_there ? &snapshot_.services[service.index] : nullptr;
}

void ClusterState::set(const ServiceSet& set, Instant at) {
  ENSURE(set.service.index <= snapshot_.services.size());
  ++snapshot_.specs_version;
  const bool is_new = find(set.service) == nullptr;
  if (set.service.index == snapshot_.services.size()) snapshot_.services.emplace_back();
  ServiceState& service = snapshot_.services[set.service.index];
  if (is_new) {
    service = ServiceState();
    service.number = set.revision;
    service.since = service.retrains_since = at;
  }
  service.revision = set.revision;
  service.revised_at = at;
  if (set.renumbers_variants) forget_variants_of(set.service);
  if (!set.restarts_retraining) return;
  service.is_retraining_due = false;
  service.retrains_since = at;
}

void ClusterState::show_anew(ServiceId id) {
  ServiceState* service = find(id);
  if (service == nullptr) return;
  ++snapshot_.specs_version;
  service->revision += std::uint64_t{1} << kSetRevisionBits;
  service->revised_at = snapshot_.now;
}

void ClusterState::forget_variants_of(ServiceId service) {
  for (auto it = snapshot_.slices.begin(); it != snapshot_.slices.end(); ++it) {
    if (!it->point || it->point->variant == 0) continue;
    const std::vector<ServiceId>& holders = it->holding.services;
    const bool is_held = std::ranges::find(holders, service) != holders.end();
    if (is_held) snapshot_.slices.change(it).point.reset();
  }
}

void ClusterState::remove(const ServiceRemoved& removed) {
  ServiceState* service = find(removed.service);
  if (service == nullptr) return;
  ++snapshot_.specs_version;
  *service = ServiceState();
  service->is_absent = true;
}

void ClusterState::note_second(const ServiceSecond& second) {
  if (history_seconds_ == 0) return;
  ServiceState* service = find(second.service);
  // Seconds before a service took its index belong to its predecessor.
  if (service == nullptr || (service->number > 0 && Instant::at_second(second.second) < service->since)) return;
  service->seconds.push_back(second);
  if (std::ssize(service->seconds) > history_seconds_) service->seconds.pop_front();
}

void ClusterState::apply(const Event& event) {
  ++snapshot_.version;
  if (const auto* second = std::get_if<ServiceSecond>(&event.what)) return note_second(*second);  // most events
  std::visit(Overloaded{
                 [](const ServiceSecond&) {},
                 [&](const SliceReady& ready) { make_ready(ready); },
                 [&](const SliceGone& gone) {
                   remove(gone);
                   end_drain(gone.slice.gpu, event.at);
                 },
                 [&](const ActionFailed& failed) { fail(failed, event.at); },
                 [&](const GpuObserved& observed) {
                   reconcile(observed);
                   end_drain(observed.gpu, event.at);
                 },
                 [&](const SliceAdopted& adopted) { adopt(adopted); },
                 [&](const RetrainingDue& due) {
                   if (ServiceState* service = find(due.service)) service->is_retraining_due = true;
                 },
                 [&](const RetrainingDone& done) {
                   if (ServiceState* service = find(done.service)) service->is_retraining_due = false;
                 },
                 [&](const GpuLost& lost) { lose(lost, event.at); },
                 [&](const GpuReturned& returned) {
                   GpuState& gpu = gpu_state(returned.gpu);
                   gpu.health = GpuHealth::kOk;
                   gpu.health_since = event.at;
                   gpu.health_reason.clear();
                 },
                 [&](const GpuScheduled& scheduled) {
                   set_scheduling(scheduled.gpu, scheduled.scheduling, scheduled.reason, event.at);
                   end_drain(scheduled.gpu, event.at);
                 },
                 [&](const ServiceSet& what) { set(what, event.at); },
                 [&](const ServiceRemoved& removed) { remove(removed); },
                 [&](const PlanningPaused& paused) {
                   snapshot_.pause = PlanningPause{.reason = paused.reason, .since = event.at};
                 },
                 [&](const PlanningResumed&) { snapshot_.pause.reset(); },
                 [&](const NoChangesSet&) { ++snapshot_.specs_version; },
                 [&](const TimesMeasured&) { ++snapshot_.specs_version; },
                 [&](const SpeedMeasured& measured) {
                   if (measured.is_used) ++snapshot_.specs_version;
                 },
                 [&](const GpuRented& rented) { note_rented(rented, event.at); },
                 [](const TierMeasured&) {},  // the engine's Enforcement keeps what is known
                 [](const PlanApproved&) {},
                 [](const PlanExpired&) {},
                 [](const SolveFinished&) {},  // its plan is applied once it is verified
             },
             event.what);
  if (const auto gpu = changed_gpu(event)) touch(*gpu);
}

void ClusterState::note_changes(const Plan& plan, Instant acts_at) {
  if (snapshot_.is_before_first_layout() || plan.is_ordered) return;
  const std::vector<std::int64_t> counts = changes_by_service(snapshot_, plan);
  for (std::size_t index = 0; index < counts.size(); ++index) {
    ChunkedList<ChangeCount>& changes = snapshot_.services[index].changes;
    while (!changes.empty() && acts_at - changes.front().at >= kBudgetHour) changes.pop_front();
    if (counts[index] > 0) note_change(changes, acts_at, counts[index]);
  }
}

void ClusterState::number(Plan& plan) {
  for (Action& action : plan.actions) {
    const std::uint32_t gpu = slice_of(action.what).gpu.index;
    if (gpu >= last_numbers_.size()) last_numbers_.resize(gpu + std::size_t{1});
    action.number = ++last_numbers_[gpu];
  }
}

void ClusterState::apply(const Plan& plan, Instant acts_at) {
  note_changes(plan, acts_at);
  for (const GpuOrder& order : plan.gpu_orders) {
    // A released GPU is draining until the world gives it back, even if it is empty or has not arrived yet.
    const GpuScheduling scheduling = order.is_release ? GpuScheduling::kDraining : GpuScheduling::kOrdered;
    set_scheduling(order.gpu, scheduling, order.reason.text, acts_at);
    touch(order.gpu);
  }
  for (const Action& action : plan.actions) {
    touch(slice_of(action.what).gpu);
    std::visit(Overloaded{
                   [&](const CreateSlice& create) {
                     insert({.holding = {.slice = create.slice, .services = {}},
                             .generation = action.number,
                             .assignment = action.number});
                   },
                   [&](const DestroySlice& destroy) {
                     if (StandingSlice* slice = find_staying(destroy.slice)) {
                       slice->is_leaving = true;
                       slice->is_ready = false;
                     }
                   },
                   [&](const AssignSlice& assign) {
                     if (StandingSlice* slice = find_staying(assign.holding.slice)) {
                       slice->holding = assign.holding;
                       slice->point = assign.point;
                       slice->assignment = action.number;
                       slice->is_ready = false;
                     }
                   },
               },
               action.what);
  }
}

}  // namespace berth
