#include "serving/server/server_reports.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace berth::serving {
namespace {

MemoryState memory_state(const ServedVersion& version, const ServedModel& model) {
  if (version.frees_left > 0) return MemoryState::kLeaving;
  switch (model.residency) {
    case Residency::kLoading:
      return MemoryState::kLoading;
    case Residency::kResident:
      return model.leaves_before || !model.is_offered ? MemoryState::kLeaving : MemoryState::kResident;
    case Residency::kCold:
      break;
  }
  return version.reason.empty() && model.is_offered ? MemoryState::kCold : MemoryState::kUnavailable;
}

std::optional<std::int64_t> measured_now(const ServedVersion& version, const ServedModel& model) {
  if (model.residency == Residency::kResident) return version.measured_bytes;
  if (model.residency == Residency::kCold && version.frees_left == 0) return 0;
  return std::nullopt;
}

ModelMemory model_memory(const ServerCore& core, ModelIndex index, Instant now) {
  const ServedVersion& version = core.versions()[static_cast<std::size_t>(index)];
  const ServedModel& model = core.dispatcher().device().model(index);
  ModelMemory memory{.name = version.model,
                     .version = version.statistics.version,
                     .variant = version.source.variant,
                     .state = memory_state(version, model),
                     .reserved_bytes = model.bytes_reserved,
                     .measured_bytes = measured_now(version, model),
                     .accepted = core.figures().accepted(index)};
  if (model.is_leased(now)) memory.lease_until_us = core.figures().wall_us(model.lease_until);
  if (memory.state != MemoryState::kUnavailable) memory.value = core.dispatcher().value_of(index, now);
  memory.load = version.load_time;
  if (core.has_preloads()) {
    memory.preloads = PreloadFigures{.counts = core.figures().counters(index).preloads,
                                     .chance = core.dispatcher().chance_of(index).value_or(0)};
  }
  return memory;
}

}  // namespace

MemoryFigures memory_of(const ServerCore& core, Instant now) {
  const DeviceState& device = core.dispatcher().device();
  MemoryFigures figures{.limit_bytes = device.memory(), .reserved_bytes = device.memory() - device.bytes_free()};
  const std::vector<ModelIndex> serving = core.serving_versions();
  std::vector<std::pair<std::string_view, ModelIndex>> shown;
  for (const ModelIndex index : Indices<ModelIndex>(core.versions().size())) {
    const bool is_in_memory = device.model(index).bytes_reserved > 0;
    if (!is_in_memory && std::ranges::find(serving, index) == serving.end()) continue;
    shown.emplace_back(core.versions()[static_cast<std::size_t>(index)].model, index);
  }
  std::ranges::sort(shown);
  for (const auto& [name, index] : shown) {
    figures.models.push_back(model_memory(core, index, now));
    figures.measured_bytes += figures.models.back().measured_bytes.value_or(0);
  }
  return figures;
}

std::vector<BatchTimes> times_of(const ServerCore& core) {
  // Versions are numbers: the longer text is the larger one.
  using Key = std::tuple<std::string, std::size_t, std::string, std::string, RowCount>;
  std::map<Key, BatchTimes> items;
  for (const ModelIndex index : Indices<ModelIndex>(core.versions().size())) {
    const ServedVersion& served = core.versions()[static_cast<std::size_t>(index)];
    const std::string& version = served.statistics.version;
    for (const auto& [rows, times] : core.figures().batch_times(index)) {
      BatchTimes& item = items[{served.model, version.size(), version, served.sha256, rows}];
      item.model = served.model;
      item.version = version;
      if (!served.sha256.empty()) item.sha256 = served.sha256;
      item.batch = rows;
      item.times.count += times.count;
      item.times.sum_us += times.sum_us;
      item.times.sum_squares += times.sum_squares;
    }
  }
  std::vector<BatchTimes> list;
  list.reserve(items.size());
  for (auto& [key, item] : items) list.push_back(std::move(item));
  return list;
}

CounterFigures counters_of(const ServerCore& core, Instant now) {
  const DeviceState& device = core.dispatcher().device();
  CounterFigures figures;
  figures.lanes = core.lanes_left();
  figures.lanes_busy =
      static_cast<int>(std::ranges::count_if(device.lanes(), [](const auto& lane) { return lane.has_value(); }));
  figures.lanes_lost = static_cast<int>(device.lanes().size()) - figures.lanes;
  figures.waiting = device.requests_waiting();
  figures.waiting_bytes = device.bytes_waiting();
  figures.memory = memory_of(core, now);
  figures.has_preloads = core.has_preloads();
  for (const ModelIndex index : core.serving_versions()) {
    ModelCounters counters = core.figures().counters(index);
    const ServedVersion& version = core.versions()[static_cast<std::size_t>(index)];
    counters.statistics = version.statistics;
    counters.reserved_bytes = device.model(index).bytes_reserved;
    counters.measured_bytes = measured_now(version, device.model(index));
    figures.models.push_back(std::move(counters));
  }
  for (ModelCounters& counters : core.figures().backend_counters()) figures.models.push_back(std::move(counters));
  return figures;
}

}  // namespace berth::serving
