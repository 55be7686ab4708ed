#include "planner/packing/detail/pool_mix.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/solver/linear.h"
#include "planner/packing/detail/diving.h"
#include "planner/packing/detail/relaxation.h"

namespace berth::packing::detail {
namespace {

/// The most expensive GPU in the whole numbers in which pools alone are priced: fine enough for the prices of short
/// offers, and a million GPUs stay below 2^63.
constexpr double kFineUnit = 1e9;
/// The cost of a GPU beyond a count in the relaxation, in prices of the most expensive one.
constexpr double kExcessPrice = 8;
constexpr int kPricingRoundsMax = 30;
constexpr int kPolishRoundsMax = 20;
/// Sums of GPUs that are kept while one plan of each pool is chosen.
constexpr std::size_t kSumsMax = 4'000;
/// The cost of one of them, in nodes of the search.
constexpr std::int64_t kSumNodes = 4;
constexpr int kNearDivesOfPool = 8;

/// The diver of one pool, or of two together.
struct PoolDiver {
  PoolDiver(const Instance& whole, std::vector<std::uint32_t> of, std::span<GpuFiller> fillers,
            const Relaxation& relaxation)
      : pools(std::move(of)),
        instance(whole.only_pools(pools)),
        nothing(whole.kinds.size(), 0),
        diver(instance, fillers, nothing, relaxation) {}

  std::vector<std::uint32_t> pools;
  Instance instance;
  Counts nothing;
  Diver diver;
};

/// A pool's plans by their GPUs, without dominated ones.
using Columns = std::map<GpuCounts, CoverChoice>;

bool is_within(const GpuCounts& small, const GpuCounts& large) {
  return std::ranges::equal(small, large, [](std::int64_t a, std::int64_t b) { return a <= b; });
}

class PoolMix {
 public:
  PoolMix(const Instance& instance, std::span<GpuFiller> fillers, const Relaxation& relaxation, const PoolMixGoal& goal,
          Budget& budget)
      : instance_(instance), fillers_(fillers), relaxation_(relaxation), goal_(goal), budget_(budget) {
    columns_.resize(instance.pool_count);
    for (std::uint32_t pool = 0; pool < instance.pool_count; ++pool) {
      pools_.push_back(std::make_unique<PoolDiver>(instance, std::vector{pool}, fillers, relaxation));
    }
    for (const OfferedGpus& offer : instance.offers) {
      counts_.push_back(offer.count_max.value_or(PlanLimits::kNone));
      most_expensive_ = std::max(most_expensive_, offer.price);
    }
    added_.assign(counts_.size(), 0);
  }

  std::optional<CoverChoice> run() {
    add_starts();
    price_short_offers();
    polish();
    if (chosen_.empty()) return std::nullopt;
    return std::move(plan_);
  }

 private:
  using Choice = std::vector<GpuCounts>;  ///< by pool: a column

  /// Columns of the first pools together.
  struct Sum {
    std::int64_t price = 0;
    Choice choice;
  };

  void add_starts() {
    for (std::size_t p = 0; p < pools_.size(); ++p) {
      if (p < goal_.starts.size() && !goal_.starts[p].empty()) add_column(p, goal_.starts[p]);
    }
    if (goal_.plan != nullptr) {
      for (std::size_t p = 0; p < pools_.size(); ++p) add_column(p, part_of(*goal_.plan, p));
    }
    for (std::size_t p = 0; p < pools_.size(); ++p) {
      if (columns_[p].empty()) make_columns(p, std::vector<double>(counts_.size(), 0), counts_);
    }
    choose();
  }

  /// The covers of one pool in a plan of all.
  [[nodiscard]] CoverChoice part_of(const CoverChoice& plan, std::size_t pool) const {
    CoverChoice part;
    for (std::size_t d = 0; d < plan.size(); ++d) {
      if (instance_.demands[d].pool == pool) part.push_back(plan[d]);
    }
    return part;
  }

  void add_column(std::size_t pool, const CoverChoice& covers) {
    add_column(pool, pools_[pool]->diver.gpus_of(covers, budget_), covers);
  }

  void add_column(std::size_t pool, const GpuCounts& gpus, const CoverChoice& covers) {
    Columns& columns = columns_[pool];
    const bool is_needless =
        std::ranges::any_of(columns, [&](const auto& column) { return is_within(column.first, gpus); });
    if (is_needless) return;
    std::erase_if(columns, [&](const auto& column) { return is_within(gpus, column.first); });
    columns.emplace(gpus, covers);
  }

  /// Searches a pool's plan with these prices added to those of the offers. All plans that it meets become columns.
  void make_columns(std::size_t pool, const std::vector<double>& added, const GpuCounts& gpus_max) {
    DiveTask task{.prices = {}, .gpus_max = gpus_max, .near_dives_max = kNearDivesOfPool};
    for (std::size_t o = 0; o < added.size(); ++o) {
      const double price = static_cast<double>(instance_.offers[o].price) + added[o];
      task.prices.push_back(std::llround(price / static_cast<double>(most_expensive_) * kFineUnit));
    }
    const CoverChoice* start = nullptr;
    std::int64_t least = 0;
    for (const auto& [gpus, covers] : columns_[pool]) {
      if (!is_within(gpus, gpus_max)) continue;
      std::int64_t price = 0;
      for (std::size_t o = 0; o < gpus.size(); ++o) price += gpus[o] * task.prices[o];
      if (start != nullptr && price >= least) continue;
      start = &covers;
      least = price;
    }
    const CoverChoice before = start == nullptr ? CoverChoice() : *start;
    task.start = start == nullptr ? nullptr : &before;
    (void)pools_[pool]->diver.search(task, budget_);
    for (const auto& [gpus, covers] : pools_[pool]->diver.plans()) add_column(pool, gpus, covers);
  }

  [[nodiscard]] bool is_done() const { return budget_.is_spent() || (!chosen_.empty() && price_ <= goal_.price_min); }

  /// Column generation.
  void price_short_offers() {
    for (int round = 0; round < kPricingRoundsMax && !is_done(); ++round) {
      std::vector<double> added = prices_of_short_offers();
      if (round > 0 && added == added_) return;
      added_ = std::move(added);
      for (std::size_t p = 0; p < pools_.size() && !is_done(); ++p) make_columns(p, added_, counts_);
      choose();
    }
  }

  /// The additional price of a GPU of each offer because others need it: the duals of the relaxed choice.
  [[nodiscard]] std::vector<double> prices_of_short_offers() const {
    const auto unit = static_cast<double>(most_expensive_);
    solver::LinearModel model;
    model.rows.assign(counts_.size() + pools_.size(), {});
    for (std::size_t o = 0; o < counts_.size(); ++o) {
      const bool is_limited = counts_[o] != PlanLimits::kNone;
      model.rows[o].upper = is_limited ? static_cast<double>(counts_[o]) : solver::kInfinity;
      model.rows[o].entries.push_back({static_cast<int>(model.columns.size()), -1});
      model.columns.push_back({.cost = kExcessPrice});
    }
    for (std::size_t p = 0; p < pools_.size(); ++p) {
      solver::Row& row = model.rows[counts_.size() + p];
      row.lower = row.upper = 1;
      for (const auto& [gpus, covers] : columns_[p]) {
        const auto column = static_cast<int>(model.columns.size());
        model.columns.push_back({.cost = static_cast<double>(price_of(gpus)) / unit});
        row.entries.push_back({column, 1});
        for (std::size_t o = 0; o < gpus.size(); ++o) {
          if (gpus[o] > 0) model.rows[o].entries.push_back({column, static_cast<double>(gpus[o])});
        }
      }
    }
    const solver::LpAnswer answer = solver::solve_lp(model);
    std::vector<double> prices(counts_.size(), 0);
    if (answer.status != solver::Status::kOptimal) return prices;
    for (std::size_t o = 0; o < prices.size(); ++o) prices[o] = std::max(0.0, -answer.row_prices[o]) * unit;
    return prices;
  }

  [[nodiscard]] std::int64_t price_of(const GpuCounts& gpus) const {
    std::int64_t price = 0;
    for (std::size_t o = 0; o < gpus.size(); ++o) price += gpus[o] * instance_.offers[o].price;
    return price;
  }

  /// The cheapest choice of one column of each pool, if it is cheaper than the last one.
  void choose() {
    if (budget_.is_spent()) return;
    std::vector<std::int64_t> rest(pools_.size() + 1, 0);  // the least cost of the pools from here on
    for (std::size_t p = pools_.size(); p-- > 0;) {
      std::int64_t least = PlanLimits::kNone;
      for (const auto& [gpus, covers] : columns_[p]) least = std::min(least, price_of(gpus));
      if (columns_[p].empty()) return;
      rest[p] = rest[p + 1] + least;
    }
    std::map<GpuCounts, Sum> sums = {{GpuCounts(counts_.size(), 0), {}}};
    for (std::size_t p = 0; p < pools_.size(); ++p) {
      std::map<GpuCounts, Sum> next;
      for (const auto& [used, sum] : sums) {
        for (const auto& [gpus, covers] : columns_[p]) {
          GpuCounts both = used;
          for (std::size_t o = 0; o < both.size(); ++o) both[o] += gpus[o];
          const std::int64_t price = sum.price + price_of(gpus);
          if (!is_within(both, counts_)) continue;
          if (!chosen_.empty() && price + rest[p + 1] >= price_) continue;
          const auto [place, is_new] = next.try_emplace(std::move(both));
          if (!is_new) continue;  // the same GPUs have the same price
          place->second.price = price;
          place->second.choice = sum.choice;
          place->second.choice.push_back(gpus);
        }
      }
      budget_.nodes += kSumNodes * std::ssize(sums) * std::ssize(columns_[p]);
      sums = std::move(next);
      narrow(sums);
    }
    for (auto& [used, sum] : sums) {
      if (!chosen_.empty() && sum.price >= price_) continue;
      price_ = sum.price;
      chosen_ = std::move(sum.choice);
      plan_.clear();
      for (std::size_t p = 0; p < pools_.size(); ++p) {
        std::ranges::copy(columns_[p].at(chosen_[p]), std::back_inserter(plan_));
      }
    }
  }

  /// Keeps the sums that are cheapest under the prices of short offers.
  void narrow(std::map<GpuCounts, Sum>& sums) const {
    if (sums.size() <= kSumsMax) return;
    std::vector<double> costs;
    costs.reserve(sums.size());
    for (const auto& [used, sum] : sums) costs.push_back(cost_of(used));
    const auto last = costs.begin() + static_cast<std::ptrdiff_t>(kSumsMax);
    std::ranges::nth_element(costs, last);
    std::erase_if(sums, [&](const auto& entry) { return cost_of(entry.first) >= *last; });
  }

  /// The cost under the prices of short offers.
  [[nodiscard]] double cost_of(const GpuCounts& gpus) const {
    auto cost = static_cast<double>(price_of(gpus));
    for (std::size_t o = 0; o < gpus.size(); ++o) cost += added_[o] * static_cast<double>(gpus[o]);
    return cost;
  }

  void polish() {
    for (int round = 0; round < kPolishRoundsMax && !chosen_.empty() && !is_done(); ++round) {
      const std::int64_t before = price_;
      polish_pools();
      if (price_ == before) try_fewer_gpus();
      if (price_ == before) polish_pairs();
      if (price_ == before) return;
    }
  }

  /// Replans each pool with the GPUs that the others leave.
  void polish_pools() {
    for (std::uint32_t p = 0; p < pools_.size() && !is_done(); ++p) {
      make_columns(p, std::vector<double>(counts_.size(), 0), left_for(std::vector{p}));
      choose();
    }
  }

  /// Replans each pool with one GPU fewer of each offer.
  void try_fewer_gpus() {
    added_ = prices_of_short_offers();
    for (std::size_t p = 0; p < pools_.size(); ++p) {
      for (std::size_t o = 0; o < counts_.size() && !is_done(); ++o) {
        if (chosen_[p][o] == 0) continue;
        GpuCounts fewer = counts_;
        fewer[o] = chosen_[p][o] - 1;
        make_columns(p, added_, fewer);
      }
    }
    choose();
  }

  /// Replans each pair of pools with the GPUs that the others leave.
  void polish_pairs() {
    for (std::uint32_t p = 0; p < pools_.size(); ++p) {
      for (std::uint32_t q = p + 1; q < pools_.size() && !is_done(); ++q) polish_pair(p, q);
    }
  }

  void polish_pair(std::uint32_t p, std::uint32_t q) {
    PoolDiver pair(instance_, {p, q}, fillers_, relaxation_);
    CoverChoice start = part_of(plan_, p);
    std::ranges::copy(part_of(plan_, q), std::back_inserter(start));
    DiveTask task{.prices = {}, .gpus_max = left_for(pair.pools), .start = &start, .near_dives_max = kNearDivesOfPool};
    for (const OfferedGpus& offer : instance_.offers) task.prices.push_back(offer.price);
    const CoverChoice found = pair.diver.search(task, budget_);
    const auto middle = found.begin() + std::ssize(pools_[p]->instance.demands);
    add_column(p, {found.begin(), middle});
    add_column(q, {middle, found.end()});
    choose();
  }

  /// The GPUs that all pools but these leave.
  [[nodiscard]] GpuCounts left_for(std::span<const std::uint32_t> pools) const {
    GpuCounts left = counts_;
    for (std::uint32_t p = 0; p < pools_.size(); ++p) {
      if (std::ranges::find(pools, p) != pools.end()) continue;
      for (std::size_t o = 0; o < left.size(); ++o) {
        if (left[o] != PlanLimits::kNone) left[o] -= chosen_[p][o];
      }
    }
    return left;
  }

  const Instance& instance_;
  std::span<GpuFiller> fillers_;
  const Relaxation& relaxation_;
  PoolMixGoal goal_;
  Budget& budget_;
  std::vector<std::unique_ptr<PoolDiver>> pools_;
  std::vector<Columns> columns_;  ///< by pool
  GpuCounts counts_;
  std::int64_t most_expensive_ = 1;
  std::vector<double> added_;  ///< by offer: the price of its shortness
  Choice chosen_;              ///< the cheapest so far; empty: none
  std::int64_t price_ = 0;     ///< its price
  CoverChoice plan_;           ///< its covers
};

}  // namespace

std::optional<CoverChoice> mix_pools(const Instance& instance, std::span<GpuFiller> fillers,
                                     const Relaxation& relaxation, const PoolMixGoal& goal, Budget& budget) {
  return PoolMix(instance, fillers, relaxation, goal, budget).run();
}

}  // namespace berth::packing::detail
