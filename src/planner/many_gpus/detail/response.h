/// The best change of one GPU while all others stay as they are.
///
/// Worths of pieces are differences of the exact concave worth of capacity, given what the others serve; the tree of
/// planner/many_gpus/space.h finds the best set of pieces as if worths were additive; the result is then evaluated
/// exactly. If pieces of one service share a load, further attempts use the GPU's average supply in the earlier ones
/// (Frank and Wolfe 1956); a first attempt assigns its pieces one after the other, each to the service with the largest
/// gain.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/many_gpus/detail/gains.h"
#include "planner/many_gpus/detail/retraining.h"
#include "planner/many_gpus/space.h"
#include "planner/many_gpus/state.h"
#include "planner/many_gpus/terms.h"

namespace berth::planner::fleet {

/// A service that a GPU retrains, and where.
struct RetrainingSite {
  ServiceIndex service;
  SiteIndex site;
};

struct ResponseOptions {
  int attempts = 8;
  bool moves_retraining = true;  ///< tries other sites for retraining; otherwise it stays where it is
};

class Responder {
 public:
  /// Gains evaluate every `stride`th slot.
  Responder(const Terms& terms, Grid grid, int stride);

  /// Changes the path of a GPU to the best one found, if that is better. Returns the gain in score.
  double improve(FleetState& state, GpuIndex gpu, const ResponseOptions& options);
  /// Puts a GPU that was taken out back with the path that looks best. Worths are limited by `caps`, if set, so that
  /// GPUs placed early leave work to GPUs better suited to it.
  void place(FleetState& state, GpuIndex gpu);
  [[nodiscard]] GainTables& gains() { return gains_; }
  /// Lets a GPU retrain a service that no other GPU retrains, on the best kind of slice, or stop doing so. Returns the
  /// gain.
  double retrain(FleetState& state, GpuIndex gpu, ServiceIndex service);
  /// Stops the retraining, whatever the loss.
  double stop_retraining(FleetState& state, GpuIndex gpu, ServiceIndex service);
  /// Gives pieces of a GPU to services that are short of their floors, one at a time, while that improves the score.
  /// Returns the gain.
  double repair_floors(FleetState& state, GpuIndex gpu);
  /// Moves the changes of a GPU in time while that improves the score.
  double retime(FleetState& state, GpuIndex gpu);
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }

 private:
  struct Attempt {
    double expected = 0;
    std::vector<Change> changes;
  };

  void renew(FleetState& state);
  void forget_own();
  void move_own(GpuIndex gpu, const Path& path, double share);
  bool reassign_one(FleetState& state, GpuIndex gpu, const std::vector<ServiceIndex>& takers, double& score,
                    Path& best);
  void fill_tables(const FleetState& state, GpuIndex gpu, GroupIndex group);
  void fill_retraining(const FleetState& state, ModelIndex model, ServiceIndex service);
  void fill_retraining(const FleetState& state, ModelIndex model, const std::vector<RetrainingSite>& held);
  [[nodiscard]] std::vector<double> standing_worth(const FleetState& state, GpuIndex gpu, const StandingPiece& standing,
                                                   GroupIndex group, PointIndex first,
                                                   const std::vector<RetrainingSite>& held);
  [[nodiscard]] std::vector<NodeRule> rules_of(const FleetState& state, GpuIndex gpu, GroupIndex group,
                                               const std::vector<RetrainingSite>& held);
  void divide(const FleetState& state, GpuIndex gpu, const std::vector<SlotIndex>& stays_until,
              std::vector<PlannedPiece>& wanted);
  void add_own(const Piece& piece, ModelIndex model, KindIndex kind, SlotIndex from, SlotIndex until);
  Attempt attempt(const FleetState& state, GpuIndex gpu, GroupIndex group, const std::vector<RetrainingSite>& held);
  [[nodiscard]] std::vector<RetrainingSite> held_by(const FleetState& state, GpuIndex gpu, const Path& path) const;
  [[nodiscard]] bool may_retrain(const FleetState& state, ServiceIndex service) const;
  bool consider(FleetState& state, GpuIndex gpu, Path path, double& score, Path& best);
  void try_group(FleetState& state, GpuIndex gpu, GroupIndex group, const ResponseOptions& options, double& score,
                 Path& best);
  void try_retraining(FleetState& state, GpuIndex gpu, GroupIndex group, const std::vector<RetrainingSite>& held,
                      double& score, Path& best);
  [[nodiscard]] std::vector<Attempt> retraining_attempts(const FleetState& state, GpuIndex gpu, ServiceIndex service,
                                                         const std::vector<RetrainingSite>& held);

  const Terms* terms_;
  Grid grid_;
  std::int64_t nodes_ = 0;
  GainTables gains_;
  std::vector<OwnCapacity> own_;                                         ///< the capacity at which slopes are computed
  std::vector<SpaceValues> spaces_;                                      ///< [model]
  std::vector<std::vector<PieceTable>> tables_;                          ///< [model][kind]
  std::vector<std::vector<std::vector<Offer>>> offers_;                  ///< [model][kind], in the tables
  std::vector<std::optional<RetrainingWorth>> retraining_;               ///< [service], at the state's capacity
  std::vector<std::vector<std::vector<PieceTable>>> retraining_tables_;  ///< [model][service][kind]; empty: not yet
  std::vector<PieceTable> pin_tables_;                                   ///< [pin] of the GPU
  GpuWalk walk_;
};

}  // namespace berth::planner::fleet
