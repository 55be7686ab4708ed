#include "scheduling/jobs/usual_durations.h"

#include <algorithm>
#include <vector>

namespace berth::sched {
namespace {

constexpr std::size_t kLatestMax = 100;
constexpr std::size_t kLatestMin = 3;
constexpr Seconds kUnknownDuration = 86'400;

}  // namespace

void UsualDurations::finished(const Job& job) {
  std::deque<Seconds>& latest = finished_[{job.tenant, job.gpus}];
  latest.push_back(job.duration);
  if (latest.size() > kLatestMax) latest.pop_front();
}

Seconds UsualDurations::of(const Job& job) const {
  const auto found = finished_.find({job.tenant, job.gpus});
  if (found == finished_.end() || found->second.size() < kLatestMin) return kUnknownDuration;
  std::vector<Seconds> latest(found->second.begin(), found->second.end());
  const auto median = latest.begin() + static_cast<std::ptrdiff_t>((latest.size() - 1) / 2);
  std::ranges::nth_element(latest, median);
  return 2 * *median;
}

}  // namespace berth::sched
