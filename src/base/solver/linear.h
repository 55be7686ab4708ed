/// The interface to an LP and MIP library (Clp and Cbc, see docs/decisions/0013).
///
/// Everything here is computed in doubles: a caller who promises exactness checks the answer in exact arithmetic.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
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

/// `values` by column, `row_prices` by row: how much the optimum grows if a row's binding side grows by one (duals of
/// a minimisation). Both are empty unless the status is kOptimal.
struct LpAnswer {
  Status status = Status::kLimit;
  double objective = 0;
  std::vector<double> values;
  std::vector<double> row_prices;
  std::int64_t iterations = 0;  ///< of the simplex method
};

/// Solves the relaxation: whether columns are integers is ignored. Safe to call from several threads.
[[nodiscard]] LpAnswer solve_lp(const LinearModel& model);

/// A relaxation that is solved repeatedly with different column limits. Each solve starts from the previous basis,
/// which takes a fraction of the time of `solve_lp`. The answers depend on the model and on the calls so far.
class LpSession {
 public:
  /// Requires: the model has a column.
  explicit LpSession(const LinearModel& model);
  ~LpSession();

  struct ColumnLimits {
    double lower = 0;
    double upper = kInfinity;
  };
  /// Requires: the column exists, lower <= upper.
  void set_limits(int column, const ColumnLimits& limits);
  /// Requires: the column exists, the cost is finite.
  void set_cost(int column, double cost);

  [[nodiscard]] LpAnswer solve();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct MipLimits {
  std::int64_t nodes_max = 1'000'000;
  /// The search stops at a solution proven this close to the optimum, as a share of it: kOptimal then means within this
  /// gap, and `bound` says how close.
  double gap_allowed = 0;
  /// For benchmarks only: a search that this limit stops gives an answer that depends on the machine. Processor
  /// seconds, kept only roughly; above 0. With a limit no model is reported as infeasible, because the library does not
  /// distinguish that from running out of time.
  double seconds_max = kInfinity;
  /// Whether the library preprocesses the model. That may be faster or slower, and an answer reported as optimal may be
  /// slightly worse where a solution is exactly on a limit.
  bool is_reduced_first = true;
};

/// `values` is empty if no solution was found; whole numbers in integer columns, every limit met within 1e-6. kLimit:
/// the nodes or seconds were used up, or the library stopped; `bound` is still valid. An infeasible model's bound is
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
