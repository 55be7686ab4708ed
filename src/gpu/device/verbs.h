/// Repeatable changes of one GPU: readings of the device show what is still to be done and what was done. They run in
/// the process that may change the device, under the lock of the GPU.
///
/// An instance is known by its profile, start and length; its id is assigned by the device and may change. It is ours
/// if an order made it. An instance at a place where nothing was ordered before is foreign and never touched; nor is an
/// instance with compute instances other than the one that an order makes. No order destroys an instance with a process
/// on it.
///
/// An order that ends without a reading may or may not have been carried out: give it again with `was_tried`. A verb
/// makes at most three changing calls. Two things cannot be detected: who made the instance at the place of an order
/// with `was_tried`, and whether another program replaced an instance by an equal one between a reading and the call
/// that follows it.
#pragma once

#include <cstdint>
#include <functional>

#include "domain/ports/gpu_changer.h"
#include "domain/ports/gpu_hands.h"
#include "domain/ports/gpu_library.h"

namespace berth::device {

/// The ports and the clock that a verb uses.
struct Tools {
  GpuLibrary& library;
  GpuChanger& changer;
  std::function<std::int64_t()> now_us;  ///< a steady clock
};

/// Creates a GPU instance at its place, and the compute instance that covers it. If the latter fails, the former is
/// removed again. A call that reports a failure although it was carried out counts as done. With `was_tried`, an
/// instance at its place counts as its own, and gets the compute instance if it has none. kFailed: MIG mode is off, or
/// a call failed. kRefused: a foreign GPU instance or foreign compute instances exist at its place.
[[nodiscard]] DeviceEnd create_instance(Tools& tools, const DeviceOrder& order);

/// Destroys the compute instance of the GPU instance at that place, then the GPU instance. kDone if there is none. If
/// the latter fails, the compute instance is made again. kBusy: a process is on it, or the driver says so. kRefused:
/// another profile, or foreign compute instances, exist there.
[[nodiscard]] DeviceEnd destroy_instance(Tools& tools, const DeviceOrder& order);

/// Turns MIG mode on. kDone if it is already on. kBusy: an instance or a process exists. kFailed, "needs a reset of the
/// GPU": the mode is pending.
[[nodiscard]] DeviceEnd turn_mig_on(Tools& tools, const DeviceOrder& order);

/// Carries out the verb that the order names.
[[nodiscard]] DeviceEnd carry_out(Tools& tools, const DeviceOrder& order);

}  // namespace berth::device
