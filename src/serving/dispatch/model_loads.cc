#include "serving/dispatch/model_loads.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "serving/dispatch/victims.h"
#include "serving/dispatch/warm_demand.h"

namespace berth::serving {
namespace {

/// Whether busy models should leave for this one: it was asked for, or its most urgent request has waited for half of
/// its target.
bool presses(const ServedModel& model, Instant now) {
  if (model.load_asked_at) return true;
  if (model.queue.empty()) return false;
  const Request& most_urgent = model.queue.front();
  return now - most_urgent.arrival >= Micros(most_urgent.target.count() / 2);
}

/// What models that should be loaded are ordered by: first those that were asked for, then by their most urgent
/// request. Requires: the model needs a load.
std::tuple<bool, Instant, std::int64_t> urgency_of_load(const ServedModel& model) {
  if (model.load_asked_at) return {false, *model.load_asked_at, 0};
  return {true, model.queue.front().urgency(), model.queue.front().number};
}

bool is_leaving(const ServedModel& model) {
  return !model.is_stuck && (model.leaves_before.has_value() || !model.is_offered);
}

std::int64_t bytes_leaving(const DeviceState& device) {
  std::int64_t bytes = 0;
  for (const ServedModel& model : device.models()) {
    if (model.residency == Residency::kResident && is_leaving(model)) bytes += model.bytes_reserved;
  }
  return bytes;
}

/// How long the model's requests take from now on, if more urgent ones do not come between.
Micros time_until_idle(const DeviceState& device, ModelIndex index, Instant now) {
  Instant end = now;
  for (const auto& batch : device.lanes()) {
    if (batch && batch->model == index) end = std::max(end, batch->end);
  }
  const ServedModel& model = device.model(index);
  if (model.queue.empty()) return end - now;
  const RowCount rows = std::min(model.rows_waiting, model.terms.latency.rows_max());
  return std::max(end, device.lane_free_at(now) + model.terms.latency.at(rows)) - now;
}

/// Seconds of waiting that the models would have saved.
double wait_lost(const ModelValues& values, const std::vector<ModelIndex>& victims) {
  double lost = 0;
  for (const ModelIndex victim : victims) {
    lost += values.warm->wait_saved(victim, values.device.model(victim).terms, values.now);
  }
  return lost;
}

}  // namespace

bool ModelLoads::is_better_later(const ModelValues& values, std::int64_t bytes, const std::vector<ModelIndex>& order,
                                 const std::vector<ModelIndex>& victims) {
  const auto later = victims_of(values.device, bytes, order, values.now, VictimsAre::kIdleAtLast);
  if (!later || *later == victims) return false;
  Micros delay;
  for (const ModelIndex victim : *later) delay = std::max(delay, time_until_idle(values.device, victim, values.now));
  return wait_lost(values, victims) - wait_lost(values, *later) > delay.to_seconds();
}

double load_value(const ServedModel& model, const ModelDemand& demand, Instant now) {
  const double load = demand.requests_per_second(now) * model.terms.load.to_seconds();
  return model.terms.bytes > 0 ? load / static_cast<double>(model.terms.bytes) : std::numeric_limits<double>::max();
}

double ModelValues::of(ModelIndex index) const {
  const ServedModel& model = device.model(index);
  if (warm == nullptr) return load_value(model, demand[static_cast<std::size_t>(index)], now);
  return warm->value(index, model.terms, now);
}

std::vector<ModelIndex> ModelLoads::victim_order(const ModelValues& values) const {
  struct Candidate {
    ModelIndex index;
    bool stays = true;
    double value = 0;
    std::optional<Instant> last_end;
  };
  std::vector<Candidate> candidates;
  for (const ModelIndex index : Indices<ModelIndex>(values.device.models().size())) {
    const ServedModel& model = values.device.model(index);
    if (model.residency != Residency::kResident) continue;
    const double value = rule_ == EvictionRule::kLru ? 0 : values.of(index);
    candidates.push_back({.index = index, .stays = !model.leaves_before, .value = value, .last_end = model.last_end});
  }
  std::ranges::sort(candidates, {}, [](const Candidate& candidate) {
    return std::tuple(candidate.stays, candidate.value, candidate.last_end, candidate.index);
  });
  std::vector<ModelIndex> order;
  order.reserve(candidates.size());
  for (const Candidate& candidate : candidates) order.push_back(candidate.index);
  return order;
}

std::optional<ModelIndex> ModelLoads::next_load(const ModelValues& values) const {
  const DeviceState& device = values.device;
  const Instant now = values.now;
  std::optional<ModelIndex> urgent;
  for (const ModelIndex index : device.pending()) {
    const ServedModel& model = device.model(index);
    if (!model.needs_load() || !device.may_load(index, now)) continue;
    if (!urgent || urgency_of_load(model) < urgency_of_load(device.model(*urgent))) urgent = index;
  }
  if (urgent) return urgent;
  std::optional<ModelIndex> wanted;
  double wanted_value = -1;
  for (const ModelIndex index : wanted_) {
    const ServedModel& model = device.model(index);
    if (!model.is_offered || !device.may_load(index, now)) continue;
    const double value = values.of(index);
    if (value > wanted_value) std::tie(wanted, wanted_value) = std::tuple(index, value);
  }
  return wanted;
}

LoadDecision ModelLoads::choose(const ModelValues& values) const {
  const DeviceState& device = values.device;
  const Instant now = values.now;
  LoadDecision decision;
  if (device.load()) return decision;
  const auto next = next_load(values);
  if (!next) return decision;
  const ServedModel& model = device.model(*next);
  const bool is_asked_for = model.needs_load();
  std::vector<ModelIndex> order = victim_order(values);
  if (!is_asked_for) {  // nobody waits for it: only less valuable models make room
    const double value = values.of(*next);
    std::erase_if(order, [&](ModelIndex index) { return values.of(index) >= value; });
  }
  if (auto victims = victims_of(device, model.bytes_to_load(), order, now)) {
    const bool may_wait = values.warm != nullptr && is_asked_for && !presses(model, now);
    if (may_wait && is_better_later(values, model.bytes_to_load(), order, *victims)) return decision;
    decision.victims = std::move(*victims);
    decision.load = next;
    return decision;
  }
  if (!is_asked_for || !presses(model, now)) return decision;
  std::int64_t missing = model.bytes_to_load() - device.bytes_free() - bytes_leaving(device);
  for (const ModelIndex index : order) {
    if (missing <= 0) break;
    const ServedModel& other = device.model(index);
    if (is_leaving(other) || !other.may_leave(now)) continue;
    decision.leaving.push_back(index);
    missing -= other.bytes_reserved;
  }
  return decision;
}

}  // namespace berth::serving
