#include "sim/world/retraining_clock.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::sim {

RetrainingClock::RetrainingClock(const Retraining& spec, Instant end, const RetrainingMemory& memory, Instant now)
    : spec_(spec),
      end_(end),
      next_due_(std::max(memory.next_due, now)),
      is_stale_(memory.is_stale),
      is_wanted_(memory.is_wanted),
      done_share_(memory.done_share),
      swap_at_(std::max(memory.swap_at, now)) {
  if (memory.running_since) add_done(now - *memory.running_since, memory.running_time_on);
}

RetrainingMemory RetrainingClock::memory() const {
  RetrainingMemory memory{.next_due = next_due_,
                          .is_stale = is_stale_,
                          .is_wanted = is_wanted_,
                          .done_share = done_share_,
                          .swap_at = swap_at_};
  if (!running_) return memory;
  memory.running_since = running_since_;
  memory.running_time_on = running_->time_on;
  return memory;
}

Instant RetrainingClock::next_time() const { return std::min({next_due_, done_at_, swap_at_}); }

RetrainingNews RetrainingClock::tick(Instant now) {
  ENSURE(now == next_time());
  RetrainingNews news;
  if (next_due_ == now) {
    news.became_due = true;
    is_stale_ = true;
    is_wanted_ = true;
    swap_at_ = Instant::never();
    const bool restarts = running_.has_value() && !spec_.keeps_unfinished;
    if (restarts) halt(now, news);
    if (!spec_.keeps_unfinished) done_share_ = Decimal();
    next_due_ = spec_.every > end_ - now ? Instant::never() : now + spec_.every;
    begin_if_possible(now, news);
  }
  if (done_at_ == now) {
    news.became_done = true;
    news.stopped = running_->slice;
    running_.reset();
    done_at_ = Instant::never();
    done_share_ = Decimal();
    is_wanted_ = false;
    swap_at_ = now + spec_.swap;
  }
  if (swap_at_ == now) {
    is_stale_ = false;
    swap_at_ = Instant::never();
  }
  return news;
}

RetrainingNews RetrainingClock::add_slice(const Slice& order, world::SliceIndex slice, std::optional<Micros> time_on,
                                          Instant now) {
  RetrainingNews news;
  if (!time_on) return news;
  places_.insert({.order = order, .slice = slice, .time_on = *time_on});
  begin_if_possible(now, news);
  return news;
}

RetrainingNews RetrainingClock::remove_slice(const Slice& order, world::SliceIndex slice, Instant now) {
  RetrainingNews news;
  std::erase_if(places_, [&](const RetrainingSlice& place) { return place.order == order && place.slice == slice; });
  if (running_ && running_->slice == slice) {
    halt(now, news);
    begin_if_possible(now, news);
  }
  return news;
}

void RetrainingClock::begin_if_possible(Instant now, RetrainingNews& news) {
  if (!is_wanted_ || running_ || places_.empty()) return;
  running_ = *places_.begin();
  running_since_ = now;
  const Decimal rest = (Decimal(1) - done_share_) * Decimal(running_->time_on.count());
  done_at_ = now + Micros(rest.round_half_up());
  news.started = running_->slice;
}

void RetrainingClock::add_done(Micros ran, Micros time_on) {
  if (time_on > Micros()) done_share_ += Decimal(ran.count(), time_on.count());
  done_share_ = std::min(done_share_, Decimal(1));
}

void RetrainingClock::halt(Instant now, RetrainingNews& news) {
  add_done(now - running_since_, running_->time_on);
  news.stopped = running_->slice;
  running_.reset();
  done_at_ = Instant::never();
}

}  // namespace berth::sim
