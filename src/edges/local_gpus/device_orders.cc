#include "edges/local_gpus/device_orders.h"

#include <algorithm>

#include "base/ensure.h"

namespace berth::edges {
namespace {

std::string outcome_word(DeviceOutcome outcome) {
  switch (outcome) {
    case DeviceOutcome::kDone:
      return "done";
    case DeviceOutcome::kFailed:
      return "failed";
    case DeviceOutcome::kBusy:
      return "busy";
    case DeviceOutcome::kRefused:
      return "refused";
  }
  return "failed";
}

/// The message, which names those who hold an instance, with the call that failed.
std::string message_of(const DeviceEnd& end) {
  if (end.call.empty()) return end.message;
  return end.message + (end.message.empty() ? "" : ": ") + end.call + " returned " + end.error;
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
    measure(intent, ended);
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

void DeviceOrders::measure(const live::DeviceIntent& intent, const DeviceEnd& ended) {
  const std::int64_t took_us = ended.gpu_instance_us + ended.compute_instance_us;
  if (ended.outcome != DeviceOutcome::kDone || took_us == 0) return;
  const Slice& slice = intent.action.slice;
  const GpuModel& model = gpus_[slice.gpu.index].model;
  Samples& samples = samples_[{model.name, profile_name(model, slice.profile), intent.action.kind}];
  samples.last_us.push_back(took_us);
  if (samples.last_us.size() > kMeasuredTimes) samples.last_us.erase(samples.last_us.begin());
  ++samples.count;
}

std::map<DeviceOrders::TimeKey, MeasuredTime> DeviceOrders::times() const {
  std::map<TimeKey, MeasuredTime> times;
  for (const auto& [key, samples] : samples_) {
    std::vector<std::int64_t> sorted = samples.last_us;
    std::ranges::sort(sorted);
    times[key] = {.median_us = sorted[sorted.size() / 2], .count = samples.count};
  }
  return times;
}

}  // namespace berth::edges
