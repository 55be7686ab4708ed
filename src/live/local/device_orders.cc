#include "live/local/device_orders.h"

#include "base/core/ensure.h"
#include "live/session/entry.h"
#include "live/session/session.h"

namespace berth::live {
namespace {

std::string outcome_word(DeviceOutcome outcome) {
  switch (outcome) {
    case DeviceOutcome::kDone:
      return kDoneOutcome;
    case DeviceOutcome::kFailed:
      return "failed";
    case DeviceOutcome::kBusy:
      return "busy";
    case DeviceOutcome::kRefused:
      return "refused";
  }
  return "failed";
}

/// The message, which names the processes that use an instance, with the call that failed.
std::string message_of(const DeviceEnd& end) {
  if (end.call.empty() || end.message.find(end.call) != std::string::npos) return end.message;
  return end.message + (end.message.empty() ? "" : ": ") + end.call + " returned " + end.error;
}

DeviceEnded ended_of(const DeviceEnd& end) {
  return {.intent = end.intent,
          .outcome = outcome_word(end.outcome),
          .message = message_of(end),
          .call = end.call,
          .error = end.error,
          .gpu_instance_us = end.gpu_instance_us,
          .compute_instance_us = end.compute_instance_us};
}

constexpr const char* kDryRun = "dry run: nothing is done";
constexpr const char* kNobody = "nobody can change GPUs";

/// The outcome of an order that is not sent.
DeviceEnd plain(std::uint64_t intent, DeviceOutcome outcome, const char* message = "") {
  return {.intent = intent, .outcome = outcome, .message = message};
}

/// How much is known of an order that ended. `is_given_up`: the session has already recorded it as failed.
Session::EndKind kind_of(const DeviceIntent& intent, bool is_given_up, const DeviceEnd& ended) {
  using Kind = Session::EndKind;
  if (is_given_up) return Kind::kLate;
  if (ended.outcome == DeviceOutcome::kDone || ended.reading) return Kind::kKnown;
  // Without a call to the driver nothing was tried: the order was refused, or another owner had the GPU. But an earlier
  // process may have carried it out.
  const bool is_untouched = ended.outcome != DeviceOutcome::kFailed && ended.call.empty();
  return is_untouched && !intent.action.was_ordered ? Kind::kKnown : Kind::kUnknown;
}

}  // namespace

void DeviceOrders::give(Session& session) {
  std::vector<DeviceOrder> orders;
  for (const DeviceIntent& intent : session.take_device_intents()) {
    const auto end = [&](DeviceOutcome outcome, const char* message = "") {
      session.end_device_intent(intent, ended_of(plain(intent.number, outcome, message)));
    };
    if (is_dry_run_) {
      end(DeviceOutcome::kRefused, kDryRun);
    } else if (intent.action.slice.profile.is_full()) {
      end(DeviceOutcome::kDone);  // a whole GPU exists without a call
    } else if (hands_ == nullptr) {
      end(DeviceOutcome::kRefused, kNobody);
    } else {
      open_.emplace(intent.number, Open{.intent = intent});
      orders.push_back(order_of(intent));
    }
  }
  if (hands_ != nullptr && !orders.empty()) hands_->submit(orders);
}

bool DeviceOrders::turn_mig_on(Session& session, std::uint32_t gpu) {
  ENSURE(gpu < gpus_.size() && !is_mig_mode_open(gpu));
  const auto intent = session.intend_mig_mode({gpu});
  if (!intent) return false;
  if (is_dry_run_ || hands_ == nullptr) {
    session.end_mig_mode_intent({gpu},
                                ended_of(plain(*intent, DeviceOutcome::kRefused, is_dry_run_ ? kDryRun : kNobody)));
    return true;
  }
  open_modes_.emplace(*intent, gpu);
  hands_->submit({{.intent = *intent, .verb = DeviceVerb::kMigModeOn, .uuid = gpus_[gpu].uuid}});
  return true;
}

bool DeviceOrders::is_mig_mode_open(std::uint32_t gpu) const {
  return std::ranges::any_of(open_modes_, [&](const auto& open) { return open.second == gpu; });
}

DeviceOrder DeviceOrders::order_of(const DeviceIntent& intent) const {
  const Slice& slice = intent.action.slice;
  ENSURE(slice.gpu.index < gpus_.size());
  const Gpu& gpu = gpus_[slice.gpu.index];
  const MigProfile& profile = gpu.model.profiles[slice.profile.index];
  const bool is_creation = intent.action.kind == ActionKind::kCreation;
  return {.intent = intent.number,
          .verb = is_creation ? DeviceVerb::kCreate : DeviceVerb::kDestroy,
          .uuid = gpu.uuid,
          .profile_id = static_cast<std::uint32_t>(profile.device_profile_id),
          .start = slice.start,
          .length = profile.length,
          .was_tried = intent.action.was_ordered};
}

std::map<std::uint32_t, std::optional<GpuReading>> DeviceOrders::take(Session& session) {
  std::map<std::uint32_t, std::optional<GpuReading>> readings;
  if (hands_ == nullptr) return readings;
  for (const DeviceEnd& delayed : hands_->take_delayed()) tell_delayed(session, delayed);
  for (const DeviceEnd& ended : hands_->take_ended()) {
    const auto gpu = take_end(session, ended);
    if (gpu) readings[*gpu] = ended.reading;
  }
  return readings;
}

std::optional<std::uint32_t> DeviceOrders::take_end(Session& session, const DeviceEnd& ended) {
  if (open_.contains(ended.intent)) return take_action_end(session, ended);
  if (open_modes_.contains(ended.intent)) return take_mode_end(session, ended);
  return std::nullopt;
}

std::uint32_t DeviceOrders::take_action_end(Session& session, const DeviceEnd& ended) {
  const auto found = open_.find(ended.intent);
  const Open open = found->second;
  if (ended.goes_on) {
    found->second.is_given_up = true;
  } else {
    open_.erase(found);
  }
  session.end_device_intent(open.intent, ended_of(ended), kind_of(open.intent, open.is_given_up, ended));
  return open.intent.action.slice.gpu.index;
}

std::uint32_t DeviceOrders::take_mode_end(Session& session, const DeviceEnd& ended) {
  const auto found = open_modes_.find(ended.intent);
  const std::uint32_t gpu = found->second;
  if (!ended.goes_on) open_modes_.erase(found);
  session.end_mig_mode_intent({gpu}, ended_of(ended));
  return gpu;
}

void DeviceOrders::tell_delayed(Session& session, const DeviceEnd& delayed) const {
  const auto tell = [&](GpuId gpu) {
    session.on_device_note(
        {.gpu = gpu, .note = DeviceNote::kBusy, .text = message_of(delayed) + "; the order is given again"});
  };
  if (const auto open = open_.find(delayed.intent); open != open_.end()) tell(open->second.intent.action.slice.gpu);
  if (const auto mode = open_modes_.find(delayed.intent); mode != open_modes_.end()) tell({mode->second});
}

}  // namespace berth::live
