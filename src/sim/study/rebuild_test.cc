// What the engine and its stages remember follows from the events alone, and can be saved: an engine that is discarded
// in the middle of a run, and rebuilt from its events without solving or restored from its memory, continues with the
// same bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <variant>
#include <vector>

#include "base/core/test_cases.h"
#include "engine/policy/registry.h"
#include "sim/study/testing/policy_run.h"
#include "sim/study/testing/renewed_run.h"

namespace berth::study {
namespace {

using testing::holding_of;
using testing::Renewal;
using testing::RenewedRun;
using testing::run_renewed;
using testing::slice_at;

/// Two services whose loads swing and which retrain, on slices (the file's layout is for `fixed`) or on whole GPUs.
Scenario swinging(Micros planning, bool is_whole) {
  std::vector<ServiceSpec> services;
  for (const char* name : {"a", "b"}) {
    ServiceSpec service = testing::service_of(
        name, {{.profile = is_whole ? "full" : "1g.10gb", .batch = 8, .processes = 3, .latency_ms = 20}},
        testing::generated(name[0] == 'a' ? Generator::Kind::kBursty : Generator::Kind::kDiurnal, Decimal(700), 90));
    service.start = Micros::seconds(1);
    Retraining retraining;
    retraining.every = Micros::seconds(name[0] == 'a' ? 30 : 45);
    retraining.time_on = {
        {0, Micros::seconds(5)}, {1, Micros::seconds(12)}, {2, Micros::seconds(8)}, {3, Micros::seconds(5)}};
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

/// Whether slices are created after second 0: else there is little to remember.
bool moves(const std::vector<sim::JournalRecord>& journal) {
  return std::ranges::any_of(journal, [](const sim::JournalRecord& record) {
    const auto* slice = std::get_if<world::SliceRecord>(&record);
    return slice != nullptr && slice->event == world::SliceEvent::kCreated && slice->at > Instant();
  });
}

void expect_same_bytes(Renewal renewal, const std::vector<std::uint64_t>& often) {
  const std::vector<Micros> all = {Micros(2'500'000), Micros(), Micros::seconds(7)};
  for (const Micros planning : all | std::views::take(berth::testing::by_build(3, 1))) {
    for (const policy::Policy& row : policy::policies()) {
      if (row.is_hindsight()) continue;
      const Scenario scenario = swinging(planning, row.name == "shared");
      SCOPED_TRACE(::testing::Message() << row.name << ", planning " << planning.to_seconds() << " s");
      const RenewedRun straight = run_renewed(scenario, row, Renewal::kNever, 1);
      EXPECT_TRUE(straight.is_feasible);
      EXPECT_EQ(moves(straight.journal), row.knowledge == policy::Knowledge::kObserved);
      int renewed = 0;
      for (const std::uint64_t every : often) {
        const RenewedRun other = run_renewed(scenario, row, renewal, every);
        EXPECT_TRUE(other.journal == straight.journal);
        renewed += other.renewed;
      }
      EXPECT_GT(renewed, 0);
    }
  }
}

TEST(Rebuild, AnEngineRebuiltFromItsEventsContinuesWithTheSameBytes) { expect_same_bytes(Renewal::kRebuilt, {5, 40}); }

TEST(Rebuild, AnEngineRestoredFromItsMemoryContinuesWithTheSameBytes) { expect_same_bytes(Renewal::kRestored, {1, 2}); }

}  // namespace
}  // namespace berth::study
