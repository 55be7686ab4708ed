#include "serving/gateway/request_book.h"

#include <algorithm>

namespace berth::serving {
namespace {

// After a longer pause, of this process or of the clock, the seconds before are not known.
constexpr std::int64_t kCaughtUpSecondsMax = 5;
constexpr std::size_t kRecordBytes = 200;
constexpr std::size_t kBucketBytes = 10;

}  // namespace

void RequestBook::answer(const ServiceKey& key, std::int64_t second, Micros latency, bool is_in_time) {
  OpenSecond& counted = open_[{key, second}];
  ++(is_in_time ? counted.in_time : counted.late);
  ++counted.latencies[latency_bucket_of(std::max<std::int64_t>(latency.count(), 0))];
}

void RequestBook::close_seconds(std::int64_t second, std::span<const WaitingCount> services, Instant now) {
  std::map<ServiceKey, std::int64_t> waiting;
  for (const WaitingCount& each : services) waiting.emplace(*each.key, each.waiting);
  // A clock that was set back is followed: counts add up in any order.
  const bool goes_on = closed_until_ != 0 && second >= closed_until_ && second - closed_until_ <= kCaughtUpSecondsMax;
  for (std::int64_t each = goes_on ? closed_until_ : second; each < second; ++each) {
    for (const WaitingCount& service : services) open_[{*service.key, each}];
  }
  for (auto at = open_.begin(); at != open_.end();) {
    const auto& [key, of_second] = at->first;
    if (of_second >= second && of_second <= second + kCaughtUpSecondsMax) {
      ++at;
      continue;
    }
    const auto level = waiting.find(key);
    make_record(key, of_second, at->second, level == waiting.end() ? 0 : level->second, now);
    at = open_.erase(at);
  }
  closed_until_ = second;
  forget_old(now);
}

void RequestBook::make_record(const ServiceKey& key, std::int64_t second, const OpenSecond& counted,
                              std::int64_t waiting, Instant now) {
  RequestRecord record{.number = ++last_number_,
                       .tenant = key.first,
                       .service = key.second,
                       .second = second,
                       .arrivals = counted.arrivals,
                       .in_time = counted.in_time,
                       .late = counted.late,
                       .dropped = counted.dropped,
                       .queued = waiting};
  for (const auto& [bucket, count] : counted.latencies) record.latencies.push_back({.bucket = bucket, .count = count});
  kept_.push_back({.made = now, .record = std::move(record)});
}

void RequestBook::forget_old(Instant now) {
  while (!kept_.empty() && (now - kept_.front().made > record_keep_ || kept_.size() > record_count_max_)) {
    kept_.pop_front();
    ++lost_count_;
  }
}

std::vector<RequestRecord> RequestBook::oldest(std::size_t count_max, std::size_t bytes_max) const {
  std::vector<RequestRecord> records;
  std::size_t bytes = 0;
  for (const KeptRecord& kept : kept_) {
    const RequestRecord& record = kept.record;
    bytes += kRecordBytes + record.tenant.size() + record.service.size() + kBucketBytes * record.latencies.size();
    if (records.size() == count_max || (bytes > bytes_max && !records.empty())) break;
    records.push_back(record);
  }
  return records;
}

void RequestBook::acknowledge(std::uint64_t until) {
  while (!kept_.empty() && kept_.front().record.number <= until) kept_.pop_front();
}

}  // namespace berth::serving
