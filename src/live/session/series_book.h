/// Collects what a second of the world brought its services and its fleet, for those who keep it
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

  /// The next second of the service at a place. Returns the second before, if it was not taken.
  [[nodiscard]] std::optional<SeriesSpan> add(ServiceId place, std::int64_t second, ServiceFigures figures);
  /// Another service may take the place.
  void forget(ServiceId place);
  /// The second that was collected; absent if there is none.
  [[nodiscard]] std::optional<SeriesSpan> take();

 private:
  /// How often names are repeated: who begins anew with what is kept gets all of them.
  static constexpr std::int64_t kNameSeconds = 60;

  const Scenario& scenario_;
  const Catalog& catalog_;
  std::optional<SeriesSpan> span_;
  std::vector<std::uint64_t> numbers_;  ///< by place; 0: not looked up yet
};

}  // namespace berth::live
