#include "serving/dispatch/device_state.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/core/ensure.h"

namespace berth::serving {
namespace {

RowCount rows_of(std::span<const Request> requests) {
  return std::accumulate(requests.begin(), requests.end(), RowCount(0),
                         [](RowCount sum, const Request& request) { return sum + request.rows; });
}

bool may_expire_early(const Request& request) { return request.priority != 1 || request.rows != 1; }

bool is_sooner(const Request& a, const Request& b, QueueOrder order) {
  if (order == QueueOrder::kArrival) return a.number < b.number;
  return std::tuple(a.urgency(), a.number) < std::tuple(b.urgency(), b.number);
}

}  // namespace

DeviceState::DeviceState(std::vector<ModelTerms> models, std::int64_t memory, int lanes, QueueOrder order)
    : lanes_(static_cast<std::size_t>(lanes)), memory_(memory), lanes_free_(lanes), order_(order) {
  ENSURE(!models.empty() && lanes > 0);
  models_.reserve(models.size());
  for (ModelTerms& terms : models) {
    ENSURE(terms.bytes >= 0 && terms.bytes <= memory);
    models_.push_back({.terms = std::move(terms)});
  }
}

bool ServedModel::is_idle() const {
  return batches_running == 0 && std::ranges::none_of(queue, [&](const Request& request) { return accepts(request); });
}

void DeviceState::place(ModelIndex index) {
  ServedModel& model = at(index);
  ENSURE(model.residency == Residency::kCold && model.terms.bytes <= bytes_free());
  bytes_reserved_ += model.terms.bytes;
  model.residency = Residency::kResident;
}

void DeviceState::enqueue(const Request& request) {
  ServedModel& model = at(request.model);
  ENSURE(request.rows >= 1 && request.rows <= model.terms.latency.rows_max());
  const auto place = std::ranges::upper_bound(
      model.queue, request, [&](const Request& a, const Request& b) { return is_sooner(a, b, order_); });
  model.queue.insert(place, request);
  model.rows_waiting += request.rows;
  if (may_expire_early(request)) ++model.waiting_out_of_order;
}

void DeviceState::count_taken(ServedModel& model, std::span<const Request> taken) {
  model.rows_waiting -= rows_of(taken);
  model.waiting_out_of_order -= static_cast<int>(std::ranges::count_if(taken, may_expire_early));
}

std::vector<Request> DeviceState::take(ModelIndex index, std::span<const std::size_t> positions) {
  ServedModel& model = at(index);
  std::vector<Request> taken;
  taken.reserve(positions.size());
  for (const std::size_t position : positions) taken.push_back(model.queue[position]);
  for (auto position = positions.rbegin(); position != positions.rend(); ++position) {
    model.queue.erase(model.queue.begin() + static_cast<std::ptrdiff_t>(*position));
  }
  count_taken(model, taken);
  return taken;
}

std::vector<Request> DeviceState::take_front(ModelIndex index, std::size_t count) {
  ServedModel& model = at(index);
  const auto end = model.queue.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<Request> taken(model.queue.begin(), end);
  model.queue.erase(model.queue.begin(), end);
  count_taken(model, taken);
  return taken;
}

void DeviceState::start_batch(LaneIndex lane, ModelIndex index, std::vector<Request> requests, Instant now) {
  ServedModel& model = at(index);
  auto& place = lanes_[static_cast<std::size_t>(lane)];
  const RowCount rows = rows_of(requests);
  ENSURE(!place && model.residency == Residency::kResident);
  ENSURE(rows >= 1 && rows <= model.terms.latency.rows_max());
  place = RunningBatch{.model = index,
                       .requests = std::move(requests),
                       .rows = rows,
                       .start = now,
                       .end = now + model.terms.latency.at(rows)};
  ++model.batches_running;
  --lanes_free_;
}

RunningBatch DeviceState::end_batch(LaneIndex lane, Instant now) {
  auto& place = lanes_[static_cast<std::size_t>(lane)];
  ENSURE(place.has_value());
  RunningBatch batch = std::move(*place);
  place.reset();
  ++lanes_free_;
  ServedModel& model = at(batch.model);
  --model.batches_running;
  model.last_end = now;
  return batch;
}

void DeviceState::start_load(ModelIndex index, Instant now) {
  ServedModel& model = at(index);
  ENSURE(!load_ && model.residency == Residency::kCold && model.terms.bytes <= bytes_free());
  bytes_reserved_ += model.terms.bytes;
  model.residency = Residency::kLoading;
  load_ = RunningLoad{.model = index, .end = now + model.terms.load};
}

ModelIndex DeviceState::end_load() {
  ENSURE(load_.has_value());
  const ModelIndex index = load_->model;
  at(index).residency = Residency::kResident;
  load_.reset();
  return index;
}

void DeviceState::let_leave(ModelIndex index, std::int64_t from_number) {
  ServedModel& model = at(index);
  ENSURE(model.residency == Residency::kResident);
  if (!model.leaves_before) model.leaves_before = from_number;
}

void DeviceState::evict(ModelIndex index) {
  ServedModel& model = at(index);
  ENSURE(model.residency == Residency::kResident && model.batches_running == 0);
  model.residency = Residency::kCold;
  model.leaves_before.reset();
  bytes_reserved_ -= model.terms.bytes;
}

}  // namespace berth::serving
