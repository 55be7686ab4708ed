/// Runs in which the engine is discarded repeatedly, and another one continues in its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "domain/trace/run_arrivals.h"
#include "engine/policy/registry.h"
#include "sim/world/loop.h"
#include "sim/world/testing/engine_renewal.h"

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

/// A run in which the engine is renewed at about one of `every` stops where that is possible.
inline RenewedRun run_renewed(const Scenario& scenario, const policy::Policy& row, Renewal renewal,
                              std::uint64_t every) {
  RenewedRun run;
  const policy::Settings settings;
  const RunArrivals arrivals(scenario, 1, std::nullopt);
  sim::LoopOptions options;
  options.is_strict = row.obeys_constraints;
  options.has_warm_pools = row.obeys_warm_pools;
  options.world.sharing = row.sharings.front();
  options.world.dispatch = row.dispatch;
  options.listener.journal = [&](const sim::JournalRecord& record) { run.journal.push_back(record); };
  Rng rng = Rng(7).split("renewals", every);
  sim::testing::EngineRebuild engine;
  engine.listen(options.listener);
  const MakeStages make_stages = [&](const Scenario& seen) {
    const policy::Inputs inputs{
        .scenario = seen, .settings = settings, .arrivals = [&arrivals](ServiceId service, std::int64_t second) {
          return arrivals.count(service, second);
        }};
    return row.make(inputs).stages;
  };
  sim::Loop loop(scenario, make_stages, options);
  engine.attach(loop, scenario);
  const auto renew = [&] {
    const bool is_possible = renewal == Renewal::kRebuilt || sim::testing::has_engine_memory(loop);
    if (renewal == Renewal::kNever || !is_possible || rng.below(every) != 0) return;
    ++run.renewed;
    if (renewal == Renewal::kRebuilt) engine.rebuild();
    if (renewal == Renewal::kRestored) sim::testing::restore_engine(loop);
  };
  for (loop.begin(), renew(); !loop.is_over(); renew()) loop.advance();
  run.is_feasible = !loop.infeasible() && loop.refusals().count == 0;
  if (!loop.infeasible()) static_cast<void>(loop.finish());
  return run;
}

}  // namespace berth::study::testing
