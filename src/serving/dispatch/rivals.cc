#include "serving/dispatch/rivals.h"

#include <algorithm>
#include <tuple>

#include "serving/dispatch/victims.h"

namespace berth::serving {
namespace {

/// Whether the oldest request of `a` is older.
bool is_older(const ServedModel& a, const ServedModel* b) {
  return b == nullptr || a.queue.front().number < b->queue.front().number;
}

/// What loads are ordered by. Requires: the model needs one.
std::tuple<bool, std::int64_t> load_rank(const ServedModel& model) {
  if (model.load_asked_at) return {false, model.load_asked_at->micros()};
  return {true, model.queue.front().number};
}

}  // namespace

std::size_t count_within(const ServedModel& model, RowCount rows) {
  const std::uint64_t shape = model.queue.front().shape;
  std::size_t count = 0;
  for (const Request& request : model.queue) {
    rows -= request.rows;
    if (count > 0 && (rows < 0 || request.shape != shape)) break;
    ++count;
  }
  return count;
}

RowCount RivalPolicy::rows_max(const DeviceState& device, ModelIndex model) const {
  const RowCount rows_max = device.model(model).terms.latency.rows_max();
  return kind_ == RivalKind::kAimd ? std::min(caps_[static_cast<std::size_t>(model)], rows_max) : rows_max;
}

bool RivalPolicy::may_run(const ServedModel& model, Instant now) const {
  if (model.residency != Residency::kResident || model.queue.empty()) return false;
  if (kind_ != RivalKind::kDelay) return true;
  return model.rows_waiting >= model.terms.latency.rows_max() || now - model.queue.front().arrival >= delay_;
}

std::optional<BatchChoice> RivalPolicy::choose_batch(const DeviceState& device, Instant now) const {
  const ServedModel* oldest = nullptr;
  for (const ModelIndex index : device.pending()) {
    const ServedModel& model = device.model(index);
    if (may_run(model, now) && is_older(model, oldest)) oldest = &model;
  }
  if (oldest == nullptr) return std::nullopt;
  const ModelIndex index(oldest - device.models().data());
  return BatchChoice{.model = index, .count = count_within(*oldest, rows_max(device, index))};
}

std::optional<LoadChoice> RivalPolicy::choose_load(const DeviceState& device, Instant now) {
  std::optional<ModelIndex> first;
  for (const ModelIndex index : device.pending()) {
    if (!device.model(index).needs_load() || !device.may_load(index, now)) continue;
    if (!first || load_rank(device.model(index)) < load_rank(device.model(*first))) first = index;
  }
  if (!first) return std::nullopt;
  auto victims = least_recent_victims(device, device.model(*first).bytes_to_load(), now);
  if (!victims) return std::nullopt;
  return LoadChoice{.model = *first, .victims = std::move(*victims)};
}

void RivalPolicy::learn(const RunningBatch& batch, RowCount rows_max, Instant now) {
  if (kind_ != RivalKind::kAimd) return;
  RowCount& cap = caps_[static_cast<std::size_t>(batch.model)];
  const bool has_late = std::ranges::any_of(batch.requests, [&](const Request& r) { return now > r.deadline(); });
  if (has_late) {
    cap = std::max(cap * 9 / 10, 1);
  } else if (static_cast<RowCount>(batch.requests.size()) == cap) {
    cap = std::min(cap + 1, rows_max);
  }
}

Instant RivalPolicy::wake_at(const DeviceState& device, Instant now) const {
  Instant wake = Instant::never();
  if (kind_ != RivalKind::kDelay) return wake;
  for (const ModelIndex index : device.pending()) {
    const ServedModel& model = device.model(index);
    if (model.queue.empty()) continue;
    const Instant due = model.queue.front().arrival + delay_;
    if (due > now) wake = std::min(wake, due);
  }
  return wake;
}

}  // namespace berth::serving
