/// Figures of services and layouts, each computed once, within a budget of scores. The search's own work is bounded
/// too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/rivals/detail/assignment.h"
#include "engine/rivals/detail/fleet_view.h"
#include "engine/rivals/layout.h"

namespace berth::partition::detail {

/// The maximum number of pieces of plans that a search considers, about 0.3 microseconds each.
inline constexpr std::int64_t kPiecesTriedMax = 10'000'000;

/// Requires: fleet and search outlive it.
class Scorer {
 public:
  Scorer(const FleetView& fleet, const StaticBestSearch& search, int evaluations_max)
      : fleet_(fleet), search_(search), evaluations_max_(evaluations_max) {}

  /// A service and its kinds in order, as far as scores can distinguish slices.
  using Key = std::vector<std::int32_t>;
  [[nodiscard]] Key key_of(int service, const std::vector<Slice>& slices) const;

  /// The worth of a service alone on these slices (sorted); nothing if it is not known and the budget is used up.
  [[nodiscard]] std::optional<Worth> service_worth(int service, const std::vector<Slice>& slices);
  /// Whether service_worth would have to compute a score.
  [[nodiscard]] bool is_unknown(int service, const std::vector<Slice>& slices) const;
  /// The worth of a whole plan: the sum over services if they are separable, otherwise a score of the layout.
  [[nodiscard]] std::optional<Worth> plan_worth(const FleetPlan& plan);

  /// Counts work done in addition to plan_worth.
  void add_work(std::int64_t pieces) { pieces_tried_ += pieces; }
  [[nodiscard]] bool is_spent() const { return evaluations_left() <= 0 || pieces_tried_ >= kPiecesTriedMax; }
  [[nodiscard]] int evaluations() const { return evaluations_; }
  [[nodiscard]] int evaluations_left() const { return evaluations_max_ - evaluations_; }

 private:
  [[nodiscard]] bool is_starved(const std::vector<Slice>& slices) const;

  const FleetView& fleet_;
  const StaticBestSearch& search_;
  int evaluations_max_;
  int evaluations_ = 0;
  std::int64_t pieces_tried_ = 0;
  std::map<Key, double> services_;
  std::map<Key, double> layouts_;
};

/// The slices of each service, sorted.
[[nodiscard]] std::vector<std::vector<Slice>> slices_by_service(const FleetView& fleet, const FleetPlan& plan);

}  // namespace berth::partition::detail
