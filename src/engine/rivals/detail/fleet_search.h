/// The search of the policies that repartition while they run: the partition of every GPU, and which piece serves or
/// retrains which service, given the existing slices.
///
/// Model: each GPU has one of its partitions; each piece goes to one job or is unowned; a service has two
/// jobs, its inference and (if one is due) its retraining, which runs on one piece. A plan is worth the sum over the
/// services of a value that the policy gives to a service's share; plans in which more services have an inference piece
/// are better for any value. Pieces that are not ready for their job yet count as coming, with the seconds until they
/// are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "engine/rivals/detail/assignment.h"
#include "engine/rivals/detail/fleet_view.h"
#include "engine/rivals/target.h"

namespace berth::partition::detail {

/// The rates of jobs on kinds of slices. [model of the view][kind][service]; 0: cannot.
struct JobRates {
  std::vector<std::vector<std::vector<double>>> requests_per_second;
  std::vector<std::vector<std::vector<double>>> retraining_seconds;
  std::vector<std::vector<double>> quanta;  ///< [model][kind]: compute slices
};

/// The default points; a retraining's time on each kind.
[[nodiscard]] JobRates job_rates(const FleetView& fleet);

/// The slices of a service in a plan, summed.
struct Share {
  double rate = 0;          ///< requests per second of inference pieces that are ready
  double rate_coming = 0;   ///< the same of those that are not
  double rate_seconds = 0;  ///< sum over the coming ones of rate x seconds until ready
  double quanta = 0;        ///< of its inference pieces
  double sms = 0;           ///< of all its pieces
  int inference_count = 0;
  bool retrains = false;
  double retraining_seconds = 0;         ///< a whole retraining on its piece
  double retraining_coming_seconds = 0;  ///< until that piece is ready
  double retraining_rate = 0;            ///< requests per second of that piece, were it to serve
  double retraining_quanta = 0;

  [[nodiscard]] double rate_total() const { return rate + rate_coming; }
  /// The mean time in seconds until the coming pieces are ready, weighted by rate.
  [[nodiscard]] double coming_seconds() const { return rate_coming > 0 ? rate_seconds / rate_coming : 0; }
};

using ShareValue = std::function<double(int service, const Share&)>;

/// Owners in the plans of this search: a service (inference), service_count + a service (retraining), or kNoOwner.
[[nodiscard]] inline int retraining_owner(const FleetView& fleet, int service) { return fleet.service_count + service; }

/// A piece that exists, or is being created.
struct StandingSite {
  mig::Site site;
  int owner = kNoOwner;
  bool is_ready = false;
};

/// The existing plan (including what is being created); a GPU whose slices fit no partition counts as unowned.
[[nodiscard]] FleetPlan standing_plan(const FleetView& fleet, const Snapshot& snapshot);

struct RepartitionLimits {
  int passes_max = 4;          ///< rounds over all GPUs of a descent
  int gpus_disturbed_max = 8;  ///< fleets up to this size are perturbed GPU by GPU, and descend again
  int gpus_recut_max = 64;     ///< of a larger fleet, this many GPUs are considered in one decision, in turn
  int services_max = 12;  ///< of more services, only those that gain most and those with slices there are considered
};

/// Repartitions one GPU at a time, exactly: all its partitions, and for each the best owners by dynamic programming
/// (detail/assignment.h), until nothing changes. O(partitions x services x 3^pieces) per GPU. Requires: arguments
/// outlive it.
class FleetSearch {
 public:
  /// `may_retrain[s]`: service s may be given a retraining piece.
  FleetSearch(const FleetView& fleet, const JobRates& rates, const Snapshot& snapshot, ShareValue value,
              const std::vector<char>& may_retrain, const RepartitionLimits& limits);

  /// standing_plan of the snapshot.
  [[nodiscard]] const FleetPlan& standing() const { return standing_; }
  /// The best plan found from the existing one, from an empty one, and from other starts; never worse than the existing
  /// one.
  [[nodiscard]] FleetPlan best(const std::vector<FleetPlan>& more_starts) const;

  /// A share with one more piece of a GPU, for inference or for its retraining.
  [[nodiscard]] Share with_piece(Share share, int gpu, const mig::Site& piece, int owner) const;
  /// The share of each service in a plan.
  [[nodiscard]] std::vector<Share> shares_of(const FleetPlan& plan) const;
  /// Better: fewer services without an inference piece, then more value.
  struct PlanWorth {
    int uncovered = 0;
    double value = 0;
  };
  [[nodiscard]] PlanWorth worth_of(const FleetPlan& plan) const;

 private:
  /// The worth of each set of pieces of a partition to a service, and the piece of it that retrains (kNoOwner: none).
  struct ServiceChoices {
    std::vector<Worth> worth;
    std::vector<int> retraining_piece;
  };

  [[nodiscard]] std::vector<int> gpus_in_turn(const Snapshot& snapshot) const;
  [[nodiscard]] double seconds_until_ready(int gpu, const mig::Site& piece, int owner) const;
  void add_gpu(std::vector<Share>& shares, int gpu, const GpuPlan& plan) const;
  [[nodiscard]] static bool is_better_plan(const PlanWorth& a, const PlanWorth& b);
  [[nodiscard]] std::vector<int> candidates_for(int gpu, const GpuPlan& now, const std::vector<Share>& others) const;
  [[nodiscard]] ServiceChoices choices_on(int gpu, const std::vector<mig::Site>& pieces, int service,
                                          const Share& others) const;
  [[nodiscard]] GpuPlan best_recut_of(int gpu, const GpuPlan& now, const std::vector<Share>& others) const;
  [[nodiscard]] Worth worth_with(int gpu, const GpuPlan& plan, const std::vector<int>& services,
                                 const std::vector<Share>& others) const;
  [[nodiscard]] FleetPlan descend(FleetPlan plan) const;
  [[nodiscard]] FleetPlan descend_over(FleetPlan plan, const std::vector<int>& gpus) const;
  void disturb(FleetPlan& plan) const;

  const FleetView& fleet_;
  const JobRates& rates_;
  ShareValue value_;
  const std::vector<char>& may_retrain_;
  RepartitionLimits limits_;
  std::vector<std::vector<StandingSite>> standing_on_;  ///< [gpu]
  FleetPlan standing_;
  bool is_empty_ = true;   ///< no slice exists
  std::vector<int> gpus_;  ///< those that are repartitioned, in turn
};

/// The target of a plan; `points` by service (absent: the default). Existing unowned pieces stay, new ones are not
/// created.
[[nodiscard]] Target target_of(const FleetView& fleet, const FleetPlan& plan, const Snapshot& snapshot,
                               const std::function<std::optional<PointChoice>(const Slice&, ServiceId)>& point_of);

}  // namespace berth::partition::detail
