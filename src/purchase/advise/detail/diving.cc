#include "purchase/advise/detail/diving.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/core/ensure.h"

namespace berth::purchase::advise {
namespace {

constexpr double kWholeTolerance = 1e-6;

class Diver {
 public:
  Diver(const Problem& problem, Relaxation& relaxation) : problem_(problem), relaxation_(relaxation) {
    demand_.reserve(problem.classes.size());
    for (const PodClass& pods : problem.classes) demand_.push_back(static_cast<int>(pods.rows.size()));
  }

  Dive run(const DiveEffort& effort) {
    while (std::ranges::any_of(demand_, [](int count) { return count > 0; })) {
      const bool is_late = dive_.nodes >= effort.nodes_max || !may_go_on(effort.watch, dive_.nodes);
      const Relaxed relaxed = relaxation_.solve(demand_, {.rounds_max = is_late ? 0 : effort.rounds_per_step,
                                                          .is_thorough = false,
                                                          .nodes_max = std::numeric_limits<std::int64_t>::max()});
      dive_.nodes += relaxed.nodes;
      if (is_late) {
        buy_all(relaxed.counts);
      } else if (buy_whole_parts(relaxed.counts) == 0) {
        buy(most_decided(relaxed.counts));
      }
    }
    return std::move(dive_);
  }

 private:
  int buy_whole_parts(const std::vector<double>& counts) {
    int bought = 0;
    for (std::size_t column = 0; column < counts.size(); ++column) {
      const auto whole = static_cast<int>(std::floor(counts[column] + kWholeTolerance));
      for (int i = 0; i < whole && buy(column); ++i) ++bought;
    }
    return bought;
  }

  /// One of each column that has a count, the largest count first.
  void buy_all(const std::vector<double>& counts) {
    std::vector<std::pair<double, std::size_t>> order;  // counts negated, to sort
    for (std::size_t column = 0; column < counts.size(); ++column) {
      if (counts[column] > kWholeTolerance) order.emplace_back(-counts[column], column);
    }
    std::ranges::sort(order);
    for (const auto& [count, column] : order) buy(column);
  }

  /// The column with the largest count; ties: the most expensive, then the first.
  [[nodiscard]] std::size_t most_decided(const std::vector<double>& counts) const {
    const auto price = [&](std::size_t column) { return problem_.boxes[relaxation_.columns()[column].box].micro_usd; };
    std::size_t best = 0;
    for (std::size_t column = 1; column < counts.size(); ++column) {
      const double ahead = counts[column] - counts[best];
      if (ahead > kWholeTolerance || (ahead > -kWholeTolerance && price(column) > price(best))) best = column;
    }
    return best;
  }

  /// Buys the cheapest box that holds the still unplaced pods of a content. Returns whether there are any.
  bool buy(std::size_t column) {
    Filled filled;
    for (const Part& part : relaxation_.columns()[column].content) {
      int& left = demand_[part.pods];
      const std::vector<std::size_t>& rows = problem_.classes[part.pods].rows;
      for (int i = 0; i < part.count && left > 0; ++i) filled.rows.push_back(rows[static_cast<std::size_t>(--left)]);
    }
    if (filled.rows.empty()) return false;
    const auto box = cheapest_holder(problem_, filled.rows);
    ENSURE(box.has_value());  // the column's own box holds it
    filled.box = *box;
    dive_.plan.push_back(std::move(filled));
    return true;
  }

  const Problem& problem_;
  Relaxation& relaxation_;
  std::vector<int> demand_;  ///< pods not placed yet
  Dive dive_;
};

}  // namespace

Dive dive(const Problem& problem, Relaxation& relaxation, const DiveEffort& effort) {
  return Diver(problem, relaxation).run(effort);
}

}  // namespace berth::purchase::advise
