/// Small scenarios, runs and a recount of journals, shared by the tests and benchmarks of the simulator and of the
/// modules above it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/ensure.h"
#include "base/core/instant.h"
#include "base/core/overloaded.h"
#include "base/core/test_cases.h"
#include "domain/mig/catalogue.h"
#include "engine/loop/stages.h"
#include "engine/rivals/layout.h"
#include "sim/world/journal.h"

namespace berth::sim::testing {

using berth::testing::kIsSlowBuild;

inline const GpuModel& a100() {
  static const GpuModel model = *mig::find_gpu_model("A100-80GB");
  return model;
}

inline Instant at_ms(std::int64_t ms) { return Instant(ms * 1000); }

/// A slice of an A100-80GB: "2g.20gb" or "full" at a start.
inline Slice slice_at(std::uint32_t gpu, std::string_view profile, int start) {
  return {.gpu = {gpu}, .start = start, .profile = *mig::find_profile(a100(), profile)};
}

/// One measured row; requests_per_second follows from batch, processes and latency.
struct Row {
  std::string profile = "1g.10gb";
  int batch = 1;
  int processes = 1;
  std::int64_t latency_ms = 10;
};

inline PerformanceTable table_of(const std::vector<Row>& rows) {
  PerformanceTable table{.model = "m", .points = {}};
  for (const Row& row : rows) {
    table.points.push_back(
        {.gpu = a100().name,
         .profile = row.profile,
         .batch = row.batch,
         .processes = row.processes,
         .requests_per_second = Decimal(std::int64_t{1000} * row.batch * row.processes, row.latency_ms),
         .latency_ms = Decimal(row.latency_ms)});
  }
  return table;
}

inline Arrivals requests_at(const std::vector<std::int64_t>& at_us, std::int64_t seconds) {
  TimedTrace trace;
  for (const std::int64_t at : at_us) trace.requests.push_back({.at_us = at});
  trace.seconds = seconds;
  return {.source = std::move(trace), .seconds = seconds};
}

inline Arrivals generated(Generator::Kind kind, const Decimal& per_second, std::int64_t seconds) {
  return {.source = Generator{.kind = kind, .requests_per_second = per_second}, .seconds = seconds};
}

inline Arrivals counted(std::vector<std::uint32_t> counts) {
  const auto seconds = static_cast<std::int64_t>(counts.size());
  return {.source = CountTrace{std::move(counts)}, .seconds = seconds};
}

/// Target 100 ms, any measured point may be used, starting takes 5 s.
inline ServiceSpec service_of(std::string name, const std::vector<Row>& rows, Arrivals arrivals) {
  ServiceSpec service;
  service.name = service.tenant = std::move(name);
  service.target = Micros(100'000);
  service.target_ms = Decimal(100);
  service.batching = {.slo_factor = Decimal(1'000'000), .processes_max = 1000};
  service.table = table_of(rows);
  service.arrivals = std::move(arrivals);
  return service;
}

inline void set_target_ms(ServiceSpec& service, std::int64_t target_ms) {
  service.target = Micros(target_ms * 1000);
  service.target_ms = Decimal(target_ms);
}

inline Holding holding_of(const Slice& slice, const std::vector<std::uint32_t>& services,
                          Role role = Role::kInference) {
  Holding holding{.slice = slice, .role = role, .services = {}};
  for (const std::uint32_t service : services) holding.services.push_back({service});
  return holding;
}

inline Scenario scenario_of(std::vector<ServiceSpec> services, std::vector<Holding> layout,
                            std::int64_t gpu_count = 1) {
  Scenario scenario;
  scenario.name = "test";
  scenario.fleet = {{.model = a100(), .count = gpu_count, .usd_per_gpu_hour = Decimal(3600)}};
  scenario.services = std::move(services);
  scenario.layout = std::move(layout);
  return scenario;
}

inline std::vector<Stage> fixed_stages(const Scenario& scenario) {
  return {first_layout_stage("fixed", [&scenario](const Snapshot&) { return partition::fixed_layout(scenario); })};
}

inline Action create(const Slice& slice) { return {.what = CreateSlice{slice}, .reason = {}}; }
inline Action destroy(const Slice& slice) { return {.what = DestroySlice{slice}, .reason = {}}; }
inline Action assign(Holding holding, std::optional<PointChoice> point = std::nullopt) {
  return {.what = AssignSlice{.holding = std::move(holding), .point = point}, .reason = {}};
}

inline Action numbered(Action action, std::uint64_t number) {
  action.number = number;
  return action;
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
  std::string text;
  std::visit(
      Overloaded{[&](const world::SliceRecord& slice) {
                   constexpr const char* kNames[] = {"created", "destroyed",          "lost",           "draining",
                                                     "serving", "retraining_started", "retraining_done"};
                   text = std::to_string(slice.at.micros()) + " " + kNames[static_cast<int>(slice.event)] + " " +
                          std::to_string(slice.slice.gpu.index) + ":" + profile_name(a100(), slice.slice.profile) +
                          "@" + std::to_string(slice.slice.start);
                   for (const ServiceId service : slice.services) text += " s" + std::to_string(service.index);
                   if (slice.role == Role::kRetraining) text += " retraining";
                 },
                 [&](const SecondRecord& second) {
                   text = std::to_string(second.at.micros()) + " second";
                   for (const std::int64_t number :
                        {std::int64_t{second.service.index}, second.second, second.requests, second.in_time,
                         second.late, second.dropped, second.unfinished, second.accuracy_sum_micro}) {
                     text += " " + std::to_string(number);
                   }
                 },
                 [&](const GpuRecord& gpu) {
                   text = std::to_string(gpu.at.micros()) + (gpu.is_on ? " gpu_on " : " gpu_off ") +
                          std::to_string(gpu.gpu.index);
                 },
                 [&](const world::PointRecord& point) {
                   text = std::to_string(point.at.micros()) + " point " + std::to_string(point.slice.gpu.index) + ":" +
                          profile_name(a100(), point.slice.profile) + "@" + std::to_string(point.slice.start);
                   if (point.point) text += " batch " + std::to_string(point.point->batch);
                 }},
      record);
  return text;
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
  std::map<GpuId, std::vector<std::pair<Instant, int>>> steps;  // slices more or less
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
    std::visit(Overloaded{take_slice, take_second, [](const GpuRecord&) {}, [](const world::PointRecord&) {}}, record);
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
