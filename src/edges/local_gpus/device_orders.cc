#include "edges/local_gpus/device_orders.h"

#include "base/ensure.h"

namespace berth::edges {
namespace {

std::string outcome_word(DeviceOutcome outcome) {
  switch (outcome) {
    case DeviceOutcome::kDone:
      return live::kDoneOutcome;
    case DeviceOutcome::kFailed:
      return "failed";
    case DeviceOutcome::kBusy:
      return "busy";
    case DeviceOutcome::kRefused:
      return "refused";
  }
  return "failed";
}

/// The message, with the call that failed and those who hold the instance.
std::string message_of(const DeviceEnd& end) {
  std::string message = end.message;
  if (!end.call.empty()) message += (message.empty() ? "" : ": ") + end.call + " returned " + end.error;
  for (std::size_t index = 0; index < end.holders.size(); ++index) {
    const DeviceHolder& holder = end.holders[index];
    message += (index == 0 ? " (in use by " : ", ") + std::string("pid ") + std::to_string(holder.pid);
    if (!holder.name.empty()) message += " " + holder.name;
  }
  return end.holders.empty() ? message : message + ")";
}

}  // namespace

void DeviceOrders::give(live::Session& session) {
  std::vector<DeviceOrder> orders;
  for (const live::DeviceIntent& intent : session.take_device_intents()) {
    if (is_dry_run_) {
      end(session, intent, {.outcome = DeviceOutcome::kRefused, .message = "dry run: nothing is done"});
    } else if (intent.action.slice.profile.is_full()) {
      end(session, intent, {.outcome = DeviceOutcome::kDone});  // a whole GPU is there without a call
    } else if (hands_ == nullptr) {
      end(session, intent, {.outcome = DeviceOutcome::kRefused, .message = "nobody can change GPUs"});
    } else {
      open_.emplace(intent.number, intent);
      orders.push_back(order_of(intent));
    }
  }
  if (hands_ != nullptr && !orders.empty()) hands_->submit(orders);
}

DeviceOrder DeviceOrders::order_of(const live::DeviceIntent& intent) const {
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

std::map<std::uint32_t, GpuReading> DeviceOrders::take(live::Session& session) {
  std::map<std::uint32_t, GpuReading> readings;
  if (hands_ == nullptr) return readings;
  for (const DeviceEnd& ended : hands_->take_ended()) {
    const auto found = open_.find(ended.intent);
    if (found == open_.end()) continue;
    const live::DeviceIntent intent = found->second;
    open_.erase(found);
    if (ended.reading) readings[intent.action.slice.gpu.index] = *ended.reading;
    end(session, intent, ended);
  }
  return readings;
}

void DeviceOrders::end(live::Session& session, const live::DeviceIntent& intent, const DeviceEnd& ended) {
  session.end_device_intent(intent, {.intent = intent.number,
                                     .outcome = outcome_word(ended.outcome),
                                     .message = message_of(ended),
                                     .call = ended.call,
                                     .error = ended.error,
                                     .gpu_instance_us = ended.gpu_instance_us,
                                     .compute_instance_us = ended.compute_instance_us});
}

}  // namespace berth::edges
