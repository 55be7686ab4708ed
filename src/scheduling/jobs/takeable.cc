#include "scheduling/jobs/takeable.h"

#include <algorithm>
#include <tuple>

namespace berth::sched {
namespace {

/// A running job's rank minus its loss must be this many times the rank of the job that takes its GPUs.
constexpr double kGain = 3;
/// An urgent job takes the GPUs of another only if it is more urgent by this factor.
constexpr double kMoreUrgent = 1.05;

}  // namespace

bool TakeableJobs::may_take(const Taker& taker, const Worth& victim) {
  const Worth& own = taker.worth;
  if (own.is_urgent != victim.is_urgent) return own.is_urgent;
  if (own.is_urgent) return own.urgency > kMoreUrgent * victim.urgency;
  return taker.is_patient && outranks(own, victim);
}

bool TakeableJobs::outranks(const Worth& own, const Worth& victim) {
  return victim.rank - victim.loss > kGain * own.rank;
}

void TakeableJobs::add(const Workload& workload, JobIndex job, const Worth& worth, bool is_protected) {
  const std::int64_t priority = workload.job(job).priority;
  entries_.push_back({.job = job, .priority = priority, .is_protected = is_protected, .worth = worth});
  priority_min_ = std::min(priority_min_, priority);
  if (!is_protected) excess_max_ = std::max(excess_max_, worth.rank - worth.loss);
}

void TakeableJobs::sort(const Workload& workload) {
  std::ranges::sort(entries_, {}, [](const Entry& entry) {
    const Worth& worth = entry.worth;
    const double key = worth.is_urgent ? worth.urgency : worth.loss - worth.rank;
    return std::tuple(entry.priority, entry.is_protected, worth.is_urgent, key, entry.job);
  });
  GpuCount gpus = 0;
  for (Entry& entry : entries_) entry.gpus_up_to = gpus += workload.job(entry.job).gpus;
  is_sorted_ = true;
}

std::span<const TakeableJobs::Entry> TakeableJobs::for_taker(const Workload& workload, const Taker& taker) {
  const bool may_have_some = taker.worth.is_urgent || taker.priority > priority_min_ ||
                             (taker.is_patient && excess_max_ > kGain * taker.worth.rank);
  if (!may_have_some) return {};
  if (!is_sorted_) sort(workload);
  const auto end = std::ranges::partition_point(entries_, [&](const Entry& entry) {
    if (entry.priority != taker.priority) return entry.priority < taker.priority;
    return !entry.is_protected && may_take(taker, entry.worth);
  });
  return {entries_.begin(), end};
}

}  // namespace berth::sched
