#include "purchase/advise/detail/relaxation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>

#include "base/core/decimal.h"
#include "base/core/ensure.h"
#include "base/solver/linear.h"

namespace berth::purchase::advise {
namespace {

/// A bound within this relative gap of the optimum over the columns found is not improved further.
constexpr double kGapMin = 1e-9;
/// Rounds with each of the wider searches.
constexpr int kWideRounds = 30;

/// How far the values of narrow rounds are moved from the dual prices towards the best values known (Wentges 1997).
constexpr double kBlend = 0.5;

/// The narrow rounds end when this many of them lower the objective by no more than the share below.
constexpr int kSlowRounds = 10;
constexpr double kSlowGain = 1e-3;

/// Sets of shares are discarded beyond this number.
constexpr std::size_t kShareSetsMax = 500'000;

/// How boxes are searched.
struct SearchWidth {
  std::size_t labels_max = 0;
  int searches_max = 0;
};
constexpr std::array<SearchWidth, 4> kWidths = {{{10, 1}, {500, 8}, {1000, 40}, {2000, 150}}};

std::vector<std::int64_t> cheapest_boxes(const Problem& problem) {
  std::vector<std::int64_t> cheapest;
  cheapest.reserve(problem.classes.size());
  for (const PodClass& pods : problem.classes) {
    const auto holder =
        std::ranges::find_if(problem.choices, [&](std::size_t box) { return holds_alone(problem.boxes[box], pods); });
    ENSURE(holder != problem.choices.end());  // check_each_fits refused pods that no offer holds
    cheapest.push_back(problem.boxes[*holder].micro_usd);
  }
  return cheapest;
}

/// Values of the classes by their CPU, memory and GPUs: priced so that all pods together are worth most while no box is
/// worth more than its price. Empty if the library fails.
std::vector<double> resource_values(const Problem& problem, const std::vector<int>& demand) {
  constexpr std::size_t kPriced = kGpuThousandths + 1;
  std::array<double, kPriced> totals = {};
  for (std::size_t pods = 0; pods < demand.size(); ++pods) {
    for (std::size_t resource = 0; resource < kPriced; ++resource) {
      totals[resource] +=
          static_cast<double>(demand[pods]) * static_cast<double>(problem.classes[pods].weights[resource]);
    }
  }
  solver::LinearModel model;  // a column: the value of all of one resource
  model.columns.reserve(kPriced);
  for (const double total : totals)
    model.columns.push_back({.cost = -1, .lower = 0, .upper = total > 0 ? solver::kInfinity : 0});
  model.rows.reserve(problem.choices.size());
  for (const std::size_t box : problem.choices) {
    solver::Row row{.upper = static_cast<double>(problem.boxes[box].micro_usd), .entries = {}};
    row.entries.reserve(kPriced);
    for (std::size_t resource = 0; resource < kPriced; ++resource) {
      const double share = static_cast<double>(problem.boxes[box].capacity[resource]) / std::max(1.0, totals[resource]);
      row.entries.push_back({.column = static_cast<int>(resource), .factor = share});
    }
    model.rows.push_back(std::move(row));
  }
  const solver::LpAnswer answer = solver::solve_lp(model);
  if (answer.status != solver::Status::kOptimal) return {};
  std::vector<double> values(demand.size());
  for (std::size_t pods = 0; pods < demand.size(); ++pods) {
    for (std::size_t resource = 0; resource < kPriced; ++resource) {
      const double share =
          static_cast<double>(problem.classes[pods].weights[resource]) / std::max(1.0, totals[resource]);
      values[pods] += answer.values[resource] * share;
    }
  }
  return values;
}

/// Moves values towards a centre; does nothing if it is empty.
void blend(std::vector<double>& values, const std::vector<double>& centre, double share) {
  for (std::size_t i = 0; i < centre.size(); ++i) values[i] += share * (centre[i] - values[i]);
}

/// ceil(a x b / c) for a, b >= 0, c > 0.
std::int64_t scaled_up(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>((Int128{a} * b + c - 1) / c);
}

}  // namespace

/// Values of the classes in whole numbers, `scale` of them to a micro-dollar.
struct Relaxation::Values {
  std::vector<std::int64_t> of_class;
  std::int64_t total = 0;  ///< of all pods
  double scale = 1;
};

/// The result of pricing all boxes.
struct Relaxation::Round {
  int columns_added = 0;
  std::vector<Doubt> doubts;
  std::int64_t bound = 0;
  std::int64_t nodes = 0;
};

Relaxation::Relaxation(const Problem& problem) : problem_(&problem), cheapest_(cheapest_boxes(problem)) {}

void Relaxation::add(Column column) {
  if (known_.insert(column).second) columns_.push_back(std::move(column));
}

Relaxed Relaxation::solve(const std::vector<int>& demand, const RelaxEffort& effort) {
  Relaxed relaxed;
  std::vector<double> centre;
  solve_narrowly(demand, effort, centre, relaxed);
  if (effort.is_thorough) solve_widely(demand, effort, centre, relaxed);
  Master last = solve_master(demand, {});
  relaxed.counts = std::move(last.counts);
  relaxed.nodes += last.nodes;
  return relaxed;
}

/// Dual prices jump while there are few columns. Blending them with the values that gave the best bound so far leads to
/// fewer useless columns. If the blend finds no column, the pure prices decide.
void Relaxation::solve_narrowly(const std::vector<int>& demand, const RelaxEffort& effort, std::vector<double>& centre,
                                Relaxed& relaxed) {
  if (effort.is_thorough) centre = resource_values(*problem_, demand);
  double share = kBlend;
  double objective_before = solver::kInfinity;
  for (int round = 0; round < effort.rounds_max && relaxed.nodes < effort.nodes_max; ++round) {
    if (!may_go_on(effort.watch, relaxed.nodes)) return;
    Master master = solve_master(demand, {});
    if (round % kSlowRounds == 0) {
      if (master.objective > objective_before * (1 - kSlowGain)) return;
      objective_before = master.objective;
    }
    std::vector<double>& prices = master.row_prices;
    const bool is_pure = share == 0 || centre.empty();
    blend(prices, centre, share);
    const Round priced = price_boxes(demand, values_of(prices, demand), 0);
    if (priced.bound > relaxed.bound || centre.empty()) centre = std::move(prices);
    relaxed.bound = std::max(relaxed.bound, priced.bound);
    relaxed.nodes += master.nodes + priced.nodes;
    if (priced.columns_added == 0 && is_pure) return;
    share = priced.columns_added == 0 ? 0 : kBlend;
  }
}

void Relaxation::solve_widely(const std::vector<int>& demand, const RelaxEffort& effort, std::vector<double>& centre,
                              Relaxed& relaxed) {
  for (std::size_t width = 1; width < kWidths.size(); ++width) {
    std::vector<Doubt> doubts;
    for (int round = 0; round < kWideRounds; ++round) {
      if (relaxed.nodes >= effort.nodes_max || !may_go_on(effort.watch, relaxed.nodes)) return;
      Master master = solve_master(demand, doubts);
      if (static_cast<double>(relaxed.bound) >= master.objective * (1 - kGapMin)) {
        if (doubts.empty()) return;
        break;  // only wider searches can improve it
      }
      blend(master.row_prices, centre, kBlend);
      Round priced = price_boxes(demand, values_of(master.row_prices, demand), width);
      if (priced.bound > relaxed.bound) centre = master.row_prices;
      relaxed.bound = std::max(relaxed.bound, priced.bound);
      relaxed.nodes += master.nodes + priced.nodes;
      if (priced.columns_added == 0 && priced.doubts.empty()) break;
      std::ranges::move(priced.doubts, std::back_inserter(doubts));
    }
    if (doubts.empty()) return;
  }
}

Relaxation::Master Relaxation::solve_master(const std::vector<int>& demand, const std::vector<Doubt>& doubts) const {
  solver::LinearModel model;
  std::vector<std::size_t> row_of(demand.size());
  for (std::size_t pods = 0; pods < demand.size(); ++pods) {
    row_of[pods] = model.rows.size();
    if (demand[pods] == 0) continue;
    model.rows.push_back({.lower = static_cast<double>(demand[pods]), .upper = solver::kInfinity, .entries = {}});
  }
  const auto add_column = [&](std::size_t box) {
    model.columns.push_back({.cost = static_cast<double>(problem_->boxes[box].micro_usd)});
    return static_cast<int>(model.columns.size() - 1);
  };
  const auto add_entry = [&](int column, std::size_t pods, double count) {
    if (demand[pods] == 0) return;
    model.rows[row_of[pods]].entries.push_back(
        {.column = column, .factor = std::min(count, static_cast<double>(demand[pods]))});
  };
  for (const Column& column : columns_) {
    const int number = add_column(column.box);
    for (const Part& part : column.content) add_entry(number, part.pods, static_cast<double>(part.count));
  }
  for (const Doubt& doubt : doubts) {
    const int number = add_column(doubt.box);
    for (const auto& [pods, count] : doubt.mixture) add_entry(number, pods, count);
  }
  solver::LpAnswer answer = solver::solve_lp(model);
  // If the library fails there are no prices, which still gives a valid bound of 0.
  Master master{.objective = answer.objective, .counts = std::move(answer.values), .row_prices = {}};
  // A step of the simplex method looks at all rows, and on average at a part of the columns.
  master.nodes = answer.iterations * static_cast<std::int64_t>(model.rows.size() + model.columns.size() / 8);
  master.counts.resize(columns_.size());
  master.row_prices.assign(demand.size(), 0);
  for (std::size_t pods = 0; pods < demand.size() && !answer.row_prices.empty(); ++pods) {
    if (demand[pods] > 0) master.row_prices[pods] = answer.row_prices[row_of[pods]];
  }
  return master;
}

/// No value exceeds the price of the cheapest box that holds the class alone: this is allowed (lower values keep the
/// bound valid), and necessary for boxes that cost nothing.
Relaxation::Values Relaxation::values_of(const std::vector<double>& prices, const std::vector<int>& demand) const {
  Values values;
  double total = 1;
  for (std::size_t pods = 0; pods < demand.size(); ++pods) {
    total += static_cast<double>(demand[pods]) * static_cast<double>(cheapest_[pods]);
  }
  values.scale = std::exp2(std::floor(std::log2(static_cast<double>(kFillValueMax) / total)));
  values.of_class.reserve(demand.size());
  for (std::size_t pods = 0; pods < demand.size(); ++pods) {
    const double value = std::clamp(prices[pods], 0.0, static_cast<double>(cheapest_[pods]));
    values.of_class.push_back(static_cast<std::int64_t>(std::floor(value * values.scale)));
    values.total += values.of_class.back() * demand[pods];
  }
  return values;
}

/// Adds the best content of each box if it is worth more than the box.
Relaxation::Round Relaxation::price_boxes(const std::vector<int>& demand, const Values& values, std::size_t width) {
  if (shares_.size() > kShareSetsMax) shares_ = ShareSets();
  Round round;
  std::optional<std::int64_t> bound;
  const auto note_bound = [&](std::int64_t price, std::int64_t worth_max) {
    if (worth_max <= 0) return;
    const std::int64_t by_this = scaled_up(values.total, price, worth_max);
    bound = std::min(bound.value_or(by_this), by_this);
  };
  for (const std::size_t box : problem_->choices) {
    const std::int64_t price = problem_->boxes[box].micro_usd;
    const double target = static_cast<double>(price) * values.scale;
    if (target >= static_cast<double>(values.total)) {  // no content is worth more than all pods
      note_bound(price, values.total);
      continue;
    }
    FillAnswer answer = fill_box(*problem_,
                                 {.box = box,
                                  .values = values.of_class,
                                  .limits = demand,
                                  .target = static_cast<std::int64_t>(target),
                                  .labels_max = kWidths[width].labels_max,
                                  .searches_max = kWidths[width].searches_max},
                                 shares_);
    round.nodes += answer.nodes;
    note_bound(price, answer.bound);
    if (!answer.mixture.empty()) round.doubts.push_back({.box = box, .mixture = std::move(answer.mixture)});
    if (answer.content.empty()) continue;
    const std::size_t before = columns_.size();
    add({.box = box, .content = std::move(answer.content)});
    if (columns_.size() > before) ++round.columns_added;
  }
  round.bound = bound.value_or(0);
  return round;
}

}  // namespace berth::purchase::advise
