#include "state/cluster_state.h"

#include <algorithm>
#include <variant>

#include "base/overloaded.h"

namespace berth {
namespace {

auto lower_bound_slice(std::vector<StandingSlice>& slices, const Slice& slice) {
  return std::lower_bound(slices.begin(), slices.end(), slice,
                          [](const StandingSlice& standing, const Slice& key) { return standing.holding.slice < key; });
}

}  // namespace

ClusterState::ClusterState(std::size_t service_count, std::int64_t history_seconds) : history_seconds_(history_seconds) {
  snapshot_.services.resize(service_count);
}

StandingSlice* ClusterState::find(const Slice& slice) {
  const auto it = lower_bound_slice(snapshot_.slices, slice);
  return it != snapshot_.slices.end() && it->holding.slice == slice ? &*it : nullptr;
}

void ClusterState::apply(const Event& event) {
  ++snapshot_.version;
  std::visit(Overloaded{
                 [&](const ServiceSecond& second) {
                   std::deque<ServiceSecond>& seconds = snapshot_.services.at(second.service.index).seconds;
                   seconds.push_back(second);
                   if (static_cast<std::int64_t>(seconds.size()) > history_seconds_) seconds.pop_front();
                 },
                 [&](const SliceReady& ready) {
                   if (StandingSlice* slice = find(ready.slice)) slice->is_ready = true;
                 },
                 [&](const SliceGone& gone) {
                   const auto it = lower_bound_slice(snapshot_.slices, gone.slice);
                   if (it != snapshot_.slices.end() && it->holding.slice == gone.slice) snapshot_.slices.erase(it);
                 },
                 [&](const RetrainingDue& due) { snapshot_.services.at(due.service.index).is_retraining_due = true; },
                 [&](const RetrainingDone& done) { snapshot_.services.at(done.service.index).is_retraining_due = false; },
             },
             event.what);
}

void ClusterState::apply(const Plan& plan) {
  for (const Action& action : plan.actions) {
    std::visit(Overloaded{
                   [&](const CreateSlice& create) {
                     const StandingSlice standing{.holding = {.slice = create.slice, .services = {}}};
                     snapshot_.slices.insert(lower_bound_slice(snapshot_.slices, create.slice), standing);
                   },
                   [&](const DestroySlice& destroy) {
                     if (StandingSlice* slice = find(destroy.slice)) {
                       slice->is_leaving = true;
                       slice->is_ready = false;
                     }
                   },
                   [&](const AssignSlice& assign) {
                     if (StandingSlice* slice = find(assign.holding.slice)) {
                       slice->holding = assign.holding;
                       slice->is_ready = false;
                     }
                   },
               },
               action.what);
  }
}

}  // namespace berth
