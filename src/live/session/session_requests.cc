/// Session: requests that gateways counted.
#include <map>
#include <utility>
#include <vector>

#include "domain/values/event.h"
#include "domain/values/request_record.h"
#include "domain/values/snapshot.h"
#include "live/session/entry_emitter.h"
#include "live/session/request_book.h"
#include "live/session/series_feed.h"
#include "live/session/session.h"
#include "live/session/session_objects.h"
#include "sim/world/loop.h"

namespace berth::live {
namespace {

/// Consecutive seconds of each service.
std::vector<SecondsSeen> blocks_of(const std::vector<RequestBook::Second>& seconds) {
  std::map<ServiceId, std::vector<SecondsSeen>> by_service;
  for (const RequestBook::Second& each : seconds) {
    std::vector<SecondsSeen>& blocks = by_service[each.service];
    const bool follows =
        !blocks.empty() && blocks.back().from_second + std::ssize(blocks.back().arrivals) == each.second;
    if (!follows) {
      blocks.push_back({.service = each.service, .from_second = each.second, .arrivals = {}, .queued = {}});
    }
    blocks.back().arrivals.push_back(each.figures.requests);
    blocks.back().queued.push_back(each.queued);
  }
  std::vector<SecondsSeen> all;
  for (auto& [service, blocks] : by_service) {
    for (SecondsSeen& block : blocks) all.push_back(std::move(block));
  }
  return all;
}

}  // namespace

void Session::count_requests(const RequestReport& report, std::int64_t epoch_us) {
  requests_->add(report,
                 {.epoch_us = epoch_us,
                  .now = now(),
                  .find = [this](const std::string& tenant, const std::string& name) -> std::optional<ServiceId> {
                    const auto found = catalog().services.find({.tenant = tenant, .name = name});
                    if (found == catalog().services.end()) return std::nullopt;
                    return found->second.id;
                  }});
}

void Session::see_requests() {
  if (is_over() || awaits_answer()) return;
  std::vector<ServiceId> present;
  for (std::uint32_t index = 0; index < snapshot().services.size(); ++index) {
    if (!snapshot().services[index].is_absent) present.push_back({index});
  }
  std::vector<RequestBook::Second> seconds = requests_->take(present);
  SecondsMeasured measured{.services = blocks_of(seconds), .counted = requests_->take_counted()};
  if (measured.services.empty() && measured.counted.empty()) return;
  for (const auto& [gateway, number] : measured.counted) counted_[gateway] = number;
  emitter_->set_seconds_told(true);
  emitter_->emit({.at = now(), .what = measured});
  apply(measured);
  emitter_->set_seconds_told(false);
  for (RequestBook::Second& each : seconds) {
    const std::int64_t worth = std::as_const(scenario_->services)[each.service.index].accuracy.after_micro;
    for (SettledRequests& settled : each.figures.settled) {
      settled.accuracy_sum_micro = settled.in_time * worth;
      each.figures.accuracy_sum_micro += settled.accuracy_sum_micro;
    }
    series_->add(each.service, each.second, std::move(each.figures));
  }
  series_->flush();  // the rows that count them are recorded soon
}

void Session::apply(const SecondsMeasured& measured) {
  // As the engine saw them: by second, then service.
  std::map<std::pair<std::int64_t, ServiceId>, ServiceSecond> seconds;
  for (const SecondsSeen& block : measured.services) {
    for (std::size_t i = 0; i < block.arrivals.size(); ++i) {
      const std::int64_t second = block.from_second + static_cast<std::int64_t>(i);
      seconds[{second, block.service}] = {.service = block.service,
                                          .second = second,
                                          .arrivals = block.arrivals[i],
                                          .queued = i < block.queued.size() ? block.queued[i] : 0};
    }
  }
  for (const auto& [key, second] : seconds) loop_->see_second(second);
  if (!emitter_->is_repeating()) return;
  for (const auto& [gateway, number] : measured.counted) counted_[gateway] = counted_recorded_[gateway] = number;
  requests_->recall(seconds.empty() ? requests_->given_until() - 1 : seconds.rbegin()->first.first, measured.counted);
}

std::uint64_t Session::counted_until(const std::string& gateway) const {
  const auto found = counted_recorded_.find(gateway);
  return found == counted_recorded_.end() ? 0 : found->second;
}

std::int64_t Session::requests_known_until() const { return requests_->given_until(); }

}  // namespace berth::live
