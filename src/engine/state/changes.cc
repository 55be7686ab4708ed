#include "engine/state/changes.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "base/core/ensure.h"

namespace berth {
namespace {

/// A slice that a plan changes, while its actions are processed.
struct TouchedSlice {
  bool stands = false;
  bool is_new = false;                ///< the plan creates it
  std::vector<ServiceId> payers;      ///< of its destruction
  std::vector<ServiceId> new_owners;  ///< of one that is new
};

TouchedSlice touched_from(const Snapshot& snapshot, const Slice& slice) {
  TouchedSlice touched;
  for (const StandingSlice& standing : snapshot.slices_at(slice)) {
    if (standing.is_leaving) continue;
    touched.stands = true;
    touched.payers = standing.holding.services;
  }
  return touched;
}

void charge(const std::vector<ServiceId>& services, std::vector<std::int64_t>& counts) {
  for (const ServiceId service : services) {
    ENSURE(service.index < counts.size());
    ++counts[service.index];
  }
}

}  // namespace

std::vector<std::int64_t> changes_by_service(const Snapshot& snapshot, const Plan& plan) {
  std::vector<std::int64_t> counts(snapshot.services.size(), 0);
  std::map<Slice, TouchedSlice> slices;
  const auto touched = [&](const Slice& slice) -> TouchedSlice& {
    const auto known = slices.find(slice);
    return known != slices.end() ? known->second : slices.emplace(slice, touched_from(snapshot, slice)).first->second;
  };
  for (const Action& action : plan.actions) {
    if (const auto* create = std::get_if<CreateSlice>(&action.what)) {
      touched(create->slice) = {.stands = true, .is_new = true, .payers = {}, .new_owners = {}};
    } else if (const auto* assign = std::get_if<AssignSlice>(&action.what)) {
      touched(assign->holding.slice).new_owners = assign->holding.services;
    } else {
      TouchedSlice& gone = touched(std::get<DestroySlice>(action.what).slice);
      if (!gone.stands) continue;
      charge(gone.is_new ? gone.new_owners : gone.payers, counts);
      if (gone.is_new) charge(gone.new_owners, counts);
      gone = {};
    }
  }
  for (const auto& [slice, each] : slices) {
    if (each.stands && each.is_new) charge(each.new_owners, counts);
  }
  return counts;
}

std::int64_t changes_in_hour(const ServiceState& service, Instant until) {
  std::int64_t count = 0;
  for (const ChangeCount& change : service.changes) {
    if (change.at <= until && until - change.at < kBudgetHour) count += change.count;
  }
  return count;
}

}  // namespace berth
