/// Changes of devices outside: which are under way by number of intent, how long they take, and what plans should count
/// on.
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

  /// A device was told to make a change, or its change ended. Returns the kind of change of which there is one sample
  /// more.
  void begin(const DeviceIntended& intended);
  std::optional<ChangeKind> end(const DeviceEnded& ended) { return samples_.end(ended); }
  /// Another process went on: nothing that was under way ends any more.
  void forget_open() { samples_.forget_open(); }

  /// In time of the world, by kind, as far as any was measured. O(kinds).
  [[nodiscard]] MeasuredTimes times() const;
  /// What plans should count on from now on; nothing: what they count on is good enough. Requires: it was measured.
  [[nodiscard]] std::optional<TimesMeasured> find_news(const ChangeKind& change) const;
  /// Whether a kind of change is looked at after its latest sample.
  [[nodiscard]] bool is_due(const ChangeKind& change) const { return is_looked_at(samples_.time_of(change).count); }

  [[nodiscard]] ChangeSamples& samples() { return samples_; }

 private:
  [[nodiscard]] MeasuredTime in_world_time(MeasuredTime time) const;

  const Scenario& scenario_;
  double speed_;
  ChangeSamples samples_;
};

/// The entry of an intent that is about to be given out.
[[nodiscard]] DeviceIntended entry_of(const DeviceIntent& intent, const std::string& boot);
/// The kind of event that a note of a device is.
[[nodiscard]] EventKind event_of(DeviceNote note);

}  // namespace berth::live
