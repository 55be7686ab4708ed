/// Session: reports of the devices of a world of real GPUs, and orders for them.
#include <climits>
#include <utility>

#include "domain/values/event.h"
#include "live/session/device_changes.h"
#include "live/session/device_intent.h"
#include "live/session/entry_emitter.h"
#include "live/session/object_names.h"
#include "live/session/observed_gpus.h"
#include "live/session/session.h"
#include "live/session/session_log.h"
#include "live/session/session_options.h"
#include "sim/world/loop.h"

namespace berth::live {

// ---- reports of devices

void Session::see_gpu(GpuId gpu, const world::ObservedLayout& sight) {
  loop_->see_gpu(gpu, sight);
  report_world(false);
}

void Session::hold_foreign(GpuId gpu, const std::map<Slice, std::string>& tenants) {
  ForeignHeld held{.gpu = gpu, .holders = {}};
  for (const auto& [slice, tenant] : tenants) held.holders.push_back({.slice = slice, .tenant = tenant});
  const ForeignTenants& known = usage().foreign();
  ForeignTenants before;
  const Slice first{.gpu = gpu, .start = INT_MIN, .profile = {}};
  for (auto it = known.lower_bound(first); it != known.end() && it->first.gpu == gpu; ++it) before.insert(*it);
  if (before == tenants) return;
  emitter_->emit({.at = now(), .what = held});
  apply(held);
}

void Session::apply(const ForeignHeld& held) {
  ForeignTenants tenants;
  for (const ForeignHolder& each : held.holders) tenants.emplace(each.slice, each.tenant);
  log_->usage().note_foreign(held.gpu, tenants);
}

void Session::lose_gpu(GpuId gpu, const std::string& reason) {
  loop_->lose_gpu(gpu, reason);
  report_world(false);
}

void Session::return_gpu(GpuId gpu) {
  loop_->return_gpu(gpu);
  report_world(false);
}

bool Session::adopt(const Slice& slice, ServiceId service) {
  if (gpu_state(slice.gpu).health == GpuHealth::kLost) return false;
  const std::vector<std::uint64_t>& numbers = loop_->engine().last_numbers();
  const std::uint64_t last = slice.gpu.index < numbers.size() ? numbers[slice.gpu.index] : 0;
  const bool is_adopted = loop_->adopt(slice, service, last + 1);
  report_world(false);
  return is_adopted;
}

bool Session::observe(GpuId gpu, const std::optional<std::string>& why) {
  auto scheduled = order_to_observe(gpu, gpu_state(gpu), why);
  return !scheduled || order_event({.at = now(), .what = *std::move(scheduled)});
}

void Session::on_device_note(const DeviceNoted& noted) {
  emitter_->emit({.at = now(), .what = noted});
  log_device_note(noted);
}

void Session::log_device_note(const DeviceNoted& noted) {
  log_->append(now(), event_of(noted.note), gpu_object(noted.gpu), noted.text);
}

std::optional<std::string> Session::last_note(GpuId gpu, DeviceNote note) const {
  return events().last_message(event_of(note), gpu_object(gpu));
}

// ---- orders for devices

std::vector<DeviceIntent> Session::take_device_intents() {
  std::vector<DeviceIntent> intents;
  std::vector<Entry> entries;
  const std::vector<DeviceAction> actions = loop_->world().device_actions();
  if (actions.empty()) return intents;
  const std::optional<std::string> boot = options_->listener.boot();
  if (!boot) return intents;
  for (const DeviceAction& action : actions) {
    intents.push_back({.number = options_->listener.next_intent(), .action = action});
    entries.push_back({.at = now(), .what = entry_of(intents.back(), *boot)});
  }
  if (!emitter_->record(entries)) return {};
  loop_->give_out_device_actions();
  for (const Entry& entry : entries) changes_->begin(std::get<DeviceIntended>(entry.what));
  report_world(false);  // that they were sent is remembered before any device has them
  return intents;
}

void Session::end_device_intent(const DeviceIntent& intent, const DeviceEnded& ended, EndKind kind) {
  emitter_->emit({.at = now(), .what = ended});
  const auto measured = changes_->end(ended);
  const DeviceAction& action = intent.action;
  loop_->end_device_action({.kind = action.kind,
                            .slice = action.slice,
                            .generation = action.generation,
                            .is_done = ended.outcome == kDoneOutcome,
                            .is_known = kind != EndKind::kUnknown,
                            .message = ended.message,
                            .is_late = kind == EndKind::kLate});
  report_world(false);
  if (measured && changes_->is_due(*measured)) learn_time(*measured);
}

std::optional<std::uint64_t> Session::intend_mig_mode(GpuId gpu) {
  const std::optional<std::string> boot = options_->listener.boot();
  if (!boot) return std::nullopt;
  const std::uint64_t intent = options_->listener.next_intent();
  if (!emitter_->record({{.at = now(), .what = MigModeIntended{.intent = intent, .gpu = gpu, .boot = *boot}}})) {
    return std::nullopt;
  }
  return intent;
}

void Session::end_mig_mode_intent(GpuId gpu, const DeviceEnded& ended) {
  emitter_->emit({.at = now(), .what = ended});
  const bool is_done = ended.outcome == kDoneOutcome;
  std::string text = is_done ? "turned on" : "not turned on";
  if (!ended.message.empty()) text += ": " + ended.message;
  on_device_note({.gpu = gpu, .note = DeviceNote::kMigMode, .text = std::move(text)});
}

// ---- measured times

MeasuredTimes Session::device_times() const { return changes_->times(); }

void Session::learn_time(const ChangeKind& change) {
  auto measured = changes_->find_news(change);
  if (!measured) return;
  // If it cannot be recorded, plans use the previous time until the next examination.
  static_cast<void>(order_event({.at = now(), .what = *std::move(measured)}));
}

}  // namespace berth::live
