// Events: XIDs, memory errors, changes of MIG.
#include "gpu/nvml_sim_library/exports.h"

namespace berth::nvml_abi {

using edges::Call;
using edges::library;
using edges::Subject;
using nvml_sim::EventRecord;
using nvml_sim::MachineRecord;

namespace {

/// The simulated events.
constexpr std::uint64_t kSimulatedEvents = kEventSingleBitEcc | kEventDoubleBitEcc | kEventXid | kEventMigConfig;

/// An event set's handle is its number, shifted away from small values and odd addresses. It does not point to memory.
constexpr std::uintptr_t kSetHandles = 0x7E57'0000'0000;
constexpr std::uintptr_t kSetStep = 16;
EventSet handle_of(std::uint64_t set) {
  return reinterpret_cast<EventSet>(kSetHandles + set * kSetStep);  // NOLINT(performance-no-int-to-ptr): see above
}
std::uint64_t number_of(EventSet set) {
  const auto address = reinterpret_cast<std::uintptr_t>(set);
  return address > kSetHandles && address % kSetStep == 0 ? (address - kSetHandles) / kSetStep : 0;
}

template <class Event>
void write_event(const MachineRecord& machine, const EventRecord& record, Event* event) {
  event->device = device_handle(machine, record.gpu);
  event->type = record.type;
  event->data = record.number;
}

}  // namespace

extern "C" {

Code nvmlEventSetCreate(EventSet* set) {
  std::uint64_t number = 0;
  const Code code = library().create_event_set(set == nullptr ? nullptr : &number);
  if (code == Code::kSuccess && set != nullptr) *set = handle_of(number);
  return code;
}

Code nvmlEventSetFree(EventSet set) { return library().free_event_set(number_of(set)); }

Code nvmlDeviceGetSupportedEventTypes(Device device, std::uint64_t* types) {
  const Call call{.name = __func__, .handle = device, .arguments = edges::all_given(types)};
  return library().ask(call, [&](const Subject&) { return write(types, kSimulatedEvents); });
}

Code nvmlDeviceRegisterEvents(Device device, std::uint64_t types, EventSet set) {
  Code arguments = edges::all_given(set);
  // Also for unknown types, as two real cards answered (driver 580).
  if (arguments == Code::kSuccess && (types & ~kSimulatedEvents) != 0) arguments = Code::kNotSupported;
  return library().register_events({.name = __func__, .handle = device, .arguments = arguments}, types, number_of(set));
}

Code nvmlEventSetWait_v2(EventSet set, EventV2* event, std::uint32_t timeout_ms) {
  if (event == nullptr) return library().describe(__func__, Code::kInvalidArgument, {});
  return library().wait_for_event(__func__, number_of(set), timeout_ms,
                                  [&](const MachineRecord& machine, const EventRecord& record) {
                                    write_event(machine, record, event);
                                    event->gpu_instance_id = record.gpu_instance;
                                    event->compute_instance_id = record.compute_instance;
                                  });
}

Code nvmlEventSetWait(EventSet set, EventV1* event, std::uint32_t timeout_ms) {
  if (event == nullptr) return library().describe(__func__, Code::kInvalidArgument, {});
  return library().wait_for_event(
      __func__, number_of(set), timeout_ms,
      [&](const MachineRecord& machine, const EventRecord& record) { write_event(machine, record, event); });
}

}  // extern "C"

}  // namespace berth::nvml_abi
