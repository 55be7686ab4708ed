#include "ledger/books/detail/cell_walk.h"

#include <algorithm>
#include <numeric>

namespace berth::ledger::detail {

void CellWalk::begin(const GpuBook& gpu, const UseSet& uses, const Interval& window) {
  known_.clear();
  slices_.clear();
  borders_.clear();
  active_ranks_.clear();
  active_.clear();
  weights_.clear();
  weight_sum_ = 0;
  border_at_ = 0;
  uses.for_each([&](const UseRecord& use) {
    const std::int64_t from_us = std::max(use.when.from_us, window.from_us);
    const std::int64_t to_us = std::min(use.when.to_us, window.to_us);
    if (from_us >= to_us) return;
    if (slices_.empty() || slices_.back() != use.slice) slices_.push_back(use.slice);
    const auto index = static_cast<std::uint32_t>(known_.size());
    known_.push_back({.record = &use, .slice_at = static_cast<std::uint32_t>(slices_.size() - 1)});
    borders_.push_back({.us = from_us, .use = index, .is_end = false});
    borders_.push_back({.us = to_us, .use = index, .is_end = true});
  });
  rank_slices();
  paid_ = gpu.paid();
  paid_at_ = static_cast<std::size_t>(
      std::ranges::upper_bound(paid_, window.from_us, {}, [](const auto& p) { return p.when.to_us; }) - paid_.begin());
  add_paid_borders(window);
  std::ranges::sort(borders_, {}, [](const Border& border) { return border.us; });
}

void CellWalk::rank_slices() {
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
      active_ranks_.erase(active_ranks_.begin() + at);
      weight_sum_ -= use.record->weight;
    } else {
      const std::uint32_t rank = ranks_[use.slice_at];
      const auto at = std::ranges::upper_bound(active_ranks_, rank) - active_ranks_.begin();
      active_.insert(active_.begin() + at, use.record);
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
    while (paid_at_ < paid_.size() && paid_[paid_at_].when.to_us <= from_us) ++paid_at_;
    const bool is_paid = paid_at_ < paid_.size() && paid_[paid_at_].when.from_us <= from_us;
    if (!is_paid && active_.empty()) continue;
    cell_ = {.when = {.from_us = from_us, .to_us = borders_[border_at_].us},
             .paid = is_paid ? &paid_[paid_at_] : nullptr,
             .uses = active_};
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
