#include "planner/transition/detail/cover.h"

#include "base/core/sort_stably.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>

namespace berth::transition::detail {
namespace {

constexpr std::size_t kExactSlicesMax = 12;
constexpr int kExactStepsMax = 20'000;

Rate sum_of(const std::vector<Rate>& rates) { return std::accumulate(rates.begin(), rates.end(), Rate{0}); }

/// Whether the rates meet the need, but not without any one of them.
bool is_tight(Rate need, const std::vector<Rate>& rates) {
  const Rate sum = sum_of(rates);
  return sum >= need && (rates.empty() || sum - *std::ranges::min_element(rates) < need);
}

std::vector<Rate> rates_of(const std::vector<SliceRates>& slices, const std::vector<bool>& is_best) {
  std::vector<Rate> rates;
  rates.reserve(slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) rates.push_back(is_best[i] ? slices[i].best : slices[i].low);
  return rates;
}

/// Items with two points, the largest gain first.
std::vector<std::size_t> tunable(const std::vector<SliceRates>& slices) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (slices[i].best > slices[i].low) order.push_back(i);
  }
  sort_stably(order, [&](std::size_t i) { return slices[i].best - slices[i].low; }, std::greater<>());
  return order;
}

/// Every choice of the given slices, the smaller choices first.
std::optional<std::vector<bool>> tune_by_trial(Rate need, const std::vector<SliceRates>& slices,
                                               const std::vector<std::size_t>& order) {
  for (int size = 1; size <= static_cast<int>(order.size()); ++size) {
    for (std::uint32_t chosen = 0; chosen < (1U << order.size()); ++chosen) {
      if (std::popcount(chosen) != size) continue;
      std::vector<bool> is_best(slices.size());
      for (std::size_t i = 0; i < order.size(); ++i) is_best[order[i]] = ((chosen >> i) & 1U) != 0;
      if (is_tight(need, rates_of(slices, is_best))) return is_best;
    }
  }
  return std::nullopt;
}

/// One walk over how many existing slices of each kind are kept.
class KeepWalk {
 public:
  explicit KeepWalk(const CoverQuestion& question) : question_(question), slices_(question.fixed) {
    for (const SliceRates& slice : question.standing) ++counts_[slice];
    groups_.assign(counts_.rbegin(), counts_.rend());
  }

  std::optional<std::int64_t> run() {
    walk(0, 0);
    if (steps_ > kExactStepsMax) return std::nullopt;
    return best_;
  }

 private:
  void walk(std::size_t index, std::int64_t dropped) {
    if (++steps_ > kExactStepsMax || dropped >= best_) return;
    if (index == groups_.size()) return finish(dropped);
    const auto [slice, count] = groups_[index];
    const std::size_t size = slices_.size();
    slices_.insert(slices_.end(), static_cast<std::size_t>(count), slice);
    for (int kept = count; kept >= 0; --kept) {
      walk(index + 1, dropped + count - kept);
      if (kept > 0) slices_.pop_back();
    }
    slices_.resize(size);
  }

  void finish(std::int64_t dropped) {
    Rate low = 0;
    Rate best = 0;
    for (const SliceRates& slice : slices_) {
      low += slice.low;
      best += slice.best;
    }
    if (best >= question_.need && tune(question_.need, slices_)) {
      best_ = std::min(best_, dropped);
      return;
    }
    if (low >= question_.need || question_.rate_max == 0) return;
    const Rate shortfall = std::max<Rate>(question_.need - best, 1);
    best_ = std::min(best_, dropped + (shortfall + question_.rate_max - 1) / question_.rate_max);
  }

  const CoverQuestion& question_;
  std::map<SliceRates, int> counts_;
  std::vector<std::pair<SliceRates, int>> groups_;
  std::vector<SliceRates> slices_;
  int steps_ = 0;
  std::int64_t best_ = INT64_MAX;
};

/// By sums alone: k slices are kept; the largest have the most rate, the smallest become surplus last.
std::int64_t fewest_changes_by_sums(const CoverQuestion& question) {
  std::vector<Rate> lows;
  std::vector<Rate> bests;
  Rate best = 0;
  Rate low = 0;
  Rate fixed_least = INT64_MAX;
  for (const SliceRates& slice : question.fixed) {
    low += slice.low;
    best += slice.best;
    fixed_least = std::min(fixed_least, slice.low);
  }
  for (const SliceRates& slice : question.standing) {
    lows.push_back(slice.low);
    bests.push_back(slice.best);
  }
  std::ranges::sort(lows);
  std::ranges::sort(bests, std::greater{});
  const auto count = static_cast<std::int64_t>(lows.size());
  std::int64_t fewest = INT64_MAX;
  for (std::int64_t kept = 0; kept <= count; ++kept) {
    const std::int64_t dropped = count - kept;
    // Some slice is surplus if all but the smallest meet the need.
    const Rate without_least = kept == 0 ? 0 : low - std::min(lows.front(), fixed_least);
    if (best >= question.need && without_least < question.need) fewest = std::min(fewest, dropped);
    if (best < question.need && question.rate_max > 0) {
      fewest = std::min(fewest, dropped + (question.need - best + question.rate_max - 1) / question.rate_max);
    }
    if (kept == count) break;
    low += lows[static_cast<std::size_t>(kept)];
    best += bests[static_cast<std::size_t>(kept)];
  }
  return fewest;
}

}  // namespace

std::optional<std::vector<bool>> tune(Rate need, const std::vector<SliceRates>& slices) {
  std::vector<bool> is_best(slices.size());
  std::vector<Rate> rates = rates_of(slices, is_best);
  if (sum_of(rates) >= need) return is_tight(need, rates) ? std::optional(is_best) : std::nullopt;
  const std::vector<std::size_t> order = tunable(slices);
  for (const std::size_t i : order) {
    is_best[i] = true;
    rates[i] = slices[i].best;
    if (sum_of(rates) >= need) break;
  }
  if (sum_of(rates) < need) return std::nullopt;
  if (is_tight(need, rates)) return is_best;
  return order.size() <= kExactSlicesMax ? tune_by_trial(need, slices, order) : std::nullopt;
}

std::int64_t fewest_changes(const CoverQuestion& question) {
  if (const auto exact = KeepWalk(question).run()) return *exact;
  return fewest_changes_by_sums(question);
}

}  // namespace berth::transition::detail
