#include "sim/world/batch_times.h"

namespace berth::sim {

std::size_t BatchTimesMeter::index_of(const SpeedPlace& place) {
  const auto [known, is_new] = indices_.try_emplace(place, sums_.size());
  if (is_new) sums_.push_back({.place = place});
  return known->second;
}

void BatchTimesMeter::add(std::size_t index, std::int64_t table_us, std::int64_t real_us) {
  BatchTimes& sum = sums_[index];
  ++sum.batches;
  sum.table_us += table_us;
  sum.real_us += real_us;
}

std::vector<BatchTimes> BatchTimesMeter::take(std::int64_t second) {
  std::vector<BatchTimes> taken;
  for (const auto& [place, index] : indices_) {
    BatchTimes& sum = sums_[index];
    if (sum.batches == 0) continue;
    sum.second = second;
    taken.push_back(sum);
    sum = {.place = place};
  }
  return taken;
}

}  // namespace berth::sim
