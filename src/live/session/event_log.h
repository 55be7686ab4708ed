/// What happened, for people and programs that watch: the latest events, numbered in order. Bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/core/instant.h"

namespace berth::live {

/// Kinds of objects that events are about, and of the API's objects.
enum class ObjectKind : std::uint8_t { kTenant, kGpuService, kNode, kGpu, kGpuSlice, kPlan, kPlanning, kFault };

/// The words of the API: "GpuService".
[[nodiscard]] std::string_view object_word(ObjectKind kind);

struct ObjectName {
  ObjectKind kind = ObjectKind::kGpu;
  std::string tenant;  ///< empty for objects without a tenant
  std::string name;
  friend bool operator==(const ObjectName&, const ObjectName&) = default;
};

enum class EventKind : std::uint8_t {
  kServiceSet,
  kServiceRemoved,
  kTenantSet,
  kTenantRemoved,
  kGpuSeen,
  kGpuLost,
  kGpuReturned,
  kGpuCordoned,
  kGpuUncordoned,
  kGpuDrained,
  kPlanProposed,
  kPlanAccepted,
  kPlanApproved,
  kPlanRefused,
  kPlanExpired,
  kPlanSuperseded,
  kActionIntended,
  kActionDone,
  kActionFailed,
  kActionDropped,
  kSliceCreated,
  kSliceServing,
  kSliceGone,
  kSliceForeign,
  kSliceMissing,
  kRetrainingDue,
  kRetrainingDone,
  kPlanningPaused,
  kPlanningResumed,
  kNoChangesSet,
  kFaultInjected,
  kFaultCleared,
  // For real GPUs only, like kGpuSeen:
  kGpuXid,
  kGpuDiffers,
  kGpuRecoveryAction,
  kGpuMigMode,
  kTimesMeasured,
  kGpuBusy,
  // Of services with `tier: auto` or `known_on`:
  kTierChosen,
  kTierMeasured,
  // Where what was measured differs from what is assumed:
  kSpeedDrift,
  kForecastOff,
  // Of the health of real GPUs:
  kGpuHealth,
  kBreakerTripped,
  // Of programs on slices:
  kProgramReady,
  kProgramFailed,
  kCrashLoop,
  kGpuAdded,
  kGpuAbsent,
};

/// The word of the API: "ServiceSet".
[[nodiscard]] std::string_view event_word(EventKind kind);

struct LoggedEvent {
  std::uint64_t sequence = 0;  ///< from 1, without gaps
  Instant at;
  EventKind kind = EventKind::kServiceSet;
  ObjectName object;
  std::string message;
  std::optional<std::uint64_t> generation = std::nullopt;  ///< of the slice that it is about
  friend bool operator==(const LoggedEvent&, const LoggedEvent&) = default;
};

/// The object of an event, and its text.
struct EventWords {
  ObjectName object;
  std::string message;
  std::optional<std::uint64_t> generation = std::nullopt;  ///< of the slice; absent: it is not a slice, or has none
};

class EventLog {
 public:
  static constexpr std::size_t kCapacity = 10'000;

  /// Appends an event and returns its sequence number. Beyond the capacity the oldest one is forgotten.
  std::uint64_t append(Instant at, EventKind kind, ObjectName object, std::string message);
  /// The same, with words that are written when the event is read: thousands of slices can change in one step, and most
  /// of their events are forgotten unread. `words` must return the same value at any time.
  std::uint64_t append(Instant at, EventKind kind, std::function<EventWords()> words);

  [[nodiscard]] std::uint64_t last_sequence() const { return last_; }
  /// The sequence number of the oldest event that is kept; last_sequence() + 1 if there is none.
  [[nodiscard]] std::uint64_t oldest_sequence() const { return last_ + 1 - events_.size(); }
  /// Up to `count_max` events with greater sequence numbers than `after`, oldest first. Requires:
  /// oldest_sequence() - 1 <= after <= last_sequence().
  [[nodiscard]] std::vector<LoggedEvent> after(std::uint64_t after, std::size_t count_max) const;
  /// The message of the latest kept event of that kind about the object. O(events).
  [[nodiscard]] std::optional<std::string> last_message(EventKind kind, const ObjectName& object) const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.events_, self.last_);
    archive.require(self.events_.size() <= self.last_);
  }

 private:
  struct Entry {
    Instant at;
    EventKind kind = EventKind::kServiceSet;
    std::function<EventWords()> words;

    template <class Archive, class Self>
    static void archive_fields(Archive& archive, Self& self) {
      EventWords words;
      if constexpr (!Archive::kReads) words = self.words();
      archive(self.at, self.kind, words);
      if constexpr (Archive::kReads) self.words = [words] { return words; };
    }
  };

  std::deque<Entry> events_;
  std::uint64_t last_ = 0;
};

}  // namespace berth::live
