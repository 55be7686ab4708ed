/// The existing plan and the new problem as the search for a transition uses them: small indices, bit sets of
/// placements and whole numbers. Built once.
///
/// Rates of one demand are scaled by one power of ten to whole numbers, and none is larger than the demand's need: a
/// set of slices meets the need, with or without one of them, if and only if it does so with the rates limited to it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/core/result.h"
#include "domain/mig/site_map.h"
#include "planner/transition/transition.h"

namespace berth::transition::detail {

using Rate = std::int64_t;
/// Sites of a GPU, numbered as in OfferView::map.
using mig::SiteSet;

inline constexpr int kNone = -1;

/// A GPU model: where slices can be placed.
struct OfferView {
  const GpuModel* model = nullptr;
  mig::SiteMap map;            ///< of all profiles and the whole GPU
  std::vector<int> weights;    ///< by kind: compute slices, at least 1
  std::vector<int> lengths;    ///< by kind: placement units, at least 1
  int weight = 1;              ///< of the whole GPU
  int length = 1;              ///< of the whole GPU
  std::int64_t price = 1;      ///< micro-USD per hour, or 1
  std::int64_t count_max = 0;  ///< of the new plan

  /// Whether a slice at this site can be added to a legal set.
  [[nodiscard]] bool fits(SiteSet standing, int site) const { return map.fits(standing, mig::SiteIndex(site)); }
  /// Requires: the model has the placement.
  [[nodiscard]] int site_of(const mig::Placement& placement) const;
};

struct DemandView {
  Rate need = 0;
  Decimal scale = Decimal(1);  ///< a rate is its requests per second x scale
  int tenant = 0;
  std::vector<std::vector<Rate>> rates;  ///< by offer, kind: at the best point; 0: it cannot run there
  Rate rate_max = 0;
  std::vector<int> standing;  ///< its slices that can be kept
};

/// An existing slice.
struct StandingView {
  int gpu = 0;
  int site = 0;
  int demand = kNone;  ///< kNone: not a demand of the new problem
  int tenant = 0;
  Rate in_force = 0;  ///< its current rate
  Rate low = 0;       ///< its rate if kept at its point, or at the best one if that is not usable
  Rate best = 0;      ///< 0: it cannot be kept
  bool must_retune = false;
};

/// A GPU that may hold slices: the existing ones, then new ones.
struct GpuView {
  int offer = 0;
  bool is_standing = false;
  std::vector<int> standing;  ///< its existing slices
};

struct TransitionView {
  std::vector<OfferView> offers;
  std::vector<DemandView> demands;
  std::vector<StandingView> standing;  ///< in the order of the plan
  std::vector<GpuView> gpus;
  std::int64_t budget = 0;  ///< the most that the new plan may use
  bool keeps_tenants_apart = false;
};

/// Errors: as plan_transition.
[[nodiscard]] Result<TransitionView> view_of(const PackingProblem& problem, const StandingPlan& standing,
                                             const packing::PackResult& fewest);

/// A slice on a GPU of a plan; `standing`: the existing slice that is kept as it, or kNone.
struct Held {
  int site = 0;
  int demand = 0;
  int standing = kNone;
  friend bool operator==(const Held&, const Held&) = default;
};

/// The slices of each GPU of the view.
using SlicesByGpu = std::vector<std::vector<Held>>;

[[nodiscard]] std::int64_t changes_of(const TransitionView& view, const SlicesByGpu& plan);

}  // namespace berth::transition::detail
