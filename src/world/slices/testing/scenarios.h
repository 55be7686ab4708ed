/// Small scenarios and the actions of plans, shared by the tests of the wings from `world` on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "base/core/overloaded.h"
#include "domain/mig/catalogue.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "world/slices/slice_records.h"

namespace berth::world::testing {

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

inline Action create(const Slice& slice) { return {.what = CreateSlice{slice}, .reason = {}}; }
inline Action destroy(const Slice& slice) { return {.what = DestroySlice{slice}, .reason = {}}; }
inline Action assign(Holding holding, std::optional<PointChoice> point = std::nullopt) {
  return {.what = AssignSlice{.holding = std::move(holding), .point = point}, .reason = {}};
}

inline Action numbered(Action action, std::uint64_t number) {
  action.number = number;
  return action;
}

inline std::string shown(const SliceRecord& slice) {
  constexpr const char* kNames[] = {"created", "destroyed",          "lost",           "draining",
                                    "serving", "retraining_started", "retraining_done"};
  std::string text = std::to_string(slice.at.micros()) + " " + kNames[static_cast<int>(slice.event)] + " " +
                     std::to_string(slice.slice.gpu.index) + ":" + profile_name(a100(), slice.slice.profile) + "@" +
                     std::to_string(slice.slice.start);
  for (const ServiceId service : slice.services) text += " s" + std::to_string(service.index);
  if (slice.role == Role::kRetraining) text += " retraining";
  return text;
}
inline std::string shown(const PointRecord& point) {
  std::string text = std::to_string(point.at.micros()) + " point " + std::to_string(point.slice.gpu.index) + ":" +
                     profile_name(a100(), point.slice.profile) + "@" + std::to_string(point.slice.start);
  if (point.point) text += " batch " + std::to_string(point.point->batch);
  return text;
}

}  // namespace berth::world::testing
