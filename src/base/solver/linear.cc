#include "base/solver/linear.h"

#include <coin/Cbc_C_Interface.h>
#include <coin/Clp_C_Interface.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <mutex>

#include "base/core/ensure.h"

namespace berth::solver {
namespace {

/// How far a solution may violate a row or a column, absolutely and as a share of its limit.
constexpr double kTolerance = 1e-6;

struct FreeClp {
  void operator()(Clp_Simplex* model) const { Clp_deleteModel(model); }
};
struct FreeCbc {
  void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
};
using ClpHandle = std::unique_ptr<Clp_Simplex, FreeClp>;
using CbcHandle = std::unique_ptr<Cbc_Model, FreeCbc>;

/// A model in the library's format: the matrix by columns without gaps. One spare element keeps every array's address
/// valid.
struct Arrays {
  std::vector<CoinBigIndex> starts;
  std::vector<int> rows;
  std::vector<double> factors;
  std::vector<double> column_lower, column_upper, costs;
  std::vector<double> row_lower, row_upper;
};

void ensure_is_sound(const LinearModel& model) {
  for (const Column& column : model.columns) {
    ENSURE(std::isfinite(column.cost) && !(column.lower > column.upper));
  }
  std::vector<std::size_t> last_row(model.columns.size());
  for (std::size_t i = 0; i < model.rows.size(); ++i) {
    ENSURE(!(model.rows[i].lower > model.rows[i].upper));
    for (const Entry& entry : model.rows[i].entries) {
      ENSURE(entry.column >= 0 && static_cast<std::size_t>(entry.column) < model.columns.size());
      ENSURE(std::isfinite(entry.factor) && last_row[static_cast<std::size_t>(entry.column)] != i + 1);
      last_row[static_cast<std::size_t>(entry.column)] = i + 1;
    }
  }
}

/// Fills the matrix: counts, then positions, so that a column's rows are in ascending order.
void append_matrix(const LinearModel& model, Arrays& arrays) {
  arrays.starts.assign(model.columns.size() + 1, 0);
  for (const Row& row : model.rows) {
    for (const Entry& entry : row.entries) ++arrays.starts[static_cast<std::size_t>(entry.column) + 1];
  }
  for (std::size_t i = 1; i < arrays.starts.size(); ++i) arrays.starts[i] += arrays.starts[i - 1];
  arrays.rows.resize(static_cast<std::size_t>(arrays.starts.back()) + 1);
  arrays.factors.resize(arrays.rows.size());
  std::vector<CoinBigIndex> next = arrays.starts;
  for (std::size_t i = 0; i < model.rows.size(); ++i) {
    for (const Entry& entry : model.rows[i].entries) {
      const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(entry.column)]++);
      arrays.rows[place] = static_cast<int>(i);
      arrays.factors[place] = entry.factor;
    }
  }
}

Arrays arrays_of(const LinearModel& model) {
  ensure_is_sound(model);
  Arrays arrays;
  append_matrix(model, arrays);
  for (std::vector<double>* of_columns : {&arrays.column_lower, &arrays.column_upper, &arrays.costs}) {
    of_columns->reserve(model.columns.size() + 1);
  }
  for (const Column& column : model.columns) {
    arrays.column_lower.push_back(column.lower);
    arrays.column_upper.push_back(column.upper);
    arrays.costs.push_back(column.cost);
  }
  arrays.row_lower.reserve(model.rows.size() + 1);
  arrays.row_upper.reserve(model.rows.size() + 1);
  for (const Row& row : model.rows) {
    arrays.row_lower.push_back(row.lower);
    arrays.row_upper.push_back(row.upper);
  }
  return arrays;
}

bool is_within(double value, double lower, double upper) {
  return value >= lower - kTolerance * std::max(1.0, std::abs(lower)) &&
         value <= upper + kTolerance * std::max(1.0, std::abs(upper));
}

/// Whether values meet every limit of the model, checked without relying on the library.
bool is_solution(const LinearModel& model, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_within(values[i], model.columns[i].lower, model.columns[i].upper)) return false;
  }
  return std::ranges::all_of(model.rows, [&](const Row& row) {
    double sum = 0;
    for (const Entry& entry : row.entries) sum += entry.factor * values[static_cast<std::size_t>(entry.column)];
    return is_within(sum, row.lower, row.upper);
  });
}

double objective_of(const LinearModel& model, const std::vector<double>& values) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += model.columns[i].cost * values[i];
  return sum;
}

/// A model without columns: the library is not called.
bool is_empty_sum_legal(const LinearModel& model) {
  return std::ranges::all_of(model.rows, [](const Row& row) { return row.lower <= 0 && row.upper >= 0; });
}

Status lp_status_of(int clp_status) {
  switch (clp_status) {
    case 0:
      return Status::kOptimal;
    case 1:
      return Status::kInfeasible;
    case 2:
      return Status::kUnbounded;
    default:
      return Status::kLimit;
  }
}

ClpHandle clp_of(const LinearModel& model, const Arrays& arrays) {
  ClpHandle clp(Clp_newModel());
  Clp_setLogLevel(clp.get(), 0);
  Clp_loadProblem(clp.get(), static_cast<int>(model.columns.size()), static_cast<int>(model.rows.size()),
                  arrays.starts.data(), arrays.rows.data(), arrays.factors.data(), arrays.column_lower.data(),
                  arrays.column_upper.data(), arrays.costs.data(), arrays.row_lower.data(), arrays.row_upper.data());
  return clp;
}

struct ModelSize {
  std::size_t columns = 0;
  std::size_t rows = 0;
};

/// Solves from the basis that the library holds; a new model has none.
LpAnswer solved(Clp_Simplex* clp, const ModelSize& size) {
  // Not Clp_initialSolve: on large models its crash start prints at any log level.
  Clp_dual(clp, 0);
  LpAnswer answer;
  answer.iterations = Clp_numberIterations(clp);
  if (lp_status_of(Clp_status(clp)) == Status::kLimit) Clp_primal(clp, 0);
  answer.status = lp_status_of(Clp_status(clp));
  if (answer.status != Status::kOptimal) return answer;
  const double* values = Clp_primalColumnSolution(clp);
  const double* prices = Clp_dualRowSolution(clp);
  answer.objective = Clp_objectiveValue(clp);
  answer.values.assign(values, values + size.columns);
  answer.row_prices.assign(prices, prices + size.rows);
  return answer;
}

/// The library's solution with integer columns rounded, or nothing if there is none or it violates the model.
std::vector<double> solution_of(const LinearModel& model, Cbc_Model* cbc) {
  const double* found = Cbc_bestSolution(cbc);
  if (found == nullptr) return {};
  std::vector<double> values(found, found + model.columns.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (model.columns[i].is_integer) values[i] = std::round(values[i]);
  }
  if (!is_solution(model, values)) return {};
  return values;
}

MipAnswer mip_answer_of(const LinearModel& model, Cbc_Model* cbc, const MipLimits& limits) {
  MipAnswer answer;
  if (Cbc_isContinuousUnbounded(cbc) != 0) {
    answer.status = Status::kUnbounded;
    return answer;
  }
  answer.values = solution_of(model, cbc);
  answer.objective = objective_of(model, answer.values);
  if (Cbc_isProvenOptimal(cbc) != 0 && !answer.values.empty()) {
    answer.status = Status::kOptimal;
    answer.bound =
        std::min(answer.objective, limits.gap_allowed > 0 ? Cbc_getBestPossibleObjValue(cbc) : answer.objective);
  } else if (Cbc_isProvenInfeasible(cbc) != 0 && Cbc_bestSolution(cbc) == nullptr) {
    // When time runs out during preprocessing, the library reports the same status and not its limit.
    if (limits.seconds_max < kInfinity) return answer;
    answer.status = Status::kInfeasible;
    answer.bound = kInfinity;
  } else if (Cbc_isAbandoned(cbc) == 0) {
    answer.bound = Cbc_getBestPossibleObjValue(cbc);
  }
  return answer;
}

/// Cbc_solve keeps its parameters in globals of the process: one call at a time.
std::mutex& cbc_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

LpAnswer solve_lp(const LinearModel& model) {
  if (model.columns.empty()) {
    const Status status = is_empty_sum_legal(model) ? Status::kOptimal : Status::kInfeasible;
    const std::size_t prices = status == Status::kOptimal ? model.rows.size() : 0;
    return {.status = status, .objective = 0, .values = {}, .row_prices = std::vector<double>(prices), .iterations = 0};
  }
  const Arrays arrays = arrays_of(model);
  const ClpHandle clp = clp_of(model, arrays);
  return solved(clp.get(), {model.columns.size(), model.rows.size()});
}

struct LpSession::State {
  std::size_t column_count = 0;
  std::size_t row_count = 0;
  Arrays arrays;
  ClpHandle clp;
};

LpSession::LpSession(const LinearModel& model) {
  ENSURE(!model.columns.empty());
  Arrays arrays = arrays_of(model);
  ClpHandle clp = clp_of(model, arrays);
  state_ = std::make_unique<State>(State{model.columns.size(), model.rows.size(), std::move(arrays), std::move(clp)});
}

LpSession::~LpSession() = default;

void LpSession::set_limits(int column, const ColumnLimits& limits) {
  ENSURE(column >= 0 && static_cast<std::size_t>(column) < state_->column_count && limits.lower <= limits.upper);
  state_->arrays.column_lower[static_cast<std::size_t>(column)] = limits.lower;
  state_->arrays.column_upper[static_cast<std::size_t>(column)] = limits.upper;
}

void LpSession::set_cost(int column, double cost) {
  ENSURE(column >= 0 && static_cast<std::size_t>(column) < state_->column_count && std::isfinite(cost));
  state_->arrays.costs[static_cast<std::size_t>(column)] = cost;
}

LpAnswer LpSession::solve() {
  Clp_Simplex* clp = state_->clp.get();
  Clp_chgColumnLower(clp, state_->arrays.column_lower.data());
  Clp_chgColumnUpper(clp, state_->arrays.column_upper.data());
  Clp_chgObjCoefficients(clp, state_->arrays.costs.data());
  return solved(clp, {state_->column_count, state_->row_count});
}

MipAnswer solve_mip(const LinearModel& model, const MipLimits& limits) {
  ENSURE(limits.nodes_max >= 0 && limits.gap_allowed >= 0 && limits.seconds_max > 0);
  if (model.columns.empty()) {
    const bool is_legal = is_empty_sum_legal(model);
    return {.status = is_legal ? Status::kOptimal : Status::kInfeasible,
            .objective = 0,
            .bound = is_legal ? 0 : kInfinity,
            .values = {}};
  }
  const Arrays arrays = arrays_of(model);
  const std::scoped_lock lock(cbc_mutex());
  const CbcHandle cbc(Cbc_newModel());
  Cbc_setLogLevel(cbc.get(), 0);
  Cbc_loadProblem(cbc.get(), static_cast<int>(model.columns.size()), static_cast<int>(model.rows.size()),
                  arrays.starts.data(), arrays.rows.data(), arrays.factors.data(), arrays.column_lower.data(),
                  arrays.column_upper.data(), arrays.costs.data(), arrays.row_lower.data(), arrays.row_upper.data());
  for (std::size_t i = 0; i < model.columns.size(); ++i) {
    if (model.columns[i].is_integer) Cbc_setInteger(cbc.get(), static_cast<int>(i));
  }
  Cbc_setMaximumNodes(cbc.get(), static_cast<int>(std::min<std::int64_t>(limits.nodes_max, INT32_MAX)));
  if (limits.gap_allowed > 0) Cbc_setAllowableFractionGap(cbc.get(), limits.gap_allowed);
  Cbc_setParameter(cbc.get(), "preprocess", limits.is_reduced_first ? "sos" : "off");
  if (limits.seconds_max < kInfinity) Cbc_setMaximumSeconds(cbc.get(), limits.seconds_max);
  Cbc_solve(cbc.get());
  return mip_answer_of(model, cbc.get(), limits);
}

}  // namespace berth::solver
