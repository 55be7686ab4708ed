/// The bound: all contents of all boxes, fractions of boxes allowed (Gilmore and Gomory 1961), by column generation.
///
/// Model: x[b][c] boxes b with content c, a multiset of pods that fits b:
///   each class k:  sum over b, c of c[k] x[b][c] >= pods of class k;  minimise the price of the boxes; x >= 0.
/// The LP library solves it over the contents found so far. Its dual prices, rounded to whole numbers, give each class
/// a value; `fill_box` finds contents worth more than their box, which are added, and proves the highest value of a
/// content. The bound is (Farley 1990)
///   sum of value x pods / max over boxes of (most valuable content / price),
/// in whole numbers, so that no rounding of the library can make it wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "purchase/advise/detail/filler.h"
#include "purchase/advise/detail/node_watch.h"
#include "purchase/advise/detail/problem.h"

namespace berth::purchase::advise {

/// A box and its content.
struct Column {
  std::size_t box = 0;
  Content content;

  friend auto operator<=>(const Column&, const Column&) = default;
};

/// How hard to search for better contents. Thorough: wider searches follow the narrow ones, to raise the bound.
struct RelaxEffort {
  int rounds_max = 0;  ///< of narrow searches, before the wider ones
  bool is_thorough = false;
  std::int64_t nodes_max = 0;
  NodeWatch watch = {};
};

struct Relaxed {
  std::int64_t bound = 0;      ///< micro-dollars per hour, rounded up
  std::vector<double> counts;  ///< by column, of the last linear program
  std::int64_t nodes = 0;
};

class Relaxation {
 public:
  /// `problem` must outlive this.
  explicit Relaxation(const Problem& problem);

  /// Requires: the content fits the box.
  void add(Column column);
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }

  /// Solves the relaxation for `demand` pods of each class. Requires: each class is in some column. Stops when no
  /// content is found that would lower the objective, or when the effort is used up; the bound is valid in either case.
  ///
  /// If a search cannot exclude that some content of a box is worth more than the box, that doubt lowers the bound. So
  /// the fractional content behind it (`FillAnswer::mixture`) becomes a column, as if it were possible: the prices move
  /// until little doubt is left about any box. Such columns are removed at the end.
  [[nodiscard]] Relaxed solve(const std::vector<int>& demand, const RelaxEffort& effort);

 private:
  /// A mixture that a search could not exclude.
  struct Doubt {
    std::size_t box = 0;
    Mixture mixture;
  };
  /// The optimum over the columns found so far.
  struct Master {
    double objective = 0;
    std::vector<double> counts;      ///< by column
    std::vector<double> row_prices;  ///< by class
    std::int64_t nodes = 0;          ///< the cost of solving it, in nodes of a search
  };
  struct Values;
  struct Round;

  [[nodiscard]] Master solve_master(const std::vector<int>& demand, const std::vector<Doubt>& doubts) const;
  [[nodiscard]] Values values_of(const std::vector<double>& prices, const std::vector<int>& demand) const;
  [[nodiscard]] Round price_boxes(const std::vector<int>& demand, const Values& values, std::size_t width);
  void solve_narrowly(const std::vector<int>& demand, const RelaxEffort& effort, std::vector<double>& centre,
                      Relaxed& relaxed);
  void solve_widely(const std::vector<int>& demand, const RelaxEffort& effort, std::vector<double>& centre,
                    Relaxed& relaxed);

  const Problem* problem_;
  std::vector<std::int64_t> cheapest_;  ///< by class: the price of the cheapest box that holds it
  std::vector<Column> columns_;
  std::set<Column> known_;
  ShareSets shares_;
};

}  // namespace berth::purchase::advise
