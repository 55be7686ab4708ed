/// Caches of loaded apps in a memory of a stated size, and a bound for every policy in it.
#pragma once

#include <cstdint>
#include <vector>

#include "serving/warm_study/loaded.h"
#include "serving/warm_study/problem.h"

namespace berth::warm {

/// What a cache had: cold starts of each app, and when each was in it, at the beginning of a minute.
struct CacheRun {
  std::vector<std::int64_t> cold_starts;
  std::vector<LoadedMinutes> loaded;
};

enum class CacheRule {
  kLru,         ///< evicts the app that was not used for longest
  kGreedyDual,  ///< Fuerst and Sharma, FaasCache, ASPLOS 2021: priority = clock + invoked minutes / size
};

/// The apps of a minute in the order of the trace; one that is not in the cache has a cold start, and enters if its
/// size is at most the memory, after the lowest were evicted. O(log apps) per invoked minute. Requires: a memory.
[[nodiscard]] CacheRun run_cache(const Problem& problem, CacheRule rule);

/// The fewest cold starts that a memory allows with hindsight, an app in part allowed: in each minute as many of its
/// apps that were invoked before as fit, smallest first. The sum is exact and rounded up. Requires: a memory.
[[nodiscard]] std::int64_t cold_starts_bound(const Problem& problem);

}  // namespace berth::warm
