#include "serving/dispatch/admission.h"

#include <algorithm>
#include <tuple>

namespace berth::serving {
namespace {

/// Rows of a queue that are more urgent than the request. `shares` absent: of all tenants.
RowCount rows_ahead(const ServedModel& model, const Request& request, const LaneShares* shares) {
  const auto end =
      std::ranges::upper_bound(model.queue, std::tuple(request.urgency(), request.number), {},
                               [](const Request& other) { return std::tuple(other.urgency(), other.number); });
  if (shares == nullptr && end == model.queue.end()) return model.rows_waiting;  // the common case
  RowCount rows = 0;
  for (auto other = model.queue.begin(); other != end; ++other) {
    if (shares == nullptr || shares->is_within_share(other->tenant)) rows += other->rows;
  }
  return rows;
}

/// Loads one after the other: the running one, those of more urgent requests, and the model's own.
Micros time_until_resident(const DeviceState& device, const Request& request, Instant now) {
  const ServedModel& model = device.model(request.model);
  if (model.residency == Residency::kResident && model.accepts(request)) return Micros(0);
  Micros time = device.load() ? std::max(device.load()->end - now, Micros(0)) : Micros(0);
  if (model.residency == Residency::kLoading) return time;
  time = std::max(time, device.may_load_at(request.model, now) - now);
  for (const ModelIndex index : device.pending()) {
    const ServedModel& other = device.model(index);
    if (&other == &model || other.residency != Residency::kCold || other.queue.empty()) continue;
    if (other.queue.front().urgency() <= request.urgency()) time += other.terms.load;
  }
  return time + model.terms.load;
}

}  // namespace

ExpectedWait expected_wait(const DeviceState& device, const LaneShares& shares, const Request& request, Instant now) {
  const std::int64_t lanes = device.lanes_working();
  const LaneShares* within = shares.is_short() && shares.is_within_share(request.tenant) ? &shares : nullptr;
  const Micros batch_max(request.target.count() * lanes / (lanes + 1));
  std::int64_t ahead_us = 0;
  for (const ModelIndex index : device.pending()) {
    const ServedModel& model = device.model(index);
    if (model.queue.empty()) continue;
    const LatencyTable& latency = model.terms.latency;
    const RowCount rows_max = std::max(latency.rows_within(batch_max), 1);
    RowCount rows = rows_ahead(model, request, within);
    if (&model == &device.model(request.model)) rows -= rows % rows_max;  // the rest shares its batch
    ahead_us += latency.at(rows_max).count() * rows / rows_max;
  }
  return {.running = device.lane_free_at(now) - now,
          .ahead = Micros(ahead_us / lanes),
          .load = time_until_resident(device, request, now),
          .own_batch = device.model(request.model).terms.latency.at(request.rows)};
}

}  // namespace berth::serving
