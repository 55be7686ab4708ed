#include "planner/window/testing/integer_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "planner/window/check.h"
#include "planner/window/testing/gpu_columns.h"
#include "planner/window/testing/gpu_rows.h"
#include "planner/window/testing/program_builder.h"
#include "planner/window/testing/service_rules.h"
#include "planner/window/testing/value_rows.h"

namespace berth::planner {
namespace {

/// Objectives with a smaller relative difference count as equal.
constexpr double kSameObjective = 1e-6;

/// The program of a problem: everything of each GPU, then everything of each service. The order of columns and rows
/// decides which of several optima the library finds.
class IntegerProgram {
 public:
  explicit IntegerProgram(const Problem& problem) : problem_(problem) {
    for (const GpuIndex g : indices_of<GpuIndex>(problem.gpus)) {
      gpus_.emplace_back(problem, g, program_);
      testing::add_gpu_rows(problem, g, gpus_[g], program_);
    }
    for (const ServiceIndex s : indices_of<ServiceIndex>(problem.services)) {
      testing::add_service_rules(problem, gpus_, s, program_);
      testing::add_value(problem, gpus_, s, program_);
    }
  }

  [[nodiscard]] const testing::ProgramBuilder& program() const { return program_; }

  /// The schedule of column values that meet all rows.
  [[nodiscard]] Schedule schedule_of(const std::vector<double>& values) const {
    Schedule schedule;
    for (const GpuIndex g : indices_of<GpuIndex>(gpus_)) {
      schedule.gpus.emplace_back();
      Configuration now;
      for (const StandingPiece& standing : problem_.gpus[g].standing) now.push_back(standing.piece);
      for (std::size_t k = 1; k <= gpus_[g].step_count(); ++k) {
        Configuration next;
        for (const testing::PieceColumns& candidate : gpus_[g].pieces()) {
          const auto column = static_cast<std::size_t>(candidate.present_column(k));
          if (values[column] > 0.5) next.push_back(candidate.piece());
        }
        if (next == now) continue;
        schedule.gpus[g].push_back({.slot = gpus_[g].slot_of(k), .to = next});
        now = next;
      }
    }
    return schedule;
  }

 private:
  const Problem& problem_;
  testing::ProgramBuilder program_;
  std::vector<testing::GpuColumns> gpus_;
};

/// The library's integer solver gives no answer without integer columns.
solver::MipAnswer solve_program(const solver::LinearModel& model, const solver::MipLimits& limits) {
  if (std::ranges::any_of(model.columns, &solver::Column::is_integer)) return solver::solve_mip(model, limits);
  const solver::LpAnswer answer = solver::solve_lp(model);
  return {.status = answer.status,
          .objective = answer.objective,
          .bound = answer.status == solver::Status::kOptimal ? answer.objective : -solver::kInfinity,
          .values = answer.values};
}

/// The answer without changes.
Answer standstill(const Problem& problem) {
  Answer answer;
  answer.schedule.gpus.resize(problem.gpus.size());
  answer.objective = -std::numeric_limits<double>::infinity();
  if (!find_fault(problem, answer.schedule)) answer.objective = evaluate(problem, answer.schedule).objective;
  return answer;
}

}  // namespace

IntegerModelSize integer_model_size(const Problem& problem) {
  const IntegerProgram program(problem);
  const solver::LinearModel& model = program.program().model();
  return {.columns = static_cast<int>(model.columns.size()),
          .integers = static_cast<int>(std::ranges::count(model.columns, true, &solver::Column::is_integer)),
          .rows = static_cast<int>(model.rows.size())};
}

Answer solve_by_integer_program(const Problem& problem, const solver::MipLimits& limits) {
  const IntegerProgram program(problem);
  Answer answer = standstill(problem);
  solver::MipAnswer found{.status = solver::Status::kInfeasible, .values = {}};
  solver::MipLimits exact = limits;
  exact.is_reduced_first = false;
  if (!program.program().is_contradictory()) found = solve_program(program.program().model(), exact);
  if (found.status == solver::Status::kInfeasible) {
    answer.is_infeasible = true;
    answer.bound = answer.objective;
    return answer;
  }
  answer.bound = -found.bound;
  if (!found.values.empty()) {
    Schedule schedule = program.schedule_of(found.values);
    if (!find_fault(problem, schedule)) {
      const double objective = evaluate(problem, schedule).objective;
      if (objective > answer.objective) {
        answer.objective = objective;
        answer.schedule = std::move(schedule);
      }
    }
  }
  // The library's tolerance, not a gap.
  if (std::abs(answer.bound - answer.objective) <= kSameObjective * std::abs(answer.objective)) {
    answer.bound = answer.objective;
  }
  return answer;
}

}  // namespace berth::planner
