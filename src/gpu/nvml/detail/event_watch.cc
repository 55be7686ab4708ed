#include "gpu/nvml/detail/event_watch.h"

#include <chrono>
#include <thread>

#include "gpu/nvml/detail/answers.h"

namespace berth::edges::detail {

using nvml_abi::Code;
using nvml_abi::Device;
using nvml_abi::EventSet;

namespace {

using Notice = std::optional<GpuNotice>;

bool has_events(const Functions& functions) {
  const bool can_wait = functions.nvmlEventSetWait_v2 != nullptr || functions.nvmlEventSetWait != nullptr;
  return can_wait && functions.nvmlDeviceGetSupportedEventTypes != nullptr &&
         functions.nvmlDeviceRegisterEvents != nullptr && functions.nvmlEventSetCreate != nullptr &&
         functions.nvmlEventSetFree != nullptr;
}

bool is_refused(Code code) { return is_not_offered(code) || code == Code::kNoPermission; }

template <class Event>
Notice notice_of(const Event& event) {
  if (event.type == nvml_abi::kEventXid) {
    GpuNotice notice{.kind = GpuNotice::Kind::kXid, .xid = event.data};
    if constexpr (requires { event.gpu_instance_id; }) {
      if (event.gpu_instance_id != nvml_abi::kNoInstanceId) notice.gpu_instance = event.gpu_instance_id;
    }
    return notice;
  }
  if (event.type == nvml_abi::kEventMigConfig) return GpuNotice{.kind = GpuNotice::Kind::kMigChange};
  return std::nullopt;
}

template <class Event, class Wait>
Code wait_for(Wait wait, EventSet set, std::uint32_t millis_max, Notice& notice) {
  Event event;
  const Code code = wait(set, &event, millis_max);
  if (code == Code::kSuccess) notice = notice_of(event);
  return code;
}

/// A wait that ends without an event says nothing about the GPU, so it is queried. Memory is the fastest query.
GpuAnswer<Notice> nothing_unless_lost(const Functions& functions, Device device) {
  nvml_abi::MemoryV1 memory;
  const Code code = functions.nvmlDeviceGetMemoryInfo(device, &memory);
  if (code == Code::kGpuIsLost) return failed("nvmlDeviceGetMemoryInfo", code);
  return std::nullopt;
}

}  // namespace

EventWatch::~EventWatch() {
  if (set_ && *set_ != nullptr) functions_.nvmlEventSetFree(*set_);
}

GpuAnswer<Notice> EventWatch::wait(Device device, std::uint32_t millis_max) {
  const GpuAnswer<EventSet> set = events_of(device);
  if (!set) return tl::unexpected(set.error());
  if (*set == nullptr) {
    std::this_thread::sleep_for(std::chrono::milliseconds(millis_max));
    return nothing_unless_lost(functions_, device);
  }
  Notice notice;
  const bool is_newest = functions_.nvmlEventSetWait_v2 != nullptr;
  const Code code = is_newest ? wait_for<nvml_abi::EventV2>(functions_.nvmlEventSetWait_v2, *set, millis_max, notice)
                              : wait_for<nvml_abi::EventV1>(functions_.nvmlEventSetWait, *set, millis_max, notice);
  if (code == Code::kTimeout) return nothing_unless_lost(functions_, device);
  if (code != Code::kSuccess) return failed(is_newest ? "nvmlEventSetWait_v2" : "nvmlEventSetWait", code);
  return notice;
}

GpuAnswer<EventSet> EventWatch::events_of(Device device) {
  const std::lock_guard lock(mutex_);
  if (set_) return *set_;
  GpuAnswer<EventSet> set = register_events(device);
  if (set) set_ = *set;
  return set;
}

GpuAnswer<EventSet> EventWatch::register_events(Device device) const {
  if (!has_events(functions_)) return nullptr;
  std::uint64_t types = nvml_abi::kEventNone;
  Code code = functions_.nvmlDeviceGetSupportedEventTypes(device, &types);
  if (is_refused(code)) return nullptr;
  if (code != Code::kSuccess) return failed("nvmlDeviceGetSupportedEventTypes", code);
  types &= nvml_abi::kEventMigConfig | nvml_abi::kEventXid;
  if (types == nvml_abi::kEventNone) return nullptr;

  EventSet set = nullptr;
  code = functions_.nvmlEventSetCreate(&set);
  if (code != Code::kSuccess) return failed("nvmlEventSetCreate", code);
  code = functions_.nvmlDeviceRegisterEvents(device, types, set);
  if (code == Code::kSuccess) return set;
  functions_.nvmlEventSetFree(set);
  if (is_refused(code)) return nullptr;
  return failed("nvmlDeviceRegisterEvents", code);
}

}  // namespace berth::edges::detail
