/// Runs of small scenarios with their figures and journals, shared by tests and benchmarks.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "domain/values/scenario.h"
#include "sim/measure/figures.h"
#include "sim/measure/result.h"
#include "sim/world/run.h"
#include "sim/world/testing/scenarios.h"

namespace berth::measure::testing {

using namespace sim::testing;  // NOLINT(google-build-using-namespace): one vocabulary for the tests' scenarios

/// The results of a run.
struct Ran {
  std::vector<sim::JournalRecord> journal;
  PolicyResult result;
};

inline Ran run(const Scenario& scenario, std::vector<Stage> stages, std::uint64_t seed = 1,
               const sim::WorldOptions& world = {}) {
  Ran ran;
  sim::RunOptions options;
  options.loop.seed = seed;
  options.loop.world = world;
  options.loop.listener.journal = [&](const sim::JournalRecord& record) { ran.journal.push_back(record); };
  const auto outcome = sim::run_scenario(scenario, std::move(stages), options);
  ENSURE(outcome.has_value() && outcome->world != nullptr && outcome->refusals.count == 0);
  measure::measure(scenario, *outcome->world, ran.result);
  return ran;
}

inline Ran run_fixed(const Scenario& scenario, std::uint64_t seed = 1, const sim::WorldOptions& world = {}) {
  return run(scenario, sim::testing::fixed_stages(scenario), seed, world);
}

}  // namespace berth::measure::testing
