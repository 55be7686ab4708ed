#include "planner/one_gpu/detail/draft.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"

namespace berth::planner {

Draft::Draft(double slack, int deals_max) : slack_(slack), deals_max_(ix(deals_max)) { ENSURE(deals_max > 0); }

void Draft::add(double loss, const std::vector<Share>& shares) {
  ENSURE(loss < slack_);
  deals_.push_back({.loss = loss, .shares = shares});
  std::ranges::push_heap(deals_, smaller_loss);
  if (deals_.size() <= deals_max_) return;
  std::ranges::pop_heap(deals_, smaller_loss);
  slack_ = deals_.back().loss;
  is_cut_ = true;
  deals_.pop_back();
}

void Draft::stop() {
  is_cut_ = true;
  slack_ = 0;
}

std::vector<Deal> Draft::take() {
  std::ranges::sort_heap(deals_, smaller_loss);
  return std::exchange(deals_, {});
}

}  // namespace berth::planner
