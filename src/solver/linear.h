/// One narrow door to an LP and MIP library (Clp and Cbc, see docs/decisions/0013).
///
/// Everything behind it works in doubles: a caller who promises exactness checks what comes back in exact arithmetic.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace berth::solver {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Entry {
  int column = 0;
  double factor = 0;
};

struct Column {
  double cost = 0;
  double lower = 0;
  double upper = kInfinity;
  bool is_integer = false;
};

/// lower <= sum of factor x column <= upper; each column at most once.
struct Row {
  double lower = -kInfinity;
  double upper = kInfinity;
  std::vector<Entry> entries;
};

/// Minimise the cost of the columns within their limits and the rows.
///
/// Programmer errors: lower > upper, a cost or factor that is not finite, a column that does not exist.
struct LinearModel {
  std::vector<Column> columns;
  std::vector<Row> rows;
};

enum class Status { kOptimal, kInfeasible, kUnbounded, kLimit };

/// `values` by column, `row_prices` by row: how much the optimum grows when a row's binding side grows by one (duals of
/// a minimisation). Both are empty unless the status is kOptimal.
struct LpAnswer {
  Status status = Status::kLimit;
  double objective = 0;
  std::vector<double> values;
  std::vector<double> row_prices;
};

/// Solves the relaxation: whether columns are integers is not looked at. Safe to call from several threads.
[[nodiscard]] LpAnswer solve_lp(const LinearModel& model);

struct MipLimits {
  std::int64_t nodes_max = 1'000'000;
  /// A solution that is known to be so close to the optimum, as a share of it, is good enough: status kOptimal then
  /// means within it, and `bound` tells how close.
  double gap_allowed = 0;
  /// For benchmarks alone: where it ends a search, the answer depends on the machine. Seconds of the processor, not
  /// kept to the second; above 0. With it nothing is called infeasible: the library does not tell that from its end.
  double seconds_max = kInfinity;
  /// Whether the library makes the model smaller first. Sooner done, or later; but its answer may be called optimal and
  /// be a little less, where a solution is exactly on a limit.
  bool is_reduced_first = true;
};

/// `values` is empty when no solution was found; whole numbers in integer columns, every limit met within 1e-6. kLimit:
/// the nodes or seconds were spent, or the library gave up; `bound` holds all the same. An infeasible model's bound is
/// infinite.
struct MipAnswer {
  Status status = Status::kLimit;
  double objective = 0;
  double bound = -kInfinity;
  std::vector<double> values;
};

/// Solves with integer columns. Safe to call from several threads (calls wait for each other).
[[nodiscard]] MipAnswer solve_mip(const LinearModel& model, const MipLimits& limits);

}  // namespace berth::solver
