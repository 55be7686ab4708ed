/// The health of each GPU of a fleet: what errors say about it, and what is to be done.
///
///   ok -> suspect                 an error that is watched
///   suspect -> ok                 nothing for kSuspectFor
///   ok, suspect -> draining       an error that drains
///   ok, suspect -> quarantined    an error that needs somebody to look, or one that drains while the breaker is open:
///                                 the GPU is cordoned, its slices stay
///   quarantined -> draining       an error that drains, if slices stayed
///   draining -> quarantined       its last slice is gone
///   draining, quarantined -> ok   an operator uncordons the GPU
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/slice.h"
#include "gpu/health/xid_policy.h"

namespace berth::health {

enum class HealthState : std::uint8_t { kOk, kSuspect, kDraining, kQuarantined };
/// "ok", "suspect", "draining", "quarantined".
[[nodiscard]] std::string_view word(HealthState state);

/// How long a GPU stays suspect after its last watched error.
inline constexpr Micros kSuspectFor = Micros::seconds(600);
/// At most this share of the GPUs, and at least one, begins to drain within kBreakerWindow.
inline constexpr std::int64_t kBreakerPercent = 10;
inline constexpr Micros kBreakerWindow = Micros::seconds(600);
/// The program of a slice is started again at most once in this time.
inline constexpr Micros kRestartsApart = Micros::seconds(10);

/// Errors of one code that a GPU's driver reported.
struct XidSeen {
  GpuId gpu;
  std::uint64_t xid = 0;
  std::uint64_t count = 1;
  std::string slice = {};                     ///< that the report names; empty: none
  std::string_view recovery_action = "none";  ///< that the driver asks for now
  Instant at = {};
};

/// What is to be done with a GPU, or with the program of one slice.
enum class HealthOrder : std::uint8_t { kNone, kRestartApp, kDrain, kCordon };

/// A change of a GPU's state, or an order. `reason` names the evidence and the rule.
struct HealthDecision {
  GpuId gpu;
  HealthState from = HealthState::kOk;
  HealthState to = HealthState::kOk;
  HealthOrder order = HealthOrder::kNone;
  std::string slice = {};  ///< of kRestartApp
  std::string reason;
  bool has_tripped_breaker = false;  ///< the first GPU that it kept from draining
  friend bool operator==(const HealthDecision&, const HealthDecision&) = default;
};

class HealthBook {
 public:
  /// `policy` must outlive the book.
  HealthBook(const XidPolicy& policy, std::int64_t gpu_count) : policy_(&policy), gpu_count_(gpu_count) {}

  /// What follows from errors; nothing if neither a state nor a program changes. Times do not decrease.
  [[nodiscard]] std::optional<HealthDecision> on_xid(const XidSeen& seen);
  /// The same for an action that the driver asks for from now on.
  [[nodiscard]] std::optional<HealthDecision> on_recovery_action(GpuId gpu, std::string_view action, Instant now);
  /// The GPU has no slices left.
  [[nodiscard]] std::optional<HealthDecision> on_drained(GpuId gpu, Instant now);
  /// An operator opened the GPU again.
  [[nodiscard]] std::optional<HealthDecision> on_uncordoned(GpuId gpu, Instant now);
  /// The GPUs that are no longer suspect.
  [[nodiscard]] std::vector<HealthDecision> on_time(Instant now);
  /// A state that an earlier process left; `since` counts for the breaker.
  void adopt(GpuId gpu, HealthState state, Instant since);

  [[nodiscard]] HealthState state(GpuId gpu) const;
  /// How many GPUs may begin to drain now.
  [[nodiscard]] std::int64_t drains_left(Instant now) const;

 private:
  struct Gpu {
    HealthState state = HealthState::kOk;
    bool has_stayed = false;  ///< quarantined with its slices
    Instant watched_at;       ///< the latest watched error, while suspect
  };

  [[nodiscard]] std::optional<HealthDecision> act(GpuId gpu, XidAction action, std::string reason, Instant now);
  [[nodiscard]] std::optional<HealthDecision> watch(GpuId gpu, std::string reason, Instant now);
  [[nodiscard]] std::optional<HealthDecision> drain(GpuId gpu, std::string reason, Instant now);
  [[nodiscard]] std::optional<HealthDecision> quarantine(GpuId gpu, std::string reason);
  [[nodiscard]] std::optional<HealthDecision> restart(const XidSeen& seen, std::string reason);
  HealthDecision move(GpuId gpu, HealthState to, HealthOrder order, std::string reason);
  void forget_drains(Instant now);

  const XidPolicy* policy_;
  std::int64_t gpu_count_;
  std::map<GpuId, Gpu> gpus_;
  std::deque<Instant> drains_;               ///< of the last kBreakerWindow
  std::optional<Instant> tripped_at_;        ///< the breaker, for the last time
  std::map<std::string, Instant> restarts_;  ///< the latest of each slice within kRestartsApart
};

/// Errors of one GPU and code that came so close together that people see them as one. Counts are exact.
class XidBursts {
 public:
  /// Errors were reported. The text of an event about them, or nothing: they belong to a burst, and are counted.
  [[nodiscard]] std::optional<std::string> note(GpuId gpu, std::uint64_t xid, std::uint64_t count, Instant now);

  struct Ended {
    GpuId gpu;
    std::string text;
  };
  /// Bursts that have ended, or have lasted for kBurstReportedAfter since the last text: their counts and last times.
  [[nodiscard]] std::vector<Ended> take(Instant now);

  /// A burst has ended when nothing came for this long.
  static constexpr Micros kBurstEndsAfter = Micros::seconds(5);
  static constexpr Micros kBurstReportedAfter = Micros::seconds(60);

 private:
  struct Burst {
    std::uint64_t count = 0;  ///< since the last text
    Instant last;
    Instant told;
  };
  std::map<std::pair<GpuId, std::uint64_t>, Burst> bursts_;
};

}  // namespace berth::health
