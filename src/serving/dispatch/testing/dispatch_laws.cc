#include "serving/dispatch/testing/dispatch_laws.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::serving {

void DispatchLaws::check(bool holds, const std::string& law) {
  if (!holds && !broken_) broken_ = law;
}

void DispatchLaws::check_memory() {
  std::int64_t sum = 0;
  for (const Model& model : models_) sum += model.reserved;
  check(sum <= memory_, fmt::format("{} bytes are reserved, memory has {}", sum, memory_));
}

void DispatchLaws::add_model(const ModelTerms& terms) { models_.push_back({.terms = terms}); }

void DispatchLaws::set_offered(ModelIndex model, bool is_offered) {
  at(model).is_offered = is_offered;
  if (!is_offered) at(model).lease_until = Instant();
}

void DispatchLaws::lease(ModelIndex model, Instant until) {
  if (at(model).is_offered) at(model).lease_until = until;
}

void DispatchLaws::arrive(const Request& request) {
  check(request.number >= next_number_, "numbers grow");
  next_number_ = request.number + 1;
  waiting_.emplace(request.number, request);
}

void DispatchLaws::end_waiting(const Request& request, const std::string& how) {
  const auto found = waiting_.find(request.number);
  check(found != waiting_.end() && found->second == request,
        fmt::format("request {} is {} but does not wait", request.number, how));
  if (found != waiting_.end()) waiting_.erase(found);
}

void DispatchLaws::end_batch(LaneIndex lane, const RunningBatch& batch) {
  Lane& place = lanes_[static_cast<std::size_t>(lane)];
  check(place.requests == batch.requests, fmt::format("lane {} ends another batch than it began", int(lane)));
  running_ -= place.requests.size();
  place.requests.clear();
  --at(batch.model).batches;
}

void DispatchLaws::lose_lane(LaneIndex lane, const std::optional<RunningBatch>& batch) {
  Lane& place = lanes_[static_cast<std::size_t>(lane)];
  check(place.requests == (batch ? batch->requests : std::vector<Request>()), "a lost lane returns its requests");
  running_ -= place.requests.size();
  place.requests.clear();
  place.is_lost = true;
}

void DispatchLaws::end_load(ModelIndex index, std::int64_t measured, bool fits) {
  Model& model = at(index);
  check(loading_ == index, "the load that ends is the one that runs");
  model.terms.bytes = measured;
  if (!fits) return;
  model.reserved = measured;
  model.residency = Residency::kResident;
  loading_.reset();
  check_memory();
}

void DispatchLaws::fail_load(ModelIndex index) {
  check(loading_ == index, "the load that fails is the one that runs");
  at(index).reserved = 0;
  at(index).residency = Residency::kCold;
  loading_.reset();
}

void DispatchLaws::note_leaving(const DeviceState& device) {
  for (std::size_t index = 0; index < models_.size(); ++index) {
    models_[index].leaves_before = device.models()[index].leaves_before;
  }
}

void DispatchLaws::obey(const Order& order, Instant now) {
  std::visit([&](const auto& of_kind) { obey(of_kind, now); }, order);
}

void DispatchLaws::obey(const StartBatch& batch, Instant now) {
  Lane& lane = lanes_[static_cast<std::size_t>(batch.lane)];
  Model& model = at(batch.model);
  check(lane.requests.empty() && !lane.is_lost, fmt::format("lane {} is not free", int(batch.lane)));
  check(model.residency == Residency::kResident, fmt::format("model {} runs but is not resident", int(batch.model)));
  RowCount rows = 0;
  for (const Request& request : batch.requests) {
    rows += request.rows;
    end_waiting(request, "started");
    check(request.model == batch.model, "a batch has one model");
    check(request.shape == batch.requests.front().shape, "a batch has one shape");
    check(!is_berth_ || now + batch.expected <= request.deadline(),
          fmt::format("request {} starts too late", request.number));
  }
  check(rows >= 1 && rows <= model.terms.latency.rows_max(), fmt::format("a batch has {} rows", rows));
  lane.requests = batch.requests;
  running_ += batch.requests.size();
  ++model.batches;
}

void DispatchLaws::obey(const StartLoad& load, Instant /*now*/) {
  Model& model = at(load.model);
  check(!loading_, "one load runs at a time");
  check(model.residency == Residency::kCold, fmt::format("model {} loads but is not cold", int(load.model)));
  if (load.is_preload) check_preload(load.model);
  model.residency = Residency::kLoading;
  model.reserved = std::max(model.terms.bytes, model.terms.bytes_loading);
  loading_ = load.model;
  check_memory();
}

void DispatchLaws::check_preload(ModelIndex index) {
  check(is_berth_ && at(index).is_offered, fmt::format("model {} is preloaded but takes no requests", int(index)));
  for (const auto& [number, request] : waiting_) {
    const Model& model = at(request.model);
    check(model.residency == Residency::kResident && (!model.leaves_before || number < *model.leaves_before),
          fmt::format("model {} is preloaded while request {} waits for a load", int(index), number));
  }
}

void DispatchLaws::obey(const Evict& eviction, Instant now) {
  Model& model = at(eviction.model);
  const int name = eviction.model;
  check(model.residency == Residency::kResident, fmt::format("model {} is evicted but not resident", name));
  check(model.batches == 0, fmt::format("model {} is evicted while a batch runs", name));
  check(now >= model.lease_until, fmt::format("model {} is evicted under a lease", name));
  for (const auto& [number, request] : waiting_) {
    const bool waits_for_return = model.leaves_before && number >= *model.leaves_before;
    check(request.model != eviction.model || waits_for_return,
          fmt::format("model {} is evicted, and request {} waits for it", name, number));
  }
  model.residency = Residency::kCold;
  model.reserved = 0;
}

void DispatchLaws::obey(const Reject& reject, Instant /*now*/) {
  end_waiting(reject.request, "rejected");
  check(is_berth_ || !std::holds_alternative<ExpectedWait>(reject.reason), "rivals reject only where a queue is full");
  check(!describe(reject).empty(), "a rejection says why");
}

void DispatchLaws::obey(const Drop& drop, Instant /*now*/) {
  check(is_berth_, "rivals drop nothing");
  end_waiting(drop.request, "dropped");
}

void DispatchLaws::check_rest(const DeviceState& device, Instant now) {
  std::int64_t reserved = 0;
  for (const Model& model : models_) reserved += model.reserved;
  check(device.memory() - device.bytes_free() == reserved, "the device counts other bytes");
  check(device.requests_waiting() == std::ssize(waiting_), "the device counts other waiting requests");
  std::int64_t bytes = 0;
  for (const auto& [number, request] : waiting_) {
    bytes += request.bytes;
    check(!is_berth_ || now <= request.deadline(), fmt::format("request {} waits past its deadline", number));
    const auto& leaves_before = device.model(request.model).leaves_before;
    const bool was_owed = !at(request.model).leaves_before;  // before this `decide`
    check(!was_owed || !leaves_before || number < *leaves_before,
          fmt::format("request {} was accepted before", number));
  }
  check(device.bytes_waiting() == bytes, "the device counts other waiting bytes");
}

}  // namespace berth::serving
