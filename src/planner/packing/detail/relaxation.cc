#include "planner/packing/detail/relaxation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/core/sort_stably.h"
#include "base/solver/linear.h"

namespace berth::packing::detail {
namespace {

constexpr int kRoundsMax = 400;
/// Divisible by 1 to 16, so that prices such as 2/7 of a GPU are whole numbers.
constexpr std::int64_t kScaleStep = 720'720;
/// The most expensive GPU, or a slice, is worth no more than this in whole numbers.
constexpr std::int64_t kScaledUnit = std::int64_t{1} << 34;
constexpr double kWeightMax = 1e12;  ///< sums over a million slices stay below 2^63
constexpr std::int64_t kValueMax = std::int64_t{1} << 60;

/// The price that the library sees as 1, so that its numbers stay near 1.
std::int64_t unit_of(const Instance& instance, const RelaxedProblem& problem) {
  std::int64_t unit = 1;
  if (problem.counts_slices) return unit;
  for (const OfferedGpus& offer : instance.offers) unit = std::max(unit, offer.price);
  return unit;
}

std::int64_t total(const Counts& counts) { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); }

/// The master problem, to which columns are added.
class Master {
 public:
  Master(const Instance& instance, const RelaxedProblem& problem) : instance_(instance), problem_(problem) {
    const std::size_t demand_count = instance.demands.size();
    for (std::size_t d = 0; d < demand_count; ++d) add_row(1, 1);
    for (std::size_t k = 0; k < instance.kinds.size(); ++k) {
      add_row(static_cast<double>(problem.extra[k]), solver::kInfinity);
    }
    for (const GpuLimit& limit : problem.limits) {
      add_row(-solver::kInfinity, static_cast<double>(limit.max));
    }
    for (std::size_t o = 0; o < instance.offers.size(); ++o) add_partitions(o);
    // A demand that cannot be served is left out, at a price that no plan reaches.
    for (std::size_t d = 0; d < demand_count; ++d) {
      left_out_.push_back(add_column(kLeftOutCost));
      model_.rows[d].entries.push_back({left_out_.back(), 1});
    }
    left_out_.push_back(add_column(kLeftOutCost));
    for (std::size_t k = 0; k < instance.kinds.size(); ++k) {
      if (problem.extra[k] > 0)
        kind_row(k).entries.push_back({left_out_.back(), static_cast<double>(problem.extra[k])});
    }
    known_.resize(demand_count);
    columns_.resize(demand_count);
  }

  /// False if the cover exists already.
  bool add_cover(std::size_t demand, const Counts& cover) {
    if (!known_[demand].insert(cover).second) return false;
    const int column = add_column(problem_.counts_slices ? static_cast<double>(total(cover)) : 0);
    columns_[demand].push_back({column, cover});
    model_.rows[demand].entries.push_back({column, 1});
    for (std::size_t k = 0; k < cover.size(); ++k) {
      if (cover[k] > 0) kind_row(k).entries.push_back({column, -static_cast<double>(cover[k])});
    }
    return true;
  }

  /// False if the library fails.
  bool solve() {
    answer_ = solver::solve_lp(model_);
    return answer_.status == solver::Status::kOptimal;
  }

  [[nodiscard]] bool leaves_out() const {
    return std::ranges::any_of(left_out_,
                               [&](int column) { return answer_.values[static_cast<std::size_t>(column)] > 1e-6; });
  }
  /// The cover with the largest share of a demand in the last optimum. Requires: solved.
  [[nodiscard]] const Counts& main_cover(std::size_t demand) const {
    const auto share = [this](const CoverColumn& cover) {
      return answer_.values.empty() ? 0 : answer_.values[static_cast<std::size_t>(cover.column)];
    };
    return std::ranges::max_element(columns_[demand], {}, share)->cover;
  }
  /// Slices by kind of a demand in the last optimum. Requires: solved.
  [[nodiscard]] std::vector<double> mean_cover(std::size_t demand) const {
    std::vector<double> mean(instance_.kinds.size(), 0);
    for (const CoverColumn& cover : columns_[demand]) {
      const double share = answer_.values[static_cast<std::size_t>(cover.column)];
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += share * cover.cover[k];
    }
    return mean;
  }
  /// GPUs by offer in the last optimum. Requires: solved.
  [[nodiscard]] std::vector<double> gpus() const {
    std::vector<double> gpus(instance_.offers.size(), 0);
    for (const PartitionColumn& partition : partition_columns_) {
      gpus[static_cast<std::size_t>(partition.offer)] += answer_.values[static_cast<std::size_t>(partition.column)];
    }
    return gpus;
  }
  [[nodiscard]] double kind_price(std::size_t kind) const {
    return answer_.row_prices[instance_.demands.size() + kind];
  }
  [[nodiscard]] double limit_price(std::size_t limit) const {
    return -answer_.row_prices[instance_.demands.size() + instance_.kinds.size() + limit];
  }

 private:
  static constexpr double kLeftOutCost = 1e6;

  void add_row(double lower, double upper) { model_.rows.push_back({.lower = lower, .upper = upper, .entries = {}}); }
  int add_column(double cost) {
    model_.columns.push_back({.cost = cost});
    return static_cast<int>(model_.columns.size()) - 1;
  }
  solver::Row& kind_row(std::size_t kind) { return model_.rows[instance_.demands.size() + kind]; }

  void add_partitions(std::size_t offer) {
    for (const Counts& partition : instance_.offers[offer].partitions) {
      partition_columns_.push_back({static_cast<int>(offer), static_cast<int>(model_.columns.size())});
      const int column = add_column(problem_.counts_slices ? 0 : price_in_units(offer));
      for (std::size_t k = 0; k < partition.size(); ++k) {
        if (partition[k] > 0) kind_row(k).entries.push_back({column, static_cast<double>(partition[k])});
      }
      for (std::size_t j = 0; j < problem_.limits.size(); ++j) {
        const auto factor = static_cast<double>(problem_.limits[j].factor[offer]);
        const std::size_t row = instance_.demands.size() + instance_.kinds.size() + j;
        if (factor != 0) model_.rows[row].entries.push_back({column, factor});
      }
    }
  }
  [[nodiscard]] double price_in_units(std::size_t offer) const {
    return static_cast<double>(instance_.offers[offer].price) / static_cast<double>(unit_of(instance_, problem_));
  }

  struct CoverColumn {
    int column = 0;
    Counts cover;
  };
  struct PartitionColumn {
    int offer = 0;
    int column = 0;
  };

  const Instance& instance_;
  const RelaxedProblem& problem_;
  solver::LinearModel model_;
  solver::LpAnswer answer_;
  std::vector<int> left_out_;
  std::vector<PartitionColumn> partition_columns_;
  std::vector<std::set<Counts>> known_;            ///< by demand
  std::vector<std::vector<CoverColumn>> columns_;  ///< by demand
};

/// Lowers the weights of an offer's kinds until no GPU holds more than its value.
void make_valid(const Instance& instance, std::size_t offer, PlanRow& row) {
  std::int64_t heaviest = 0;
  for (const Counts& partition : instance.offers[offer].partitions) {
    std::int64_t weight = 0;
    for (std::size_t k = 0; k < partition.size(); ++k) weight += partition[k] * row.weights.by_kind[k];
    heaviest = std::max(heaviest, weight);
  }
  if (heaviest <= row.gpu_value[offer]) return;
  for (std::size_t k = 0; k < instance.kinds.size(); ++k) {
    std::int64_t& weight = row.weights.by_kind[k];
    if (instance.kinds[k].offer != offer) continue;
    weight = static_cast<std::int64_t>(static_cast<Int128>(weight) * row.gpu_value[offer] / heaviest);
  }
}

/// The value of a unit of the objective in whole numbers, so that no price of the master is worth more than
/// kWeightMax.
std::int64_t scale_for(const Instance& instance, const RelaxedProblem& problem, const Master& master) {
  const std::int64_t unit = unit_of(instance, problem);
  double highest = 1;
  for (std::size_t k = 0; k < instance.kinds.size(); ++k) highest = std::max(highest, master.kind_price(k));
  for (std::size_t j = 0; j < problem.limits.size(); ++j) highest = std::max(highest, master.limit_price(j));
  const auto affordable = static_cast<std::int64_t>(kWeightMax / (highest * static_cast<double>(unit)));
  const std::int64_t scale = std::clamp<std::int64_t>(affordable, 1, std::max<std::int64_t>(1, kScaledUnit / unit));
  return scale > kScaleStep ? scale / kScaleStep * kScaleStep : scale;
}

/// The prices of the master in whole numbers, made valid. Nothing if they are too large.
std::optional<PlanRow> row_from(const Instance& instance, const RelaxedProblem& problem, const Master& master) {
  const std::int64_t scale = scale_for(instance, problem, master);
  const double unit = static_cast<double>(unit_of(instance, problem)) * static_cast<double>(scale);
  const auto rounded = [&](double price) { return std::llround(std::clamp(price * unit, 0.0, kWeightMax)); };
  PlanRow row{.weights = {{}, problem.counts_slices ? scale : 0}, .gpu_value = {}, .scale = scale, .fixed = 0};
  for (const OfferedGpus& offer : instance.offers)
    row.gpu_value.push_back(problem.counts_slices ? 0 : scale * offer.price);
  Int128 fixed = 0;
  for (std::size_t j = 0; j < problem.limits.size(); ++j) {
    // Rounded down: a lower limit reduces the value of its GPUs, and no value may become negative.
    const auto price = static_cast<std::int64_t>(std::clamp(master.limit_price(j) * unit, 0.0, kWeightMax));
    fixed += static_cast<Int128>(price) * problem.limits[j].max;
    for (std::size_t o = 0; o < row.gpu_value.size(); ++o) {
      const Int128 value = row.gpu_value[o] + static_cast<Int128>(price) * problem.limits[j].factor[o];
      if (value > kValueMax || value < 0) return std::nullopt;
      row.gpu_value[o] = static_cast<std::int64_t>(value);
    }
  }
  if (fixed > kValueMax || fixed < -kValueMax) return std::nullopt;
  row.fixed = static_cast<std::int64_t>(fixed);
  for (std::size_t k = 0; k < instance.kinds.size(); ++k) row.weights.by_kind.push_back(rounded(master.kind_price(k)));
  for (std::size_t o = 0; o < instance.offers.size(); ++o) make_valid(instance, o, row);
  return row;
}

/// Rounds up; the denominator is above 0.
std::int64_t divided_up_signed(std::int64_t a, std::int64_t b) { return a <= 0 ? -(-a / b) : (a - 1) / b + 1; }

/// A row and the bound that it proves.
struct ProvenRow {
  PlanRow row;
  std::int64_t scaled_bound = 0;  ///< the bound times the row's scale
};

/// The tightest rows, the best first; one of each set of equal weights.
std::vector<PlanRow> tightest(std::vector<ProvenRow> proven) {
  sort_stably(proven, &ProvenRow::scaled_bound, std::greater<>());
  std::vector<PlanRow> rows;
  for (ProvenRow& candidate : proven) {
    const bool is_new = std::ranges::none_of(
        rows, [&](const PlanRow& row) { return row.weights.by_kind == candidate.row.weights.by_kind; });
    if (is_new) rows.push_back(std::move(candidate.row));
    if (rows.size() == kPlanRowsMax) break;
  }
  return rows;
}

void add_first_covers(const Instance& instance, Master& master) {
  for (std::size_t d = 0; d < instance.demands.size(); ++d) {
    const InstanceDemand& demand = instance.demands[d];
    for (std::size_t k = 0; k < demand.throughput.size(); ++k) {
      if (demand.throughput[k] == 0) continue;
      const Int128 slices = (demand.rate + demand.throughput[k] - 1) / demand.throughput[k];
      if (slices > kSlicesMax) continue;
      Counts cover(instance.kinds.size(), 0);
      cover[k] = static_cast<std::int32_t>(slices);
      master.add_cover(d, cover);
    }
  }
}

}  // namespace

std::vector<GpuLimit> count_limits(const Instance& instance) {
  std::vector<GpuLimit> limits;
  for (std::size_t o = 0; o < instance.offers.size(); ++o) {
    if (!instance.offers[o].count_max) continue;
    GpuLimit limit{std::vector<std::int64_t>(instance.offers.size(), 0),
                   std::min<std::int64_t>(*instance.offers[o].count_max, kSlicesMax)};
    limit.factor[o] = 1;
    limits.push_back(std::move(limit));
  }
  return limits;
}

Relaxation relax(const Instance& instance, const RelaxedProblem& problem) {
  Master master(instance, problem);
  add_first_covers(instance, master);
  std::vector<ProvenRow> proven;
  bool has_converged = false;
  Relaxation relaxation;
  for (int round = 0; round < kRoundsMax && !has_converged; ++round) {
    if (!master.solve()) break;
    relaxation.work += std::ssize(instance.demands) + std::ssize(instance.kinds);
    const std::optional<PlanRow> priced = row_from(instance, problem, master);
    if (!priced) break;
    const PlanRow& row = *priced;
    relaxation.covers.clear();
    relaxation.mean_covers.clear();
    for (std::size_t d = 0; d < instance.demands.size(); ++d) {
      relaxation.covers.push_back(master.main_cover(d));
      relaxation.mean_covers.push_back(master.mean_cover(d));
    }
    relaxation.gpus = master.gpus();
    std::int64_t scaled_bound = Weights{row.weights.by_kind, 0}.of(problem.extra) - row.fixed;
    has_converged = true;
    for (std::size_t d = 0; d < instance.demands.size(); ++d) {
      const LightestCover lightest = lightest_cover(instance.demands[d], row.weights);
      scaled_bound += lightest.bound;
      if (master.add_cover(d, lightest.cover)) has_converged = false;
    }
    proven.push_back({row, scaled_bound});
  }
  for (const ProvenRow& row : proven) {
    relaxation.bound = std::max(relaxation.bound, divided_up_signed(row.scaled_bound, row.row.scale));
  }
  relaxation.rows = tightest(std::move(proven));
  return relaxation;
}

}  // namespace berth::packing::detail
