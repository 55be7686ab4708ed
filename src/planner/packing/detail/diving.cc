#include "planner/packing/detail/diving.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <optional>
#include <set>
#include <utility>

#include "base/core/rng.h"
#include "base/solver/linear.h"
#include "planner/packing/detail/bulk.h"

namespace berth::packing::detail {
namespace {

constexpr double kWholeEnough = 1e-6;
/// The cost of a GPU beyond a limit, in prices of the most expensive one: more than any plan saves by it.
constexpr double kExcessCost = 100;
/// Rows of the relaxation that give each demand a weight.
constexpr std::size_t kWeightRowsMax = 4;
/// The most linear programs of one dive, and the most roundings that it takes back.
constexpr int kSolvesMax = 600;
constexpr int kFlipsMax = 40;
constexpr int kNearSolvesMax = 150;
constexpr int kNearFlipsMax = 10;
/// The cost of a linear program in nodes of the search: by row, for each iteration and for the start.
constexpr std::int64_t kStartIterations = 8;
/// If there are many columns, a share of them is rounded at once.
constexpr std::size_t kRoundedAtOnceShare = 24;

/// What a column counts, in the order in which some rules round columns.
enum class Counted : std::uint8_t { kTotal, kGpus, kPartition, kSlices, kRest };

struct DiveColumn {
  Counted counted = Counted::kTotal;
  std::uint32_t demand = 0;  ///< of kSlices
  std::uint32_t kind = 0;    ///< of kSlices
  double most = 0;           ///< no plan needs more
};

/// The linear program of an instance.
class DiveModel {
 public:
  DiveModel(const Instance& instance, const Counts& extra, const Relaxation& relaxation)
      : instance_(instance), extra_(extra) {
    add_slices(relaxation);
    for (std::uint32_t o = 0; o < instance.offers.size(); ++o) add_offer(o);
  }

  [[nodiscard]] const solver::LinearModel& linear() const { return model_; }
  [[nodiscard]] const std::vector<DiveColumn>& columns() const { return columns_; }
  /// By offer: all its GPUs, those within the limit, and those beyond it.
  [[nodiscard]] int total_column(std::size_t offer) const { return total_[offer]; }
  [[nodiscard]] int within_column(std::size_t offer) const { return within_[offer]; }
  [[nodiscard]] int excess_column(std::size_t offer) const { return excess_[offer]; }
  /// By demand, then kind; -1: the demand cannot use it.
  [[nodiscard]] int slices_column(std::size_t demand, std::size_t kind) const { return slices_[demand][kind]; }

 private:
  int add_column(const DiveColumn& column, double cost) {
    columns_.push_back(column);
    model_.columns.push_back({.cost = cost, .lower = 0, .upper = column.most, .is_integer = false});
    return static_cast<int>(columns_.size()) - 1;
  }

  void add_slices(const Relaxation& relaxation) {
    for (std::uint32_t d = 0; d < instance_.demands.size(); ++d) {
      const InstanceDemand& demand = instance_.demands[d];
      std::vector<int> of_kind(instance_.kinds.size(), -1);
      solver::Row served{.lower = 1, .upper = solver::kInfinity, .entries = {}};
      for (std::uint32_t k = 0; k < of_kind.size(); ++k) {
        const Int128 throughput = demand.throughput[k];
        if (throughput == 0) continue;
        const Int128 slices_max = (demand.rate + throughput - 1) / throughput;
        const auto most = static_cast<double>(slices_max);
        of_kind[k] = add_column({.counted = Counted::kSlices, .demand = d, .kind = k, .most = most}, 0);
        const double share = static_cast<double>(throughput) / static_cast<double>(demand.rate);
        served.entries.push_back({of_kind[k], std::min(1.0, share)});
      }
      model_.rows.push_back(std::move(served));
      slices_.push_back(std::move(of_kind));
      add_weight_rows(d, relaxation);
    }
  }

  /// Adds rows: no cover is lighter than the lightest one.
  void add_weight_rows(std::size_t demand, const Relaxation& relaxation) {
    for (std::size_t r = 0; r < std::min(kWeightRowsMax, relaxation.rows.size()); ++r) {
      const Weights& weights = relaxation.rows[r].weights;
      const std::int64_t least = lightest_cover(instance_.demands[demand], weights).bound;
      if (least <= 0) continue;
      solver::Row row{.lower = 1, .upper = solver::kInfinity, .entries = {}};
      for (std::size_t k = 0; k < instance_.kinds.size(); ++k) {
        if (slices_[demand][k] < 0 || weights.of_kind(k) == 0) continue;
        const double share = static_cast<double>(weights.of_kind(k)) / static_cast<double>(least);
        row.entries.push_back({slices_[demand][k], std::min(1.0, share)});
      }
      model_.rows.push_back(std::move(row));
    }
  }

  void add_offer(std::uint32_t offer) {
    const auto gpus_max = static_cast<double>(kSlicesMax);
    total_.push_back(add_column({.counted = Counted::kTotal, .most = gpus_max}, 1));
    within_.push_back(add_column({.counted = Counted::kRest, .most = gpus_max}, 0));
    excess_.push_back(add_column({.counted = Counted::kRest, .most = gpus_max}, kExcessCost));
    solver::Row sum{.lower = 0, .upper = 0, .entries = {{total_.back(), -1}}};
    for (std::uint32_t pool = 0; pool < instance_.pool_count; ++pool) {
      const int gpus = add_pool(offer, pool);
      if (gpus >= 0) sum.entries.push_back({gpus, 1});
    }
    model_.rows.push_back(std::move(sum));
    model_.rows.push_back(
        {.lower = 0, .upper = 0, .entries = {{total_.back(), -1}, {within_.back(), 1}, {excess_.back(), 1}}});
  }

  /// The GPUs of an offer that serve a pool; -1: none can.
  int add_pool(std::uint32_t offer, std::uint32_t pool) {
    std::vector<std::size_t> kinds;
    for (std::size_t k = 0; k < instance_.kinds.size(); ++k) {
      if (instance_.kinds[k].offer == offer && is_used(pool, k)) kinds.push_back(k);
    }
    if (kinds.empty()) return -1;
    const auto gpus_max = static_cast<double>(kSlicesMax);
    const int gpus = add_column({.counted = Counted::kGpus, .most = gpus_max}, 0);
    solver::Row sum{.lower = 0, .upper = 0, .entries = {{gpus, -1}}};
    std::vector<solver::Row> holds;
    for (const std::size_t k : kinds) {
      holds.push_back(
          {.lower = pool == 0 ? static_cast<double>(extra_[k]) : 0, .upper = solver::kInfinity, .entries = {}});
      for (std::size_t d = 0; d < instance_.demands.size(); ++d) {
        if (instance_.demands[d].pool == pool && slices_[d][k] >= 0)
          holds.back().entries.push_back({slices_[d][k], -1});
      }
    }
    for (const Counts& partition : partitions_for(instance_.offers[offer], kinds)) {
      const int column = add_column({.counted = Counted::kPartition, .most = gpus_max}, 0);
      sum.entries.push_back({column, 1});
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (partition[i] > 0) holds[i].entries.push_back({column, static_cast<double>(partition[i])});
      }
    }
    model_.rows.push_back(std::move(sum));
    std::ranges::move(holds, std::back_inserter(model_.rows));
    return gpus;
  }

  [[nodiscard]] bool is_used(std::uint32_t pool, std::size_t kind) const {
    if (pool == 0 && extra_[kind] > 0) return true;
    return std::ranges::any_of(instance_.demands, [&](const InstanceDemand& demand) {
      return demand.pool == pool && demand.throughput[kind] > 0;
    });
  }

  /// The partitions restricted to these kinds, without those contained in another one.
  static std::vector<Counts> partitions_for(const OfferedGpus& offer, const std::vector<std::size_t>& kinds) {
    std::set<Counts> all;
    for (const Counts& partition : offer.partitions) {
      Counts own;
      for (const std::size_t k : kinds) own.push_back(partition[k]);
      all.insert(std::move(own));
    }
    std::vector<Counts> maximal;
    std::ranges::copy_if(all, std::back_inserter(maximal), [&](const Counts& partition) {
      return std::ranges::none_of(all, [&](const Counts& other) {
        return other != partition &&
               std::ranges::equal(partition, other, [](std::int32_t a, std::int32_t b) { return a <= b; });
      });
    });
    return maximal;
  }

  const Instance& instance_;
  const Counts& extra_;
  solver::LinearModel model_;
  std::vector<DiveColumn> columns_;
  std::vector<std::vector<int>> slices_;
  std::vector<int> total_, within_, excess_;
};

/// Which columns are rounded first (by what they count, the smaller rank first), and how.
struct RoundingRule {
  std::array<int, 4> rank = {};
  bool rounds_up = false;  ///< the largest fraction up; otherwise the one closest to a whole number, to that number
};

constexpr std::array<RoundingRule, 5> kRules = {
    {{{0, 0, 0, 0}, false}, {{0, 1, 3, 2}, false}, {{1, 1, 1, 0}, true}, {{0, 1, 2, 2}, true}, {{0, 1, 2, 3}, false}}};

/// Fewer GPUs beyond the limits are better, then a lower price.
struct DiveScore {
  std::int64_t excess = 0;
  std::int64_t price = 0;
  friend auto operator<=>(const DiveScore&, const DiveScore&) = default;
};

struct DiveEffort {
  int solves_max = 0;
  int flips_max = 0;
};

}  // namespace

struct Diver::State {
  State(const Instance& instance, std::span<GpuFiller> fillers, const Counts& extra, const Relaxation& relaxation)
      : instance_(instance),
        fillers_(fillers),
        extra_(extra),
        model_(instance, extra, relaxation),
        session_(model_.linear()) {}

  CoverChoice search(const DiveTask& task, Budget& budget) {
    task_ = &task;
    budget_ = &budget;
    best_.clear();
    set_task();
    if (task.start != nullptr) keep(*task.start);
    for (const RoundingRule& rule : kRules) {
      if (is_done()) break;
      dive(rule, {.solves_max = kSolvesMax, .flips_max = kFlipsMax});
      take_back(0);
    }
    for (int failed = 0; !best_.empty() && failed < task.near_dives_max && !is_done(); ++near_) {
      const DiveScore before = score_;
      keep_part_of_best();
      dive(kRules[near_ % kRules.size()], {.solves_max = kNearSolvesMax, .flips_max = kNearFlipsMax});
      take_back(0);
      failed = score_ < before ? 0 : failed + 1;
    }
    return std::move(best_);
  }

  GpuCounts gpus_of(const CoverChoice& covers, Budget& budget) {
    std::vector<Counts> pools(instance_.pool_count, Counts(instance_.kinds.size(), 0));
    pools.front() = extra_;
    for (std::size_t d = 0; d < covers.size(); ++d) {
      Counts& pool = pools[instance_.demands[d].pool];
      for (std::size_t k = 0; k < pool.size(); ++k) pool[k] += covers[d][k];
    }
    GpuCounts gpus(fillers_.size(), 0);
    for (std::size_t o = 0; o < fillers_.size(); ++o) {
      for (const Counts& pool : pools) gpus[o] += fillers_[o].gpus_for(pool, budget).gpus;
    }
    return gpus;
  }

  [[nodiscard]] const std::map<GpuCounts, CoverChoice>& plans() const { return plans_; }

 private:
  /// A column with other limits than the model's, and those that it had before.
  struct LimitChange {
    int column = 0;
    solver::LpSession::ColumnLimits before;
    solver::LpSession::ColumnLimits now;
    bool may_flip = false;
    double value = 0;  ///< the value before rounding
  };

  void set_task() {
    unit_ = static_cast<double>(std::max<std::int64_t>(1, std::ranges::max(task_->prices)));
    for (std::size_t o = 0; o < task_->prices.size(); ++o) {
      session_.set_cost(model_.total_column(o), static_cast<double>(task_->prices[o]) / unit_);
      session_.set_limits(model_.within_column(o), {0, static_cast<double>(std::min(task_->gpus_max[o], kSlicesMax))});
      session_.set_limits(model_.excess_column(o), {0, static_cast<double>(kSlicesMax)});
    }
  }

  [[nodiscard]] bool is_done() const {
    return budget_->is_spent() || (!best_.empty() && score_.excess == 0 && score_.price <= task_->price_min);
  }

  [[nodiscard]] solver::LpSession::ColumnLimits limits_of(int column) const {
    for (std::size_t i = changes_.size(); i-- > 0;) {
      if (changes_[i].column == column) return changes_[i].now;
    }
    return {0, model_.columns()[static_cast<std::size_t>(column)].most};
  }

  void change(int column, const solver::LpSession::ColumnLimits& now, bool may_flip, double value) {
    changes_.push_back({column, limits_of(column), now, may_flip, value});
    session_.set_limits(column, now);
  }

  void take_back(std::size_t size) {
    while (changes_.size() > size) {
      session_.set_limits(changes_.back().column, changes_.back().before);
      changes_.pop_back();
    }
  }

  /// Rounds the last column that may be rounded the other way. False: none is left.
  bool flip(std::size_t fixed) {
    while (changes_.size() > fixed) {
      const LimitChange last = changes_.back();
      take_back(changes_.size() - 1);
      if (!last.may_flip) continue;
      const bool was_up = last.now.lower > last.before.lower;
      solver::LpSession::ColumnLimits other = last.before;
      (was_up ? other.upper : other.lower) = was_up ? std::floor(last.value) : std::ceil(last.value);
      if (other.lower > other.upper) continue;
      change(last.column, other, false, last.value);
      return true;
    }
    return false;
  }

  solver::LpAnswer solve() {
    solver::LpAnswer answer = session_.solve();
    budget_->nodes += (answer.iterations + kStartIterations) * std::ssize(model_.linear().rows) / 4;
    return answer;
  }

  /// Whether a plan from here could be better than the best one.
  [[nodiscard]] bool may_be_better(const solver::LpAnswer& answer) const {
    if (answer.status != solver::Status::kOptimal) return false;
    if (best_.empty()) return true;
    const double most =
        kExcessCost * static_cast<double>(score_.excess) + static_cast<double>(score_.price - 1) / unit_;
    return answer.objective <= most + kWholeEnough;
  }

  /// Starting from the current changes, rounds until every column is whole, with a few steps back.
  void dive(const RoundingRule& rule, const DiveEffort& effort) {
    const std::size_t fixed = changes_.size();
    int flips = 0;
    for (int solves = 0; solves < effort.solves_max && !is_done(); ++solves) {
      const solver::LpAnswer answer = solve();
      bool goes_on = may_be_better(answer);
      if (goes_on) {
        keep_if_whole(answer);
        goes_on = may_be_better(answer) && round_next(answer, rule);
      }
      if (!goes_on && (++flips > effort.flips_max || !flip(fixed))) return;
    }
  }

  /// False: every column is whole.
  bool round_next(const solver::LpAnswer& answer, const RoundingRule& rule) {
    struct RoundingCandidate {
      int rank = 0;
      double cost = 0;
      int column = 0;
      auto operator<=>(const RoundingCandidate&) const = default;
    };
    std::vector<RoundingCandidate> candidates;
    for (std::size_t i = 0; i < answer.values.size(); ++i) {
      const DiveColumn& column = model_.columns()[i];
      const double value = answer.values[i];
      const double distance = std::abs(value - std::round(value));
      if (column.counted == Counted::kRest || distance < kWholeEnough) continue;
      const int rank = rule.rank[static_cast<std::size_t>(column.counted)];
      candidates.push_back({rank, rule.rounds_up ? std::ceil(value) - value : distance, static_cast<int>(i)});
    }
    if (candidates.empty()) return false;
    const std::size_t count = 1 + candidates.size() / kRoundedAtOnceShare;
    std::ranges::partial_sort(candidates, candidates.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t i = 0; i < count && candidates[i].rank == candidates[0].rank; ++i) {
      const double value = answer.values[static_cast<std::size_t>(candidates[i].column)];
      solver::LpSession::ColumnLimits now = limits_of(candidates[i].column);
      const bool is_up = rule.rounds_up || std::round(value) > value;
      (is_up ? now.lower : now.upper) = is_up ? std::ceil(value) : std::floor(value);
      change(candidates[i].column, now, true, value);
    }
    return true;
  }

  /// The plan of a solution in which all slices are whole, if it is the best one so far.
  void keep_if_whole(const solver::LpAnswer& answer) {
    CoverChoice covers(instance_.demands.size(), Counts(instance_.kinds.size(), 0));
    for (std::size_t i = 0; i < answer.values.size(); ++i) {
      const DiveColumn& column = model_.columns()[i];
      if (column.counted != Counted::kSlices) continue;
      const double whole = std::round(answer.values[i]);
      if (std::abs(answer.values[i] - whole) > kWholeEnough) return;
      covers[column.demand][column.kind] = static_cast<std::int32_t>(whole);
    }
    for (std::size_t d = 0; d < covers.size(); ++d) {
      if (carried(instance_.demands[d], covers[d]) < instance_.demands[d].rate) return;
      drop_surplus(instance_.demands[d], covers[d]);
    }
    keep(std::move(covers));
  }

  void keep(CoverChoice covers) {
    const GpuCounts gpus = gpus_of(covers, *budget_);
    if (plans_.size() < kPlansMax) plans_.emplace(gpus, covers);
    DiveScore score;
    for (std::size_t o = 0; o < gpus.size(); ++o) {
      score.price += gpus[o] * task_->prices[o];
      score.excess += std::max<std::int64_t>(0, gpus[o] - task_->gpus_max[o]);
    }
    if (!best_.empty() && score >= score_) return;
    best_ = std::move(covers);
    score_ = score;
  }

  /// Fixes the slices of the best plan, except for some demands or some offers.
  void keep_part_of_best() {
    const std::set<std::size_t> free_demands = near_ % 3 == 2 ? std::set<std::size_t>() : demands_to_free();
    const std::set<std::uint32_t> free_offers = near_ % 3 == 2 ? offers_to_free() : std::set<std::uint32_t>();
    for (std::size_t d = 0; d < best_.size(); ++d) {
      for (std::size_t k = 0; k < best_[d].size(); ++k) {
        const int column = model_.slices_column(d, k);
        if (column < 0 || free_demands.contains(d) || free_offers.contains(instance_.kinds[k].offer)) continue;
        const double count = best_[d][k];
        change(column, {count, count}, false, count);
      }
    }
  }

  /// About half of the demands; if tenants are kept apart, often those of a few tenants.
  std::set<std::size_t> demands_to_free() {
    std::set<std::size_t> free;
    if (instance_.pool_count > 1 && rng_.below(3) > 0) {
      std::set<std::uint32_t> pools;
      const std::uint64_t count = 1 + rng_.below(std::min<std::uint64_t>(3, instance_.pool_count));
      while (pools.size() < count) pools.insert(static_cast<std::uint32_t>(rng_.below(instance_.pool_count)));
      for (std::size_t d = 0; d < instance_.demands.size(); ++d) {
        if (pools.contains(instance_.demands[d].pool)) free.insert(d);
      }
      return free;
    }
    const std::size_t count =
        std::min<std::size_t>(instance_.demands.size(), 2 + rng_.below(instance_.demands.size()) / 2);
    while (free.size() < count) free.insert(rng_.below(instance_.demands.size()));
    return free;
  }

  std::set<std::uint32_t> offers_to_free() {
    const std::size_t count = std::min<std::size_t>(instance_.offers.size(), 2);
    std::set<std::uint32_t> free;
    while (free.size() < count) free.insert(static_cast<std::uint32_t>(rng_.below(instance_.offers.size())));
    return free;
  }

  const Instance& instance_;
  std::span<GpuFiller> fillers_;
  const Counts& extra_;
  DiveModel model_;
  solver::LpSession session_;
  const DiveTask* task_ = nullptr;  ///< while a search runs
  Budget* budget_ = nullptr;        ///< while a search runs
  double unit_ = 1;                 ///< the price that the program counts as 1
  std::vector<LimitChange> changes_;
  CoverChoice best_;
  DiveScore score_;  ///< of the best plan
  std::map<GpuCounts, CoverChoice> plans_;
  std::size_t near_ = 0;
  Rng rng_{1};
};

Diver::Diver(const Instance& instance, std::span<GpuFiller> fillers, const Counts& extra, const Relaxation& relaxation)
    : state_(std::make_unique<State>(instance, fillers, extra, relaxation)) {}

Diver::~Diver() = default;

CoverChoice Diver::search(const DiveTask& task, Budget& budget) { return state_->search(task, budget); }

const std::map<GpuCounts, CoverChoice>& Diver::plans() const { return state_->plans(); }

GpuCounts Diver::gpus_of(const CoverChoice& covers, Budget& budget) { return state_->gpus_of(covers, budget); }

}  // namespace berth::packing::detail
