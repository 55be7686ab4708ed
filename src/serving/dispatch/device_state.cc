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

DeviceState::DeviceState(std::int64_t memory, int lanes, QueueOrder order)
    : lanes_(static_cast<std::size_t>(lanes)),
      is_lost_(static_cast<std::size_t>(lanes)),
      memory_(memory),
      lanes_free_(lanes),
      lanes_working_(lanes),
      order_(order) {
  ENSURE(lanes > 0 && memory >= 0);
}

ModelIndex DeviceState::add_model(ModelTerms terms) {
  ENSURE(terms.bytes >= 0);
  const ModelIndex index(models_.size());
  models_.push_back({.terms = std::move(terms)});
  return index;
}

std::vector<Request> DeviceState::set_terms(ModelIndex index, ModelTerms terms) {
  ENSURE(terms.bytes >= 0);
  ServedModel& model = at(index);
  model.terms = std::move(terms);
  std::vector<std::size_t> too_large;
  for (std::size_t position = 0; position < model.queue.size(); ++position) {
    if (model.queue[position].rows > model.terms.latency.rows_max()) too_large.push_back(position);
  }
  return take(index, too_large);
}

Instant DeviceState::lane_free_at(Instant now) const {
  if (lanes_free_ > 0) return now;
  Instant end = Instant::never();
  for (const auto& batch : lanes_) {
    if (batch) end = std::min(end, batch->end);
  }
  return end == Instant::never() ? now : std::max(end, now);
}

bool DeviceState::is_free(LaneIndex lane) const {
  const auto place = static_cast<std::size_t>(lane);
  return !lanes_[place] && !is_lost_[place];
}

bool DeviceState::fits_ever(ModelIndex index) const { return model(index).bytes_to_load() <= memory_ - bytes_stuck_; }

bool DeviceState::may_load(ModelIndex index, Instant now) const {
  const ServedModel& model = models_[static_cast<std::size_t>(index)];
  if (model.residency != Residency::kCold || now < model.load_held_off_until || !fits_ever(index)) return false;
  return now >= leased_until_ || may_load_at(index, now) == now;
}

Instant DeviceState::may_load_at(ModelIndex index, Instant now) const {
  if (!fits_ever(index)) return Instant::never();
  const ServedModel& model = models_[static_cast<std::size_t>(index)];
  const Instant from = std::max(now, model.load_held_off_until);
  if (from >= leased_until_) return from;
  std::int64_t missing = model.bytes_to_load() - (memory_ - bytes_stuck_);
  std::vector<const ServedModel*> leased;
  for (const ServedModel& other : models_) {
    if (&other == &model || other.is_stuck || !other.is_leased(from)) continue;
    missing += other.bytes_reserved;
    leased.push_back(&other);
  }
  if (missing <= 0) return from;
  std::ranges::sort(leased, {}, [](const ServedModel* other) { return other->lease_until; });
  for (const ServedModel* other : leased) {
    missing -= other->bytes_reserved;
    if (missing <= 0) return other->lease_until;
  }
  return Instant::never();
}

bool ServedModel::is_idle() const {
  return batches_running == 0 && std::ranges::none_of(queue, [&](const Request& request) { return accepts(request); });
}

void DeviceState::place(ModelIndex index) {
  ServedModel& model = at(index);
  ENSURE(model.residency == Residency::kCold && model.terms.bytes <= bytes_free());
  reserve(model, model.terms.bytes);
  model.residency = Residency::kResident;
}

void DeviceState::reserve(ServedModel& model, std::int64_t bytes) {
  bytes_reserved_ += bytes - model.bytes_reserved;
  model.bytes_reserved = bytes;
  ENSURE(bytes_reserved_ <= memory_);
}

void DeviceState::note_pending(ModelIndex index) {
  const auto place = std::ranges::lower_bound(pending_, index);
  if (place == pending_.end() || *place != index) pending_.insert(place, index);
}

void DeviceState::forget_settled() {
  std::erase_if(pending_, [&](ModelIndex index) { return !model(index).is_pending(); });
}

void DeviceState::enqueue(const Request& request) {
  ServedModel& model = at(request.model);
  ENSURE(request.rows >= 1 && request.rows <= model.terms.latency.rows_max());
  const auto place = std::ranges::upper_bound(
      model.queue, request, [&](const Request& a, const Request& b) { return is_sooner(a, b, order_); });
  model.queue.insert(place, request);
  model.rows_waiting += request.rows;
  ++requests_waiting_;
  bytes_waiting_ += request.bytes;
  if (may_expire_early(request)) ++model.waiting_out_of_order;
  note_pending(request.model);
}

void DeviceState::count_taken(ServedModel& model, std::span<const Request> taken) {
  model.rows_waiting -= rows_of(taken);
  model.waiting_out_of_order -= static_cast<int>(std::ranges::count_if(taken, may_expire_early));
  requests_waiting_ -= std::ssize(taken);
  for (const Request& request : taken) bytes_waiting_ -= request.bytes;
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
  ENSURE(is_free(lane) && model.residency == Residency::kResident);
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

std::optional<RunningBatch> DeviceState::lose_lane(LaneIndex lane) {
  const auto place = static_cast<std::size_t>(lane);
  ENSURE(!is_lost_[place]);
  is_lost_[place] = true;
  --lanes_working_;
  std::optional<RunningBatch> batch = std::exchange(lanes_[place], std::nullopt);
  if (!batch) {
    --lanes_free_;
    return batch;
  }
  ServedModel& model = at(batch->model);  // its batch counts as running for good
  model.leaves_before.reset();
  if (!std::exchange(model.is_stuck, true)) bytes_stuck_ += model.bytes_reserved;
  return batch;
}

void DeviceState::start_load(ModelIndex index, Instant now) {
  ServedModel& model = at(index);
  ENSURE(!load_ && model.residency == Residency::kCold);
  reserve(model, model.bytes_to_load());
  model.residency = Residency::kLoading;
  load_ = RunningLoad{.model = index, .end = now + model.terms.load};
}

ModelIndex DeviceState::end_load() {
  ENSURE(load_.has_value());
  const ModelIndex index = load_->model;
  const bool fits = end_load(index, model(index).terms.bytes);
  ENSURE(fits);
  return index;
}

bool DeviceState::end_load(ModelIndex index, std::int64_t measured) {
  ENSURE(load_ && load_->model == index && measured >= 0);
  ServedModel& model = at(index);
  model.terms.bytes = measured;
  if (measured > bytes_free() + model.bytes_reserved) return false;
  reserve(model, measured);
  model.residency = Residency::kResident;
  model.load_asked_at.reset();
  load_.reset();
  return true;
}

void DeviceState::fail_load(ModelIndex index) {
  ENSURE(load_ && load_->model == index);
  ServedModel& model = at(index);
  reserve(model, 0);
  model.residency = Residency::kCold;
  model.load_asked_at.reset();
  load_.reset();
}

void DeviceState::let_leave(ModelIndex index, std::int64_t from_number) {
  ServedModel& model = at(index);
  ENSURE(model.residency == Residency::kResident && !model.is_stuck);
  if (!model.leaves_before) model.leaves_before = from_number;
  note_pending(index);
}

void DeviceState::evict(ModelIndex index, Instant now) {
  ServedModel& model = at(index);
  ENSURE(model.residency == Residency::kResident && model.is_idle() && !model.is_leased(now));
  model.residency = Residency::kCold;
  model.leaves_before.reset();
  reserve(model, 0);
}

void DeviceState::set_offered(ModelIndex index, bool is_offered) {
  ServedModel& model = at(index);
  model.is_offered = is_offered;
  if (is_offered) return;
  model.leaves_before.reset();
  model.load_asked_at.reset();
  model.lease_until = Instant();
  note_pending(index);
}

void DeviceState::want_load(ModelIndex index, Instant now) {
  ServedModel& model = at(index);
  model.leaves_before.reset();
  if (model.residency == Residency::kResident || !model.is_offered || model.load_asked_at) return;
  model.load_asked_at = now;
  note_pending(index);
}

void DeviceState::lease(ModelIndex index, Instant until) {
  ServedModel& model = at(index);
  if (!model.is_offered) return;
  model.leaves_before.reset();
  model.lease_until = until;
  leased_until_ = std::max(leased_until_, until);
}

void DeviceState::hold_off_load(ModelIndex index, Instant until) { at(index).load_held_off_until = until; }

}  // namespace berth::serving
