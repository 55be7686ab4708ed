#include "engine/loop/warm_pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/core/archive.h"
#include "base/core/decimal.h"
#include "domain/profile/slice_price.h"
#include "serving/warm/worth.h"

namespace berth {
namespace {

constexpr std::int64_t kSecondsPerMinute = 60;
constexpr std::int64_t kSecondsPerHour = 3600;
constexpr std::int64_t kMinutesPerHour = 60;
/// Seconds of a service that must be seen before what its owner expects of it no longer counts, as in forecasts.
constexpr std::int64_t kExpectedSeconds = 100;

std::int64_t minute_of(std::int64_t second) {
  return second >= 0 ? second / kSecondsPerMinute : (second + 1) / kSecondsPerMinute - 1;
}

/// Whole seconds, rounded up.
std::int64_t seconds_up(Micros time) { return (time.count() + kMicrosPerSecond - 1) / kMicrosPerSecond; }

bool is_own_inference(const StandingSlice& standing, ServiceId service) {
  return !standing.is_foreign && standing.holding.role == Role::kInference &&
         std::ranges::find(standing.holding.services, service) != standing.holding.services.end();
}

/// Whether a minute began after `from`, up to `to`, at that time or `lead` seconds later.
bool begins_minute(std::int64_t from, std::int64_t to, std::int64_t lead) {
  return minute_of(from) != minute_of(to) || minute_of(from + lead) != minute_of(to + lead);
}

/// In force until the first look.
WarmDecision first_decision(ServiceId service) {
  WarmDecision decision;
  decision.service = service;
  return decision;
}

std::string usd(double micro_usd) { return fmt::format("${:.3g}", micro_usd / 1e6); }

}  // namespace

WarmPools::WarmPools(const Scenario& given, bool is_on) : given_(given), is_on_(is_on) { begin_anew(); }

void WarmPools::begin_anew() {
  predictor_ = warm::Predictor();
  free_keys_.clear();
  services_.clear();
  arrived_.clear();
  looked_at_.reset();
  for (std::uint32_t index = 0; index < given_.services.size(); ++index) note_changed({index});
}

const ServiceSpec& WarmPools::spec(ServiceId service) const { return given_.services[service.index]; }

WarmPool WarmPools::pool_of(ServiceId service) const { return spec(service).ready.warm_pool.value_or(WarmPool()); }

std::vector<ServiceId> WarmPools::services() const {
  std::vector<ServiceId> services;
  services.reserve(services_.size());
  for (const auto& [service, pooled] : services_) services.push_back(service);
  return services;
}

void WarmPools::note_changed(ServiceId service) {
  if (!is_on_) return;
  const bool has_pool = !spec(service).is_absent && spec(service).ready.warm_pool.has_value();
  if (!has_pool) return forget(service);
  looked_at_.reset();
  if (services_.contains(service)) return;
  Pooled pooled;
  if (free_keys_.empty()) {
    pooled.key = predictor_.add_key();
  } else {
    pooled.key = free_keys_.back();
    free_keys_.pop_back();
  }
  pooled.status.last = first_decision(service);
  services_.emplace(service, std::move(pooled));
}

void WarmPools::forget(ServiceId service) {
  const auto found = services_.find(service);
  if (found == services_.end()) return;
  const std::size_t key = found->second.key;
  predictor_.forget_key(key);
  for (auto& [minute, counts] : arrived_) counts.erase(key);
  free_keys_.push_back(key);
  services_.erase(found);
}

std::int64_t WarmPools::kept_always(ServiceId service) const {
  const ReplicaLimits limits = spec(service).running.replicas.value_or(ReplicaLimits());
  return std::max({pool_of(service).slices_min, limits.slices_min, std::ssize(spec(service).pins)});
}

ReplicaLimits WarmPools::limits(ServiceId service) const {
  const ReplicaLimits given = spec(service).running.replicas.value_or(ReplicaLimits());
  const WarmDecision& last = services_.at(service).status.last;
  const std::int64_t slices = std::max(last.slices, kept_always(service));
  if (last.phase == WarmPhase::kServing) {
    const std::int64_t least = std::max<std::int64_t>(1, slices);
    return {.slices_min = given.slices_max ? std::min(least, *given.slices_max) : least,
            .slices_max = given.slices_max};
  }
  return {.slices_min = slices, .slices_max = slices};
}

const WarmStatus* WarmPools::status_of(ServiceId service) const {
  const auto found = services_.find(service);
  return found == services_.end() ? nullptr : &found->second.status;
}

// ---- what is seen

void WarmPools::read_seconds(const Snapshot& snapshot) {
  for (auto& [service, pooled] : services_) {
    const ServiceState& state = snapshot.services[service.index];
    if (state.number != pooled.number) {
      const std::size_t key = pooled.key;
      predictor_.forget_key(key);
      for (auto& [minute, counts] : arrived_) counts.erase(key);
      pooled = Pooled();
      pooled.key = key;
      pooled.number = state.number;
      pooled.status.last = first_decision(service);
    }
    auto it = state.seconds.end();
    while (it != state.seconds.begin() && std::prev(it)->second > pooled.seen_until) --it;
    for (; it != state.seconds.end(); ++it) {
      ++pooled.seen_seconds;
      pooled.seen_until = it->second;
      // Nothing else of a second is recorded, and so known again after a restart.
      if (it->arrivals > 0 || it->queued > 0) pooled.load_last = it->second;
      const std::int64_t minute = minute_of(it->second);
      const bool is_over = predictor_.minute() && minute <= *predictor_.minute();
      if (it->arrivals > 0 && !is_over) arrived_[minute][pooled.key] += it->arrivals;
    }
  }
}

/// Tells the predictor of the minutes that are over, all of whose seconds are seen.
void WarmPools::finish_minutes(std::int64_t second) {
  const std::int64_t over = minute_of(second - seconds_up(given_.observation_delay)) - 1;
  std::int64_t next = predictor_.minute() ? *predictor_.minute() + 1 : over;
  if (!predictor_.minute() && !arrived_.empty()) next = std::min(next, arrived_.begin()->first);
  for (; next <= over; ++next) {
    std::vector<warm::Invoked> invoked;
    if (const auto found = arrived_.find(next); found != arrived_.end()) {
      for (const auto& [key, count] : found->second) invoked.push_back({.key = key, .count = count});
      arrived_.erase(found);
    } else if (next < over && (arrived_.empty() || arrived_.begin()->first > next + 1)) {
      continue;  // the predictor counts quiet minutes by itself
    }
    predictor_.finish_minute(next, invoked);
    for (auto& [service, pooled] : services_) {
      const auto is_it = [&](const warm::Invoked& each) { return each.key == pooled.key; };
      if (std::ranges::none_of(invoked, is_it)) continue;
      if (pooled.invoked_last && next - *pooled.invoked_last > 1) pooled.quiet.add(next - *pooled.invoked_last);
      pooled.invoked_last = next;
    }
  }
}

bool WarmPools::has_load(ServiceId service, const Pooled& pooled, std::int64_t second) const {
  const std::int64_t delay = seconds_up(given_.observation_delay);
  if (pooled.load_last && *pooled.load_last >= second - 1 - delay - kQuietSeconds) return true;
  return spec(service).expects && pooled.seen_seconds < kExpectedSeconds && !pooled.load_last;
}

/// The seconds since the last look, at the price of the slices that stand now.
void WarmPools::add_idle_cost(const Snapshot& snapshot, std::int64_t second) {
  const std::int64_t seconds = looked_at_ ? second - *looked_at_ : 0;
  const std::int64_t minute = minute_of(second);
  for (auto& [service, pooled] : services_) {
    auto& by_minute = pooled.idle_by_minute;
    by_minute.erase(by_minute.begin(), by_minute.upper_bound(minute - kMinutesPerHour));
    if (seconds <= 0 || pooled.status.last.phase == WarmPhase::kServing) continue;
    std::int64_t per_hour = 0;
    for (const StandingSlice& standing : snapshot.staying()) {
      if (!is_own_inference(standing, service)) continue;
      const Slice& slice = standing.holding.slice;
      const auto price = profile::slice_usd_per_hour(given_.entry_of(slice.gpu), slice.profile);
      if (price) per_hour += (*price * Decimal(1'000'000)).round_half_even();
    }
    if (per_hour == 0) continue;
    pooled.idle_sum += per_hour * seconds;
    by_minute[minute] += per_hour * seconds;
    pooled.status.idle_micro_usd = Decimal(pooled.idle_sum, kSecondsPerHour).round_half_even();
  }
}

// ---- what is decided

std::int64_t WarmPools::lead_seconds(ServiceId service) const {
  const Micros ready = given_.planning + longest_change_time(given_, ActionKind::kCreation) + given_.changes.plumbing +
                       spec(service).start;
  return seconds_up(ready) + 1;
}

/// Micro-dollars per minute of its cheapest slice, which is the one that is kept; 0 if that is not known.
double WarmPools::price_per_minute(ServiceId service, const Snapshot& /*snapshot*/) const {
  const Decimal usd_per_hour = profile::cheapest_slice_usd_per_hour(given_, spec(service)).value_or(Decimal());
  return usd_per_hour.to_double() * 1e6 / kMinutesPerHour;
}

WarmPools::Wish WarmPools::wish_of(ServiceId service, const Pooled& pooled, const Snapshot& snapshot) const {
  const WarmPool pool = pool_of(service);
  const std::int64_t second = snapshot.now.second();
  const double price = price_per_minute(service, snapshot);
  Wish wish{.slices = kept_always(service), .reason = words_for(service, pooled, second, price)};
  if (wish.slices > 0) {
    wish.reason = fmt::format("{} kept ready without load; {}", wish.slices, wish.reason);
    return wish;
  }
  if (pool.slices_max && *pool.slices_max == 0) return wish;
  const auto is_worthwhile = [&](std::int64_t at) {
    const std::int64_t ahead = predictor_.minute() ? minute_of(at) - *predictor_.minute() : 0;
    if (ahead <= 0) return false;
    const auto probability = predictor_.probability(pooled.key, ahead);
    if (!probability) return false;
    if (pool.cold_micro_usd && price <= 0) return true;
    const double cold_minutes = pool.cold_micro_usd ? static_cast<double>(*pool.cold_micro_usd) / price : kColdMinutes;
    return warm::is_worth_loading(*probability, cold_minutes);
  };
  const bool stands = pooled.status.last.phase != WarmPhase::kCold;
  if (!is_worthwhile(second + lead_seconds(service)) && !(stands && is_worthwhile(second))) return wish;
  if (pool.idle_micro_usd_per_hour) {
    std::int64_t spent = 0;
    for (const auto& [minute, sum] : pooled.idle_by_minute) spent += sum;
    const double cost = static_cast<double>(spent) / kSecondsPerHour + price;
    if (cost > static_cast<double>(*pool.idle_micro_usd_per_hour)) {
      wish.reason += fmt::format("; its idle slices cost {} in this hour, of at most {}",
                                 usd(static_cast<double>(spent) / kSecondsPerHour),
                                 usd(static_cast<double>(*pool.idle_micro_usd_per_hour)));
      return wish;
    }
  }
  wish.slices = 1;
  return wish;
}

std::optional<Instant> WarmPools::next_request(const Pooled& pooled) const {
  const auto usual = pooled.quiet.usual();
  if (!usual || !pooled.invoked_last) return std::nullopt;
  return Instant::at_second((*pooled.invoked_last + (usual->from + usual->to) / 2) * kSecondsPerMinute);
}

/// "gap 58 to 62 minutes in 9 of 11 cases; a cold start costs $0.02, waiting $0.004".
std::string WarmPools::words_for(ServiceId service, const Pooled& pooled, std::int64_t second, double price) const {
  const auto usual = pooled.quiet.usual();
  std::string words = "no gap between requests was seen";
  double minutes = 1;
  if (usual) {
    words = fmt::format("gap {} to {} minutes in {} of {} cases", usual->from, usual->to, usual->inside, usual->of);
    const std::int64_t since = minute_of(second) - pooled.invoked_last.value_or(minute_of(second));
    minutes = static_cast<double>(std::max<std::int64_t>(1, usual->to - since));
  }
  const auto& cold = pool_of(service).cold_micro_usd;
  if (!cold) return fmt::format("{}; a cold start counts as {} idle minutes", words, kColdMinutes);
  return fmt::format("{}; a cold start costs {}, waiting {}", words, usd(static_cast<double>(*cold)),
                     usd(minutes * price));
}

std::optional<WarmDecision> WarmPools::decide_for(ServiceId service, Pooled& pooled, const Snapshot& snapshot) {
  const std::int64_t second = snapshot.now.second();
  WarmStatus& status = pooled.status;
  WarmDecision next = first_decision(service);
  next.at = snapshot.now;
  next.phase = WarmPhase::kServing;
  if (has_load(service, pooled, second)) {
    next.slices = std::max<std::int64_t>(1, kept_always(service));
    const bool is_ready = std::ranges::any_of(snapshot.slices, [&](const StandingSlice& standing) {
      return standing.is_ready && is_own_inference(standing, service);
    });
    next.reason = is_ready ? "it has requests" : "requests wait for its first slice";
    if (status.last.phase != WarmPhase::kServing) {
      if (!is_ready) ++status.cold_starts;
      if (is_ready && pooled.is_preloaded) ++status.hits;
    }
    pooled.is_preloaded = false;
  } else if (status.last.phase != WarmPhase::kServing && looked_at_ &&
             !begins_minute(*looked_at_, second, lead_seconds(service))) {
    return std::nullopt;  // what is known of minutes is as it was
  } else {
    Wish wish = wish_of(service, pooled, snapshot);
    next.phase = wish.slices > 0 ? WarmPhase::kWarm : WarmPhase::kCold;
    next.slices = wish.slices;
    next.reason = std::move(wish.reason);
    next.is_preload =
        next.phase == WarmPhase::kWarm && status.last.phase == WarmPhase::kCold && next.slices > kept_always(service);
    if (next.is_preload) ++status.preloads;
    pooled.is_preloaded = next.phase == WarmPhase::kWarm && (pooled.is_preloaded || next.is_preload);
  }
  status.expected_next = next.phase == WarmPhase::kServing ? std::nullopt : next_request(pooled);
  const bool is_same =
      !status.last.reason.empty() && next.phase == status.last.phase && next.slices == status.last.slices;
  if (is_same) return std::nullopt;
  status.last = next;
  return next;
}

std::vector<WarmDecision> WarmPools::decide(const Snapshot& snapshot) {
  std::vector<WarmDecision> decisions;
  const std::int64_t second = snapshot.now.second();
  if (services_.empty() || looked_at_ == second) return decisions;
  read_seconds(snapshot);
  finish_minutes(second);
  add_idle_cost(snapshot, second);
  for (auto& [service, pooled] : services_) {
    if (auto decision = decide_for(service, pooled, snapshot)) decisions.push_back(std::move(*decision));
  }
  looked_at_ = second;
  return decisions;
}

// ---- memory

template <class Archive, class Self>
void WarmPools::archive_services(Archive& archive, Self& self) {
  archive(self.predictor_, self.free_keys_, self.arrived_, self.looked_at_);
  for (auto& [service, pooled] : self.services_) {
    archive(pooled.key, pooled.number, pooled.seen_until, pooled.load_last, pooled.seen_seconds, pooled.quiet,
            pooled.invoked_last, pooled.idle_by_minute, pooled.idle_sum, pooled.is_preloaded, pooled.status);
    archive.require(pooled.key < self.predictor_.key_count());
  }
}

void WarmPools::save(ArchiveWriter& archive) const { archive_services(archive, *this); }

void WarmPools::load(ArchiveReader& archive) { archive_services(archive, *this); }

}  // namespace berth
