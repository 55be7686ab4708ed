/// Random schedules for tests, and numbers with which sums are exact.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "planner/many_gpus/state.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner::testing {

/// The slots of a step of a grid that has all of them.
inline constexpr int kEverySlot = 1;

/// Smaller differences are rounding.
inline constexpr double kNear = 1e-9;

/// Without floors and budgets, which random changes hardly ever keep.
[[nodiscard]] inline Problem without_floors_and_budgets(Problem problem) {
  for (ServiceTerms& service : problem.services) {
    service.floor_rate = 0;
    service.changes_max = -1;
  }
  return problem;
}

/// A problem in whose rates and times sums of any order are exact.
[[nodiscard]] inline Problem with_exact_sums(Problem problem) {
  const auto quarters = [](double value) { return value > 0 ? std::max(1.0, std::round(value * 4)) / 4 : 0; };
  for (ModelTerms& model : problem.models) {
    for (std::vector<Rates>& kind : model.rates) {
      for (Rates& rates : kind) {
        for (double& rate : rates.requests_per_second) rate = quarters(rate);
        if (rates.retraining_slots > 0)
          rates.retraining_slots = std::exp2(std::round(std::log2(rates.retraining_slots)));
      }
    }
  }
  for (ServiceTerms& service : problem.services) {
    for (double& rate : service.outside) rate = quarters(rate);
    service.outside_floor_rate = quarters(service.outside_floor_rate);
  }
  return problem;
}

[[nodiscard]] inline Configuration pieces_standing_on(const GpuTerms& gpu) {
  Configuration pieces;
  for (const StandingPiece& standing : gpu.standing) pieces.push_back(standing.piece);
  return pieces;
}

/// Some of the existing pieces continue, the rest is drawn at random.
[[nodiscard]] inline Configuration any_configuration(const Problem& problem, const ModelTerms& model,
                                                     const Configuration& from, Rng& rng) {
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
    const Site& its = model.sites[static_cast<std::size_t>(site)];
    const ServiceIndex service(rng.below(problem.services.size()));
    const Rates& rates = model.rates[static_cast<std::size_t>(its.kind)][static_cast<std::size_t>(service)];
    const bool retrains = rates.retraining_slots > 0 && rng.below(3) == 0;
    const int use = retrains ? kRetraining : static_cast<int>(rng.below(rates.requests_per_second.size()));
    if (!retrains && rates.requests_per_second[static_cast<std::size_t>(use)] <= 0) continue;
    pieces.push_back({.site = site, .service = service, .use = use});
    taken |= its.clashes;
  }
  std::ranges::sort(pieces);
  return pieces;
}

/// Gives a GPU of a schedule random changes, each of which keeps the schedule free of faults except for floors and
/// budgets. Requires: the GPU has no changes.
inline void draw_changes(const Problem& problem, GpuIndex gpu, Rng& rng, Schedule& schedule) {
  const Problem judged = without_floors_and_budgets(problem);
  const GpuTerms& terms = problem.gpus[static_cast<std::size_t>(gpu)];
  const ModelTerms& model = problem.models[static_cast<std::size_t>(terms.model)];
  std::vector<Change>& changes = schedule.gpus[static_cast<std::size_t>(gpu)];
  changes.clear();
  Configuration from = pieces_standing_on(terms);
  for (const SlotIndex slot : Indices<SlotIndex>(problem.slots)) {
    if (rng.below(3) != 0) continue;
    const Configuration to = any_configuration(problem, model, from, rng);
    changes.push_back({.slot = slot, .to = to});
    if (find_fault(judged, schedule)) {
      changes.pop_back();
    } else {
      from = to;
    }
  }
}

/// A schedule of random changes, without faults except for floors and budgets. Nothing if the standing pieces have a
/// fault.
[[nodiscard]] inline std::optional<Schedule> any_schedule(const Problem& problem, Rng& rng) {
  Schedule schedule{.gpus = std::vector<std::vector<Change>>(problem.gpus.size())};
  if (find_fault(without_floors_and_budgets(problem), schedule)) return std::nullopt;
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) draw_changes(problem, gpu, rng, schedule);
  return schedule;
}

[[nodiscard]] inline Schedule schedule_of(const fleet::FleetState& state) {
  Schedule schedule;
  for (const GpuIndex gpu : indices_of<GpuIndex>(state.terms().problem.gpus)) {
    schedule.gpus.push_back(state.path(gpu).changes);
  }
  return schedule;
}

/// A problem with its terms, and a random schedule of it if one was found.
struct ScheduledFleet {
  ScheduledFleet(Problem of, std::uint64_t seed) : problem(std::move(of)) {
    Rng rng = Rng(seed).split("schedule");
    schedule = any_schedule(problem, rng);
  }
  ScheduledFleet(const ScheduledFleet&) = delete;  // the terms point to the problem
  ScheduledFleet& operator=(const ScheduledFleet&) = delete;
  ~ScheduledFleet() = default;

  Problem problem;
  fleet::Terms terms{problem};
  std::optional<Schedule> schedule;
};

}  // namespace berth::planner::testing
