#include "surface/up_metrics/metrics_book.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "live/session/session.h"

namespace berth::metrics {
namespace {

constexpr double kMicros = 1e6;
/// Numbers of services that are gone are forgotten after so many seconds.
constexpr std::int64_t kForgetSeconds = 120;
constexpr std::int64_t kNameSeconds = 60;

/// For each fine bucket the place of the first bound that its middle does not exceed.
std::vector<std::uint8_t> places_of_buckets() {
  std::vector<std::uint8_t> places(std::size_t{kLatencyBucketMax} + 1);
  for (std::uint32_t bucket = 0; bucket <= kLatencyBucketMax; ++bucket) {
    const double seconds = latency_bucket_middle_us(bucket) / kMicros;
    const auto bound = std::ranges::lower_bound(kLatencyBounds, seconds);
    places[bucket] = static_cast<std::uint8_t>(bound - kLatencyBounds.begin());
  }
  return places;
}

/// The names of the services, in the order in which these were set.
std::vector<live::ServiceName> names_by_number(const live::Catalog& catalog) {
  std::vector<std::pair<std::uint64_t, const live::ServiceName*>> numbers;
  numbers.reserve(catalog.services.size());
  for (const auto& [name, service] : catalog.services) numbers.emplace_back(service.meta.number, &name);
  std::ranges::sort(numbers);
  std::vector<live::ServiceName> names;
  names.reserve(numbers.size());
  for (const auto& [number, name] : numbers) names.push_back(*name);
  return names;
}

}  // namespace

MetricHistogram ServiceTotals::histogram() const {
  MetricHistogram histogram = empty_histogram({kLatencyBounds.begin(), kLatencyBounds.end()});
  std::ranges::transform(latencies, histogram.counts.begin(),
                         [](std::int64_t count) { return static_cast<std::uint64_t>(count); });
  histogram.sum = latency_sum;
  return histogram;
}

MetricsBook::MetricsBook(const Scenario& fleet, SeriesBudget budget)
    : fleet_(fleet), budget_(budget), bucket_places_(places_of_buckets()) {
  for (const FleetEntry& entry : fleet.fleet) {
    gpu_weight_ = std::lcm(gpu_weight_, std::int64_t{live::usage_units(entry.model)});
  }
}

void MetricsBook::begin(const live::Session& session) {
  began_ = session.now();
  admit(session);
}

// ---- services

void MetricsBook::admit(const live::Session& session) {
  for (const live::ServiceName& name : names_by_number(session.catalog())) admit(name);
}

void MetricsBook::admit(const live::ServiceName& name) {
  if (places_.contains(name)) return;
  static_cast<void>(tenants_.admit(name.tenant, budget_, kTenantSeries));
  if (budget_.take(kServiceSeries)) {
    places_.emplace(name, listed_.size());
    listed_.push_back({.name = name, .totals = {}});
  } else if (!rest_) {
    rest_.emplace();
  }
}

std::optional<std::size_t> MetricsBook::place_of(const live::ServiceName& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

void MetricsBook::read_names(const SeriesSpan& span) {
  std::vector<const SeriesName*> names;
  names.reserve(span.names.size());
  for (const SeriesName& name : span.names) names.push_back(&name);
  std::ranges::sort(names, {}, [](const SeriesName* name) { return name->service; });
  for (const SeriesName* each : names) {
    const live::ServiceName name{.tenant = each->tenant, .name = each->name};
    admit(name);
    known_[each->service] = {.place = place_of(name), .seen_second = span.second};
  }
  if (names.empty() || span.second % kNameSeconds != 0) return;
  std::erase_if(known_, [&](const auto& each) { return each.second.seen_second + kForgetSeconds < span.second; });
}

void MetricsBook::add(const SeriesSpan& span) {
  read_names(span);
  if (!began_ || Instant::at_second(span.second + 1) <= *began_) return;
  for (const ServiceFigures& figures : span.services) {
    const auto known = known_.find(figures.service);
    if (known == known_.end()) continue;  // it was gone before it had a name
    known->second.seen_second = span.second;
    if (known->second.place) {
      add_to(listed_[*known->second.place].totals, figures, span.second, false);
    } else if (rest_) {
      add_to(*rest_, figures, span.second, true);
    }
  }
  if (span.fleet) add_figures(fleet_sum_, *span.fleet);
  settle(Instant::at_second(span.second + 1));
}

void MetricsBook::add_to(ServiceTotals& totals, const ServiceFigures& figures, std::int64_t second, bool is_sum) {
  if (!is_sum || totals.second != second) {
    totals.queued = 0;
    totals.knows_batches = false;
  }
  totals.second = second;
  totals.queued += figures.queued_max;
  totals.requests += figures.requests;
  totals.in_time += figures.in_time;
  totals.late += figures.late;
  totals.dropped += figures.dropped;
  totals.accuracy_sum_micro += figures.accuracy_sum_micro;
  totals.batches += figures.batches.value_or(0);
  totals.knows_batches = totals.knows_batches || figures.batches.has_value();
  for (const LatencyBucket& each : figures.latencies) {
    totals.latencies[bucket_places_[each.bucket]] += each.count;
    totals.latency_sum += latency_bucket_middle_us(each.bucket) / kMicros * static_cast<double>(each.count);
  }
}

// ---- usage

std::int64_t MetricsBook::weight_of(const GpuModel& model, const live::UsagePart& part) const {
  return gpu_weight_ / live::usage_units(model) * part.units;
}

void MetricsBook::add(const live::UsageInterval& usage) {
  if (!began_ || usage.to <= *began_) return;
  ended_.push_back({.state = usage.what.part.state,
                    .from = std::max(usage.what.from, *began_),
                    .to = usage.to,
                    .weight = weight_of(fleet_.model_of(usage.gpu), usage.what.part)});
}

void MetricsBook::settle(Instant until) {
  std::erase_if(ended_, [&](const Ended& ended) {
    if (ended.to > until) return false;
    settled_[static_cast<std::size_t>(ended.state)] += Int128{ended.weight} * (ended.to - ended.from).count();
    return true;
  });
}

GpuSeconds MetricsBook::gpu_seconds(const live::UsageBook& open, std::int64_t until_second) {
  const Instant until = Instant::at_second(until_second);
  settle(until);
  WeightedTimes times = settled_;
  const auto add_part = [&](live::UsageState state, Instant from, std::int64_t weight) {
    if (from < until) times[static_cast<std::size_t>(state)] += Int128{weight} * (until - from).count();
  };
  for (const Ended& ended : ended_) add_part(ended.state, ended.from, ended.weight);
  std::uint32_t gpu = 0;
  for (const FleetEntry& entry : fleet_.fleet) {
    for (std::int64_t i = 0; began_ && i < entry.count; ++i, ++gpu) {
      for (const live::OpenUsage& each : open.open()[gpu]) {
        add_part(each.part.state, std::max(each.from, *began_), weight_of(entry.model, each.part));
      }
    }
  }
  GpuSeconds seconds{};
  std::ranges::transform(times, seconds.begin(), [&](const Int128& time) {
    return static_cast<double>(time) / kMicros / static_cast<double>(gpu_weight_);
  });
  return seconds;
}

}  // namespace berth::metrics
