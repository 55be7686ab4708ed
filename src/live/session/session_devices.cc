/// What devices of a world of real GPUs say of themselves, as entries and events, and how long their changes take.
#include <fmt/format.h>
#include <cmath>

#include "live/session/session.h"

namespace berth::live {
namespace {

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
  }
  return EventKind::kGpuSeen;
}

}  // namespace

void Session::note_device(const DeviceNoted& noted) {
  tell({.at = now(), .what = noted});
  log_device(noted);
}

void Session::log_device(const DeviceNoted& noted) {
  append(now(), event_of(noted.note), gpu_object(noted.gpu), noted.text);
}

std::optional<std::uint64_t> Session::intend_mig_mode(GpuId gpu) {
  const std::optional<std::string> boot = options_.boot();
  if (!boot) return std::nullopt;
  const std::uint64_t intent = options_.next_intent();
  if (!record_order({{.at = now(), .what = MigModeIntended{.intent = intent, .gpu = gpu, .boot = *boot}}})) {
    return std::nullopt;
  }
  return intent;
}

void Session::end_mig_mode_intent(GpuId gpu, const DeviceEnded& ended) {
  tell({.at = now(), .what = ended});
  const bool is_done = ended.outcome == kDoneOutcome;
  std::string text = is_done ? "turned on" : "not turned on";
  if (!ended.message.empty()) text += ": " + ended.message;
  note_device({.gpu = gpu, .note = DeviceNote::kMigMode, .text = std::move(text)});
}

std::optional<std::string> Session::last_note(GpuId gpu, DeviceNote note) const {
  return events_.last_message(event_of(note), gpu_object(gpu));
}

// ---- how long changes take

void Session::note_intended(const DeviceIntended& intended) {
  const GpuModel& model = scenario_.model_of(intended.slice.gpu);
  samples_.begin(
      intended.intent,
      {.model = model.name, .profile = profile_name(model, intended.slice.profile), .action = intended.kind});
}

MeasuredTime Session::in_world_time(MeasuredTime time) const {
  const double scaled = static_cast<double>(time.median.count()) * options_.device_speed;
  time.median = Micros(static_cast<std::int64_t>(std::llround(scaled)));
  return time;
}

MeasuredTimes Session::device_times() const {
  MeasuredTimes times = samples_.times();
  for (auto& [change, time] : times) time = in_world_time(time);
  return times;
}

void Session::learn_time(const ChangeKind& change) {
  const MeasuredTime measured = in_world_time(samples_.time_of(change));
  if (!is_worth_learning(change_time(scenario_, change), measured)) return;
  const Event event{.at = now(), .what = TimesMeasured{.change = change, .time = measured}};
  // If it cannot be recorded, plans count on what they did until it is looked at again.
  static_cast<void>(order({{.at = now(), .what = EventSeen{event}}}));
}

}  // namespace berth::live
