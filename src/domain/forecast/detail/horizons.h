/// The classes of lead times: errors of forecasts are learned for each class.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace berth::forecast::detail {

/// The lead time that represents each class, in seconds: forecasts with this lead are judged, and those nearest to it
/// learn from them.
inline constexpr std::array<std::int64_t, 9> kLeads = {1, 3, 8, 20, 50, 100, 170, 400, 1200};
inline constexpr std::size_t kLeadCount = kLeads.size();
/// A lead of n seconds belongs to the first class whose end it does not exceed. Ends are about half way between leads
/// on a logarithmic scale.
inline constexpr std::array<std::int64_t, kLeadCount - 1> kLeadEnds = {1, 5, 12, 32, 71, 130, 260, 690};

/// Requires: lead >= 1.
[[nodiscard]] constexpr std::size_t lead_class(std::int64_t lead) {
  std::size_t found = 0;
  while (found < kLeadEnds.size() && lead > kLeadEnds[found]) ++found;
  return found;
}

}  // namespace berth::forecast::detail
