#include "serving/warm_study/caches.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "base/core/decimal.h"
#include "base/core/ensure.h"
#include "serving/warm_study/by_minute.h"

namespace berth::warm {
namespace {

/// An app in the cache, lowest first: by rank, then by the bytes of its name.
struct CacheEntry {
  double priority = 0;         ///< of greedy-dual
  std::int64_t last_used = 0;  ///< of LRU: the number of the use, all apps counted
  std::string_view name;
  std::size_t app = 0;

  friend bool operator<(const CacheEntry& a, const CacheEntry& b) {
    return std::tie(a.priority, a.last_used, a.name) < std::tie(b.priority, b.last_used, b.name);
  }
};

/// What the cache knows of an app that is in it.
struct CachePlace {
  std::set<CacheEntry>::iterator entry;
  std::int64_t invoked_minutes = 0;  ///< since it entered
  std::int64_t from = 0;             ///< the first minute that begins with it in the cache
};

class Cache {
 public:
  Cache(const Problem& problem, CacheRule rule)
      : trace_(*problem.trace), memory_(*problem.memory), rule_(rule), free_mib_(memory_.mib) {
    run_.cold_starts.resize(trace_.apps.size());
    run_.loaded.resize(trace_.apps.size());
  }

  void use(std::size_t app, std::int64_t minute);
  [[nodiscard]] CacheRun finish() &&;

 private:
  [[nodiscard]] CacheEntry entry_of(std::size_t app, std::int64_t invoked_minutes);
  void evict_lowest(std::int64_t minute);
  void leave(std::size_t app, std::int64_t to) { run_.loaded[app].add({.from = places_.at(app).from, .to = to}); }

  const AppTrace& trace_;
  const Memory& memory_;
  CacheRule rule_;
  std::int64_t free_mib_;
  std::int64_t use_count_ = 0;
  double clock_ = 0;
  std::set<CacheEntry> order_;
  std::map<std::size_t, CachePlace> places_;  ///< by app
  CacheRun run_;
};

CacheEntry Cache::entry_of(std::size_t app, std::int64_t invoked_minutes) {
  CacheEntry entry{.name = trace_.apps[app].app, .app = app};
  switch (rule_) {
    case CacheRule::kLru:
      entry.last_used = use_count_;
      break;
    case CacheRule::kGreedyDual:
      entry.priority = clock_ + static_cast<double>(invoked_minutes) / static_cast<double>(memory_.app_mib[app]);
      break;
  }
  return entry;
}

void Cache::evict_lowest(std::int64_t minute) {
  ENSURE(!order_.empty());
  const CacheEntry lowest = *order_.begin();
  order_.erase(order_.begin());
  clock_ = lowest.priority;
  free_mib_ += memory_.app_mib[lowest.app];
  leave(lowest.app, minute);
  places_.erase(lowest.app);
}

void Cache::use(std::size_t app, std::int64_t minute) {
  ++use_count_;
  auto place = places_.find(app);
  if (place == places_.end()) {
    ++run_.cold_starts[app];
    const std::int64_t mib = memory_.app_mib[app];
    if (mib > memory_.mib) return;
    while (free_mib_ < mib) evict_lowest(minute);
    free_mib_ -= mib;
    place = places_.insert({app, {.entry = order_.end(), .from = minute + 1}}).first;
  } else {
    order_.erase(place->second.entry);
  }
  CachePlace& cached = place->second;
  ++cached.invoked_minutes;
  cached.entry = order_.insert(entry_of(app, cached.invoked_minutes)).first;
}

CacheRun Cache::finish() && {
  for (const auto& [app, place] : places_) leave(app, trace_.minutes);
  return std::move(run_);
}

/// The bound of one minute: what of its apps that were invoked before does not fit.
Decimal least_cold(std::vector<std::int64_t>& mib, std::int64_t free_mib) {
  std::ranges::sort(mib);
  std::int64_t fitting = 0;
  for (; fitting < std::ssize(mib) && mib[static_cast<std::size_t>(fitting)] <= free_mib; ++fitting) {
    free_mib -= mib[static_cast<std::size_t>(fitting)];
  }
  if (fitting == std::ssize(mib)) return Decimal(0);
  return Decimal(std::ssize(mib) - fitting) - Decimal(free_mib, mib[static_cast<std::size_t>(fitting)]);
}

}  // namespace

CacheRun run_cache(const Problem& problem, CacheRule rule) {
  ENSURE(problem.memory.has_value());
  Cache cache(problem, rule);
  const ByMinute minutes(*problem.trace);
  for (std::int64_t minute = 0; minute < problem.trace->minutes; ++minute) {
    for (const InvokedApp& invoked : minutes.at(minute)) cache.use(invoked.app, minute);
  }
  return std::move(cache).finish();
}

std::int64_t cold_starts_bound(const Problem& problem) {
  ENSURE(problem.memory.has_value());
  const ByMinute minutes(*problem.trace);
  std::vector<bool> is_known(problem.trace->apps.size());
  std::vector<std::int64_t> mib;
  Decimal sum;
  for (std::int64_t minute = 0; minute < problem.trace->minutes; ++minute) {
    mib.clear();
    for (const InvokedApp& invoked : minutes.at(minute)) {
      if (is_known[invoked.app]) mib.push_back(problem.memory->app_mib[invoked.app]);
      if (!is_known[invoked.app]) sum += Decimal(1);
      is_known[invoked.app] = true;
    }
    sum += least_cold(mib, problem.memory->mib);
  }
  const std::int64_t whole = sum.floor();
  return Decimal(whole) == sum ? whole : whole + 1;
}

}  // namespace berth::warm
