#include "live/session/request_book.h"

#include <algorithm>
#include <utility>

namespace berth::live {
namespace {

/// The second of the world of which most lies in that second since 1970: the world's seconds need not begin with it.
std::int64_t world_second(std::int64_t unix_second, std::int64_t epoch_us) {
  const std::int64_t middle_us = unix_second * kMicrosPerSecond + kMicrosPerSecond / 2 - epoch_us;
  return middle_us >= 0 ? middle_us / kMicrosPerSecond : -1;
}

}  // namespace

void RequestBook::add(const RequestReport& report, const Reading& reading) {
  const std::int64_t now = reading.now.second();
  const bool is_new = !gateways_.contains(report.gateway);
  Gateway& gateway = gateways_[report.gateway];
  gateway.used = ++reports_;
  std::optional<std::int64_t> earliest;
  std::int64_t latest = now;  // of a gateway that still reports what happened while nobody took its records
  bool has_gap = false;
  for (const RequestRecord& record : report.records) {
    if (record.number <= gateway.last) continue;
    has_gap = has_gap || (gateway.last > 0 && record.number != gateway.last + 1);
    gateway.last = record.number;
    const std::int64_t arrived = std::clamp(world_second(record.second, reading.epoch_us), std::int64_t{0}, now);
    const std::int64_t second = std::max(arrived, given_until_);
    earliest = std::min(earliest.value_or(second), second);
    latest = second < now - kHoldSeconds ? second : now;
    add_record(report.gateway, record,
               {.arrived = arrived, .second = second, .service = reading.find(record.tenant, record.service)});
  }
  const std::int64_t until = latest;
  const bool was_away = is_new || has_gap || now - known_until_ > kQuietSecondsMax;
  if (was_away) known_from_ = std::max(known_from_, std::min(earliest.value_or(until), until));
  gateway.known_until = std::max(gateway.known_until, until);
  known_until_ = std::max(known_until_, gateway.known_until);
  known_from_ = std::min(known_from_, known_until_);
  forget_old_gateways();
}

void RequestBook::add_record(const std::string& gateway, const RequestRecord& record, const Place& place) {
  first_number_[place.second].try_emplace(gateway, record.number);
  if (!place.service) return;  // removed meanwhile
  Pending& pending = pending_[place.second][*place.service];
  pending.arrivals += record.arrivals;
  queued_[*place.service] = record.queued;
  add_buckets(pending.latencies, record.latencies);
  if (record.in_time + record.late + record.dropped == 0) return;
  SettledRequests& settled = pending.settled[place.arrived];
  settled.second = place.arrived;
  settled.in_time += record.in_time;
  settled.late += record.late;
  settled.dropped += record.dropped;
}

std::vector<RequestBook::Second> RequestBook::take(const std::vector<ServiceId>& present) {
  std::vector<Second> taken;
  const bool has_news = std::any_of(pending_.begin(), pending_.lower_bound(known_until_), [](const auto& second) {
    return std::ranges::any_of(
        second.second, [](const auto& each) { return each.second.arrivals > 0 || !each.second.settled.empty(); });
  });
  const std::int64_t known = std::max(known_from_, given_until_);
  if (!has_news && known_until_ - known < kHoldSeconds) return taken;
  std::set<std::int64_t> seconds;
  for (auto it = first_number_.begin(); it != first_number_.end() && it->first < known_until_; ++it) {
    seconds.insert(it->first);
  }
  for (std::int64_t second = std::max(known, known_until_ - kQuietSecondsMax); second < known_until_; ++second) {
    seconds.insert(second);
  }
  for (const std::int64_t second : seconds) {
    std::map<ServiceId, Pending> pending;
    if (auto node = pending_.extract(second)) pending = std::move(node.mapped());
    for (const ServiceId service : present) {
      Pending& counted = pending[service];
      Second& each = taken.emplace_back();
      each = {.service = service, .second = second, .queued = queued_[service], .figures = {}};
      each.figures.requests = counted.arrivals;
      each.figures.queued_max = each.queued;
      each.figures.latencies = std::move(counted.latencies);
      for (const auto& [arrived, settled] : counted.settled) {
        each.figures.in_time += settled.in_time;
        each.figures.late += settled.late;
        each.figures.dropped += settled.dropped;
        each.figures.settled.push_back(settled);
      }
    }
  }
  first_number_.erase(first_number_.begin(), first_number_.lower_bound(known_until_));
  pending_.erase(pending_.begin(), pending_.lower_bound(known_until_));
  given_until_ = std::max(given_until_, known_until_);
  return taken;
}

std::uint64_t RequestBook::counted_of(const std::string& gateway) const {
  std::uint64_t counted = gateways_.at(gateway).last;
  for (const auto& [second, numbers] : first_number_) {
    const auto found = numbers.find(gateway);
    if (found != numbers.end()) counted = std::min(counted, found->second - 1);
  }
  return counted;
}

std::map<std::string, std::uint64_t> RequestBook::take_counted() {
  std::map<std::string, std::uint64_t> news;
  for (const auto& [name, gateway] : gateways_) {
    const std::uint64_t counted = counted_of(name);
    std::uint64_t& before = counted_[name];
    if (counted <= before) continue;
    before = news[name] = counted;
  }
  return news;
}

void RequestBook::recall(std::int64_t last_second, const std::map<std::string, std::uint64_t>& counted) {
  skip_to(last_second + 1);
  for (const auto& [name, number] : counted) {
    counted_[name] = number;
    Gateway& gateway = gateways_[name];
    gateway.last = number;
    gateway.used = ++reports_;
  }
  forget_old_gateways();
}

void RequestBook::skip_to(std::int64_t second) {
  given_until_ = std::max(given_until_, second);
  known_from_ = known_until_ = given_until_;
}

void RequestBook::forget(ServiceId service) {
  for (auto& [second, services] : pending_) services.erase(service);
  queued_.erase(service);
}

void RequestBook::forget_old_gateways() {
  while (gateways_.size() > kGatewaysMax) {
    const auto oldest = std::ranges::min_element(gateways_, {}, [](const auto& each) { return each.second.used; });
    counted_.erase(oldest->first);
    gateways_.erase(oldest);
  }
}

}  // namespace berth::live
