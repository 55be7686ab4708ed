#include "ledger/books/detail/cell_walk.h"

#include <algorithm>
#include <numeric>

namespace berth::ledger::detail {

void CellWalk::open(std::span<const Interval> windows) {
  windows_.assign(windows.begin(), windows.end());
  window_at_ = 0;
  known_.clear();
  slices_.clear();
  borders_.clear();
  active_ranks_.clear();
  active_.clear();
  active_numbers_.clear();
  weights_.clear();
  weight_sum_ = 0;
  border_at_ = 0;
}

void CellWalk::add_use(const UseRecord& use) {
  const auto number = static_cast<std::uint32_t>(known_.size());
  bool is_known = false;
  auto window = windows_.begin();
  if (windows_.size() > 1) {
    window = std::ranges::partition_point(windows_, [&](const Interval& w) { return w.to_us <= use.when.from_us; });
  }
  for (; window != windows_.end() && window->from_us < use.when.to_us; ++window) {
    const std::int64_t from_us = std::max(use.when.from_us, window->from_us);
    const std::int64_t to_us = std::min(use.when.to_us, window->to_us);
    if (from_us >= to_us) continue;
    borders_.push_back({.us = from_us, .use = number, .is_end = false});
    borders_.push_back({.us = to_us, .use = number, .is_end = true});
    is_known = true;
  }
  if (!is_known) return;
  if (slices_.empty() || slices_.back() != use.slice) slices_.push_back(use.slice);
  known_.push_back({.record = &use, .slice_at = static_cast<std::uint32_t>(slices_.size() - 1)});
}

void CellWalk::close(const GpuBook& gpu) {
  rank_slices();
  paid_ = gpu.paid();
  paid_at_ = 0;
  if (windows_.empty()) return;
  paid_at_ = static_cast<std::size_t>(
      std::ranges::upper_bound(paid_, windows_.front().from_us, {}, [](const auto& p) { return p.when.to_us; }) -
      paid_.begin());
  for (const Interval& window : windows_) add_paid_borders(window);
  std::ranges::sort(borders_, {}, [](const Border& border) { return border.us; });
}

void CellWalk::rank_slices() {
  if (slices_ == ranked_slices_) return;
  ranked_slices_ = slices_;
  by_bytes_.resize(slices_.size());
  std::iota(by_bytes_.begin(), by_bytes_.end(), 0U);
  std::ranges::sort(by_bytes_, {}, [&](std::uint32_t at) { return names_.text(slices_[at]); });
  ranks_.resize(slices_.size());
  for (std::uint32_t rank = 0; rank < by_bytes_.size(); ++rank) ranks_[by_bytes_[rank]] = rank;
}

void CellWalk::add_paid_borders(const Interval& window) {
  for (std::size_t at = paid_at_; at < paid_.size() && paid_[at].when.from_us < window.to_us; ++at) {
    const Interval within{.from_us = std::max(paid_[at].when.from_us, window.from_us),
                          .to_us = std::min(paid_[at].when.to_us, window.to_us)};
    if (within.from_us >= within.to_us) continue;
    borders_.push_back({.us = within.from_us});
    borders_.push_back({.us = within.to_us});
    const auto prices = prices_.of(paid_[at].sku);
    auto price = std::ranges::upper_bound(prices, within.from_us, {}, &Price::from_us);
    for (; price != prices.end() && price->from_us < within.to_us; ++price) borders_.push_back({.us = price->from_us});
  }
}

void CellWalk::pass_borders() {
  const std::int64_t now_us = borders_[border_at_].us;
  for (; border_at_ < borders_.size() && borders_[border_at_].us == now_us; ++border_at_) {
    const Border& border = borders_[border_at_];
    if (border.use == kNoUse) continue;
    const KnownUse& use = known_[border.use];
    if (border.is_end) {
      // Another use of the slice may have begun at this instant, so ranks alone do not name it.
      const auto at = std::ranges::find(active_, use.record) - active_.begin();
      active_.erase(active_.begin() + at);
      active_numbers_.erase(active_numbers_.begin() + at);
      active_ranks_.erase(active_ranks_.begin() + at);
      weight_sum_ -= use.record->weight;
    } else {
      const std::uint32_t rank = ranks_[use.slice_at];
      const auto at = std::ranges::upper_bound(active_ranks_, rank) - active_ranks_.begin();
      active_.insert(active_.begin() + at, use.record);
      active_numbers_.insert(active_numbers_.begin() + at, border.use);
      active_ranks_.insert(active_ranks_.begin() + at, rank);
      weight_sum_ += use.record->weight;
    }
  }
}

bool CellWalk::next() {
  while (border_at_ < borders_.size()) {
    pass_borders();
    if (border_at_ == borders_.size()) return false;
    const std::int64_t from_us = borders_[border_at_ - 1].us;
    while (window_at_ < windows_.size() && windows_[window_at_].to_us <= from_us) ++window_at_;
    if (window_at_ == windows_.size()) return false;
    if (from_us < windows_[window_at_].from_us) continue;  // between two windows
    while (paid_at_ < paid_.size() && paid_[paid_at_].when.to_us <= from_us) ++paid_at_;
    const bool is_paid = paid_at_ < paid_.size() && paid_[paid_at_].when.from_us <= from_us;
    if (!is_paid && active_.empty()) continue;
    cell_ = {.when = {.from_us = from_us, .to_us = borders_[border_at_].us},
             .paid = is_paid ? &paid_[paid_at_] : nullptr,
             .uses = active_,
             .use_numbers = active_numbers_};
    if (is_paid) divide();
    return true;
  }
  return false;
}

void CellWalk::divide() {
  const std::int64_t whole = std::max(cell_.paid->capacity, weight_sum_);
  weights_.clear();
  for (const UseRecord* use : active_) weights_.push_back(use->weight);
  weights_.push_back(whole - weight_sum_);
  grains_.resize(weights_.size());
  gpu_us_.resize(weights_.size());
  const std::int64_t length_us = cell_.when.length_us();
  cell_.micro_usd_per_gpu_hour = prices_.at(cell_.paid->sku, cell_.when.from_us);
  splitter_.split(Grains{cell_.micro_usd_per_gpu_hour.value_or(0)} * length_us, weights_, whole, grains_);
  splitter_.split(length_us, weights_, whole, gpu_us_);
  cell_.whole = whole;
  cell_.grains = grains_;
  cell_.gpu_us = gpu_us_;
}

}  // namespace berth::ledger::detail
