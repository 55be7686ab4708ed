#include "live/session/device_changes.h"

#include <cmath>
#include <cstdint>

#include "domain/values/start_times.h"

namespace berth::live {

void DeviceChanges::begin(const DeviceIntended& intended) {
  const GpuModel& model = scenario_.model_of(intended.slice.gpu);
  samples_.begin(
      intended.intent,
      {.model = model.name, .profile = profile_name(model, intended.slice.profile), .action = intended.kind});
}

MeasuredTime DeviceChanges::in_world_time(MeasuredTime time) const {
  const double scaled = static_cast<double>(time.median.count()) * speed_;
  time.median = Micros(static_cast<std::int64_t>(std::llround(scaled)));
  return time;
}

MeasuredTimes DeviceChanges::times() const {
  MeasuredTimes times = samples_.times();
  for (auto& [change, time] : times) time = in_world_time(time);
  return times;
}

std::optional<TimesMeasured> DeviceChanges::find_news(const ChangeKind& change) const {
  const MeasuredTime measured = in_world_time(samples_.time_of(change));
  const auto known = is_start(change) ? start_time(scenario_, change) : change_time(scenario_, change);
  if (!known || !is_worth_learning(*known, measured)) return std::nullopt;
  return TimesMeasured{.change = change, .time = measured};
}

DeviceIntended entry_of(const DeviceIntent& intent, const std::string& boot) {
  return {.intent = intent.number,
          .kind = intent.action.kind,
          .slice = intent.action.slice,
          .generation = intent.action.generation,
          .was_ordered = intent.action.was_ordered,
          .boot = boot};
}

EventKind event_of(DeviceNote note) {
  switch (note) {
    case DeviceNote::kSeen:
      return EventKind::kGpuSeen;
    case DeviceNote::kDiffers:
      return EventKind::kGpuDiffers;
    case DeviceNote::kXid:
      return EventKind::kGpuXid;
    case DeviceNote::kRecoveryAction:
      return EventKind::kGpuRecoveryAction;
    case DeviceNote::kMigMode:
      return EventKind::kGpuMigMode;
    case DeviceNote::kBusy:
      return EventKind::kGpuBusy;
    case DeviceNote::kHealth:
      return EventKind::kGpuHealth;
    case DeviceNote::kBreaker:
      return EventKind::kBreakerTripped;
    case DeviceNote::kAdded:
      return EventKind::kGpuAdded;
  }
  return EventKind::kGpuSeen;
}

}  // namespace berth::live
