#include "sim/world/request_serving.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/instant.h"

namespace berth::sim {
namespace {

constexpr std::int64_t kNever = RequestQueue::kNever;

/// The order of answers and takes within one microsecond: GPU, start, process, and on shared slices service.
std::uint64_t rank_of(const Slice& slice, std::uint32_t process, ServiceId service) {
  return (std::uint64_t{slice.gpu.index} << 40) | (static_cast<std::uint64_t>(slice.start) << 36) |
         (std::uint64_t{process} << 20) | service.index;
}

}  // namespace

RequestServing::RequestServing(const Scenario& scenario, const ArrivalStreams& streams,
                               std::vector<ServiceMeter>& meters, world::BusyTable& busy, BatchTally& tally,
                               Dispatch dispatch)
    : scenario_(scenario), meters_(meters), busy_(busy), tally_(tally), dispatch_(dispatch) {
  for (std::size_t index = 0; index < scenario.services.size(); ++index) add_place(streams[index]);
}

void RequestServing::add_place(const ArrivalStream& stream) {
  services_.emplace_back(stream);
  next_arrivals_.add_place();
  read_spec({static_cast<std::uint32_t>(services_.size() - 1)});
}

void RequestServing::read_spec(ServiceId service) {
  const ServiceSpec& spec = scenario_.services[service.index];
  services_[service.index].target_us = spec.target.count();
  services_[service.index].answer_us = spec.ready.answer.value_or(spec.target).count();
  services_[service.index].drops_early = spec.drop == DropRule::kEarly;
}

void RequestServing::abandon(ServiceId id, std::int64_t now_us) {
  Service& service = services_[id.index];
  const auto drop = [&](std::int64_t arrival_us) {
    meters_[id.index].settle_dropped(arrival_us / kMicrosPerSecond, 1, Instant(now_us));
  };
  service.queue.arrive_before(kNever);
  while (service.queue.waiting() > 0) {
    const RequestQueue::Dropped dropped = service.queue.drop_head_second();
    if (dropped.count > 0) meters_[id.index].settle_dropped(dropped.second, dropped.count, Instant(now_us));
  }
  for (const std::int64_t arrival_us : std::exchange(service.unrouted, {})) drop(arrival_us);
  for (const std::uint32_t replica : service.replicas) {
    for (const std::int64_t arrival_us : std::exchange(replicas_[replica].pushed, {})) drop(arrival_us);
  }
  set_next_arrival(id.index);
}

// ---- the loop

void RequestServing::open_second(std::int64_t second, const std::vector<bool>& is_elsewhere) {
  for (std::size_t index = 0; index < services_.size(); ++index) {
    if (is_elsewhere[index]) continue;
    // Requests of the previous second that wait for a busy process.
    services_[index].queue.arrive_before(second * kMicrosPerSecond);
    const std::int64_t count = services_[index].queue.open_second(second);
    if (count > 0) meters_[index].expect(second, count);
    set_next_arrival(index);
  }
}

std::int64_t RequestServing::advance(std::int64_t until_us) {
  while (true) {
    const std::int64_t arrival_us = next_arrivals_.at_us();
    const std::int64_t answer_us = answers_.empty() ? kNever : answers_.front().at_us;
    if (std::min(arrival_us, answer_us) >= until_us) break;
    if (answer_us <= arrival_us) {
      std::pop_heap(answers_.begin(), answers_.end(), std::greater<>());
      const DueAnswer due = answers_.back();
      answers_.pop_back();
      answer(due);
      if (!idle_.empty()) return due.at_us;
      continue;
    }
    const std::size_t index = next_arrivals_.place();
    services_[index].queue.arrive_one();
    if (dispatch_ == Dispatch::kPull) {
      pull(index, arrival_us);
    } else {
      route_waiting(index, arrival_us);
    }
    set_next_arrival(index);
  }
  return until_us;
}

void RequestServing::set_next_arrival(std::size_t index) {
  Service& service = services_[index];
  // While no process is free an arrival only waits: it needs no event of its own.
  const bool is_event = dispatch_ == Dispatch::kPush || !service.free.empty();
  next_arrivals_.set(index, is_event ? service.queue.next_arrival() : kNever);
}

void RequestServing::answer(const DueAnswer& due) {
  Process& process = processes_[due.process];
  if (process.batch_number != due.batch_number) return;
  Replica& replica = replicas_[process.replica];
  const std::size_t index = replica.service.index;
  settle(services_[index], process, due.at_us);
  if (tally_.counts(replica.service)) tally_.add(replica.service, replica.gpu, 1);
  batch_times_.add(replica.place, process.table_us, due.at_us - process.begun_us);
  process.is_busy = false;
  if (--replica.busy_processes == 0) busy_.end(replica.slice, replica.service, due.at_us);
  if (!replica.is_taking) {
    if (replica.busy_processes == 0) {
      retired_[replica.process_count].push_back(process.replica);
      std::erase(stopped_on_slice_[replica.slice.value], process.replica);
    }
    if (busy_.running(replica.slice) == 0) idle_.push_back(replica.slice);
    return;
  }
  if (dispatch_ == Dispatch::kPush) return serve_pushed(process.replica, due.at_us);
  add_free(services_[index], due.process);
  services_[index].queue.arrive_before(due.at_us);
  pull(index, due.at_us);
  set_next_arrival(index);
}

void RequestServing::settle(const Service& service, Process& process, std::int64_t at_us) {
  const Replica& replica = replicas_[process.replica];
  ServiceMeter& meter = meters_[replica.service.index];
  const std::int64_t worth =
      accuracy_micro(scenario_.services[replica.service.index], *replica.table, service.is_stale);
  const std::int64_t in_time_from = at_us - service.target_us;
  const std::vector<std::int64_t>& batch = process.batch;
  std::size_t begin = 0;
  while (begin < batch.size()) {
    const std::int64_t second = batch[begin] / kMicrosPerSecond;
    const std::int64_t second_begin = second * kMicrosPerSecond;
    const std::int64_t second_end = second_begin + kMicrosPerSecond;
    std::size_t end = begin;
    std::int64_t late = 0;
    // Requests that were first pushed elsewhere may come after younger ones.
    for (; end < batch.size() && batch[end] >= second_begin && batch[end] < second_end; ++end) {
      meter.add_latency(at_us - batch[end]);
      if (batch[end] < in_time_from) ++late;
    }
    const std::int64_t in_time = static_cast<std::int64_t>(end - begin) - late;
    if (late > 0) meter.settle_late(second, late, Instant(at_us));
    if (in_time > 0) meter.settle_in_time(second, in_time, worth, Instant(at_us));
    begin = end;
  }
  process.batch.clear();
}

BatchLatencies RequestServing::latencies(const Replica& replica) const {
  const int others = replica.is_shared ? busy_.running(replica.slice) - (replica.busy_processes > 0 ? 1 : 0)
                                       : busy_.others_busy(replica.slice);
  return replica.table->with_others(others);
}

void RequestServing::begin_batch(std::uint32_t index, const BatchLatencies& latencies, std::int64_t now_us) {
  Process& process = processes_[index];
  Replica& replica = replicas_[process.replica];
  process.is_busy = true;
  ++process.batch_number;
  meters_[replica.service.index].add_batch();
  const std::size_t size = process.batch.size() - 1;
  process.begun_us = now_us;
  process.table_us = latencies.by_table[size];
  process.expected_us = now_us + latencies.expected[size];
  const BatchTruth& truth = services_[replica.service.index].truth;
  const std::int64_t answer_us = now_us + truth.real_us(process.table_us, now_us, process.rank);
  if (replica.busy_processes++ == 0) busy_.begin(replica.slice, replica.service, now_us);
  answers_.push_back(
      {.at_us = answer_us, .rank = process.rank, .process = index, .batch_number = process.batch_number});
  std::push_heap(answers_.begin(), answers_.end(), std::greater<>());
}

// ---- pull: one queue per service

void RequestServing::add_free(Service& service, std::uint32_t process) {
  service.free.push_back({.rank = processes_[process].rank, .process = process});
  std::push_heap(service.free.begin(), service.free.end(), std::greater<>());
}

void RequestServing::pull(std::size_t index, std::int64_t now_us) {
  Service& service = services_[index];
  while (!service.free.empty() && service.queue.waiting() > 0) {
    if (!take_pulled(service, service.free.front().process, now_us)) continue;  // all were dropped
    std::pop_heap(service.free.begin(), service.free.end(), std::greater<>());
    service.free.pop_back();
  }
}

bool RequestServing::take_pulled(Service& service, std::uint32_t index, std::int64_t now_us) {
  Process& process = processes_[index];
  const Replica& replica = replicas_[process.replica];
  const BatchLatencies latency = latencies(replica);
  RequestQueue& queue = service.queue;
  const std::int64_t batch = replica.table->point.batch;
  std::int64_t count = std::min(queue.waiting(), batch);
  if (service.drops_early) {
    while (count > 0) {
      const std::int64_t head_us = queue.head();
      if (head_us + service.answer_us >= now_us + latency.expected[count - 1]) break;
      queue.drop_head();
      meters_[replica.service.index].settle_dropped(head_us / kMicrosPerSecond, 1, Instant(now_us));
      count = std::min(queue.waiting(), batch);
    }
  }
  if (count == 0) return false;
  queue.take(count, process.batch);
  begin_batch(index, latency, now_us);
  return true;
}

// ---- push: one queue per replica

std::int64_t RequestServing::predicted_answer(const Replica& replica, std::int64_t now_us) const {
  const std::int64_t* latency_us = latencies(replica).expected;
  const auto batch = static_cast<std::size_t>(replica.table->point.batch);
  const std::size_t ahead = replica.pushed.size();
  const std::size_t full_batches = ahead / batch;
  // The request's batch begins on the process that takes it after the full batches ahead; each round of full batches
  // takes one latency.
  std::vector<std::int64_t> free_at;
  free_at.reserve(replica.process_count);
  for (std::uint32_t i = 0; i < replica.process_count; ++i) {
    const Process& process = processes_[replica.first_process + i];
    free_at.push_back(process.is_busy ? std::max(process.expected_us, now_us) : now_us);
  }
  std::sort(free_at.begin(), free_at.end());
  const std::size_t rounds = full_batches / free_at.size();
  const std::int64_t begins =
      free_at[full_batches % free_at.size()] + static_cast<std::int64_t>(rounds) * latency_us[batch - 1];
  // A waiting batch may still fill up, so the full batch's latency is assumed; one that begins at once holds this
  // request alone.
  const bool begins_at_once = ahead == 0 && begins == now_us;
  return begins + latency_us[begins_at_once ? 0 : batch - 1];
}

void RequestServing::route(std::size_t index, std::int64_t arrival_us, std::int64_t now_us) {
  Service& service = services_[index];
  const std::int64_t deadline_us = arrival_us + service.target_us;
  std::uint32_t best = 0;
  std::tuple<bool, int, std::int64_t> best_key{true, INT32_MAX, kNever};
  for (const std::uint32_t candidate : service.replicas) {
    const std::int64_t answer_us = predicted_answer(replicas_[candidate], now_us);
    const bool is_late = answer_us > deadline_us;
    const std::tuple<bool, int, std::int64_t> key{is_late, is_late ? 0 : replicas_[candidate].sms, answer_us};
    if (key < best_key) {
      best_key = key;
      best = candidate;
    }
  }
  replicas_[best].pushed.push_back(arrival_us);
  serve_pushed(best, now_us);
}

void RequestServing::route_waiting(std::size_t index, std::int64_t now_us) {
  Service& service = services_[index];
  if (service.replicas.empty()) return;  // they wait in the queue, which does not store them
  std::vector<std::int64_t> come;
  service.queue.take(service.queue.waiting(), come);
  service.unrouted.insert(service.unrouted.end(), come.begin(), come.end());
  while (!service.replicas.empty() && !service.unrouted.empty()) {
    const std::int64_t arrival_us = service.unrouted.front();
    service.unrouted.pop_front();
    route(index, arrival_us, now_us);
  }
}

void RequestServing::serve_pushed(std::uint32_t replica_index, std::int64_t now_us) {
  Replica& replica = replicas_[replica_index];
  const Service& service = services_[replica.service.index];
  const auto batch = static_cast<std::size_t>(replica.table->point.batch);
  for (std::uint32_t i = 0; i < replica.process_count && !replica.pushed.empty(); ++i) {
    const std::uint32_t index = replica.first_process + i;
    if (processes_[index].is_busy) continue;
    const BatchLatencies latency = latencies(replica);
    std::size_t count = std::min(replica.pushed.size(), batch);
    while (service.drops_early && count > 0 &&
           replica.pushed.front() + service.answer_us < now_us + latency.expected[count - 1]) {
      meters_[replica.service.index].settle_dropped(replica.pushed.front() / kMicrosPerSecond, 1, Instant(now_us));
      replica.pushed.pop_front();
      count = std::min(replica.pushed.size(), batch);
    }
    if (count == 0) return;
    for (std::size_t k = 0; k < count; ++k) {
      processes_[index].batch.push_back(replica.pushed.front());
      replica.pushed.pop_front();
    }
    begin_batch(index, latency, now_us);
  }
}

// ---- replicas come and go

void RequestServing::start(world::SliceIndex slice_index, const Slice& slice, ServiceId service_id,
                           std::shared_ptr<const LatencyTable> table, bool is_shared) {
  const std::uint32_t replica_index = place_for(static_cast<std::uint32_t>(table->point.processes));
  Replica& replica = replicas_[replica_index];
  replica.slice = slice_index;
  replica.gpu = slice.gpu;
  replica.service = service_id;
  replica.is_shared = is_shared;
  replica.is_taking = true;
  replica.sms = profile_sms(scenario_.model_of(slice.gpu), slice.profile);
  replica.table = std::move(table);
  replica.place = batch_times_.index_of(
      {.service = service_id, .gpu = scenario_.model_of(slice.gpu).name, .profile = replica.table->profile});
  Service& service = services_[service_id.index];
  for (std::uint32_t i = 0; i < replica.process_count; ++i) {
    Process& process = processes_[replica.first_process + i];
    process.rank = rank_of(slice, i, service_id);
    process.batch.reserve(static_cast<std::size_t>(replica.table->point.batch));
  }
  if (replicas_of_slice_.size() <= slice_index.value) {
    replicas_of_slice_.resize(slice_index.value + 1);
    stopped_on_slice_.resize(slice_index.value + 1);
  }
  replicas_of_slice_[slice_index.value].push_back(replica_index);
  const auto by_rank = [&](std::uint32_t a, std::uint32_t b) {
    return processes_[replicas_[a].first_process].rank < processes_[replicas_[b].first_process].rank;
  };
  service.replicas.insert(std::upper_bound(service.replicas.begin(), service.replicas.end(), replica_index, by_rank),
                          replica_index);
  if (dispatch_ == Dispatch::kPull) {
    for (std::uint32_t i = 0; i < replicas_[replica_index].process_count; ++i) {
      add_free(service, replicas_[replica_index].first_process + i);
    }
  }
}

std::uint32_t RequestServing::place_for(std::uint32_t process_count) {
  std::vector<std::uint32_t>& retired = retired_[process_count];
  if (!retired.empty()) {
    const std::uint32_t place = retired.back();
    retired.pop_back();
    return place;
  }
  const auto place = static_cast<std::uint32_t>(replicas_.size());
  Replica& replica = replicas_.emplace_back();
  replica.first_process = static_cast<std::uint32_t>(processes_.size());
  replica.process_count = process_count;
  processes_.resize(processes_.size() + process_count);
  for (std::uint32_t i = 0; i < process_count; ++i) processes_[replica.first_process + i].replica = place;
  return place;
}

bool RequestServing::stop(world::SliceIndex slice_index) {
  if (slice_index.value >= replicas_of_slice_.size()) return true;
  for (const std::uint32_t replica_index : replicas_of_slice_[slice_index.value]) {
    Replica& replica = replicas_[replica_index];
    replica.is_taking = false;
    Service& service = services_[replica.service.index];
    std::erase(service.replicas, replica_index);
    std::erase_if(service.free,
                  [&](const FreeProcess& free) { return processes_[free.process].replica == replica_index; });
    std::make_heap(service.free.begin(), service.free.end(), std::greater<>());
    // Requests that waited for this replica go to the others, ahead of later arrivals.
    service.unrouted.insert(service.unrouted.begin(), replica.pushed.begin(), replica.pushed.end());
    std::sort(service.unrouted.begin(), service.unrouted.end());
    replica.pushed.clear();
    if (replica.busy_processes == 0) {
      retired_[replica.process_count].push_back(replica_index);
    } else {
      stopped_on_slice_[slice_index.value].push_back(replica_index);
    }
    set_next_arrival(replica.service.index);
  }
  replicas_of_slice_[slice_index.value].clear();
  return busy_.running(slice_index) == 0;
}

void RequestServing::lose(world::SliceIndex slice_index, std::int64_t now_us) {
  static_cast<void>(stop(slice_index));
  if (slice_index.value >= stopped_on_slice_.size()) return;
  for (const std::uint32_t replica_index : std::exchange(stopped_on_slice_[slice_index.value], {})) {
    Replica& replica = replicas_[replica_index];
    for (std::uint32_t i = 0; i < replica.process_count; ++i) {
      Process& process = processes_[replica.first_process + i];
      if (process.is_busy) lose_batch(process, now_us);
    }
    replica.busy_processes = 0;
    busy_.end(replica.slice, replica.service, now_us);
    retired_[replica.process_count].push_back(replica_index);
  }
}

void RequestServing::lose_batch(Process& process, std::int64_t now_us) {
  ServiceMeter& meter = meters_[replicas_[process.replica].service.index];
  for (const std::int64_t arrival_us : process.batch) {
    meter.settle_dropped(arrival_us / kMicrosPerSecond, 1, Instant(now_us));
  }
  process.batch.clear();
  process.is_busy = false;
  ++process.batch_number;
}

void RequestServing::set_table(world::SliceIndex slice_index, ServiceId service,
                               const std::shared_ptr<const LatencyTable>& table) {
  if (slice_index.value >= replicas_of_slice_.size()) return;
  for (const std::uint32_t replica_index : replicas_of_slice_[slice_index.value]) {
    if (replicas_[replica_index].service == service) replicas_[replica_index].table = table;
  }
}

bool RequestServing::runs_other_processes(world::SliceIndex slice_index, ServiceId service,
                                          const LatencyTable& table) const {
  if (slice_index.value >= replicas_of_slice_.size()) return false;
  return std::ranges::any_of(replicas_of_slice_[slice_index.value], [&](std::uint32_t index) {
    const Replica& replica = replicas_[index];
    return replica.service == service && replica.process_count != static_cast<std::uint32_t>(table.point.processes);
  });
}

void RequestServing::take_all(std::int64_t now_us) {
  for (std::size_t index = 0; index < services_.size(); ++index) {
    services_[index].queue.arrive_before(now_us);
    if (dispatch_ == Dispatch::kPull) {
      pull(index, now_us);
    } else {
      route_waiting(index, now_us);
    }
    set_next_arrival(index);
  }
}

void RequestServing::finish(std::int64_t end_us) {
  // All requests have arrived; answers of this instant still count, and nothing is taken from the queues any more.
  std::sort(answers_.begin(), answers_.end(), [](const DueAnswer& a, const DueAnswer& b) { return b > a; });
  for (const DueAnswer& due : answers_) {
    Process& process = processes_[due.process];
    const Replica& replica = replicas_[process.replica];
    if (due.at_us == end_us && process.batch_number == due.batch_number)
      settle(services_[replica.service.index], process, end_us);
  }
}

std::int64_t RequestServing::queued(ServiceId id, std::int64_t now_us) {
  Service& service = services_[id.index];
  service.queue.arrive_before(now_us);
  std::int64_t count = service.queue.waiting() + static_cast<std::int64_t>(service.unrouted.size());
  for (const std::uint32_t replica : service.replicas)
    count += static_cast<std::int64_t>(replicas_[replica].pushed.size());
  return count;
}

std::size_t RequestServing::entry_count() const {
  std::size_t count = answers_.size();
  for (const Replica& replica : replicas_) count += replica.pushed.size();
  for (const Service& service : services_) count += service.unrouted.size();
  return count;
}

}  // namespace berth::sim
