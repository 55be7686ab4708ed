#include "planner/goodput_bound/detail/dual.h"

#include <algorithm>
#include <utility>

namespace berth::bound::detail {

Dual::Dual(const Supply& supply, std::vector<Demand>& demands, std::vector<double> weights, Blocks blocks,
           std::span<const double> sharing_factors)
    : supply_(supply),
      demands_(demands),
      weights_(std::move(weights)),
      blocks_(blocks),
      block_count_(static_cast<std::size_t>(blocks.count())),
      sharing_factors_(sharing_factors) {
  worths_.resize(block_count_);
  losses_.resize(block_count_ + 1);
}

std::vector<double> Dual::price_scales() const {
  std::vector<double> scales;
  scales.reserve(supply_.goods.size());
  for (const Good& good : supply_.goods) {
    const double per_second = demands_[good.service].requests() * 1e6 / static_cast<double>(blocks_.end_us);
    scales.push_back(good.is_retraining() && good.per_second_max > 0 ? per_second / good.per_second_max : 1);
  }
  return scales;
}

DualPoint Dual::origin() const {
  DualPoint point;
  point.prices.assign(supply_.goods.size(), std::vector<double>(block_count_));
  for (const GpuGroup& group : supply_.groups) {
    auto& kinds = point.delays.emplace_back(group.kinds.size());
    for (std::size_t kind = 0; kind < group.kinds.size(); ++kind) {
      for (const Yield& yield : group.kinds[kind].yields) {
        const bool is_delayed = sharing_factors_.empty() && dead_blocks(yield) > 0;
        kinds[kind].emplace_back(is_delayed ? block_count_ : 0);
      }
    }
  }
  return point;
}

int Dual::dead_blocks(const Yield& yield) const {
  const double dead = supply_.goods[yield.good].dead_seconds * 1e6 / static_cast<double>(blocks_.block_us);
  return static_cast<int>(std::min(dead, static_cast<double>(block_count_)));
}

double Dual::value(const DualPoint& at, DualPoint& slope) {
  for (std::vector<double>& row : slope.prices) std::ranges::fill(row, 0.0);
  double total = 0;
  // The amount used is subtracted from the amount made.
  for (std::size_t i = 0; i < demands_.size(); ++i) {
    if (weights_[i] > 0) total += weights_[i] * demands_[i].gain(at.prices, -weights_[i], slope.prices);
  }
  for (std::size_t group = 0; group < supply_.groups.size(); ++group) total += sell(group, at, slope);
  return total;
}

double Dual::sell(std::size_t index, const DualPoint& at, DualPoint& slope) {
  const GpuGroup& group = supply_.groups[index];
  choices_.worth.resize(std::max(choices_.worth.size(), group.kinds.size()));
  choices_.yield.resize(choices_.worth.size());
  for (std::size_t kind = 0; kind < group.kinds.size(); ++kind) {
    choices_.worth[kind].assign(block_count_, 0.0);
    choices_.yield[kind].assign(block_count_, -1);
    choose_alone(index, kind, at);
    if (!sharing_factors_.empty()) choose_shared(group.kinds[kind], kind, at.prices);
  }
  choose_sets(group);
  for (std::size_t kind = 0; kind < group.kinds.size(); ++kind) {
    add_slope(index, kind, at, slope);
    if (!sharing_factors_.empty()) add_shared_slope(group.kinds[kind], kind, at.prices, slope.prices);
  }
  double total = 0;
  for (const double worth : set_worth_) total += worth;
  return group.gpu_count * total;
}

/// The worth of a good made by a slice in each block, and the most that a change to it at the beginning of a block
/// loses.
void Dual::find_worths(const Yield& yield, const Rows& prices) {
  const double weight = weights_[supply_.goods[yield.good].service];
  const std::vector<double>& price = prices[yield.good];
  for (std::size_t b = 0; b < block_count_; ++b) worths_[b] = weight * yield.alone[b] * price[b];
}

namespace {

/// losses[b]: the sum of `dead` worths from b on.
void sum_ahead(const std::vector<double>& worths, std::size_t dead, std::vector<double>& losses) {
  const std::size_t count = worths.size();
  losses[count] = 0;
  for (std::size_t b = count; b-- > 0;) losses[b] = losses[b + 1] + worths[b];
  // Differences of sums to the end may have larger errors than a short sum, but exceed it by no more than the margin.
  for (std::size_t b = 0; b < count; ++b) losses[b] = std::max(0.0, losses[b] - losses[std::min(count, b + dead)]);
}

}  // namespace

void Dual::choose_alone(std::size_t group, std::size_t kind, const DualPoint& at) {
  const std::vector<Yield>& yields = supply_.groups[group].kinds[kind].yields;
  std::vector<double>& worth = choices_.worth[kind];
  std::vector<int>& chosen = choices_.yield[kind];
  for (std::size_t i = 0; i < yields.size(); ++i) {
    find_worths(yields[i], at.prices);
    const std::vector<double>& delay = at.delays[group][kind][i];
    const int index = static_cast<int>(i);
    if (delay.empty()) {
      for (std::size_t b = 0; b < block_count_; ++b) {
        if (worths_[b] > worth[b]) worth[b] = worths_[b], chosen[b] = index;
      }
      continue;
    }
    sum_ahead(worths_, static_cast<std::size_t>(dead_blocks(yields[i])), losses_);
    double moved = 0;  // to before this block; 0 at the start of the run
    for (std::size_t b = 0; b < block_count_; ++b) {
      const double next = b + 1 < block_count_ ? delay[b + 1] * losses_[b + 1] : 0;
      const double left = worths_[b] + next - moved;
      moved = next;
      if (left > worth[b]) worth[b] = left, chosen[b] = index;
    }
  }
}

/// The services that hold a shared slice of this kind in a block, those that gain most from it first.
void Dual::rank_holders(const SliceKind& kind, const Rows& prices, std::size_t block) {
  holders_.clear();
  for (std::size_t i = 0; i < kind.yields.size(); ++i) {
    const Yield& yield = kind.yields[i];
    if (yield.shared.empty()) continue;
    const std::uint32_t service = supply_.goods[yield.good].service;
    const double worth = weights_[service] * yield.shared[block] * prices[yield.good][block];
    if (worth <= 0) continue;
    // Goods are sorted by service: variants of one model are neighbours, and one of them runs at a time.
    const bool is_variant =
        !holders_.empty() && supply_.goods[kind.yields[holders_.back().yield].good].service == service;
    if (!is_variant) {
      holders_.push_back({.worth = worth, .yield = i});
    } else if (worth > holders_.back().worth) {
      holders_.back() = {.worth = worth, .yield = i};
    }
  }
  std::ranges::sort(holders_, [](const Holder& a, const Holder& b) {
    return a.worth != b.worth ? a.worth > b.worth : a.yield < b.yield;
  });
}

double Dual::sharing_factor(std::size_t rank) const {
  return sharing_factors_[std::min(rank, sharing_factors_.size() - 1)];
}

void Dual::choose_shared(const SliceKind& kind, std::size_t index, const Rows& prices) {
  for (std::size_t b = 0; b < block_count_; ++b) {
    rank_holders(kind, prices, b);
    double worth = 0;
    for (std::size_t rank = 0; rank < holders_.size(); ++rank) worth += holders_[rank].worth / sharing_factor(rank);
    if (worth > choices_.worth[index][b]) choices_.worth[index][b] = worth, choices_.yield[index][b] = kShared;
  }
}

void Dual::add_shared_slope(const SliceKind& kind, std::size_t index, const Rows& prices, Rows& slope) {
  for (std::size_t b = 0; b < block_count_; ++b) {
    if (choices_.yield[index][b] != kShared || counts_[index][b] == 0) continue;
    rank_holders(kind, prices, b);
    for (std::size_t rank = 0; rank < holders_.size(); ++rank) {
      const Yield& yield = kind.yields[holders_[rank].yield];
      slope[yield.good][b] +=
          counts_[index][b] * weights_[supply_.goods[yield.good].service] * yield.shared[b] / sharing_factor(rank);
    }
  }
}

void Dual::choose_sets(const GpuGroup& group) {
  set_.assign(block_count_, -1);
  set_worth_.assign(block_count_, 0.0);
  counts_.resize(std::max(counts_.size(), group.kinds.size()));
  for (std::vector<double>& row : counts_) row.assign(block_count_, 0.0);
  for (std::size_t i = 0; i < group.sets.size(); ++i) {
    std::vector<double>& sum = worths_;
    std::ranges::fill(sum, 0.0);
    for (const SliceSet::KindCount& each : group.sets[i].counts) {
      const std::vector<double>& worth = choices_.worth[each.kind];
      for (std::size_t b = 0; b < block_count_; ++b) sum[b] += each.count * worth[b];
    }
    for (std::size_t b = 0; b < block_count_; ++b) {
      if (sum[b] > set_worth_[b]) set_worth_[b] = sum[b], set_[b] = static_cast<int>(i);
    }
  }
  for (std::size_t b = 0; b < block_count_; ++b) {
    if (set_[b] < 0) continue;
    for (const SliceSet::KindCount& each : group.sets[static_cast<std::size_t>(set_[b])].counts) {
      counts_[each.kind][b] = each.count * group.gpu_count;
    }
  }
}

void Dual::add_slope(std::size_t group, std::size_t kind, const DualPoint& at, DualPoint& slope) {
  const std::vector<Yield>& yields = supply_.groups[group].kinds[kind].yields;
  const std::vector<int>& chosen = choices_.yield[kind];
  const std::vector<double>& count = counts_[kind];
  for (std::size_t i = 0; i < yields.size(); ++i) {
    const int index = static_cast<int>(i);
    const double weight = weights_[supply_.goods[yields[i].good].service];
    const std::vector<double>& amount = yields[i].alone;
    std::vector<double>& price_slope = slope.prices[yields[i].good];
    const auto held = [&](std::size_t b) { return chosen[b] == index ? count[b] : 0.0; };
    for (std::size_t b = 0; b < block_count_; ++b) price_slope[b] += held(b) * weight * amount[b];
    const std::vector<double>& delay = at.delays[group][kind][i];
    if (delay.empty()) continue;
    std::vector<double>& delay_slope = slope.delays[group][kind][i];
    const auto dead = static_cast<std::size_t>(dead_blocks(yields[i]));
    delay_slope[0] = 0;
    for (std::size_t b = 1; b < block_count_; ++b) {
      delay_slope[b] = held(b - 1) - held(b);
      if (delay_slope[b] == 0 || delay[b] == 0) continue;
      const double by_worth = delay_slope[b] * delay[b] * weight;
      for (std::size_t j = b; j < std::min(block_count_, b + dead); ++j) price_slope[j] += by_worth * amount[j];
    }
  }
}

}  // namespace berth::bound::detail
