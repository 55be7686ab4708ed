#include "edges/sqlite_store/detail/age_counts.h"

#include <utility>

namespace berth::edges::detail {
namespace {

constexpr std::size_t kStepsMax = 4096;

}  // namespace

void AgeCounts::add(std::int64_t wall_us) {
  ++counts_[step_of(wall_us)];
  while (counts_.size() > kStepsMax) widen();
}

std::int64_t AgeCounts::cut_for(std::uint64_t count_max) const {
  std::uint64_t count = 0;
  for (auto it = counts_.rbegin(); it != counts_.rend(); ++it) {
    count += it->second;
    if (count > count_max) return it->first + width_us_;
  }
  return INT64_MIN;
}

std::int64_t AgeCounts::step_of(std::int64_t wall_us) const {
  const std::int64_t rest = wall_us % width_us_;
  return wall_us - (rest < 0 ? rest + width_us_ : rest);
}

void AgeCounts::widen() {
  width_us_ *= 2;
  for (const auto& [begin, count] : std::exchange(counts_, {})) counts_[step_of(begin)] += count;
}

}  // namespace berth::edges::detail
