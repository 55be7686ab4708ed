/// What becomes of a request to a collector.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "base/core/rng.h"
#include "domain/ports/http_client.h"

namespace berth::edges {

/// Items by what became of them. Those that wait are in none of the last three.
struct OtlpCounts {
  std::int64_t made = 0;
  std::int64_t sent = 0;     ///< the collector took them
  std::int64_t refused = 0;  ///< it said that it did not, for good
  std::int64_t dropped = 0;  ///< no room to wait, or no answer for too long

  friend bool operator==(const OtlpCounts&, const OtlpCounts&) = default;
};

struct Delivery {
  bool may_repeat = false;                            ///< nothing was taken, and a later try may succeed
  std::int64_t refused = 0;                           ///< items; the others were taken, unless it may be repeated
  std::optional<Micros> retry_after = std::nullopt;   ///< what the collector wants
  std::optional<std::string> trouble = std::nullopt;  ///< for a warning; absent: all was taken
};

/// Judges the answer to a request of `count` items. `rejected_name`: partial_success_of.
[[nodiscard]] Delivery judge(const Result<HttpReply>& reply, std::int64_t count, std::string_view rejected_name);

/// How long to wait before the next try, after `try_count` that failed: from 1 s, doubled each time up to 30 s, and
/// half of that drawn at random. Requires: try_count >= 1.
[[nodiscard]] Micros pause_after(int try_count, Rng& rng);

}  // namespace berth::edges
