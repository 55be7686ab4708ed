/// The faults of the simulated world that wait for an action: which GPU they hit, how often, and when they are used up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/device_action.h"
#include "domain/values/slice.h"

namespace berth::sim {

enum class FaultKind : std::uint8_t {
  kLose,            ///< the GPU is lost now
  kReturn,          ///< a lost GPU is back now
  kFailCreate,      ///< the slice is not created
  kFailDestroy,     ///< the slice stays
  kSlow,            ///< creations and destructions take another time
  kReportsFailure,  ///< a creation or destruction is done, but reported as failed
  kForeignSlice,    ///< a slice of others stands there now
  kClear,           ///< what waits is forgotten, and slices of others are gone
};

/// A fault that somebody ordered.
struct FaultOrder {
  FaultKind kind = FaultKind::kLose;
  std::vector<GpuId> gpus;            ///< ascending; empty only in old journals
  std::optional<std::int64_t> times;  ///< actions of each GPU, at least 1; absent: until cleared. Not for those of now
  Micros duration;                    ///< of kSlow: what each action takes
  ProfileId profile;                  ///< of kForeignSlice, like `start`
  int start = 0;
  friend bool operator==(const FaultOrder&, const FaultOrder&) = default;
};

/// A fault that waits, or a slice of others that stands.
struct WaitingFault {
  std::uint64_t id = 0;
  Instant since;
  FaultOrder order;
  std::map<GpuId, std::int64_t> left;  ///< actions left of each GPU that it still waits for; INT64_MAX: no limit
  friend bool operator==(const WaitingFault&, const WaitingFault&) = default;
};

class FaultBook {
 public:
  /// Waiting faults at most.
  static constexpr std::size_t kCapacity = 1'000;

  [[nodiscard]] bool is_empty() const { return faults_.empty(); }
  [[nodiscard]] bool is_full() const { return faults_.size() >= kCapacity; }
  /// Oldest first.
  [[nodiscard]] const std::vector<WaitingFault>& waiting() const { return faults_; }

  /// What waited before is back. Requires: nothing was added.
  void resume(std::vector<WaitingFault> waiting, std::uint64_t last_id) {
    faults_ = std::move(waiting);
    last_id_ = last_id;
  }
  [[nodiscard]] std::uint64_t last_id() const { return last_id_; }
  /// The number was given already.
  void note_id(std::uint64_t id) { last_id_ = std::max(last_id_, id); }
  /// The number of a new fault: from 1, never used again.
  [[nodiscard]] std::uint64_t next_id() { return ++last_id_; }
  /// A fault that waits. Requires: its kind is one that waits, and the book is not full.
  void add(std::uint64_t id, const FaultOrder& order, Instant now);
  /// The faults that `clear` would end. Requires: ascending.
  [[nodiscard]] std::vector<std::uint64_t> cleared_by(const std::vector<GpuId>& gpus) const;
  /// Forgets what waits for these GPUs. Requires: ascending. O(waiting x GPUs of each).
  void clear(const std::vector<GpuId>& gpus);
  /// A GPU is lost, and the slices of others with it.
  void forget_foreign(GpuId gpu);

  /// An action begins: what it takes, if a fault says so. The oldest one counts, and is used once.
  [[nodiscard]] std::optional<Micros> begin_action(GpuId gpu);
  /// An action ends: how. The oldest fault that fits counts, and is used once.
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
