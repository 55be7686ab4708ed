#include "purchase/commit/demand.h"

#include <fmt/format.h>

#include "base/core/first_error.h"
#include "base/core/rows.h"

namespace berth::purchase {
namespace {

constexpr std::int64_t kSecondsPerHour = 3600;
constexpr std::int64_t kSecondsMax = kHoursMax * kSecondsPerHour;
constexpr std::int64_t kMilliPerGpu = 1000;
constexpr std::int64_t kGpusPerPodMax = 1'000'000;

/// The first hour that begins at or after a second.
std::int64_t hour_from(std::int64_t second) { return (second + kSecondsPerHour - 1) / kSecondsPerHour; }

Result<HourlyDemand> checked(HourlyDemand demand, const Rows& rows) {
  if (demand.empty()) return rows.fail_file("wanted demand in at least one hour, found none");
  for (std::size_t hour = 0; hour < demand.size(); ++hour) {
    if (demand[hour] <= kUnitsMax) continue;
    return rows.fail_file(fmt::format("wanted at most {} units, found {} in hour {}", kUnitsMax, demand[hour], hour));
  }
  return demand;
}

}  // namespace

Result<HourlyDemand> read_demand_csv(std::string_view text, std::string_view file) {
  constexpr std::size_t kHour = 0;
  constexpr std::size_t kUnits = 1;
  Rows rows(text, file, NamedColumns{.required = {"hour", "units"}});
  if (Result<void> begun = rows.begin(); !begun) return pass_on(begun.error());
  HourlyDemand demand;
  for (Result<bool> more = rows.next();; more = rows.next()) {
    if (!more) return pass_on(more.error());
    if (!*more) return checked(std::move(demand), rows);
    const auto hour = rows.integer(kHour, 0, kHoursMax - 1);
    const auto units = rows.integer(kUnits, 0, kUnitsMax);
    if (!hour) return pass_on(hour.error());
    if (!units) return pass_on(units.error());
    const auto expected = static_cast<std::int64_t>(demand.size());
    if (*hour != expected)
      return rows.refuse(kHour, fmt::format("{}, as hours have no gaps and begin with 0", expected));
    demand.push_back(*units);
  }
}

Result<HourlyDemand> read_demand_pods(std::string_view text, std::string_view file) {
  enum Column : std::size_t { kGpus, kGpuMilli, kCreation, kDeletion };
  Rows rows(text, file, NamedColumns{.required = {"num_gpu", "gpu_milli", "creation_time", "deletion_time"}});
  if (Result<void> begun = rows.begin(); !begun) return pass_on(begun.error());
  std::vector<std::int64_t> changes(1);  // by hour, in thousandths of a GPU
  for (Result<bool> more = rows.next();; more = rows.next()) {
    if (!more) return pass_on(more.error());
    if (!*more) break;
    FirstError first;
    const std::int64_t gpus = first.take(rows.integer(kGpus, 0, kGpusPerPodMax));
    const std::int64_t milli = gpus * first.take(rows.integer(kGpuMilli, 0, kMilliPerGpu));
    const auto from = static_cast<std::size_t>(hour_from(first.take(rows.integer(kCreation, 0, kSecondsMax))));
    const auto to = static_cast<std::size_t>(hour_from(first.take(rows.integer(kDeletion, 0, kSecondsMax))));
    if (!first.is_clear()) return first.passed_on();
    if (to >= changes.size()) changes.resize(to + 1);
    if (from >= to) continue;
    changes[from] += milli;
    changes[to] -= milli;
  }
  HourlyDemand demand;
  demand.reserve(changes.size());
  std::int64_t milli = 0;
  for (std::size_t hour = 0; hour + 1 < changes.size(); ++hour) {
    milli += changes[hour];
    demand.push_back((milli + kMilliPerGpu - 1) / kMilliPerGpu);
  }
  return checked(std::move(demand), rows);
}

}  // namespace berth::purchase
