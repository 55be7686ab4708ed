#include "purchase/scale/course.h"

#include <algorithm>

#include "base/core/ensure.h"
#include "purchase/scale/run.h"

namespace berth::scale {

std::vector<CourseBin> course_of(const Problem& problem, const PolicyResult& result, const CourseWindow& window) {
  const std::int64_t end = window.from_second + window.seconds;
  ENSURE(window.from_second >= 0 && window.bin_seconds > 0 && end <= problem.load.seconds());
  std::vector<CourseBin> bins(static_cast<std::size_t>((window.seconds + window.bin_seconds - 1) / window.bin_seconds));
  Service service(problem, 0, result.replicas.value_or(initial_replicas(problem)));
  auto change = result.changes.begin();
  std::int64_t want = 0;
  std::int64_t missed_before = 0;
  for (std::int64_t second = 0; second < end; ++second) {
    static_cast<void>(service.begin());
    for (; change != result.changes.end() && change->second == second; ++change) want = change->want;
    service.end(want);
    const bool is_last = second + 1 == problem.load.seconds();
    const std::int64_t missed = is_last ? result.run.requests - result.run.in_time : service.missed();
    if (second >= window.from_second) {
      CourseBin& bin = bins[static_cast<std::size_t>((second - window.from_second) / window.bin_seconds)];
      const std::int64_t arrivals = problem.load.at(second);
      ++bin.seconds;
      bin.arrivals += arrivals;
      bin.arrivals_max = std::max(bin.arrivals_max, arrivals);
      bin.ready += service.replicas().ready();
      bin.starting += service.replicas().starting();
      bin.missed += missed - missed_before;
    }
    missed_before = missed;
  }
  return bins;
}

}  // namespace berth::scale
