/// An integer program under construction: sums of columns, and the columns and rows in the order of their addition.
#pragma once

#include <utility>
#include <vector>

#include "base/solver/linear.h"

namespace berth::planner::testing {

/// A linear expression: the constant plus the sum of factor x column. A column may occur several times.
struct LinearSum {
  double constant = 0;
  std::vector<solver::Entry> entries;

  void add(double factor, int column) { entries.push_back({.column = column, .factor = factor}); }
  void add(double factor, const LinearSum& other);
  [[nodiscard]] bool is_constant() const { return entries.empty(); }
};
[[nodiscard]] LinearSum constant_sum(double constant);
[[nodiscard]] LinearSum column_sum(int column);

/// A column of [0, upper].
struct ColumnTerms {
  double upper = 1;
  double gain = 0;  ///< in the objective, per unit
  bool is_integer = false;
};

/// Maximises; the library minimises.
class ProgramBuilder {
 public:
  /// Returns the number of the column: 0, 1, 2 ... Requires: upper >= 0, the gain is finite.
  int add_column(const ColumnTerms& terms);

  /// sum <= 0. Requires here and below: the columns exist. A row without columns is not added: it is either true or
  /// makes the program contradictory.
  void add_at_most_zero(LinearSum sum) { add_row(std::move(sum), false); }
  /// sum = 0.
  void add_equal_zero(LinearSum sum) { add_row(std::move(sum), true); }

  /// Whether a row without columns is violated: then no values meet the rows.
  [[nodiscard]] bool is_contradictory() const { return is_contradictory_; }
  [[nodiscard]] const solver::LinearModel& model() const { return model_; }

 private:
  void add_row(LinearSum sum, bool is_equation);

  solver::LinearModel model_;
  bool is_contradictory_ = false;
};

}  // namespace berth::planner::testing
