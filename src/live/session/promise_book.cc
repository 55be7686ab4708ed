#include "live/session/promise_book.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "base/core/overloaded.h"
#include "engine/loop/promises.h"

namespace berth::live {
namespace {

constexpr std::int64_t kMinutesOfDay = 1'440;

std::int64_t minute_of(Instant at) { return at.second() / 60; }

/// Whole seconds of the tail.
std::int64_t tail_count(const Promise& promise) { return static_cast<std::int64_t>(promise.tail_seconds); }

std::int64_t end_second(const OpenPromise& open) {
  return open.began.second() + open.promise.slots + tail_count(open.promise);
}

bool concerns(const Promise& promise, ServiceId service) {
  return std::ranges::find(promise.services, service, &PromisedService::service) != promise.services.end();
}

/// The number of the action that gives the slice to the piece's service; 0: there is none.
std::uint64_t number_of(const Plan& accepted, const PromisedPiece& piece) {
  for (const Action& action : accepted.actions) {
    const auto* assign = std::get_if<AssignSlice>(&action.what);
    if (assign != nullptr && assign->holding.slice == piece.slice) return action.number;
  }
  return 0;
}

/// The slot from which a slice that worked at that time counts: times are rounded as planned ones are.
std::int32_t slot_of(Instant ready_at, Instant began) {
  return static_cast<std::int32_t>(((ready_at - began).count() + kMicrosPerSecond / 2) / kMicrosPerSecond);
}

PromiseSums sum_from(const std::map<std::int64_t, PromiseSums>& minutes, std::int64_t first) {
  PromiseSums sums;
  for (auto minute = minutes.lower_bound(first); minute != minutes.end(); ++minute) sums.add(minute->second);
  return sums;
}

}  // namespace

void PromiseSums::add(const PromiseSums& other) {
  changes += other.changes;
  promised += other.promised;
  achieved += other.achieved;
  cuts += other.cuts;
  cuts_promised += other.cuts_promised;
  lost_to_delay += other.lost_to_delay;
}

PromiseSums sums_of(const JudgedPromise& judged) {
  PromiseSums sums{.changes = 1, .promised = judged.promised, .achieved = judged.achieved};
  if (!judged.is_cut) return sums;
  sums.cuts = 1;
  sums.cuts_promised = judged.promised;
  sums.lost_to_delay = judged.on_time - judged.achieved;
  return sums;
}

void PromiseBook::begin(const Plan& accepted, const std::vector<Promise>& promises, Instant now) {
  for (const Promise& promise : promises) {
    const auto is_there = [&](const Action& action) { return slice_of(action.what).gpu == promise.gpu; };
    if (std::ranges::none_of(accepted.actions, is_there) || open_.size() >= kOpenMax) continue;
    OpenPromise open{.plan = accepted.id, .began = now, .promise = promise, .numbers = {}, .ready_at = {}};
    for (const PromisedPiece& piece : promise.pieces) open.numbers.push_back(number_of(accepted, piece));
    open.ready_at.resize(promise.pieces.size());
    for (const PromisedService& service : promise.services) {
      arrivals_.try_emplace(service.service, Arrivals{.from_second = now.second(), .counts = {}});
    }
    open_.push_back(std::move(open));
  }
}

void PromiseBook::end_held(const Plan& accepted, Instant now) {
  if (!held_) return;
  if (!accepted.actions.empty() && accepted.id == held_->plan) begin(accepted, held_->promises, now);
  held_.reset();
}

void PromiseBook::note(const Event& event) {
  std::visit(Overloaded{
                 [&](const ServiceSecond& second) { note_second(second); },
                 [&](const SliceReady& ready) {
                   for (OpenPromise& open : open_) {
                     if (open.promise.gpu != ready.slice.gpu) continue;
                     for (std::size_t i = 0; i < open.numbers.size(); ++i) {
                       const bool is_it = open.numbers[i] == ready.assignment && ready.assignment != 0 &&
                                          open.promise.pieces[i].slice == ready.slice;
                       if (is_it && !open.ready_at[i]) open.ready_at[i] = event.at;
                     }
                   }
                 },
                 [&](const ServiceSet& set) { make_void(set.service, "a service of it was set anew"); },
                 [&](const ServiceRemoved& removed) { make_void(removed.service, "a service of it was removed"); },
                 [&](const PlanningResumed&) {
                   counted_.clear();
                   counted_from_ = event.at;
                 },
                 [](const auto&) {},
             },
             event.what);
}

void PromiseBook::note_second(const ServiceSecond& second) {
  const auto found = arrivals_.find(second.service);
  if (found == arrivals_.end()) return;
  Arrivals& arrivals = found->second;
  const std::int64_t next = arrivals.from_second + static_cast<std::int64_t>(arrivals.counts.size());
  if (second.second < next) return;
  // Seconds that are not reported for a service have no requests.
  arrivals.counts.resize(static_cast<std::size_t>(second.second - arrivals.from_second));
  arrivals.counts.push_back(second.arrivals);
}

void PromiseBook::make_void(ServiceId service, const char* why) {
  for (OpenPromise& open : open_) {
    if (open.void_because.empty() && concerns(open.promise, service)) open.void_because = why;
  }
}

bool PromiseBook::is_known(const OpenPromise& open) const {
  return std::ranges::all_of(open.promise.services, [&](const PromisedService& service) {
    const Arrivals& arrivals = arrivals_.at(service.service);
    return arrivals.from_second + static_cast<std::int64_t>(arrivals.counts.size()) >= end_second(open);
  });
}

void PromiseBook::judge(const OpenPromise& open, JudgedPromise& judged) const {
  const Promise& promise = open.promise;
  PromiseFacts facts;
  facts.loads = [&](ServiceId service) {
    const Arrivals& arrivals = arrivals_.at(service);
    const auto first = arrivals.counts.begin() + (open.began.second() - arrivals.from_second);
    std::vector<double> loads(first, first + promise.slots);
    double tail = 0;
    for (std::int64_t i = 0; i < tail_count(promise); ++i) tail += static_cast<double>(first[promise.slots + i]);
    loads.push_back(tail_count(promise) > 0 ? tail / static_cast<double>(tail_count(promise)) : 0);
    return loads;
  };
  for (const PromisedPiece& piece : promise.pieces) facts.ready.emplace_back(piece.ready);
  judged.on_time = gain_of(promise, facts);
  for (std::size_t i = 0; i < open.ready_at.size(); ++i) {
    facts.ready[i] = open.ready_at[i] ? std::optional(slot_of(*open.ready_at[i], open.began)) : std::nullopt;
  }
  judged.achieved = gain_of(promise, facts);
}

void PromiseBook::skip_to(Instant now) {
  for (OpenPromise& open : open_) {
    if (open.void_because.empty()) open.void_because = "it was not observed to its end";
  }
  while (!open_.empty()) close_first(now);
}

void PromiseBook::judge(Instant now) {
  while (!open_.empty()) {
    const OpenPromise& open = open_.front();
    const bool is_over = now.second() >= end_second(open);
    if (!is_over || (open.void_because.empty() && !is_known(open))) break;
    close_first(now);
  }
}

void PromiseBook::close_first(Instant now) {
  const OpenPromise open = std::move(open_.front());
  JudgedPromise judged{.plan = open.plan,
                       .gpu = open.promise.gpu,
                       .began = open.began,
                       .judged_at = now,
                       .promised = open.promise.gain,
                       .is_cut = open.promise.price > 0,
                       .void_because = open.void_because};
  if (open.void_because.empty()) {
    judge(open, judged);
    const PromiseSums sums = sums_of(judged);
    minutes_[minute_of(now)].add(sums);
    if (open.began >= counted_from_) counted_[minute_of(now)].add(sums);
  }
  minutes_.erase(minutes_.begin(), minutes_.lower_bound(minute_of(now) - kMinutesOfDay));
  counted_.erase(counted_.begin(), counted_.lower_bound(minute_of(now - kPromiseSpan)));
  judged_.push_back(std::move(judged));
  if (judged_.size() > kJudgedMax) judged_.pop_front();
  open_.pop_front();
  forget_arrivals(open.promise);
}

/// Forgets arrivals that no open promise needs.
void PromiseBook::forget_arrivals(const Promise& promise) {
  for (const PromisedService& service : promise.services) {
    const auto next =
        std::ranges::find_if(open_, [&](const OpenPromise& open) { return concerns(open.promise, service.service); });
    if (next == open_.end()) {
      arrivals_.erase(service.service);
      continue;
    }
    Arrivals& arrivals = arrivals_.at(service.service);
    while (arrivals.from_second < next->began.second() && !arrivals.counts.empty()) {
      arrivals.counts.pop_front();
      ++arrivals.from_second;
    }
  }
}

PromiseSums PromiseBook::sums(Instant now, Micros span) const { return sum_from(minutes_, minute_of(now - span)); }

PromiseSums PromiseBook::counted(Instant now) const { return sum_from(counted_, minute_of(now - kPromiseSpan)); }

bool PromiseBook::have_failed(Instant now) const {
  const PromiseSums sums = counted(now);
  if (sums.changes < kPromisedChangesMin || sums.promised <= 0) return false;
  if (sums.achieved < kPromiseShareMin * sums.promised) return true;
  return sums.cuts >= kPromisedCutsMin && sums.lost_to_delay > kLostToDelayMax * std::abs(sums.cuts_promised);
}

}  // namespace berth::live
