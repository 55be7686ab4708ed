/// Runs in which the engine is discarded again and again, and another one goes on in its place.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/core/rng.h"
#include "domain/trace/run_arrivals.h"
#include "engine/policy/registry.h"
#include "sim/world/run.h"

namespace berth::study::testing {

/// Where the other engine comes from.
enum class Renewal : std::uint8_t {
  kNever,
  kRebuilt,   ///< from the events so far, without solving
  kRestored,  ///< from the memory of the one before, as bytes
};

struct RenewedRun {
  std::vector<sim::JournalRecord> journal;
  int renewed = 0;  ///< how often
  bool is_feasible = true;
};

/// A run in which the engine is renewed after about one of `every` steps in which it can be.
inline RenewedRun run_renewed(const Scenario& scenario, const policy::Policy& row, Renewal renewal,
                              std::uint64_t every) {
  RenewedRun run;
  const policy::Settings settings;
  const RunArrivals arrivals(scenario, 1, std::nullopt);
  const policy::Inputs inputs{
      .scenario = scenario, .settings = settings, .arrivals = [&](ServiceId service, std::int64_t second) {
        return arrivals.count(service, second);
      }};
  sim::RunOptions options;
  options.loop.is_strict = row.obeys_constraints;
  options.loop.world.sharing = row.sharings.front();
  options.loop.world.dispatch = row.dispatch;
  options.loop.journal = [&](const sim::JournalRecord& record) { run.journal.push_back(record); };
  Rng rng = Rng(7).split("renewals", every);
  const auto is_chosen = [&](Instant) {
    const bool is_drawn = rng.below(every) == 0;
    run.renewed += is_drawn ? 1 : 0;
    return is_drawn;
  };
  if (renewal == Renewal::kRebuilt) options.loop.rebuilds_engine_at = is_chosen;
  if (renewal == Renewal::kRestored) options.loop.restores_engine_at = is_chosen;
  const MakeStages make_stages = [&](const Scenario&) { return row.make(inputs).stages; };
  const auto outcome = sim::run_scenario(scenario, make_stages, options);
  run.is_feasible = outcome.has_value() && outcome->world != nullptr && outcome->refusals.count == 0;
  return run;
}

}  // namespace berth::study::testing
