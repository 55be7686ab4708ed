/// A packing under random arrivals: each demand becomes a service with random requests, served by the plan's slices.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "domain/values/packing.h"
#include "domain/values/scenario.h"

namespace berth::study {

struct PackingReplayOptions {
  std::int64_t seconds = 600;                    ///< of each run, > 0
  std::vector<std::uint64_t> seeds = {1, 2, 3};  ///< one run each, not empty
};

/// The results of a demand over all seeds. Absent figures: it had no requests, or none was answered.
struct DemandFigures {
  std::optional<double> load;  ///< stated rate / throughput of its slices; absent without slices
  std::int64_t requests = 0;
  std::int64_t in_time = 0;
  std::optional<double> slo_attainment;  ///< in_time / requests
  std::optional<double> latency_p99_ms;
};

struct PackingReplay {
  std::int64_t seconds = 0;
  std::vector<std::uint64_t> seeds;
  Fidelity fidelity = Fidelity::kRequests;
  std::vector<DemandFigures> demands;  ///< by demand
};

/// The plan as a scenario: its GPUs, and a service for each demand that has slices, in the order of the demands, with
/// Poisson arrivals at the stated rate (without headroom), no start-up time and the default rule for drops. Requires:
/// planner/packing/find_fault.h accepts the plan, and it has at least one slice.
[[nodiscard]] Scenario packing_scenario(const PackingProblem& problem, const Packing& packing, std::int64_t seconds);

/// Replays the plan with each seed. Every slice runs at the plan's point. Serving is request by request; with very many
/// requests, large services are simulated by rates (sim/world/serving.h). Requires: planner/packing/find_fault.h
/// accepts the plan, which may be empty.
[[nodiscard]] PackingReplay replay_packing(const PackingProblem& problem, const Packing& packing,
                                           const PackingReplayOptions& options);

}  // namespace berth::study
