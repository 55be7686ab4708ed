#include "sim/world/service_meter.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"

namespace berth::sim {
namespace {

std::int64_t settled_of(const SecondRecord& record) {
  return record.in_time + record.late + record.dropped + record.unfinished;
}

}  // namespace

SecondRecord ServiceMeter::new_record(std::int64_t second, std::int64_t count) const {
  SecondRecord record;
  record.service = service_;
  record.second = second;
  record.requests = count;
  return record;
}

void ServiceMeter::expect(std::int64_t second, std::int64_t count) {
  ENSURE(count > 0 && (open_.empty() || open_.back().last_second < second));
  fold_last();
  open_.push_back({.record = new_record(second, count), .last_second = second, .is_range = false});
  totals_.requests += count;
}

/// Makes the last second part of a range if nothing of it is settled.
void ServiceMeter::fold_last() {
  if (open_.empty() || settled_of(open_.back().record) > 0 || open_.back().keeps_count) return;
  open_.back().is_range = true;
  if (open_.size() < 2 || !open_[open_.size() - 2].is_range) return;
  const std::int64_t last_second = open_.back().last_second;
  open_.pop_back();
  open_.back().last_second = last_second;
}

SecondRecord& ServiceMeter::record_of(std::int64_t second) {
  // It is nearly always the last or the first one.
  const auto is_it = [second](const Open& open) { return !open.is_range && open.record.second == second; };
  if (is_it(open_.back())) return open_.back().record;
  if (is_it(open_.front())) return open_.front().record;
  const auto it = std::lower_bound(open_.begin(), open_.end(), second,
                                   [](const Open& open, std::int64_t key) { return open.last_second < key; });
  ENSURE(it != open_.end() && it->record.second <= second);
  return it->is_range ? take_out(static_cast<std::size_t>(it - open_.begin()), second) : it->record;
}

/// Gives a second of a range a record of its own.
SecondRecord& ServiceMeter::take_out(std::size_t range, std::int64_t second) {
  const Open whole = open_[range];
  const std::int64_t count = arrivals_.count(second);
  ENSURE(count > 0);
  open_[range] = {.record = new_record(second, count), .last_second = second, .is_range = false};
  const auto at = [this](std::size_t index) { return open_.begin() + static_cast<std::ptrdiff_t>(index); };
  if (second < whole.last_second) {
    open_.insert(at(range + 1),
                 {.record = new_record(second + 1, 0), .last_second = whole.last_second, .is_range = true});
  }
  // A range without requests would never be settled, and keep closed seconds from leaving.
  std::int64_t first = whole.record.second;
  while (first < second && arrivals_.count(first) == 0) ++first;
  if (first == second) return open_[range].record;
  open_.insert(at(range), {.record = new_record(first, 0), .last_second = second - 1, .is_range = true});
  return open_[range + 1].record;
}

void ServiceMeter::close_if_settled(SecondRecord& record, Instant at) {
  if (settled_of(record) < record.requests) return;
  ENSURE(settled_of(record) == record.requests);
  record.at = at;
  if (journal_) journal_(record);
  const auto is_closed = [](const Open& open) {
    return !open.is_range && settled_of(open.record) == open.record.requests;
  };
  while (!open_.empty() && is_closed(open_.front())) open_.pop_front();
}

void ServiceMeter::settle_in_time(std::int64_t second, std::int64_t count, std::int64_t accuracy_micro, Instant at) {
  SecondRecord& record = record_of(second);
  record.in_time += count;
  record.accuracy_sum_micro += count * accuracy_micro;
  totals_.in_time += count;
  totals_.accuracy_sum_micro += count * accuracy_micro;
  note_settled({.second = second, .in_time = count, .accuracy_sum_micro = count * accuracy_micro});
  close_if_settled(record, at);
}

void ServiceMeter::settle_late(std::int64_t second, std::int64_t count, Instant at) {
  SecondRecord& record = record_of(second);
  record.late += count;
  totals_.late += count;
  note_settled({.second = second, .late = count});
  close_if_settled(record, at);
}

void ServiceMeter::settle_dropped(std::int64_t second, std::int64_t count, Instant at) {
  SecondRecord& record = record_of(second);
  record.dropped += count;
  totals_.dropped += count;
  note_settled({.second = second, .dropped = count});
  close_if_settled(record, at);
}

namespace {

void add_settled(SettledRequests& sum, const SettledRequests& more) {
  sum.in_time += more.in_time;
  sum.late += more.late;
  sum.dropped += more.dropped;
  sum.accuracy_sum_micro += more.accuracy_sum_micro;
}

}  // namespace

void ServiceMeter::note_settled(const SettledRequests& settled) {
  if (!keeps_recent_) return;
  // Queues are first in, first out: it is nearly always the latest second recorded, or one of the few before it.
  // Otherwise a second is there twice, which is harmless: readers add up.
  constexpr std::ptrdiff_t kSearched = 8;
  const auto end = recent_settled_.rbegin() + std::min(kSearched, std::ssize(recent_settled_));
  const auto known = std::find_if(recent_settled_.rbegin(), end,
                                  [&](const SettledRequests& each) { return each.second == settled.second; });
  if (known != end) return add_settled(*known, settled);
  recent_settled_.push_back(settled);
  if (recent_settled_.size() > 2 * kSettledSecondsMax) shorten_settled();
}

void ServiceMeter::shorten_settled() {
  // Requests that waited for days may be dropped at once: for the oldest seconds the sum is enough.
  const auto kept = recent_settled_.begin() + kSettledSecondsMax;
  for (auto old = recent_settled_.begin() + 1; old != kept; ++old) add_settled(recent_settled_.front(), *old);
  recent_settled_.erase(recent_settled_.begin() + 1, kept);
}

void ServiceMeter::keep_counts() {
  std::deque<Open> kept;
  for (const Open& open : open_) {
    for (std::int64_t second = open.record.second; second <= open.last_second; ++second) {
      Open one{.record = open.record, .last_second = second, .is_range = false, .keeps_count = true};
      if (open.is_range) one.record = new_record(second, arrivals_.count(second));
      if (one.record.requests > 0) kept.push_back(one);
    }
  }
  open_ = std::move(kept);
}

void ServiceMeter::restart() {
  open_.clear();
  totals_ = ServiceTotals();
  reported_ = ServiceTotals();
  latencies_ = LatencyHistogram();
  recent_latencies_.clear();
  recent_settled_.clear();
}

void ServiceMeter::finish(Instant at) {
  while (!open_.empty()) {
    Open& open = open_.front();
    if (open.is_range) {
      for (std::int64_t second = open.record.second; second <= open.last_second; ++second) {
        SecondRecord record = new_record(second, arrivals_.count(second));
        if (record.requests > 0) leave_unfinished(record, at);
      }
    } else if (settled_of(open.record) < open.record.requests) {
      leave_unfinished(open.record, at);
    }  // else it was settled before older ones, and journaled then
    open_.pop_front();
  }
}

void ServiceMeter::leave_unfinished(SecondRecord& record, Instant at) {
  const std::int64_t rest = record.requests - settled_of(record);
  record.unfinished += rest;
  totals_.unfinished += rest;
  record.at = at;
  if (journal_) journal_(record);
}

ServiceSecond ServiceMeter::take_second(std::int64_t second, std::int64_t arrivals, std::int64_t queued) {
  const ServiceSecond seen{.service = service_,
                           .second = second,
                           .arrivals = arrivals,
                           .in_time = totals_.in_time - reported_.in_time,
                           .late = totals_.late - reported_.late,
                           .dropped = totals_.dropped - reported_.dropped,
                           .queued = queued};
  reported_ = totals_;
  return seen;
}

MeasuredSecond ServiceMeter::measure_second(std::int64_t second, std::int64_t arrivals, std::int64_t queued,
                                            bool knows_batches) {
  const std::int64_t batches = std::exchange(recent_batches_, 0);
  return {.seen = take_second(second, arrivals, queued),
          .settled = std::exchange(recent_settled_, {}),
          .latencies = std::exchange(recent_latencies_, {}),
          .batches = knows_batches ? std::optional(batches) : std::nullopt};
}

}  // namespace berth::sim
