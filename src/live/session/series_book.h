/// Collects each second's figures of the services and the fleet, for consumers that store them
/// (domain/values/series.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "domain/values/scenario.h"
#include "domain/values/series.h"
#include "live/session/catalog.h"

namespace berth::live {

class SeriesBook {
 public:
  /// Both are borrowed.
  SeriesBook(const Scenario& scenario, const Catalog& catalog) : scenario_(scenario), catalog_(catalog) {}

  /// Adds the next second of the service at a place. Returns the previous second, if it was not taken.
  [[nodiscard]] std::optional<SeriesSpan> add(ServiceId place, std::int64_t second, ServiceFigures figures);
  /// To be called when another service may take the place.
  void forget(ServiceId place);
  /// The collected second; absent if there is none.
  [[nodiscard]] std::optional<SeriesSpan> take();

 private:
  /// How often names are repeated: a consumer that joins late has all of them after this time.
  static constexpr std::int64_t kNameSeconds = 60;

  const Scenario& scenario_;
  const Catalog& catalog_;
  std::optional<SeriesSpan> span_;
  std::vector<std::uint64_t> numbers_;  ///< by place; 0: not looked up yet
};

}  // namespace berth::live
