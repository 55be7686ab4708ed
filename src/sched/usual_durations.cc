#include "sched/usual_durations.h"

#include <algorithm>

namespace berth::sched {
namespace {

constexpr std::size_t kLatestMax = 100;
constexpr std::size_t kLatestMin = 3;
constexpr Seconds kUnknownDuration = 86'400;

}  // namespace

void UsualDurations::finished(const Job& job) { finished_[{job.tenant, job.gpus}].push_back(job.duration); }

Seconds UsualDurations::of(const Job& job) const {
  const auto found = finished_.find({job.tenant, job.gpus});
  if (found == finished_.end() || found->second.size() < kLatestMin) return kUnknownDuration;
  const std::vector<Seconds>& all = found->second;
  std::vector<Seconds> latest(all.end() - static_cast<std::ptrdiff_t>(std::min(all.size(), kLatestMax)), all.end());
  const auto median = latest.begin() + static_cast<std::ptrdiff_t>((latest.size() - 1) / 2);
  std::ranges::nth_element(latest, median);
  return 2 * *median;
}

}  // namespace berth::sched
