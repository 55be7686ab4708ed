#include "sim/measure/timeline.h"

#include <algorithm>

#include "base/core/overloaded.h"

namespace berth::measure {
namespace {

std::vector<std::optional<double>> shares(const std::vector<double>& part, const std::vector<double>& whole) {
  std::vector<std::optional<double>> values(part.size());
  for (std::size_t bin = 0; bin < part.size(); ++bin) {
    if (whole[bin] > 0) values[bin] = part[bin] / whole[bin];
  }
  return values;
}

SliceSpan::State state_after(world::SliceEvent event, SliceSpan::State before, const world::SliceRecord& record) {
  switch (event) {
    case world::SliceEvent::kCreated:
      return record.services.empty() ? SliceSpan::State::kIdle : SliceSpan::State::kChanging;
    case world::SliceEvent::kServing:
      return record.role == Role::kInference && !record.services.empty() ? SliceSpan::State::kServing
                                                                         : SliceSpan::State::kIdle;
    case world::SliceEvent::kDraining:
      return SliceSpan::State::kChanging;
    case world::SliceEvent::kRetrainingStarted:
      return SliceSpan::State::kRetraining;
    case world::SliceEvent::kRetrainingDone:
      return SliceSpan::State::kIdle;
    case world::SliceEvent::kDestroyed:
    case world::SliceEvent::kLost:
      return before;
  }
  return before;
}

}  // namespace

TimelineBins timeline_bins(const Scenario& scenario) {
  const std::int64_t seconds = scenario.simulated_seconds();
  const std::int64_t bin_seconds = (seconds + kTimelineBinsMax - 1) / kTimelineBinsMax;
  return {.bin_seconds = bin_seconds, .count = static_cast<std::size_t>((seconds + bin_seconds - 1) / bin_seconds)};
}

TimelineBuilder::TimelineBuilder(const Scenario& scenario, Sharing sharing)
    : scenario_(scenario), tables_(scenario, sharing), end_(Instant::at_second(scenario.simulated_seconds())) {
  const TimelineBins bins = timeline_bins(scenario);
  bin_ = Micros::seconds(bins.bin_seconds);
  const std::vector<double> zeros(bins.count, 0);
  bins_.assign(scenario.services.size(), {.requests = zeros, .worth = zeros, .capacity = zeros});
}

void TimelineBuilder::add(const sim::JournalRecord& record) {
  std::visit(Overloaded{[&](const world::SliceRecord& slice) { add_slice(slice); },
                        [&](const sim::SecondRecord& second) { add_second(second); }, [](const sim::GpuRecord&) {},
                        [](const sim::TierRecord&) {}, [](const sim::WarmRecord&) {},
                        [&](const world::PointRecord& point) { add_point(point); }},
             record);
}

std::size_t TimelineBuilder::bin_of(Instant at) const {
  const auto bin = static_cast<std::size_t>(at.micros() / bin_.count());
  return std::min(bin, bins_.front().requests.size() - 1);
}

void TimelineBuilder::add_second(const sim::SecondRecord& record) {
  ServiceBins& bins = bins_[record.service.index];
  const std::size_t bin = bin_of(Instant::at_second(record.second));
  bins.requests[bin] += static_cast<double>(record.requests);
  bins.worth[bin] += static_cast<double>(record.accuracy_sum_micro) / 1e6;
}

void TimelineBuilder::add_slice(const world::SliceRecord& record) {
  const auto found = open_.find(record.slice);
  const SliceSpan::State before = found == open_.end() ? SliceSpan::State::kIdle : found->second.span.state;
  if (found != open_.end()) {
    close(found->second, record.at);
    open_.erase(found);
  }
  if (record.event != world::SliceEvent::kServing) points_.erase(record.slice);
  if (record.event == world::SliceEvent::kDestroyed || record.event == world::SliceEvent::kLost) return;
  timeline_.shares_slices = timeline_.shares_slices || record.services.size() > 1;
  OpenSpan open;
  open.span = {.slice = record.slice,
               .services = record.services,
               .role = record.role,
               .state = state_after(record.event, before, record),
               .from = record.at,
               .until = record.at};
  open.point_from = record.at;
  open_.emplace(record.slice, open);
}

void TimelineBuilder::add_point(const world::PointRecord& record) {
  const auto found = open_.find(record.slice);
  if (found != open_.end() && found->second.span.state == SliceSpan::State::kServing) {
    add_capacity(found->second, record.at);
    found->second.point_from = record.at;
  }
  points_.erase(record.slice);
  if (record.point) points_.emplace(record.slice, *record.point);
}

std::optional<PointChoice> TimelineBuilder::point_of(const Slice& slice) const {
  const auto found = points_.find(slice);
  return found == points_.end() ? std::nullopt : std::optional(found->second);
}

void TimelineBuilder::close(const OpenSpan& open, Instant until) {
  if (open.span.from == until) return;
  if (open.span.state == SliceSpan::State::kServing) add_capacity(open, until);
  if (timeline_.spans.size() == kSpansMax) {
    timeline_.are_spans_cut = true;
    return;
  }
  SliceSpan span = open.span;
  span.until = until;
  timeline_.spans.push_back(std::move(span));
}

void TimelineBuilder::add_capacity(const OpenSpan& open, Instant until) {
  const SliceSpan& span = open.span;
  for (const ServiceId service : span.services) {
    const auto table = tables_.find(service, span.slice, span.services.size(), point_of(span.slice));
    if (!table) continue;
    const double per_second = table->point.requests_per_second.to_double();
    for (std::size_t bin = bin_of(open.point_from); bin < bins_[service.index].capacity.size(); ++bin) {
      const Instant begin = Instant() + bin_ * static_cast<std::int64_t>(bin);
      if (begin >= until) break;
      const Micros covered = std::min(until, begin + bin_) - std::max(open.point_from, begin);
      bins_[service.index].capacity[bin] += per_second * covered.to_seconds();
    }
  }
}

Timeline TimelineBuilder::finish() {
  for (const auto& [slice, open] : open_) close(open, end_);
  open_.clear();
  std::sort(timeline_.spans.begin(), timeline_.spans.end(), [](const SliceSpan& a, const SliceSpan& b) {
    return std::tie(a.slice, a.from) < std::tie(b.slice, b.from);
  });
  timeline_.bin = bin_;
  const std::size_t count = bins_.front().requests.size();
  std::vector<double> requests(count, 0);
  std::vector<double> worth(count, 0);
  std::vector<double> weighted(count, 0);
  std::vector<double> weights(count, 0);
  for (std::size_t index = 0; index < bins_.size(); ++index) {
    const ServiceBins& bins = bins_[index];
    ServiceTimeline service;
    service.goodput = shares(bins.worth, bins.requests);
    const double weight = scenario_.services[index].weight.to_double();
    for (std::size_t bin = 0; bin < count; ++bin) {
      const Instant begin = Instant() + bin_ * static_cast<std::int64_t>(bin);
      const double seconds = (std::min(end_, begin + bin_) - begin).to_seconds();
      service.arrivals_per_second.push_back(bins.requests[bin] / seconds);
      service.capacity_per_second.push_back(bins.capacity[bin] / seconds);
      requests[bin] += bins.requests[bin];
      worth[bin] += bins.worth[bin];
      if (service.goodput[bin]) {
        weighted[bin] += weight * *service.goodput[bin];
        weights[bin] += weight;
      }
    }
    timeline_.services.push_back(std::move(service));
  }
  timeline_.goodput = shares(worth, requests);
  timeline_.goodput_mean_of_services = shares(weighted, weights);
  return std::move(timeline_);
}

}  // namespace berth::measure
