#include "scheduling/jobs/last_values.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::sched {

void LastValues::add(double value) {
  in_order_.push_back(value);
  sorted_.insert(std::ranges::upper_bound(sorted_, value), value);
  if (in_order_.size() <= count_max_) return;
  sorted_.erase(std::ranges::lower_bound(sorted_, in_order_.front()));
  in_order_.pop_front();
}

double LastValues::quantile(std::size_t percent) const {
  ENSURE(!sorted_.empty() && percent >= 1 && percent <= 100);
  return sorted_[(sorted_.size() * percent + 99) / 100 - 1];
}

}  // namespace berth::sched
