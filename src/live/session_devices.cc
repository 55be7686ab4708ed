/// What devices of a world of real GPUs say of themselves, as entries and events.
#include "live/session.h"

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

std::optional<std::string> Session::last_note(GpuId gpu, DeviceNote note) const {
  return events_.last_message(event_of(note), gpu_object(gpu));
}

}  // namespace berth::live
