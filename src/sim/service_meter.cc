#include "sim/service_meter.h"

#include <algorithm>

#include "base/ensure.h"

namespace berth::sim {
namespace {

std::int64_t settled_of(const SecondRecord& record) {
  return record.in_time + record.late + record.dropped + record.unfinished;
}

}  // namespace

void ServiceMeter::expect(std::int64_t second, std::int64_t count) {
  ENSURE(count > 0 && (open_.empty() || open_.back().second < second));
  SecondRecord record;
  record.service = service_;
  record.second = second;
  record.requests = count;
  open_.push_back(record);
  totals_.requests += count;
}

SecondRecord& ServiceMeter::record_of(std::int64_t second) {
  // It is nearly always the last or the first one.
  if (open_.back().second == second) return open_.back();
  if (open_.front().second == second) return open_.front();
  const auto it = std::lower_bound(open_.begin(), open_.end(), second,
                                   [](const SecondRecord& record, std::int64_t key) { return record.second < key; });
  ENSURE(it != open_.end() && it->second == second);
  return *it;
}

void ServiceMeter::close_if_settled(SecondRecord& record, Instant at) {
  if (settled_of(record) < record.requests) return;
  ENSURE(settled_of(record) == record.requests);
  record.at = at;
  if (journal_) journal_(record);
  while (!open_.empty() && settled_of(open_.front()) == open_.front().requests) open_.pop_front();
}

void ServiceMeter::settle_in_time(std::int64_t second, std::int64_t count, std::int64_t accuracy_micro, Instant at) {
  SecondRecord& record = record_of(second);
  record.in_time += count;
  record.accuracy_sum_micro += count * accuracy_micro;
  totals_.in_time += count;
  totals_.accuracy_sum_micro += count * accuracy_micro;
  close_if_settled(record, at);
}

void ServiceMeter::settle_late(std::int64_t second, std::int64_t count, Instant at) {
  SecondRecord& record = record_of(second);
  record.late += count;
  totals_.late += count;
  close_if_settled(record, at);
}

void ServiceMeter::settle_dropped(std::int64_t second, std::int64_t count, Instant at) {
  SecondRecord& record = record_of(second);
  record.dropped += count;
  totals_.dropped += count;
  close_if_settled(record, at);
}

void ServiceMeter::finish(Instant at) {
  while (!open_.empty()) {
    SecondRecord& record = open_.front();
    const std::int64_t rest = record.requests - settled_of(record);
    record.unfinished += rest;
    totals_.unfinished += rest;
    if (rest == 0) {
      open_.pop_front();  // settled before older ones, and journaled then
    } else {
      close_if_settled(record, at);
    }
  }
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

}  // namespace berth::sim
