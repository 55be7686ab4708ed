// A GPU of a fleet as a problem of its own: when its schedule changes, the objectives of the part and of the fleet
// change by the same amount.
#include "planner/plan/detail/part.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

/// Two or three GPUs, with variants, retrainings, prices, pieces outside and, half of the time, rules.
Problem any_fleet_problem(std::uint64_t seed) {
  Rng rng = Rng(seed).split("problem");
  testing::Shape shape{.gpus = {"A30-24GB", "A100-80GB"}};
  if (rng.below(2) == 0) shape.gpus.emplace_back("A30-24GB");
  shape.services = 2 + static_cast<int>(rng.below(2));
  shape.slots = 5 + static_cast<int>(rng.below(10));
  shape.samples = 1 + static_cast<int>(rng.below(3));
  shape.start_seconds_min = 0;
  shape.start_seconds_max = 3;
  shape.retraining_percent = 70;
  shape.rules_percent = rng.below(2) == 0 ? 0 : 25;
  shape.oddities_percent = 60;
  shape.price_percent = 60;
  return testing::ProblemGenerator(shape, rng).draw();
}

/// A random configuration: some of the existing pieces continue, the rest is drawn at random.
Configuration any_configuration(const Problem& problem, const ModelTerms& model, const Configuration& from, Rng& rng) {
  Configuration pieces;
  std::uint64_t taken = 0;
  for (const Piece& piece : from) {
    if (rng.below(2) == 0) continue;
    pieces.push_back(piece);
    taken |= model.sites[static_cast<std::size_t>(piece.site)].clashes;
  }
  for (int tries = 0; tries < 6; ++tries) {
    const SiteIndex site(rng.below(model.sites.size()));
    if ((taken >> site & 1) != 0) continue;
    const ServiceIndex service(rng.below(problem.services.size()));
    const Rates& rates = model.rates[static_cast<std::size_t>(model.sites[site].kind)][service];
    const bool retrains = rates.retraining_slots > 0 && rng.below(3) == 0;
    const int use = retrains ? kRetraining : static_cast<int>(rng.below(rates.requests_per_second.size()));
    if (!retrains && rates.requests_per_second[static_cast<std::size_t>(use)] <= 0) continue;
    pieces.push_back({.site = site, .service = service, .use = use});
    taken |= model.sites[site].clashes;
  }
  std::ranges::sort(pieces);
  return pieces;
}

/// Without floors, which a random schedule hardly ever keeps.
Problem without_floors(Problem problem) {
  problem.floors_from = SlotIndex(problem.slots);
  return problem;
}

/// Adds random changes to one GPU of a schedule, each of which leaves it without faults.
Schedule with_changes_of(const Problem& problem, Schedule schedule, GpuIndex gpu, Rng& rng) {
  const Problem judged = without_floors(problem);
  const ModelTerms& model = problem.models[static_cast<std::size_t>(problem.gpus[gpu].model)];
  schedule.gpus[gpu].clear();
  Configuration from;
  for (const StandingPiece& standing : problem.gpus[gpu].standing) from.push_back(standing.piece);
  for (const SlotIndex slot : Indices<SlotIndex>(problem.slots)) {
    if (rng.below(3) != 0) continue;
    const Configuration to = any_configuration(problem, model, from, rng);
    schedule.gpus[gpu].push_back({.slot = slot, .to = to});
    if (find_fault(judged, schedule)) {
      schedule.gpus[gpu].pop_back();
    } else {
      from = to;
    }
  }
  return schedule;
}

bool is_nearly(double a, double b, double scale) { return std::abs(a - b) <= 1e-7 * (1 + std::abs(scale)); }

RC_GTEST_PROP(PartProperty, ObjectivesDifferByAConstant, (std::uint64_t seed)) {
  const Problem problem = any_fleet_problem(seed);
  Rng rng = Rng(seed).split("schedule");
  Schedule schedule{.gpus = std::vector<std::vector<Change>>(problem.gpus.size())};
  RC_PRE(!find_fault(without_floors(problem), schedule));
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) schedule = with_changes_of(problem, schedule, gpu, rng);
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
    const Problem part = part_of(problem, schedule, gpu);
    RC_ASSERT(part.gpus.size() == 1U);
    const double whole = evaluate(problem, schedule).objective;
    const double apart = whole - evaluate(part, {{schedule.gpus[gpu]}}).objective;
    for (int other = 0; other < 4; ++other) {
      const Schedule changed = with_changes_of(problem, schedule, gpu, rng);
      const double now = evaluate(problem, changed).objective;
      RC_ASSERT(is_nearly(now - evaluate(part, {{changed.gpus[gpu]}}).objective, apart, whole));
    }
  }
}

bool has_retraining(const GpuTerms& gpu) {
  return std::ranges::any_of(gpu.standing, [](const StandingPiece& each) { return each.piece.use == kRetraining; });
}

RC_GTEST_PROP(PartProperty, WhatThePartAllowsTheWholeAllows, (std::uint64_t seed)) {
  const Problem problem = any_fleet_problem(seed);
  Rng rng = Rng(seed).split("schedule");
  Schedule schedule{.gpus = std::vector<std::vector<Change>>(problem.gpus.size())};
  RC_PRE(!find_fault(without_floors(problem), schedule));
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) schedule = with_changes_of(problem, schedule, gpu, rng);
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
    const Problem part = part_of(problem, schedule, gpu);
    for (int other = 0; other < 4; ++other) {
      const Schedule own = with_changes_of(part, {{{}}}, GpuIndex(0), rng);
      if (find_fault(part, own)) continue;
      Schedule changed = schedule;
      changed.gpus[gpu] = own.gpus.front();
      const std::string fault = find_fault(problem, changed).value_or("");
      // A standing retraining piece may coincide with one that begins elsewhere.
      const bool may_meet = has_retraining(problem.gpus[gpu]) && fault.find("retraining pieces") != std::string::npos;
      RC_ASSERT(fault.empty() || may_meet);
    }
  }
}

}  // namespace
}  // namespace berth::planner
