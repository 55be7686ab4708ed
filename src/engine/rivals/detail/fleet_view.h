/// The fleet as seen by the policies of this module: for each GPU model the kinds of slices, the partitions of a GPU,
/// and the rate of each service on each kind. Built once per policy; all else works on small indices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/decimal.h"
#include "domain/mig/site_map.h"
#include "domain/values/scenario.h"
#include "domain/values/slice.h"
#include "engine/rivals/layout.h"

namespace berth::partition::detail {

/// A piece's owner: the index of a service, or none.
inline constexpr int kNoOwner = -1;

/// A maximal partition of one GPU.
struct Partition {
  std::vector<mig::Site> pieces;  ///< by start
  mig::KindCounts counts;
};

/// One GPU model of the fleet.
struct ModelView {
  const GpuModel* model = nullptr;
  mig::SiteMap map;                   ///< of the plain profiles and the whole GPU
  std::vector<Partition> partitions;  ///< every maximal partition, in mig's order
  std::vector<int> shapes;            ///< the first partition of each multiset of kinds
  std::vector<std::vector<std::optional<Decimal>>>
      throughput;         ///< [kind][service], requests per second; nothing: cannot serve
  std::vector<int> gpus;  ///< the GPUs of this model, ascending

  [[nodiscard]] int full_kind() const { return static_cast<int>(map.kinds.size()) - 1; }
  [[nodiscard]] bool can_serve(int kind, int service) const { return throughput[kind][service].has_value(); }
};

/// Requires: the scenario outlives the view.
struct FleetView {
  const Scenario* scenario = nullptr;
  std::vector<ModelView> models;  ///< in the order of the file, each model once
  std::vector<int> model_of;      ///< [gpu] -> index into models
  int service_count = 0;

  [[nodiscard]] int gpu_count() const { return static_cast<int>(model_of.size()); }
  [[nodiscard]] const ModelView& of_gpu(int gpu) const { return models[model_of[gpu]]; }
};

/// O(models x services x kinds) choices of an operating point.
[[nodiscard]] FleetView view_fleet(const Scenario& scenario);

/// The partition of one GPU and the owner of each piece.
struct GpuPlan {
  int partition = 0;        ///< index into ModelView::partitions
  std::vector<int> owners;  ///< by piece
  friend bool operator==(const GpuPlan&, const GpuPlan&) = default;
};

/// A plan for every GPU.
using FleetPlan = std::vector<GpuPlan>;

/// A plan in which everything is unowned.
[[nodiscard]] FleetPlan empty_plan(const FleetView& fleet);
/// The holdings of a plan.
[[nodiscard]] Layout layout_of(const FleetView& fleet, const FleetPlan& plan);
/// How many pieces have an owner.
[[nodiscard]] int owned_count(const FleetPlan& plan);

/// Why a service cannot be served by any kind of any GPU of the fleet, for the first such service, or nothing. With
/// `only_whole`, by any whole GPU.
[[nodiscard]] std::optional<Infeasible> find_unservable(const FleetView& fleet, bool only_whole);

/// "1 GPU", "2 GPUs".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun);

}  // namespace berth::partition::detail
