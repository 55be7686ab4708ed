/// Runs and a recount of journals, shared by the tests and benchmarks of the simulator and of the modules above it,
/// with the small scenarios of world/slices/testing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/ensure.h"
#include "base/core/instant.h"
#include "base/core/overloaded.h"
#include "base/core/test_cases.h"
#include "engine/loop/stages.h"
#include "engine/rivals/layout.h"
#include "sim/world/journal.h"
#include "world/slices/testing/scenarios.h"

namespace berth::sim::testing {

using berth::testing::kIsSlowBuild;
using world::testing::a100;
using world::testing::assign;
using world::testing::at_ms;
using world::testing::counted;
using world::testing::create;
using world::testing::destroy;
using world::testing::generated;
using world::testing::holding_of;
using world::testing::numbered;
using world::testing::requests_at;
using world::testing::Row;
using world::testing::scenario_of;
using world::testing::service_of;
using world::testing::set_target_ms;
using world::testing::shown;
using world::testing::slice_at;
using world::testing::table_of;

inline std::vector<Stage> fixed_stages(const Scenario& scenario) {
  return {first_layout_stage("fixed", [&scenario](const Snapshot&) { return partition::fixed_layout(scenario); })};
}

/// A stage that plays a script: it requests the actions listed for a second in the first step at or after it.
inline Stage scripted(std::map<std::int64_t, std::vector<Action>> script) {
  auto left = std::make_shared<std::map<std::int64_t, std::vector<Action>>>(std::move(script));
  return deciding_stage("script", [left](const Snapshot& snapshot, Plan& plan) -> std::optional<std::string> {
    if (snapshot.slices.empty() || left->empty()) return std::nullopt;
    if (snapshot.now < Instant::at_second(left->begin()->first)) return std::nullopt;
    for (const Action& action : left->begin()->second) plan.actions.push_back(action);
    left->erase(left->begin());
    return std::nullopt;
  });
}

inline std::string shown(const JournalRecord& record) {
  return std::visit(
      Overloaded{[](const world::SliceRecord& slice) { return shown(slice); },
                 [](const SecondRecord& second) {
                   std::string text = std::to_string(second.at.micros()) + " second";
                   for (const std::int64_t number :
                        {std::int64_t{second.service.index}, second.second, second.requests, second.in_time,
                         second.late, second.dropped, second.unfinished, second.accuracy_sum_micro}) {
                     text += " " + std::to_string(number);
                   }
                   return text;
                 },
                 [](const GpuRecord& gpu) {
                   return std::to_string(gpu.at.micros()) + (gpu.is_on ? " gpu_on " : " gpu_off ") +
                          std::to_string(gpu.gpu.index);
                 },
                 [](const TierRecord& tier) {
                   return std::to_string(tier.at.micros()) + " tier " + std::to_string(tier.service.index) + " " +
                          (tier.measured_gpu.empty() ? tier.choice.gpu + " " + tier.choice.reason
                                                     : "measured " + tier.measured_gpu);
                 },
                 [](const WarmRecord& warm) {
                   return std::to_string(warm.at.micros()) + " warm " + std::to_string(warm.decision.service.index) +
                          " " + std::string(phase_name(warm.decision.phase)) + " " + warm.decision.reason;
                 },
                 [](const world::PointRecord& point) { return shown(point); }},
      record);
}

/// The journal's lines: slices only, or all.
inline std::vector<std::string> shown_slices(const std::vector<JournalRecord>& journal) {
  std::vector<std::string> lines;
  for (const JournalRecord& record : journal) {
    if (std::holds_alternative<world::SliceRecord>(record)) lines.push_back(shown(record));
  }
  return lines;
}
inline std::string shown(const std::vector<JournalRecord>& journal) {
  std::string text;
  for (const JournalRecord& record : journal) text += shown(record) + "\n";
  return text;
}

/// Counts from the journal alone, without the simulator's code.
struct Recount {
  struct Service : RequestCounts {
    std::int64_t accuracy_sum_micro = 0;
    std::int64_t changes = 0;
    friend bool operator==(const Service&, const Service&) = default;
  };
  std::vector<Service> services;
  std::int64_t changes = 0;
  std::int64_t gpu_us =
      0;  ///< GPUs that hold a slice, from the beginning of its creation to the end of its destruction
  bool is_in_order = true;
};

inline Recount recount(const std::vector<JournalRecord>& journal, const Scenario& scenario) {
  Recount count;
  count.services.resize(scenario.services.size());
  std::map<GpuId, std::vector<std::pair<Instant, int>>> steps;  // changes of the number of slices
  Instant now;
  const auto take_slice = [&](const world::SliceRecord& record) {
    const bool is_created = record.event == world::SliceEvent::kCreated;
    if (!is_created && record.event != world::SliceEvent::kDestroyed) return;
    const bool is_first_layout = is_created && record.at == Instant();
    const Instant at = is_created && !is_first_layout ? record.at - scenario.changes.create : record.at;
    steps[record.slice.gpu].emplace_back(at, is_created ? 1 : -1);
    if (is_first_layout) return;
    ++count.changes;
    for (const ServiceId service : record.services) ++count.services[service.index].changes;
  };
  const auto take_second = [&](const SecondRecord& record) {
    Recount::Service& service = count.services[record.service.index];
    service += record;
    service.accuracy_sum_micro += record.accuracy_sum_micro;
  };
  for (const JournalRecord& record : journal) {
    const Instant at = std::visit([](const auto& each) { return each.at; }, record);
    count.is_in_order = count.is_in_order && now <= at;
    now = at;
    std::visit(Overloaded{take_slice, take_second, [](const GpuRecord&) {}, [](const world::PointRecord&) {},
                          [](const TierRecord&) {}, [](const WarmRecord&) {}},
               record);
  }
  for (auto& [gpu, changes] : steps) {
    std::sort(changes.begin(), changes.end());
    int slices = 0;
    Instant since;
    for (const auto& [at, more] : changes) {
      if (slices > 0) count.gpu_us += (at - since).count();
      slices += more;
      since = at;
    }
    if (slices > 0) count.gpu_us += (Instant::at_second(scenario.simulated_seconds()) - since).count();
  }
  return count;
}

}  // namespace berth::sim::testing
