#include "domain/values/frozen.h"

#include <algorithm>

namespace berth {
namespace {

/// The latest end of the windows that the instant is in; the instant itself if it is in none.
Instant end_of_windows(const Scenario& scenario, Instant at) {
  Instant end = end_of_window(scenario.no_changes, at).value_or(at);
  for (const FrozenWindow& window : scenario.frozen) {
    if (window.from <= at && at < window.until) end = std::max(end, window.until);
  }
  return end;
}

}  // namespace

bool is_frozen(const Scenario& scenario, Instant at) { return end_of_windows(scenario, at) > at; }

std::optional<Instant> frozen_until(const Scenario& scenario, Instant at) {
  // Adjoining windows beyond this number are not followed: the answer is then early, but no change can begin before it.
  constexpr int kWindowsMax = 16;
  Instant until = at;
  for (int i = 0; i < kWindowsMax; ++i) {
    const Instant end = end_of_windows(scenario, until);
    if (end == until) break;
    until = end;
  }
  return until > at ? std::optional(until) : std::nullopt;
}

}  // namespace berth
