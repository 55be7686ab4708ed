#include "live/session/event_log.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"

namespace berth::live {

std::string_view object_word(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kTenant:
      return "Tenant";
    case ObjectKind::kGpuService:
      return "GpuService";
    case ObjectKind::kNode:
      return "Node";
    case ObjectKind::kGpu:
      return "Gpu";
    case ObjectKind::kGpuSlice:
      return "GpuSlice";
    case ObjectKind::kPlan:
      return "Plan";
    case ObjectKind::kPlanning:
      return "Planning";
    case ObjectKind::kFault:
      return "Fault";
  }
  ENSURE(false && "every kind has a word");
}

std::string_view event_word(EventKind kind) {
  constexpr std::string_view kWords[] = {
      "ServiceSet",    "ServiceRemoved", "TenantSet",      "TenantRemoved",  "GpuSeen",           "GpuLost",
      "GpuReturned",   "GpuCordoned",    "GpuUncordoned",  "GpuDrained",     "PlanProposed",      "PlanAccepted",
      "PlanApproved",  "PlanRefused",    "PlanExpired",    "PlanSuperseded", "ActionIntended",    "ActionDone",
      "ActionFailed",  "ActionDropped",  "SliceCreated",   "SliceServing",   "SliceGone",         "SliceForeign",
      "SliceMissing",  "RetrainingDue",  "RetrainingDone", "PlanningPaused", "PlanningResumed",   "NoChangesSet",
      "FaultInjected", "FaultCleared",   "GpuXid",         "GpuDiffers",     "GpuRecoveryAction", "GpuMigMode",
      "TimesMeasured", "GpuBusy",        "TierChosen",     "TierMeasured",   "SpeedDrift",        "ForecastOff",
      "GpuHealth",     "BreakerTripped", "ProgramReady",   "ProgramFailed",  "CrashLoop",         "GpuAdded",
      "GpuAbsent"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::uint64_t EventLog::append(Instant at, EventKind kind, ObjectName object, std::string message) {
  return append(at, kind,
                [words = EventWords{.object = std::move(object), .message = std::move(message)}] { return words; });
}

std::uint64_t EventLog::append(Instant at, EventKind kind, std::function<EventWords()> words) {
  events_.push_back({.at = at, .kind = kind, .words = std::move(words)});
  if (events_.size() > kCapacity) events_.pop_front();
  return ++last_;
}

std::vector<LoggedEvent> EventLog::after(std::uint64_t after, std::size_t count_max) const {
  ENSURE(after + 1 >= oldest_sequence() && after <= last_);
  const std::size_t first = after + 1 - oldest_sequence();
  const std::size_t count = std::min(count_max, events_.size() - first);
  std::vector<LoggedEvent> events;
  events.reserve(count);
  for (std::size_t i = first; i < first + count; ++i) {
    const Entry& entry = events_[i];
    EventWords words = entry.words();
    events.push_back({.sequence = oldest_sequence() + i,
                      .at = entry.at,
                      .kind = entry.kind,
                      .object = std::move(words.object),
                      .message = std::move(words.message),
                      .generation = words.generation});
  }
  return events;
}

std::optional<std::string> EventLog::last_message(EventKind kind, const ObjectName& object) const {
  for (auto entry = events_.rbegin(); entry != events_.rend(); ++entry) {
    if (entry->kind != kind) continue;
    EventWords words = entry->words();
    if (words.object == object) return std::move(words.message);
  }
  return std::nullopt;
}

}  // namespace berth::live
