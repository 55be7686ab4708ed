#include "serving/figures/figure_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "serving/figures/figure_points.h"

namespace berth::serving {
namespace {

/// Entries of the second that is under way, before equal ones are merged.
constexpr std::size_t kUnsortedMax = 4096;
/// Seconds of models that wait for whoever takes them; after that they are lost.
constexpr std::size_t kEndedMax = 200'000;

void add_tokens(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& more) {
  if (!more) return;
  std::int64_t total = 0;
  if (__builtin_add_overflow(sum.value_or(0), *more, &total)) total = std::numeric_limits<std::int64_t>::max();
  sum = total;
}

void add_time(TimeSums& sums, Micros time) {
  ++sums.count;
  sums.sum_us += time.count();
  sums.sum_squares += Int128{time.count()} * time.count();
}

/// The seconds of all points that have a part in the time asked for, of those that are kept.
SecondRange seconds_of(const AskedFigures& asked, SecondRange kept) {
  const std::int64_t from = std::max<std::int64_t>(asked.from.value_or(0), 0) / asked.step * asked.step;
  const std::int64_t last = std::clamp<std::int64_t>(asked.to.value_or(kept.second + 1), 0, kept.second + 1) - 1;
  const std::int64_t to = (last / asked.step + 1) * asked.step;
  return {std::max(from, kept.first), last < 0 ? last : std::min(to - 1, kept.second)};
}

}  // namespace

FigureBook::FigureBook(std::vector<std::string> tenants, int lanes) : tenants_(std::move(tenants)), lane_time_(lanes) {}

// The clock

void FigureBook::learn_wall_time(Instant now, Micros since_1970) {
  advance(now);
  const bool is_first = !wall_.is_known();
  const std::int64_t before_us = wall_.at(now);
  if (!wall_.learn(now, since_1970)) return;
  lane_time_.cut({.now = now, .wall_us = before_us});
  lane_time_.begin({.now = now, .wall_us = wall_.at(now)});
  series_offset_us_ = std::max(series_offset_us_, wall_.at(now) - now.micros());
  second_end_ = now;
  if (is_first) first_second_ = second_ = second_at(now);
  advance(now);
}

void FigureBook::keep_ended(Instant now) {
  advance(now);
  keeps_ended_ = true;
  lane_time_.keep_spans();
  lane_time_.begin({.now = now, .wall_us = wall_.at(now)});
}

void FigureBook::advance(Instant now) {
  if (now < second_end_) return;
  lane_time_.advance({.now = now, .wall_us = wall_.at(now)});
  const std::int64_t second = second_at(now);
  if (second > second_) end_seconds(second);
  second_end_ = Instant((second + 1) * kMicrosPerSecond - series_offset_us_);
}

void FigureBook::end_seconds(std::int64_t next) {
  // After a leap of the clock only what can still be asked for.
  for (std::int64_t second = second_; second < next; second = std::max(second + 1, next - kSecondsKept)) {
    RequestFigures all;
    for (CountedModel& model : versions_) end_second(model, second, all);
    for (auto& [name, model] : backend_models_) end_second(model, second, all);
    all.latencies.clear();
    if (all != RequestFigures()) all_seconds_.add(second, all);
  }
  all_seconds_.forget_before(next - kSecondsKept);
  second_ = next;
}

void FigureBook::end_second(CountedModel& model, std::int64_t second, RequestFigures& all) {
  model.seconds.forget_before(second - kSecondsKept + 1);
  model.current.queue_max = model.waiting;
  if (model.current == RequestFigures()) return;
  if (model.until) model.until = std::max(*model.until, second);  // its last requests ended after it had gone
  sort_buckets(model.current.latencies);
  model.seconds.add(second, model.current);
  LatencyBuckets latencies = std::exchange(model.current.latencies, {});
  add_beside(all, model.current);
  if (keeps_ended_ && ended_.size() < kEndedMax) {
    model.current.latencies = std::move(latencies);
    ended_.push_back({.second = second, .model = model.name, .version = model.version, .figures = model.current});
  }
  model.current = {};
}

// Models

void FigureBook::add_model(ModelIndex index, std::string name, std::string version, Instant now) {
  advance(now);
  ENSURE(static_cast<std::size_t>(index) == versions_.size());
  versions_.push_back({.name = std::move(name), .version = std::move(version), .since = second_});
}

void FigureBook::remove_model(ModelIndex index, Instant now) {
  advance(now);
  if (!at(index).until) at(index).until = second_;
}

void FigureBook::add_backend_model(std::string_view model, Instant now) {
  advance(now);
  backend_models_.try_emplace(std::string(model),
                              CountedModel{.name = std::string(model), .version = "", .since = second_});
}

// Requests

void FigureBook::count_arrival(CountedModel& model, TenantIndex tenant) {
  ++model.current.requests;
  ++model.totals.requests;
  ++model.tenants[tenant].requests;
}

void FigureBook::count_end(CountedModel& model, RequestOutcome outcome) {
  add_outcome(model.current, outcome);
  add_outcome(model.totals, outcome);
}

void FigureBook::count_answer(CountedModel& model, Micros latency) {
  const Micros counted = std::max(latency, Micros(0));
  auto& latencies = model.current.latencies;
  latencies.push_back({.bucket = latency_bucket_of(counted.count()), .count = 1});
  if (latencies.size() > kUnsortedMax) sort_buckets(latencies);
  model.answer_time += counted;
  const auto bound = std::ranges::lower_bound(kFirstResponseBounds, counted);
  ++model.first_response[static_cast<std::size_t>(bound - kFirstResponseBounds.begin())];
}

void FigureBook::arrive(ModelIndex index, TenantIndex tenant, Instant now) {
  advance(now);
  count_arrival(at(index), tenant);
  ++at(index).waiting;
}

void FigureBook::arrive_and_end(ModelIndex index, TenantIndex tenant, RequestOutcome outcome, Instant now) {
  advance(now);
  count_arrival(at(index), tenant);
  count_end(at(index), outcome);
}

void FigureBook::end_waiting(const Request& request, RequestOutcome outcome, Instant now) {
  advance(now);
  CountedModel& model = at(request.model);
  count_end(model, outcome);
  --model.waiting;
}

void FigureBook::start_batch(LaneIndex lane, ModelIndex index, std::span<const Request> requests, Instant now) {
  advance(now);
  lane_time_.start(lane, index, requests, now);
  const auto count = static_cast<std::int64_t>(requests.size());
  at(index).waiting -= count;
  at(index).running += count;
  if (std::exchange(at(index).is_preload_unused, false)) ++at(index).preloads.hits;
}

void FigureBook::end_batch(LaneIndex lane, const RunningBatch& batch, const std::vector<bool>& is_answered,
                           std::optional<Micros> time, Instant now) {
  advance(now);
  lane_time_.end(lane, now);
  CountedModel& model = at(batch.model);
  model.running -= static_cast<std::int64_t>(batch.requests.size());
  ++model.current.batches;
  ++model.totals.batches;
  if (time && std::ranges::all_of(is_answered, std::identity())) add_time(model.batches[batch.rows], *time);
  for (std::size_t i = 0; i < batch.requests.size(); ++i) {
    const Request& request = batch.requests[i];
    if (!is_answered[i]) {
      count_end(model, RequestOutcome::kFailed);
      continue;
    }
    count_end(model, now <= request.deadline() ? RequestOutcome::kInTime : RequestOutcome::kLate);
    count_answer(model, now - request.arrival);
    model.current.rows += request.rows;
    model.totals.rows += request.rows;
  }
}

void FigureBook::end_load(ModelIndex index, Micros load_time) {
  ++at(index).loads;
  at(index).load_time += load_time;
}

void FigureBook::evict(ModelIndex index) {
  ++at(index).evictions;
  at(index).is_preload_unused = false;
}

void FigureBook::begin_load(ModelIndex index, bool is_preload) {
  at(index).is_preload_unused = is_preload;
  if (is_preload) ++at(index).preloads.begun;
}

void FigureBook::end_at_backend(std::string_view model, TenantIndex tenant, const BackendEnd& how, Instant now) {
  add_backend_model(model, now);
  CountedModel& counted = backend_models_.find(model)->second;
  count_arrival(counted, tenant);
  count_end(counted, how.outcome);
  if (how.outcome == RequestOutcome::kInTime || how.outcome == RequestOutcome::kLate)
    count_answer(counted, how.latency);
  add_tokens(counted.tenants[tenant].prompt_tokens, how.prompt_tokens);
  add_tokens(counted.tenants[tenant].completion_tokens, how.completion_tokens);
}

// What is asked

template <class Visit>
void FigureBook::for_each_model(const Visit& visit) const {
  for (const CountedModel& model : versions_) visit(model);
  for (const auto& [name, model] : backend_models_) visit(model);
}

ServeResult<std::vector<FigurePoint>> FigureBook::series(const AskedFigures& asked, Instant now) const {
  const std::int64_t newest = std::max(second_, second_at(now));
  const std::int64_t oldest = std::max(first_second_, newest - kSecondsKept + 1);
  const SecondRange range = seconds_of(asked, {oldest, newest});
  std::map<std::int64_t, RequestFigures> seconds;
  std::vector<SecondRange> known;
  bool has_batches = !asked.model && backend_models_.empty();
  const auto add = [&](std::int64_t second, const RequestFigures& figures) { add_beside(seconds[second], figures); };
  const auto is_within = [&](std::int64_t second) { return range.first <= second && second <= range.second; };
  for_each_model([&](const CountedModel& model) {
    if (asked.model && model.name != *asked.model) return;
    const bool is_there = !model.until || model.waiting > 0 || model.running > 0 || model.current != RequestFigures();
    const std::int64_t until = is_there ? newest : *model.until;
    if (until < oldest) return;
    known.emplace_back(model.since, until);
    has_batches = has_batches || !model.version.empty();
    if (asked.model) model.seconds.for_each(range.first, range.second + 1, add);
    RequestFigures current = model.current;
    if (!asked.model) current.latencies.clear();
    sort_buckets(current.latencies);
    current.queue_max = model.waiting;
    if (is_within(second_) && current != RequestFigures()) add(second_, current);
  });
  if (asked.model && known.empty()) {
    return refuse(ServeFault::kUnknown,
                  fmt::format("model: wanted one that is served here, found {}", in_quotes(*asked.model)));
  }
  if (!asked.model) {
    known = {{first_second_, newest}};
    all_seconds_.for_each(range.first, range.second + 1, add);
  }
  std::vector<FigurePoint> points = figure_points(seconds, known, range, asked);
  for (FigurePoint& point : points) point.has_batches = has_batches;
  return points;
}

std::string FigureBook::tenant_name(TenantIndex tenant) const {
  const auto place = static_cast<std::size_t>(tenant);
  return place < tenants_.size() ? tenants_[place] : "";
}

std::vector<UsageItem> FigureBook::usage() const {
  std::map<std::pair<std::string, std::string>, UsageItem> items;
  const auto item_of = [&](TenantIndex tenant, const std::string& model) -> UsageItem& {
    const std::string name = tenant_name(tenant);
    return items.try_emplace({name, model}, UsageItem{.tenant = name, .model = model}).first->second;
  };
  for_each_model([&](const CountedModel& model) {
    for (const auto& [tenant, count] : model.tenants) {
      UsageItem& item = item_of(tenant, model.name);
      item.requests += count.requests;
      add_tokens(item.prompt_tokens, count.prompt_tokens);
      add_tokens(item.completion_tokens, count.completion_tokens);
      if (!model.version.empty()) item.device_us = item.device_us.value_or(0);
    }
  });
  for (const auto& [user, time] : lane_time_.totals()) {
    UsageItem& item = item_of(user.first, at(user.second).name);
    item.device_us = item.device_us.value_or(0) + time.count();
  }
  std::vector<UsageItem> sorted;
  for (auto& [key, item] : items) sorted.push_back(std::move(item));
  return sorted;
}

ModelCounters FigureBook::counters_of(const CountedModel& model) const {
  ModelCounters counters;
  counters.name = model.name;
  counters.version = model.version;
  counters.totals = model.totals;
  counters.waiting = model.waiting;
  counters.loads = model.loads;
  counters.load_time = model.load_time;
  counters.evictions = model.evictions;
  counters.preloads = model.preloads;
  counters.first_response = model.first_response;
  counters.answer_time = model.answer_time;
  return counters;
}

ModelCounters FigureBook::counters(ModelIndex index) const { return counters_of(at(index)); }

std::vector<ModelCounters> FigureBook::backend_counters() const {
  std::vector<ModelCounters> counters;
  for (const auto& [name, model] : backend_models_) counters.push_back(counters_of(model));
  return counters;
}

std::int64_t FigureBook::accepted(ModelIndex index) const { return at(index).waiting + at(index).running; }

EndedFigures FigureBook::take_ended(Instant now, bool is_last) {
  advance(now);
  if (is_last) {
    lane_time_.cut({.now = now, .wall_us = wall_.at(now)});
    end_seconds(second_ + 1);  // nothing is counted in the rest of it
  }
  EndedFigures ended{.seconds = std::exchange(ended_, {}), .spans = {}};
  for (const LaneSpan& span : lane_time_.take_spans()) {
    UsageSpan named{.from_us = span.from_us, .to_us = span.to_us};
    for (const auto& [user, time] : span.used) named.used[{tenant_name(user.first), at(user.second).name}] += time;
    ended.spans.push_back(std::move(named));
  }
  return ended;
}

}  // namespace berth::serving
