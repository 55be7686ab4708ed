/// Tiny markets for the tests of the dual function and of its descent: GPUs that make goods, services that use them,
/// and feasible plans.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "base/core/sort_stably.h"
#include "planner/goodput_bound/detail/demand.h"
#include "planner/goodput_bound/detail/supply.h"
#include "planner/goodput_bound/testing/cases.h"

namespace berth::bound::testing {

/// One model of GPU, and services that may retrain once, due at second 0 and fresh from the completion on.
struct Market {
  Blocks blocks;
  std::vector<ServiceSpec> services;
  std::vector<std::vector<std::int64_t>> at_us;  ///< requests by service
  detail::Supply supply;
  std::vector<double> weights;

  /// Requires: the market outlives them.
  [[nodiscard]] std::vector<detail::Demand> demands() const {
    std::vector<detail::Demand> result;
    std::uint32_t good = 0;
    for (std::size_t i = 0; i < services.size(); ++i) {
      detail::DemandInput input = input_of(services[i], blocks, at_us[i], good);
      good += static_cast<std::uint32_t>(input.serving_goods.size());
      if (services[i].retraining) {
        input.retraining_good = good;
        input.progress_per_second_max = supply.goods[good++].per_second_max;
      }
      result.emplace_back(input);
    }
    return result;
  }
};

/// Limits of a drawn market.
struct MarketShape {
  int services_max = 2;
  int variants_max = 1;  ///< of a service, beyond the model itself
  int slices_max = 2;    ///< at a time on a GPU
  int blocks_max = 3;
  int retraining_percent = 40;
  int dead_percent = 60;  ///< of goods that make nothing for a while after a change
};

class MarketMaker {
 public:
  MarketMaker(const MarketShape& shape, Rng rng) : shape_(shape), rng_(rng) {}

  [[nodiscard]] Market make() {
    market_.blocks.end_us = drawn(rng_, 1, 4) * kMicrosPerSecond;
    const std::int64_t count = drawn(rng_, 1, shape_.blocks_max + 1);
    // Sometimes the last block is shorter.
    market_.blocks.block_us = (market_.blocks.end_us + count - 1) / count + drawn(rng_, 0, 2) * 1000;
    for (std::int64_t i = drawn(rng_, 1, shape_.services_max + 1); i > 0; --i) add_service();
    detail::GpuGroup& group = market_.supply.groups.emplace_back();
    group.gpu_count = static_cast<double>(drawn(rng_, 1, 3));
    for (std::int64_t i = drawn(rng_, 1, 3); i > 0; --i) add_kind();
    for (std::int64_t i = drawn(rng_, 1, 3); i > 0; --i) add_set();
    return std::move(market_);
  }

 private:
  void add_service() {
    const auto index = static_cast<std::uint32_t>(market_.services.size());
    ServiceSpec service = draw_service(rng_, market_.blocks, static_cast<int>(drawn(rng_, 0, shape_.variants_max + 1)));
    for (int variant = 0; variant <= static_cast<int>(service.variants.size()); ++variant) add_good(index, variant);
    if (happens(rng_, shape_.retraining_percent)) {
      service.retraining = Retraining{.every = Micros::seconds(100),
                                      .offset = Micros(0),
                                      .swap = Micros(0),
                                      .keeps_unfinished = false,
                                      .time_on = {}};
      add_good(index, detail::kRetrainingGood);
      market_.supply.goods.back().per_second_max =
          2e6 / static_cast<double>(market_.blocks.block_us) / static_cast<double>(drawn(rng_, 1, 4));
    }
    market_.at_us.push_back(draw_requests(rng_, market_.blocks, 6));
    market_.services.push_back(std::move(service));
    market_.weights.push_back(happens(rng_, 10) ? 0 : 0.1 + rng_.unit());
  }

  void add_good(std::uint32_t service, int variant) {
    detail::Good good{.service = service, .variant = variant};
    const double block_seconds = static_cast<double>(market_.blocks.block_us) / 1e6;
    if (happens(rng_, shape_.dead_percent))
      good.dead_seconds = static_cast<double>(drawn(rng_, 1, 6)) / 2 * block_seconds;
    market_.supply.goods.push_back(good);
  }

  void add_kind() {
    detail::SliceKind kind;
    for (std::uint32_t i = 0; i < market_.supply.goods.size(); ++i) {
      if (happens(rng_, 25)) continue;
      detail::Good& good = market_.supply.goods[i];
      detail::Yield yield{.good = i, .alone = {}, .shared = {}};
      const double progress = good.per_second_max * (happens(rng_, 50) ? 1 : 0.5);
      for (int block = 0; block < market_.blocks.count(); ++block) {
        const double answers = static_cast<double>(drawn(rng_, 0, 7)) / 2;
        yield.alone.push_back(good.is_retraining() ? progress * market_.blocks.length(block) : answers);
        if (!good.is_retraining()) yield.shared.push_back(answers * (happens(rng_, 50) ? 1 : 1.1));
      }
      kind.yields.push_back(std::move(yield));
    }
    for (const detail::Yield& yield : kind.yields) {
      detail::Good& good = market_.supply.goods[yield.good];
      if (!good.is_retraining()) good.per_second_max = std::max(good.per_second_max, 1.0);
    }
    market_.supply.groups[0].kinds.push_back(std::move(kind));
  }

  void add_set() {
    detail::SliceSet set;
    std::int64_t slices = drawn(rng_, 1, shape_.slices_max + 1);
    for (std::uint32_t kind = 0; kind < market_.supply.groups[0].kinds.size(); ++kind) {
      const std::int64_t count = drawn(rng_, 0, slices + 1);
      if (count > 0) set.counts.push_back({.kind = kind, .count = static_cast<double>(count)});
      slices -= count;
    }
    market_.supply.groups[0].sets.push_back(std::move(set));
  }

  MarketShape shape_;
  Rng rng_;
  Market market_;
};

inline Market draw_market(std::uint64_t seed, const MarketShape& shape = {}) {
  return MarketMaker(shape, Rng(seed).split("market")).make();
}

/// Plans of a market, the same for every GPU: in every block one of the sets, with every slice idle, held by one
/// service for one good, or (with factors of sharing) held by two.
class Plans {
 public:
  /// Empty `sharing_factors`: no slice is shared, and a change makes a slice dead for a while; otherwise it costs
  /// nothing. Requires: the market outlives it.
  Plans(const Market& market, std::span<const double> sharing_factors)
      : market_(market), group_(market.supply.groups[0]), factors_(sharing_factors) {
    for (std::size_t set = 0; set < group_.sets.size(); ++set) {
      std::vector<SliceUse> slices;
      add_uses(set, kinds_of(group_.sets[set]), slices);
    }
  }

  /// The greatest value of a plan; if there are too many plans, of a random sample of that size. A plan's answers are
  /// given to its requests in the order of their arrival, the most accurate ones first: a plan may be worth more than
  /// that, never less.
  [[nodiscard]] double best(Rng rng, int plans_max) const {
    const auto blocks = static_cast<std::size_t>(market_.blocks.count());
    const double count = std::pow(static_cast<double>(uses_.size()), static_cast<double>(blocks));
    const bool is_few = count <= plans_max;
    double best = 0;
    std::vector<std::size_t> plan(blocks);
    for (int i = 0; i < (is_few ? static_cast<int>(count) : plans_max); ++i) {
      auto rest = static_cast<std::size_t>(i);
      for (std::size_t& use : plan) {
        use = is_few ? rest % uses_.size() : static_cast<std::size_t>(rng.below(uses_.size()));
        rest /= uses_.size();
      }
      best = std::max(best, value(made_by(plan)));
    }
    return best;
  }

 private:
  /// The yields of a slice's holders, the one that others slow down least first; empty: idle.
  using SliceUse = std::vector<std::size_t>;
  struct GpuUse {
    std::size_t set = 0;
    std::vector<SliceUse> slices;
  };

  static std::vector<std::uint32_t> kinds_of(const detail::SliceSet& set) {
    std::vector<std::uint32_t> kinds;
    for (const detail::SliceSet::KindCount& each : set.counts) {
      kinds.insert(kinds.end(), static_cast<std::size_t>(each.count), each.kind);
    }
    return kinds;
  }

  void add_uses(std::size_t set, const std::vector<std::uint32_t>& kinds, std::vector<SliceUse>& slices) {
    if (slices.size() == kinds.size()) {
      uses_.push_back({.set = set, .slices = slices});
      return;
    }
    const std::vector<detail::Yield>& yields = group_.kinds[kinds[slices.size()]].yields;
    std::vector<SliceUse> options{{}};
    for (std::size_t i = 0; i < yields.size(); ++i) {
      options.push_back({i});
      for (std::size_t j = 0; j < yields.size() && !factors_.empty(); ++j) {
        const bool are_two = good_of(yields[i]).service != good_of(yields[j]).service;
        if (are_two && !yields[i].shared.empty() && !yields[j].shared.empty()) options.push_back({i, j});
      }
    }
    for (const SliceUse& option : options) {
      slices.push_back(option);
      add_uses(set, kinds, slices);
      slices.pop_back();
    }
  }

  [[nodiscard]] const detail::Good& good_of(const detail::Yield& yield) const {
    return market_.supply.goods[yield.good];
  }

  /// [good][block] of all GPUs.
  [[nodiscard]] detail::Rows made_by(const std::vector<std::size_t>& plan) const {
    detail::Rows made(market_.supply.goods.size(), std::vector<double>(plan.size()));
    std::vector<double> dead_seconds;
    for (std::size_t block = 0; block < plan.size(); ++block) {
      const GpuUse& use = uses_[plan[block]];
      const GpuUse* before = block > 0 ? &uses_[plan[block - 1]] : nullptr;
      const bool is_same_set = before != nullptr && before->set == use.set;
      if (!is_same_set) dead_seconds.assign(use.slices.size(), 0);
      const std::vector<std::uint32_t> kinds = kinds_of(group_.sets[use.set]);
      for (std::size_t slice = 0; slice < use.slices.size(); ++slice) {
        const bool is_given = before != nullptr && !(is_same_set && before->slices[slice] == use.slices[slice]);
        make(group_.kinds[kinds[slice]], use.slices[slice], block, is_given, dead_seconds[slice], made);
      }
    }
    return made;
  }

  /// Adds the amount that one slice makes in a block. `dead_seconds`: how long it makes nothing yet.
  void make(const detail::SliceKind& kind, const SliceUse& use, std::size_t block, bool is_given, double& dead_seconds,
            detail::Rows& made) const {
    for (std::size_t rank = 0; rank < use.size(); ++rank) {
      const detail::Yield& yield = kind.yields[use[rank]];
      if (use.size() > 1) {
        made[yield.good][block] +=
            group_.gpu_count * yield.shared[block] / factors_[std::min(rank, factors_.size() - 1)];
        continue;
      }
      if (is_given) dead_seconds = factors_.empty() ? good_of(yield).dead_seconds : 0;
      const double seconds = market_.blocks.length(static_cast<int>(block));
      made[yield.good][block] += group_.gpu_count * yield.alone[block] * std::max(0.0, 1 - dead_seconds / seconds);
      dead_seconds = std::max(0.0, dead_seconds - seconds);
    }
  }

  [[nodiscard]] double value(detail::Rows made) const {
    double sum = 0;
    std::size_t good = 0;
    for (std::size_t i = 0; i < market_.services.size(); ++i) {
      const std::size_t variants = market_.services[i].variants.size() + 1;
      const int fresh_from = market_.services[i].retraining ? fresh_from_block(good + variants, made) : 0;
      sum += market_.weights[i] * answered(i, good, fresh_from, made);
      good += variants + (market_.services[i].retraining ? 1 : 0);
    }
    return sum;
  }

  /// The first block in which all work is done after the retraining: one slice at a time makes its progress.
  [[nodiscard]] int fresh_from_block(std::size_t good, const detail::Rows& made) const {
    double progress = 0;
    for (int block = 0; block < market_.blocks.count(); ++block) {
      const double most = market_.supply.goods[good].per_second_max * market_.blocks.length(block);
      progress += std::min(most, made[good][static_cast<std::size_t>(block)]);
      if (progress >= 1) return block + 1;
    }
    return market_.blocks.count();
  }

  [[nodiscard]] double answered(std::size_t index, std::size_t first_good, int fresh_from, detail::Rows& made) const {
    const ServiceSpec& service = market_.services[index];
    double sum = 0;
    for (const std::int64_t at : market_.at_us[index]) {
      double open = 1;
      const int until = market_.blocks.of(at + service.target.count() - 1);
      for (const auto& [accuracy, variant, block] : choices_of(service, market_.blocks.of(at), until, fresh_from)) {
        double& left = made[first_good + variant][static_cast<std::size_t>(block)];
        const double part = std::min(open, left);
        left -= part;
        open -= part;
        sum += part * accuracy;
      }
    }
    return sum;
  }

  struct Choice {
    double accuracy = 0;
    std::size_t variant = 0;
    int block = 0;
  };
  [[nodiscard]] std::vector<Choice> choices_of(const ServiceSpec& service, int from, int until, int fresh_from) const {
    std::vector<Choice> choices;
    for (int block = from; block <= until; ++block) {
      for (std::size_t variant = 0; variant <= service.variants.size(); ++variant) {
        const Accuracy& accuracy = variant == 0 ? service.accuracy : service.variants[variant - 1].accuracy;
        const std::int64_t micro = block >= fresh_from ? accuracy.after_micro : accuracy.before_micro;
        choices.push_back({.accuracy = static_cast<double>(micro) / 1e6, .variant = variant, .block = block});
      }
    }
    sort_stably(choices, [](const Choice& choice) { return choice.accuracy; }, std::greater<>());
    return choices;
  }

  const Market& market_;
  const detail::GpuGroup& group_;
  std::span<const double> factors_;
  std::vector<GpuUse> uses_;
};

}  // namespace berth::bound::testing
