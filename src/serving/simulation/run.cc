#include "serving/simulation/run.h"

#include <algorithm>
#include <utility>

namespace berth::serving {
namespace {

/// The next instant at which something happens: ends, arrivals, and what the policy waits for.
Instant next_instant(const Dispatcher& dispatcher, std::span<const Request> arriving) {
  Instant next = dispatcher.wake_at();
  for (const auto& batch : dispatcher.device().lanes()) {
    if (batch) next = std::min(next, batch->end);
  }
  if (dispatcher.device().load()) next = std::min(next, dispatcher.device().load()->end);
  if (!arriving.empty()) next = std::min(next, arriving.front().arrival);
  return next;
}

void report_orders(Dispatcher& dispatcher, Instant now, const RunListener& listener) {
  for (Order& order : dispatcher.take_orders()) {
    Instant end = now;
    if (const auto* batch = std::get_if<StartBatch>(&order)) end = now + batch->expected;
    if (std::holds_alternative<StartLoad>(order)) end = dispatcher.device().load()->end;
    listener({.at = now, .order = std::move(order), .end = end});
  }
}

void end_what_is_due(Dispatcher& dispatcher, Instant now) {
  for (const LaneIndex lane : Indices<LaneIndex>(dispatcher.device().lanes().size())) {
    const auto& batch = dispatcher.device().lanes()[static_cast<std::size_t>(lane)];
    if (batch && batch->end <= now) dispatcher.end_batch(lane, now);
  }
  if (dispatcher.device().load() && dispatcher.device().load()->end <= now) dispatcher.end_load();
}

/// Nothing waits, runs or arrives: only a dispatcher that looks ahead would go on.
bool have_all_ended(const Dispatcher& dispatcher, std::span<const Request> arriving) {
  const DeviceState& device = dispatcher.device();
  return arriving.empty() && device.requests_waiting() == 0 &&
         std::ranges::none_of(device.lanes(), [](const auto& batch) { return batch.has_value(); });
}

}  // namespace

void run_dispatcher(Dispatcher& dispatcher, std::span<const Request> requests, const RunListener& listener) {
  while (true) {
    const Instant now = next_instant(dispatcher, requests);
    if (now == Instant::never() || (dispatcher.is_looking_ahead() && have_all_ended(dispatcher, requests))) return;
    end_what_is_due(dispatcher, now);
    while (!requests.empty() && requests.front().arrival <= now) {
      dispatcher.arrive(requests.front(), now);
      requests = requests.subspan(1);
    }
    dispatcher.decide(now);
    report_orders(dispatcher, now, listener);
  }
}

}  // namespace berth::serving
