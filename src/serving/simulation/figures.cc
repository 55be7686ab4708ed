#include "serving/simulation/figures.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/core/overloaded.h"

namespace berth::serving {
namespace {

/// The nearest rank: the smallest latency that at least so many percent of all do not exceed.
std::optional<Micros> percentile(std::vector<Micros>& latencies, std::size_t percent) {
  if (latencies.empty()) return std::nullopt;
  const std::size_t rank = (latencies.size() * percent + 99) / 100;
  const auto place = latencies.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::ranges::nth_element(latencies, place);
  return *place;
}

ServingFigures finished(ServingFigures figures, std::vector<Micros> latencies) {
  figures.latency_p50 = percentile(latencies, 50);
  figures.latency_p99 = percentile(latencies, 99);
  return figures;
}

}  // namespace

FigureCounter::FigureCounter(const RecordedRequests& recorded)
    : models_(recorded.models.size()), stays_(recorded.models.size()), tenants_(recorded.tenants.size()) {
  for (const Request& request : recorded.requests) {
    ++total_.figures.requests;
    ++models_[static_cast<std::size_t>(request.model)].figures.requests;
    ++tenants_[static_cast<std::size_t>(request.tenant)].figures.requests;
  }
}

void FigureCounter::add(const RunEvent& event) {
  std::visit(Overloaded{[&](const StartBatch& batch) { add_batch(batch, event.end); },
                        [&](const StartLoad& load) { add_load(load, event.at, event.end); },
                        [&](const Evict&) { ++run_.evictions; },
                        [&](const Reject& reject) { add_drop(reject.request, event.at); },
                        [&](const Drop& drop) { add_drop(drop.request, event.at); }},
             event.order);
}

void FigureCounter::add_load(const StartLoad& load, Instant at, Instant end) {
  ++run_.loads;
  run_.load_time += end - at;
  if (load.is_preload) ++run_.preloads;
  stays_[static_cast<std::size_t>(load.model)] = {.from = end, .is_preload_without_hit = load.is_preload};
}

void FigureCounter::add_batch(const StartBatch& batch, Instant end) {
  Count& model = models_[static_cast<std::size_t>(batch.model)];
  Stay& stay = stays_[static_cast<std::size_t>(batch.model)];
  if (std::exchange(stay.is_preload_without_hit, false)) ++run_.preload_hits;
  run_.load_waits +=
      std::ranges::count_if(batch.requests, [&](const Request& request) { return request.arrival < stay.from; });
  for (Count* count : {&total_, &model}) {
    ++count->figures.batches;
    count->figures.busy += batch.expected;
  }
  divide_among_tenants(batch);
  for (const Request& request : batch.requests) {
    for (Count* count : {&total_, &model, &tenants_[static_cast<std::size_t>(request.tenant)]}) {
      add_answer(*count, request, end);
    }
  }
  run_.end = std::max(run_.end, end);
}

void FigureCounter::divide_among_tenants(const StartBatch& batch) {
  std::map<TenantIndex, std::int64_t> rows;
  std::int64_t all = 0;
  for (const Request& request : batch.requests) {
    rows[request.tenant] += request.rows;
    all += request.rows;
  }
  Micros left = batch.expected;
  for (const auto& [tenant, own] : rows) {
    const Micros share(batch.expected.count() * own / all);
    tenants_[static_cast<std::size_t>(tenant)].figures.busy += share;
    left -= share;
  }
  const Request& oldest = *std::ranges::min_element(batch.requests, {}, &Request::number);
  tenants_[static_cast<std::size_t>(oldest.tenant)].figures.busy += left;
}

void FigureCounter::add_answer(Count& count, const Request& request, Instant end) {
  ++(end <= request.deadline() ? count.figures.in_time : count.figures.late);
  count.latencies.push_back(end - request.arrival);
}

void FigureCounter::add_drop(const Request& request, Instant at) {
  ++total_.figures.dropped;
  ++models_[static_cast<std::size_t>(request.model)].figures.dropped;
  ++tenants_[static_cast<std::size_t>(request.tenant)].figures.dropped;
  run_.end = std::max(run_.end, at);
}

RunFigures FigureCounter::figures() const {
  RunFigures figures = run_;
  figures.total = finished(total_.figures, total_.latencies);
  for (const Count& count : models_) figures.models.push_back(finished(count.figures, count.latencies));
  for (const Count& count : tenants_) figures.tenants.push_back(finished(count.figures, count.latencies));
  return figures;
}

}  // namespace berth::serving
