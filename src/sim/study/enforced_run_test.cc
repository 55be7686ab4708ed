// Runs in which the engine chooses the GPU models of its services, and sees only some of their rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "domain/mig/catalogue.h"
#include "engine/policy/registry.h"
#include "sim/study/testing/policy_run.h"
#include "sim/study/testing/renewed_run.h"

namespace berth::study {
namespace {

using testing::Renewal;
using testing::RenewedRun;
using testing::run_renewed;

PerformancePoint whole_gpu(const char* gpu, std::int64_t latency_ms) {
  return {.gpu = gpu,
          .profile = "full",
          .batch = 4,
          .processes = 1,
          .requests_per_second = Decimal(4000, latency_ms),
          .latency_ms = Decimal(latency_ms)};
}

/// Three T4 and two A30; b needs 40 ms, which it has on the A30 only. Only rows of the T4 are known.
Scenario two_models(std::int64_t seconds) {
  Scenario scenario;
  scenario.fleet = {{.model = *mig::find_gpu_model("T4"), .count = 3, .usd_per_gpu_hour = Decimal(1, 2)},
                    {.model = *mig::find_gpu_model("A30"), .count = 2, .usd_per_gpu_hour = Decimal(1)}};
  scenario.history_seconds = 0;
  scenario.window_seconds = 40;
  for (const char* name : {"a", "b"}) {
    ServiceSpec service;
    service.name = service.tenant = name;
    service.target_ms = Decimal(name[0] == 'a' ? 200 : 40);
    service.target = Micros(name[0] == 'a' ? 200'000 : 40'000);
    service.arrivals = testing::generated(Generator::Kind::kBursty, Decimal(60), seconds);
    service.start = Micros::seconds(1);
    service.table = {.model = name, .points = {whole_gpu("A30-24GB", 15), whole_gpu("T4-16GB", 30)}};
    service.tier.is_auto = true;
    service.tier.known_on = {"T4-16GB"};
    scenario.services.push_back(service);
  }
  return scenario;
}

/// Whether each slice that a service gets is on the model chosen for it before.
void expect_chosen_models(const Scenario& scenario, const std::vector<sim::JournalRecord>& journal) {
  std::vector<std::string> chosen(scenario.services.size());
  int slices = 0;
  for (const sim::JournalRecord& record : journal) {
    if (const auto* tier = std::get_if<sim::TierRecord>(&record); tier != nullptr && tier->measured_gpu.empty()) {
      chosen[tier->service.index] = tier->choice.gpu;
    }
    const auto* slice = std::get_if<world::SliceRecord>(&record);
    if (slice == nullptr || slice->event != world::SliceEvent::kServing) continue;
    for (const ServiceId service : slice->services) {
      EXPECT_EQ(scenario.model_of(slice->slice.gpu).name, chosen[service.index]) << slice->at.micros();
      ++slices;
    }
  }
  EXPECT_GT(slices, 0);
}

int count_measured(const std::vector<sim::JournalRecord>& journal) {
  return static_cast<int>(std::ranges::count_if(journal, [](const sim::JournalRecord& record) {
    const auto* tier = std::get_if<sim::TierRecord>(&record);
    return tier != nullptr && !tier->measured_gpu.empty();
  }));
}

TEST(EnforcedRun, ServicesAreServedOnTheModelsChosen) {
  const Scenario scenario = two_models(300);
  for (const char* policy : {"berth", "clairvoyant"}) {
    const testing::Ran ran = testing::run_policy(scenario, policy);
    ASSERT_FALSE(ran.result.infeasible) << *ran.result.infeasible;
    expect_chosen_models(scenario, ran.journal);
    EXPECT_EQ(count_measured(ran.journal), 1) << policy;  // of b on the A30
    EXPECT_TRUE(ran.result.notes.empty()) << ran.result.notes.front();
    EXPECT_GT(ran.result.figures.goodput.value_or(0), 0.9) << policy;
  }
}

TEST(EnforcedRun, BothFidelitiesMeasure) {
  Scenario scenario = two_models(300);
  scenario.fidelity = Fidelity::kRates;
  for (ServiceSpec& service : scenario.services) service.arrivals.scale = Decimal(1);
  EXPECT_EQ(count_measured(testing::run_policy(scenario, "berth").journal), 1);
}

TEST(EnforcedRun, RivalsSeeEverythingAndAreServedOnPinnedModels) {
  Scenario scenario = two_models(60);
  const testing::Ran free = testing::run_policy(scenario, "static-even");
  EXPECT_EQ(std::ranges::count_if(free.journal,
                                  [](const auto& record) {
                                    const auto* tier = std::get_if<sim::TierRecord>(&record);
                                    return tier != nullptr && tier->measured_gpu.empty();
                                  }),
            0);
  EXPECT_FALSE(free.result.ignores.empty());
  for (ServiceSpec& service : scenario.services) service.tier = {.is_auto = false, .gpu = "A30-24GB"};
  const testing::Ran pinned = testing::run_policy(scenario, "static-even");
  for (const sim::JournalRecord& record : pinned.journal) {
    const auto* slice = std::get_if<world::SliceRecord>(&record);
    if (slice == nullptr || slice->event != world::SliceEvent::kServing) continue;
    EXPECT_EQ(scenario.model_of(slice->slice.gpu).name, "A30-24GB");
  }
}

TEST(EnforcedRun, ARenewedEngineChoosesTheSame) {
  const Scenario scenario = two_models(150);
  const policy::Policy& row = policy::policy_named("berth");
  const RenewedRun straight = run_renewed(scenario, row, Renewal::kNever, 1);
  EXPECT_TRUE(straight.is_feasible);
  EXPECT_GT(count_measured(straight.journal), 0);
  for (const Renewal renewal : {Renewal::kRebuilt, Renewal::kRestored}) {
    const RenewedRun other = run_renewed(scenario, row, renewal, 7);
    EXPECT_GT(other.renewed, 0);
    EXPECT_EQ(other.journal, straight.journal);
  }
}

}  // namespace
}  // namespace berth::study
