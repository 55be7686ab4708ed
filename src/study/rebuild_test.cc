// What the engine and its stages remember follows from the events alone: an engine that is discarded in the middle of a
// run, and rebuilt from its events without solving, continues with the same bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "policy/registry.h"
#include "sim/run.h"
#include "study/testing/policy_run.h"

namespace berth::study {
namespace {

using testing::holding_of;
using testing::slice_at;

/// Two services whose loads swing and which retrain; the file's layout is for `fixed`.
Scenario swinging(Micros planning) {
  std::vector<ServiceSpec> services;
  for (const char* name : {"a", "b"}) {
    ServiceSpec service = testing::service_of(
        name, {{.batch = 8, .processes = 3, .latency_ms = 20}},
        testing::generated(name[0] == 'a' ? Generator::Kind::kBursty : Generator::Kind::kDiurnal, Decimal(700), 90));
    service.start = Micros::seconds(1);
    Retraining retraining;
    retraining.every = Micros::seconds(name[0] == 'a' ? 30 : 45);
    retraining.time_on = {{1, Micros::seconds(12)}, {2, Micros::seconds(8)}, {3, Micros::seconds(5)}};
    service.retraining = retraining;
    service.accuracy = {.before_micro = 600'000, .after_micro = 900'000};
    services.push_back(service);
  }
  Scenario scenario = testing::scenario_of(
      std::move(services), {holding_of(slice_at(0, "1g.10gb", 0), {0}), holding_of(slice_at(0, "1g.10gb", 1), {0}),
                            holding_of(slice_at(0, "3g.40gb", 4), {1})});
  scenario.window_seconds = 40;
  scenario.planning = planning;
  return scenario;
}

/// The journal of a run in which the engine is rebuilt after about one of `every` steps; 0: never.
std::vector<sim::JournalRecord> journal_of(const Scenario& scenario, const policy::Policy& row, std::uint64_t every,
                                           int& rebuilt) {
  const policy::Settings settings;
  const RunArrivals arrivals(scenario, 1, std::nullopt);
  const policy::Inputs inputs{
      .scenario = scenario, .settings = settings, .arrivals = [&](ServiceId service, std::int64_t second) {
        return arrivals.count(service, second);
      }};
  std::vector<sim::JournalRecord> journal;
  sim::RunOptions options;
  options.loop.is_strict = row.obeys_constraints;
  options.loop.journal = [&](const sim::JournalRecord& record) { journal.push_back(record); };
  Rng rng = Rng(7).split("rebuilds", every);
  if (every > 0) {
    options.loop.rebuilds_engine_at = [&](Instant) {
      const bool is_chosen = rng.below(every) == 0;
      rebuilt += is_chosen ? 1 : 0;
      return is_chosen;
    };
  }
  const MakeStages make_stages = [&](const Scenario&) { return row.make(inputs).stages; };
  const auto outcome = sim::run_scenario(scenario, make_stages, options);
  EXPECT_TRUE(outcome.has_value() && outcome->world != nullptr);
  EXPECT_EQ(outcome->refusals.count, 0) << outcome->refusals.first;
  return journal;
}

/// Whether slices are created after second 0: else there is little to remember.
bool moves(const std::vector<sim::JournalRecord>& journal) {
  return std::ranges::any_of(journal, [](const sim::JournalRecord& record) {
    const auto* slice = std::get_if<sim::SliceRecord>(&record);
    return slice != nullptr && slice->event == sim::SliceEvent::kCreated && slice->at > Instant();
  });
}

TEST(Rebuild, AnEngineRebuiltFromItsEventsContinuesWithTheSameBytes) {
  for (const Micros planning : {Micros(), Micros(2'500'000), Micros::seconds(7)}) {
    const Scenario scenario = swinging(planning);
    for (const char* name : {"fixed", "static-even", "ekya", "astraea", "berth"}) {
      SCOPED_TRACE(::testing::Message() << name << ", planning " << planning.to_seconds() << " s");
      const policy::Policy& row = policy::policy_named(name);
      int rebuilt = 0;
      const auto straight = journal_of(scenario, row, 0, rebuilt);
      EXPECT_EQ(moves(straight), row.knowledge == policy::Knowledge::kObserved);
      for (const std::uint64_t every : {5, 40}) {
        rebuilt = 0;
        EXPECT_TRUE(journal_of(scenario, row, every, rebuilt) == straight);
        EXPECT_GT(rebuilt, 0);
      }
    }
  }
}

}  // namespace
}  // namespace berth::study
