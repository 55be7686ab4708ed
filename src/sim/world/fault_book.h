/// The pending faults of the simulated world: which GPUs they hit, how often, and when they are used up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/instant.h"
#include "domain/values/device_action.h"
#include "domain/values/slice.h"

namespace berth::sim {

enum class FaultKind : std::uint8_t {
  kLose,            ///< the GPU is lost now
  kReturn,          ///< a lost GPU is back now
  kFailCreate,      ///< the slice is not created
  kFailDestroy,     ///< the slice stays
  kSlow,            ///< creations and destructions take a different time
  kReportsFailure,  ///< a creation or destruction is done, but reported as failed
  kForeignSlice,    ///< a foreign slice appears now
  kServing,         ///< the batches of a service take another time than its table says
  kClear,           ///< pending faults are forgotten, and foreign slices are gone
};

/// How long batches take while a fault of serving waits: the table's time x factor x a uniform draw from 1 +- jitter.
struct ServingFault {
  std::optional<ServiceId> service;  ///< of kServing always; of kClear absent: every service
  Decimal factor = Decimal(1);       ///< 0.1 to 10
  Decimal jitter;                    ///< 0 to less than 1
  friend bool operator==(const ServingFault&, const ServingFault&) = default;
};

/// A fault, as ordered.
struct FaultOrder {
  FaultKind kind = FaultKind::kLose;
  std::vector<GpuId> gpus;            ///< ascending; empty in old journals, and where only services are concerned
  std::optional<std::int64_t> times;  ///< actions of each GPU, at least 1; absent: until cleared. Unused if immediate
  Micros duration;                    ///< of kSlow: the time of each action
  ProfileId profile;                  ///< of kForeignSlice, like `start`
  int start = 0;
  std::optional<ServingFault> serving = std::nullopt;  ///< of kServing; of kClear: whose faults of serving end
  friend bool operator==(const FaultOrder&, const FaultOrder&) = default;
};

/// A pending fault, or an existing foreign slice.
struct WaitingFault {
  std::uint64_t id = 0;
  Instant since;
  FaultOrder order;
  std::map<GpuId, std::int64_t> left;  ///< actions left for each GPU that it still waits for; INT64_MAX: no limit
  friend bool operator==(const WaitingFault&, const WaitingFault&) = default;
};

class FaultBook {
 public:
  /// At most this many faults are pending.
  static constexpr std::size_t kCapacity = 1'000;

  [[nodiscard]] bool is_empty() const { return faults_.empty(); }
  [[nodiscard]] bool is_full() const { return faults_.size() >= kCapacity; }
  /// Oldest first.
  [[nodiscard]] const std::vector<WaitingFault>& waiting() const { return faults_; }

  /// Restores what was pending. Requires: nothing was added.
  void resume(std::vector<WaitingFault> waiting, std::uint64_t last_id) {
    faults_ = std::move(waiting);
    last_id_ = last_id;
  }
  [[nodiscard]] std::uint64_t last_id() const { return last_id_; }
  /// Records a number that was already assigned.
  void note_id(std::uint64_t id) { last_id_ = std::max(last_id_, id); }
  /// The number of a new fault: from 1, never used again.
  [[nodiscard]] std::uint64_t next_id() { return ++last_id_; }
  /// Adds a pending fault. Requires: its kind is not immediate, and the book is not full.
  void add(std::uint64_t id, const FaultOrder& order, Instant now);
  /// The faults that `clear` would end. Requires: ascending.
  [[nodiscard]] std::vector<std::uint64_t> cleared_by(const FaultOrder& clear) const;
  /// Forgets the pending faults of these GPUs and services. Requires: ascending. O(waiting x GPUs of each).
  void clear(const FaultOrder& clear);
  /// The service is gone, with the faults of its serving. Returns whether there was one.
  bool forget_service(ServiceId service);
  /// The latest fault of a service's serving; nullptr: its batches take the table's time.
  [[nodiscard]] const WaitingFault* serving_of(ServiceId service) const;
  [[nodiscard]] bool has_serving() const;
  /// A GPU is lost, with its foreign slices.
  void forget_foreign(GpuId gpu);

  /// An action begins: the time it takes, if a fault sets one. The oldest one counts, and is used once.
  [[nodiscard]] std::optional<Micros> begin_action(GpuId gpu);
  /// An action ends: its outcome. The oldest fault that fits counts, and is used once.
  [[nodiscard]] ActionOutcome end_action(GpuId gpu, ActionKind kind);
  /// Whether a use of a fault was counted since the last call.
  [[nodiscard]] bool take_is_used() { return std::exchange(is_used_, false); }

 private:
  /// Uses a fault once for a GPU.
  void use(std::vector<WaitingFault>::iterator fault, GpuId gpu);

  std::vector<WaitingFault> faults_;
  std::uint64_t last_id_ = 0;
  bool is_used_ = false;
};

}  // namespace berth::sim
