/// The plan of a policy: actions, reasons, and the capacity that it counts on. A value; an independent checker must
/// accept it before it is carried out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/slice.h"
#include "domain/values/unmet_floors.h"

namespace berth {

class ArchiveReader;
class ArchiveWriter;

/// How long a creation or destruction may take, from when it begins on the device. Then it times out, and the executor
/// reports it as failed.
inline constexpr Micros kActionTimeMax = Micros::seconds(60);

/// Create a slice. The creation waits until the room is free.
struct CreateSlice {
  Slice slice;
  friend bool operator==(const CreateSlice&, const CreateSlice&) = default;
};

/// Destroy a slice once its running batches are done.
struct DestroySlice {
  Slice slice;
  friend bool operator==(const DestroySlice&, const DestroySlice&) = default;
};

/// Give a slice to services in a role; without services it becomes unowned.
using AssignSlice = Allocation;

/// Why an action is in the plan: a sentence and the numbers in it.
struct Reason {
  std::string text;
  std::vector<std::pair<std::string, double>> numbers;
  friend bool operator==(const Reason&, const Reason&) = default;
};

/// What an action does to one slice.
using SliceChange = std::variant<CreateSlice, DestroySlice, AssignSlice>;

/// The slice that it changes.
[[nodiscard]] const Slice& slice_of(const SliceChange& change);

struct Action {
  SliceChange what;
  Reason reason;
  /// Its number on its GPU, set when the plan takes effect; numbers grow and are never reused. A creation's number is
  /// the new slice's generation; an assignment's is reported once the slice works for its holders.
  std::uint64_t number = 0;
  friend bool operator==(const Action&, const Action&) = default;
};

/// The capacity that a plan counts on for a service with a floor, in requests per second (see
/// docs/reference/constraints.md).
struct PlannedFloor {
  ServiceId service;
  double needed = 0;   ///< to keep the floor under the expected load
  double planned = 0;  ///< of its inference slices once the plan is carried out
  friend bool operator==(const PlannedFloor&, const PlannedFloor&) = default;
};

/// A slice as a plan found it: the same number is the same slice with the same holders.
struct SliceFact {
  Slice slice;
  std::uint64_t number = 0;  ///< StandingSlice::assignment
  friend bool operator==(const SliceFact&, const SliceFact&) = default;
};

/// A service as a plan found it: the same revision is the same service with the same spec.
struct ServiceFact {
  ServiceId service;
  std::uint64_t revision = 0;  ///< ServiceState::revision
  friend bool operator==(const ServiceFact&, const ServiceFact&) = default;
};

/// The facts that the changes of one GPU rely on: its slices that are not to be destroyed, in order, and the services
/// that get slices there.
struct GpuFact {
  GpuId gpu;
  std::vector<SliceFact> slices;
  std::vector<ServiceFact> services = {};  ///< ascending
  friend bool operator==(const GpuFact&, const GpuFact&) = default;
};

/// A change of one GPU that is planned for some time in the window; the next plan may decide otherwise.
struct ChangeAhead {
  GpuId gpu;
  std::int64_t after_seconds = 0;  ///< from when the plan takes effect; 0: its actions are in the plan
  std::vector<Allocation> to;      ///< all slices of the GPU from then on
  friend bool operator==(const ChangeAhead&, const ChangeAhead&) = default;
};

/// Rents a GPU from now on, or gives it back as soon as it is empty: the stage that drains GPUs destroys its slices. A
/// GPU that is not there yet is given back at once.
struct GpuOrder {
  GpuId gpu;
  bool is_release = false;
  Reason reason = {};
  friend bool operator==(const GpuOrder&, const GpuOrder&) = default;
};

struct Plan {
  std::uint64_t id = 0;            ///< of the request that it answers; 0: none
  std::uint64_t epoch = 0;         ///< which run of the engine made it; 0 while an engine has only one
  std::uint64_t base_version = 0;  ///< the state version that it was made for
  Instant made_at;
  bool is_ordered = false;                  ///< by an operator: only its legality is verified
  std::vector<GpuFact> facts;               ///< of each GPU that it changes, ascending
  std::optional<Instant> expires_at;        ///< absent: valid until replaced
  std::vector<Action> actions;              ///< in the order in which they begin
  std::optional<double> objective;          ///< reached, in the policy's own unit; absent if it optimises nothing
  std::optional<double> bound;              ///< no plan can exceed it; absent: not proven
  std::optional<double> promised_gain;      ///< objective minus that of changing nothing; absent: unknown
  std::vector<PlannedFloor> floors;         ///< of each service that has a floor, if the policy plans for floors
  std::optional<UnmetFloors> unmet_floors;  ///< why planned < needed for some floor; absent: all floors are met
  std::vector<ChangeAhead> ahead;           ///< by GPU, then time; only planners look ahead
  std::vector<GpuOrder> gpu_orders = {};    ///< where the fleet may grow and shrink (Scenario::provision_seconds)

  /// Whether the plan has no effect.
  [[nodiscard]] bool is_empty() const { return actions.empty() && gpu_orders.empty(); }

  /// Without `gpu_orders`: only plans that wait for approval in a live world are saved, and its fleet is constant.
  static void archive_fields(ArchiveWriter& archive, const Plan& plan);
  static void archive_fields(ArchiveReader& archive, Plan& plan);
  friend bool operator==(const Plan&, const Plan&);
};

}  // namespace berth
