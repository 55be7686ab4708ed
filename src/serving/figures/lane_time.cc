#include "serving/figures/lane_time.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::serving {
namespace {

/// Spans that wait for whoever takes them; after that the oldest are lost.
constexpr std::size_t kSpansMax = 100'000;

std::int64_t second_end_us(std::int64_t at_us) { return (Instant(at_us).second() + 1) * kMicrosPerSecond; }

}  // namespace

void LaneTime::advance(const Time& time) {
  if (!keeps_spans_) return;
  while (second_end_us(span_.from_us) <= time.wall_us) {
    const std::int64_t end_us = second_end_us(span_.from_us);
    charge_all(time.now - Micros(time.wall_us - end_us));
    end_span(end_us);
  }
}

void LaneTime::cut(const Time& time) {
  charge_all(time.now);
  end_span(time.wall_us);
}

void LaneTime::begin(const Time& time) {
  charge_all(time.now);
  span_ = {.from_us = time.wall_us, .to_us = time.wall_us};
}

void LaneTime::start(LaneIndex lane, ModelIndex model, std::span<const Request> requests, Instant now) {
  Running running{.start = now, .rows = 0, .shares = {}};
  const TenantIndex oldest = std::ranges::min_element(requests, {}, &Request::number)->tenant;
  running.shares.push_back({.user = {oldest, model}});
  for (const Request& request : requests) {
    const LaneUser user{request.tenant, model};
    auto share = std::ranges::find(running.shares, user, &Share::user);
    if (share == running.shares.end()) share = running.shares.insert(share, {.user = user});
    share->rows += request.rows;
    running.rows += request.rows;
  }
  running_[static_cast<std::size_t>(lane)] = std::move(running);
}

void LaneTime::end(LaneIndex lane, Instant now) {
  auto& running = running_[static_cast<std::size_t>(lane)];
  ENSURE(running.has_value());
  charge(*running, now);
  running.reset();
}

void LaneTime::charge_all(Instant until) {
  for (auto& running : running_) {
    if (running) charge(*running, until);
  }
}

void LaneTime::charge(Running& running, Instant until) {
  const Micros elapsed = std::max(until - running.start, Micros(0));
  Micros left = elapsed;
  const auto pay = [&](Share& share, Micros owed) {
    const Micros more = owed - share.charged;
    share.charged = owed;
    if (more.count() == 0) return;
    totals_[share.user] += more;
    if (keeps_spans_) span_.used[share.user] += more;
  };
  for (auto share = running.shares.begin() + 1; share != running.shares.end(); ++share) {
    const Micros owed(elapsed.count() * share->rows / running.rows);
    left -= owed;
    pay(*share, owed);
  }
  pay(running.shares.front(), left);
}

void LaneTime::end_span(std::int64_t at_us) {
  span_.to_us = at_us;
  if (keeps_spans_ && span_.from_us < span_.to_us && spans_.size() < kSpansMax) spans_.push_back(std::move(span_));
  span_ = {.from_us = at_us, .to_us = at_us};
}

}  // namespace berth::serving
