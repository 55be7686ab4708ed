#include "state/cluster_state.h"

#include <algorithm>
#include <iterator>
#include <variant>

#include "base/overloaded.h"
#include "state/changes.h"

namespace berth {
namespace {

constexpr std::size_t kChangeInstantsMax = 4096;

void note_change(std::deque<ChangeCount>& changes, Instant at, std::int64_t count) {
  if (!changes.empty() && changes.back().at == at) {
    changes.back().count += count;
  } else {
    changes.push_back({.at = at, .count = count});
  }
  if (changes.size() <= kChangeInstantsMax) return;
  changes[1].count += changes[0].count;
  changes.pop_front();
}

auto lower_bound_slice(std::vector<StandingSlice>& slices, const Slice& slice) {
  return std::lower_bound(slices.begin(), slices.end(), slice,
                          [](const StandingSlice& standing, const Slice& key) { return standing.holding.slice < key; });
}

}  // namespace

ClusterState::ClusterState(std::size_t service_count, std::int64_t history_seconds)
    : history_seconds_(history_seconds) {
  snapshot_.services.resize(service_count);
}

StandingSlice* ClusterState::find_staying(const Slice& slice) {
  // A slice that leaves and its successor at the same place are both kept until the first is gone.
  for (auto it = lower_bound_slice(snapshot_.slices, slice); it != snapshot_.slices.end(); ++it) {
    if (it->holding.slice != slice) break;
    if (!it->is_leaving) return &*it;
  }
  return nullptr;
}

void ClusterState::remove(const SliceGone& gone) {
  auto it = lower_bound_slice(snapshot_.slices, gone.slice);
  const auto is_at_place = [&] { return it != snapshot_.slices.end() && it->holding.slice == gone.slice; };
  while (is_at_place() && it->generation != gone.generation) ++it;
  if (is_at_place()) snapshot_.slices.erase(it);
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
  std::erase_if(snapshot_.slices,
                [&](const StandingSlice& standing) { return standing.holding.slice.gpu == lost.gpu; });
  end_drain(lost.gpu, at);
}

void ClusterState::end_drain(GpuId id, Instant at) {
  if (!snapshot_.is_draining(id)) return;
  const bool has_slices = std::ranges::any_of(
      snapshot_.slices, [&](const StandingSlice& standing) { return standing.holding.slice.gpu == id; });
  if (has_slices) return;
  GpuState& gpu = gpu_state(id);
  gpu.scheduling = GpuScheduling::kCordoned;
  gpu.scheduling_since = at;
}

ServiceState* ClusterState::find(ServiceId service) {
  return service.index < snapshot_.services.size() ? &snapshot_.services[service.index] : nullptr;
}

void ClusterState::apply(const Event& event) {
  ++snapshot_.version;
  std::visit(Overloaded{
                 [&](const ServiceSecond& second) {
                   ServiceState* service = find(second.service);
                   if (service == nullptr) return;
                   service->seconds.push_back(second);
                   if (std::ssize(service->seconds) > history_seconds_) service->seconds.pop_front();
                 },
                 [&](const SliceReady& ready) {
                   StandingSlice* slice = find_staying(ready.slice);
                   if (slice != nullptr && slice->assignment == ready.assignment) slice->is_ready = true;
                 },
                 [&](const SliceGone& gone) {
                   remove(gone);
                   end_drain(gone.slice.gpu, event.at);
                 },
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
                   GpuState& gpu = gpu_state(scheduled.gpu);
                   gpu.scheduling = scheduled.scheduling;
                   gpu.scheduling_since = event.at;
                   gpu.scheduling_reason = scheduled.reason;
                   end_drain(scheduled.gpu, event.at);
                 },
                 [](const SolveFinished&) {},  // its plan is applied once it is verified
             },
             event.what);
}

void ClusterState::note_changes(const Plan& plan, Instant acts_at) {
  if (snapshot_.is_before_first_layout()) return;
  const std::vector<std::int64_t> counts = changes_by_service(snapshot_, plan);
  for (std::size_t index = 0; index < counts.size(); ++index) {
    std::deque<ChangeCount>& changes = snapshot_.services[index].changes;
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
  for (const Action& action : plan.actions) {
    std::visit(Overloaded{
                   [&](const CreateSlice& create) {
                     const StandingSlice standing{.holding = {.slice = create.slice, .services = {}},
                                                  .generation = action.number,
                                                  .assignment = action.number};
                     snapshot_.slices.insert(lower_bound_slice(snapshot_.slices, create.slice), standing);
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
