/// Sums of figures, and the newest hour of one model.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "serving/service/figure_service.h"

namespace berth::serving {

/// Adds one request that ended.
void add_outcome(RequestFigures& figures, RequestOutcome outcome);

/// Adds the same second of another model: requests that wait add up.
void add_beside(RequestFigures& sum, const RequestFigures& more);
/// Adds another second: the longer queue counts.
void add_after(RequestFigures& sum, const RequestFigures& more);

/// Seconds of UNIX time that are kept.
inline constexpr std::int64_t kSecondsKept = 3600;

/// The seconds that had something to count, each in a few bytes.
class SecondRing {
 public:
  /// Requires: later than all before.
  void add(std::int64_t second, const RequestFigures& figures);
  void forget_before(std::int64_t second);
  /// Calls `take(second, figures)` for those in [from, to), ascending.
  template <class Take>
  void for_each(std::int64_t from, std::int64_t to, const Take& take) const {
    for (auto place = first_from(from); place != seconds_.end() && place->second < to; ++place) {
      take(place->second, unpack(place->bytes));
    }
  }

 private:
  struct Packed {
    std::int64_t second = 0;
    std::string bytes;
  };
  [[nodiscard]] std::deque<Packed>::const_iterator first_from(std::int64_t second) const;
  [[nodiscard]] static RequestFigures unpack(std::string_view bytes);

  std::deque<Packed> seconds_;
};

}  // namespace berth::serving
