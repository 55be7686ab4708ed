#include "sim/retraining_clock.h"

#include <algorithm>

#include "base/ensure.h"

namespace berth::sim {

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

RetrainingNews RetrainingClock::add_slice(const Slice& order, SliceIndex slice, std::optional<Micros> time_on,
                                          Instant now) {
  RetrainingNews news;
  if (!time_on) return news;
  places_.insert({.order = order, .slice = slice, .time_on = *time_on});
  begin_if_possible(now, news);
  return news;
}

RetrainingNews RetrainingClock::remove_slice(const Slice& order, SliceIndex slice, Instant now) {
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

void RetrainingClock::halt(Instant now, RetrainingNews& news) {
  const std::int64_t total_us = running_->time_on.count();
  const std::int64_t ran_us = (now - running_since_).count();
  if (total_us > 0) done_share_ += Decimal(ran_us, total_us);
  done_share_ = std::min(done_share_, Decimal(1));
  news.stopped = running_->slice;
  running_.reset();
  done_at_ = Instant::never();
}

}  // namespace berth::sim
