#include "serving/dispatch/dispatcher.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/core/ensure.h"
#include "serving/dispatch/admission.h"
#include "serving/dispatch/preloads.h"

namespace berth::serving {
namespace {

/// Waiting requests that can no longer be in time, as no lane is free before then: positions, ascending.
std::vector<std::size_t> hopeless_requests(const ServedModel& model, Instant lane_free_at) {
  std::vector<std::size_t> positions;
  for (std::size_t position = 0; position < model.queue.size(); ++position) {
    const Request& request = model.queue[position];
    if (lane_free_at + model.terms.latency.at(request.rows) > request.deadline()) {
      positions.push_back(position);
    } else if (model.waiting_out_of_order == 0) {
      break;  // those behind it expire later
    }
  }
  return positions;
}

/// When the first of the waiting requests becomes hopeless.
Instant first_expiry(const ServedModel& model) {
  Instant first = Instant::never();
  for (const Request& request : model.queue) {
    first = std::min(first, request.deadline() - model.terms.latency.at(request.rows) + Micros(1));
    if (model.waiting_out_of_order == 0) break;
  }
  return first;
}

}  // namespace

Dispatcher::Dispatcher(std::vector<ModelTerms> models, const std::vector<TenantTerms>& tenants,
                       const DispatchTerms& terms)
    : device_(terms.memory, terms.lanes, terms.policy.rival ? QueueOrder::kArrival : QueueOrder::kUrgency),
      policy_(RivalPolicy(terms.policy.rival.value_or(RivalKind::kEager), terms.policy.delay)),
      queue_max_(terms.queue_max),
      queue_bytes_max_(terms.queue_bytes_max) {
  ENSURE(!tenants.empty());
  if (!terms.policy.rival) {
    auto& berth = policy_.emplace<Berth>(Berth{.batches = BerthPolicy(tenants), .loads = ModelLoads(terms.eviction)});
    if (terms.eviction == EvictionRule::kWarm) berth.warm.emplace();
  }
  for (ModelTerms& model : models) add_model(std::move(model));
}

ModelIndex Dispatcher::add_model(ModelTerms terms) {
  if (auto* rival = std::get_if<RivalPolicy>(&policy_)) {
    rival->add_model();
  } else {
    auto& berth = std::get<Berth>(policy_);
    berth.batches.add_model();
    if (berth.warm) berth.warm->add_model();
  }
  return device_.add_model(std::move(terms));
}

std::vector<Request> Dispatcher::withdraw(ModelIndex model) {
  device_.set_offered(model, false);
  return take_waiting(model);
}

std::vector<Request> Dispatcher::take_waiting(ModelIndex model) {
  return device_.take_front(model, device_.model(model).queue.size());
}

std::vector<Request> Dispatcher::take_waiting() {
  std::vector<Request> all;
  for (const ModelIndex model : Indices<ModelIndex>(device_.models().size())) {
    std::ranges::move(take_waiting(model), std::back_inserter(all));
  }
  std::ranges::sort(all, {}, &Request::number);
  return all;
}

bool Dispatcher::cancel(ModelIndex model, std::int64_t number) {
  const auto& queue = device_.model(model).queue;
  const auto found = std::ranges::find(queue, number, &Request::number);
  if (found == queue.end()) return false;
  const auto position = static_cast<std::size_t>(found - queue.begin());
  (void)device_.take(model, std::span(&position, 1));
  return true;
}

void Dispatcher::place_initially() {
  for (const ModelIndex index : Indices<ModelIndex>(device_.models().size())) {
    if (device_.model(index).terms.bytes <= device_.bytes_free()) device_.place(index);
  }
}

RunningBatch Dispatcher::end_batch(LaneIndex lane, Instant now) {
  RunningBatch batch = device_.end_batch(lane, now);
  if (auto* rival = std::get_if<RivalPolicy>(&policy_)) {
    rival->learn(batch, device_.model(batch.model).terms.latency.rows_max(), now);
  } else {
    std::get<Berth>(policy_).batches.learn_end(batch, device_.model(batch.model), now);
  }
  return batch;
}

void Dispatcher::arrive(const Request& request, Instant now) {
  next_number_ = std::max(next_number_, request.number + 1);
  if (const auto reason = refusal(request, now)) {
    orders_.emplace_back(Reject{.request = request, .reason = *reason});
  } else {
    device_.enqueue(request);
  }
}

std::optional<RejectReason> Dispatcher::refusal(const Request& request, Instant now) {
  const ServedModel& model = device_.model(request.model);
  const bool has_place = model.residency == Residency::kLoading ||
                         (model.residency == Residency::kResident && model.accepts(request)) ||
                         device_.fits_ever(request.model);
  if (!has_place || !model.is_offered || device_.lanes_working() == 0) return NotServed{};
  const auto full = full_queue(request);
  auto* berth = std::get_if<Berth>(&policy_);
  if (berth == nullptr) return full ? std::optional<RejectReason>(*full) : std::nullopt;
  berth->batches.learn_arrival(request, now);
  if (berth->warm) berth->warm->learn_arrival(request.model, now);
  const ExpectedWait wait = expected_wait(device_, berth->batches.shares(), request, now);
  const bool is_late = wait.total() > request.deadline() - now;
  if (!full && !is_late) return std::nullopt;
  if (is_late && wait.without_load() <= request.deadline() - now) berth->loads.want(request.model);
  berth->batches.learn_miss(request, model, now);
  return full ? RejectReason(*full) : RejectReason(wait);
}

std::optional<FullQueue> Dispatcher::full_queue(const Request& request) const {
  const ServedModel& model = device_.model(request.model);
  const auto is_above = [](std::int64_t count, std::int64_t limit) { return limit > 0 && count > limit; };
  if (is_above(std::ssize(model.queue) + 1, model.terms.queue_max)) {
    return FullQueue{QueueBound::kModelRequests, std::ssize(model.queue), model.terms.queue_max};
  }
  if (is_above(device_.requests_waiting() + 1, queue_max_)) {
    return FullQueue{QueueBound::kRequests, device_.requests_waiting(), queue_max_};
  }
  if (is_above(device_.bytes_waiting() + request.bytes, queue_bytes_max_)) {
    return FullQueue{QueueBound::kBytes, device_.bytes_waiting(), queue_bytes_max_};
  }
  return std::nullopt;
}

void Dispatcher::decide(Instant now) {
  std::visit([&](auto& policy) { decide_for(policy, now); }, policy_);
  wake_at_ = std::min(wake_at_, next_load_at(now));
  device_.forget_settled();
}

Instant Dispatcher::next_load_at(Instant now) const {
  Instant next = Instant::never();
  for (const ModelIndex index : device_.pending()) {
    if (!device_.model(index).needs_load()) continue;
    const Instant at = device_.may_load_at(index, now);
    if (at > now) next = std::min(next, at);
  }
  return next;
}

void Dispatcher::decide_for(RivalPolicy& policy, Instant now) {
  evict_gone(now);
  if (!device_.load()) {
    if (const auto load = RivalPolicy::choose_load(device_, now)) {
      for (const ModelIndex victim : load->victims) evict(victim, now);
      start_load({.model = load->model}, now);
    }
  }
  for (const LaneIndex lane : Indices<LaneIndex>(device_.lanes().size())) {
    if (!device_.is_free(lane)) continue;
    const auto batch = policy.choose_batch(device_, now);
    if (!batch) break;
    start_batch(lane, batch->model, device_.take_front(batch->model, batch->count), now);
  }
  wake_at_ = policy.wake_at(device_, now);
}

void Dispatcher::decide_for(Berth& policy, Instant now) {
  if (policy.warm && policy.warm->advance(device_, now)) is_preload_due_ = true;
  drop_hopeless(policy, now);
  evict_gone(now);
  decide_loads(policy, now);
  wake_at_ = Instant::never();
  for (const LaneIndex lane : Indices<LaneIndex>(device_.lanes().size())) {
    if (!device_.is_free(lane)) continue;
    const auto decision = policy.batches.choose_batch(device_, now);
    if (!decision) {
      wake_at_ = policy.batches.wake_at();
      break;
    }
    start_decided(policy, lane, *decision, now);
  }
  for (const ModelIndex index : device_.pending()) wake_at_ = std::min(wake_at_, first_expiry(device_.model(index)));
  if (is_looking_ahead()) wake_at_ = std::min(wake_at_, policy.warm->wake_at(now));
}

void Dispatcher::drop_hopeless(Berth& policy, Instant now) {
  const Instant lane_free_at = device_.lane_free_at(now);
  for (const ModelIndex index : device_.pending()) {
    if (device_.model(index).queue.empty()) continue;
    drop(policy, index, hopeless_requests(device_.model(index), lane_free_at), now);
  }
}

void Dispatcher::decide_loads(Berth& policy, Instant now) {
  for (const ModelIndex index : device_.pending()) {
    const ServedModel& model = device_.model(index);
    if (model.leaves_before && model.is_idle()) evict(index, now);
  }
  const LoadDecision decision = policy.loads.choose(values_of(policy, now));
  for (const ModelIndex victim : decision.victims) evict(victim, now);
  for (const ModelIndex leaving : decision.leaving) device_.let_leave(leaving, next_number_);
  if (!decision.load) return preload(policy, now);
  policy.loads.learn_load(*decision.load);
  if (policy.warm) policy.warm->learn_needed_load(now);
  start_load({.model = *decision.load}, now);
}

void Dispatcher::preload(Berth& policy, Instant now) {
  if (!policy.warm || !may_preload_ || !is_preload_due_ || device_.load()) return;
  const auto decision = choose_preload(device_, *policy.warm, now);
  if (!decision) {
    is_preload_due_ = false;
    return;
  }
  for (const ModelIndex victim : decision->victims) evict(victim, now);
  policy.loads.learn_load(*decision->load);
  start_load({.model = *decision->load, .is_preload = true}, now);
}

bool Dispatcher::has_preloads() const {
  const auto* const berth = std::get_if<Berth>(&policy_);
  return berth != nullptr && berth->warm.has_value();
}

bool Dispatcher::is_looking_ahead() const { return has_preloads() && may_preload_; }

std::optional<double> Dispatcher::chance_of(ModelIndex model) const {
  if (!has_preloads()) return std::nullopt;
  return std::get<Berth>(policy_).warm->chance(model);
}

ModelValues Dispatcher::values_of(const Berth& policy, Instant now) const {
  return {
      .device = device_, .demand = policy.batches.demands(), .warm = policy.warm ? &*policy.warm : nullptr, .now = now};
}

void Dispatcher::start_decided(Berth& policy, LaneIndex lane, const BatchDecision& decision, Instant now) {
  std::vector<Request> requests = device_.take(decision.model, decision.taken);
  drop(policy, decision.model, decision.dropped, now);  // they stand before those taken: their positions are the same
  policy.batches.learn_start(start_batch(lane, decision.model, std::move(requests), now));
}

void Dispatcher::drop(Berth& policy, ModelIndex model, std::span<const std::size_t> positions, Instant now) {
  for (const Request& request : device_.take(model, positions)) {
    policy.batches.learn_miss(request, device_.model(model), now);
    orders_.emplace_back(Drop{request});
  }
}

void Dispatcher::evict_gone(Instant now) {
  for (const ModelIndex index : device_.pending()) {
    const ServedModel& model = device_.model(index);
    if (model.residency == Residency::kResident && !model.is_offered && model.is_idle()) evict(index, now);
  }
}

void Dispatcher::evict(ModelIndex model, Instant now) {
  device_.evict(model, now);
  orders_.emplace_back(Evict{model});
}

void Dispatcher::start_load(StartLoad load, Instant now) {
  device_.start_load(load.model, now);
  orders_.emplace_back(load);
}

const RunningBatch& Dispatcher::start_batch(LaneIndex lane, ModelIndex model, std::vector<Request> requests,
                                            Instant now) {
  orders_.emplace_back(StartBatch{.lane = lane, .model = model, .requests = requests, .expected = Micros(0)});
  device_.start_batch(lane, model, std::move(requests), now);
  const RunningBatch& batch = *device_.lanes()[static_cast<std::size_t>(lane)];
  std::get<StartBatch>(orders_.back()).expected = batch.end - batch.start;
  return batch;
}

std::vector<Order> Dispatcher::take_orders() { return std::exchange(orders_, {}); }

std::optional<double> Dispatcher::value_of(ModelIndex model, Instant now) const {
  const auto* const berth = std::get_if<Berth>(&policy_);
  if (berth == nullptr) return std::nullopt;
  return values_of(*berth, now).of(model);
}

}  // namespace berth::serving
