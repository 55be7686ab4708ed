// On any network: a flow keeps every limit and balance, its stated cost is right, and the linear program is no cheaper.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/core/rng.h"
#include "base/solver/linear.h"
#include "base/solver/min_cost_flow.h"

namespace berth::solver {
namespace {

FlowProblem any_problem() {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const auto nodes = *rc::gen::inRange<std::size_t>(1, 8);
  const auto arcs = *rc::gen::inRange<std::size_t>(0, 24);
  FlowProblem problem{.supplies = std::vector<std::int64_t>(nodes, 0), .arcs = {}};
  for (std::size_t i = 0; i < nodes; ++i) {
    const auto units = static_cast<std::int64_t>(rng.below(5));
    problem.supplies[rng.below(nodes)] += units;
    problem.supplies[rng.below(nodes)] -= units;
  }
  for (std::size_t i = 0; i < arcs; ++i) {
    problem.arcs.push_back({.from = rng.below(nodes),
                            .to = rng.below(nodes),
                            .capacity = static_cast<std::int64_t>(rng.below(9)),
                            .cost = static_cast<std::int64_t>(rng.below(3) == 0 ? 0 : rng.below(20))});
  }
  return problem;
}

LpAnswer solve_as_programme(const FlowProblem& problem) {
  LinearModel model;
  model.rows.resize(problem.supplies.size());
  for (std::size_t node = 0; node < problem.supplies.size(); ++node) {
    model.rows[node].lower = model.rows[node].upper = static_cast<double>(problem.supplies[node]);
  }
  // A column fixed at 0: a model needs at least one column.
  model.columns.push_back({.cost = 0, .lower = 0, .upper = 0});
  for (const FlowArc& arc : problem.arcs) {
    const int column = static_cast<int>(model.columns.size());
    model.columns.push_back(
        {.cost = static_cast<double>(arc.cost), .lower = 0, .upper = static_cast<double>(arc.capacity)});
    if (arc.from == arc.to) continue;
    model.rows[arc.from].entries.push_back({column, 1});
    model.rows[arc.to].entries.push_back({column, -1});
  }
  return solve_lp(model);
}

RC_GTEST_PROP(MinCostFlow, IsAsCheapAsTheLinearProgramme, ()) {
  const FlowProblem problem = any_problem();
  const auto answer = min_cost_flow(problem);
  const LpAnswer programme = solve_as_programme(problem);
  RC_ASSERT(answer.has_value() == (programme.status == Status::kOptimal));
  if (!answer) return;
  RC_ASSERT(std::abs(static_cast<double>(answer->cost) - programme.objective) < 1e-6);
  std::vector<std::int64_t> left = problem.supplies;
  std::int64_t cost = 0;
  for (std::size_t i = 0; i < problem.arcs.size(); ++i) {
    const FlowArc& arc = problem.arcs[i];
    const std::int64_t flow = answer->flows[i];
    RC_ASSERT(flow >= 0 && flow <= arc.capacity);
    left[arc.from] -= flow;
    left[arc.to] += flow;
    cost += flow * arc.cost;
  }
  for (const std::int64_t supply : left) RC_ASSERT(supply == 0);
  RC_ASSERT(cost == answer->cost);
}

}  // namespace
}  // namespace berth::solver
