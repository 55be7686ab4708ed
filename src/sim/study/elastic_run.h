/// One run of a fleet that grows and shrinks, measured over the GPU-time that was paid for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "engine/loop/stage.h"
#include "sim/measure/result.h"
#include "sim/world/journal.h"
#include "sim/world/loop.h"
#include "sim/world/rented_gpus.h"

namespace berth::study {

struct ElasticRun {
  std::vector<Stage> stages;
  std::string_view policy;  ///< whose row says how requests are dispatched, and whether constraints are obeyed
  std::uint32_t gpus_at_start = 0;
  std::optional<ServiceId> only = std::nullopt;  ///< the only service with requests; absent: all have them
  bool has_timeline = false;
};

struct ElasticOutcome {
  std::optional<std::string> infeasible;
  measure::PolicyResult result;
  std::vector<sim::RentedCount> counts = {};
  std::int64_t paid_us = 0;
  sim::Refusals refusals = {};
};

/// The scenario with one fleet entry of that many GPUs that may come and go.
[[nodiscard]] Scenario elastic_scenario(const Scenario& scenario, std::int64_t gpus);

/// Error only if `progress` stopped it. Requires: the stages are of this scenario, which is elastic.
[[nodiscard]] Result<ElasticOutcome> run_elastic(const Scenario& scenario, std::uint64_t seed, ElasticRun run,
                                                 const std::function<bool(double)>& progress,
                                                 const sim::JournalSink& journal);

/// Whether each service keeps that share of its requests in time.
[[nodiscard]] bool holds(const std::vector<measure::ServiceFigures>& services, const Decimal& attainment);

}  // namespace berth::study
