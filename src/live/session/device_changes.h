/// Changes of outside devices: which are under way, by number of intent; how long they take; and which times plans
/// should use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/change_times.h"
#include "domain/values/event.h"
#include "domain/values/scenario.h"
#include "live/session/change_samples.h"
#include "live/session/device_intent.h"
#include "live/session/entry.h"
#include "live/session/event_log.h"

namespace berth::live {

class DeviceChanges {
 public:
  /// `scenario` is borrowed. `speed`: SessionOptions::device_speed.
  DeviceChanges(const Scenario& scenario, double speed) : scenario_(scenario), speed_(speed) {}

  /// Records that a device was ordered to make a change (that the change ended). `end` returns the kind of change that
  /// got a sample, if any.
  void begin(const DeviceIntended& intended);
  std::optional<ChangeKind> end(const DeviceEnded& ended) { return samples_.end(ended); }
  /// Another process has taken over: no open change will end any more.
  void forget_open() { samples_.forget_open(); }

  /// In time of the world, for each kind that was measured. O(kinds).
  [[nodiscard]] MeasuredTimes times() const;
  /// The time that plans should use from now on; nothing: the one in use is close enough. Requires: it was measured.
  [[nodiscard]] std::optional<TimesMeasured> find_news(const ChangeKind& change) const;
  /// Whether to examine a kind of change after its latest sample.
  [[nodiscard]] bool is_due(const ChangeKind& change) const { return is_looked_at(samples_.time_of(change).count); }

  [[nodiscard]] ChangeSamples& samples() { return samples_; }

 private:
  [[nodiscard]] MeasuredTime in_world_time(MeasuredTime time) const;

  const Scenario& scenario_;
  double speed_;
  ChangeSamples samples_;
};

/// The entry of an intent that is about to be sent to its device.
[[nodiscard]] DeviceIntended entry_of(const DeviceIntent& intent, const std::string& boot);
/// The kind of event for a note of a device.
[[nodiscard]] EventKind event_of(DeviceNote note);

}  // namespace berth::live
