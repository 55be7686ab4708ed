/// Changes of one GPU that can be repeated: the device says what is still to be done, and what became of it. They run
/// where the device can be changed, under the lock of the GPU.
///
/// An instance is known by its profile, start and length; its id is whatever the device calls it at the time. It is
/// ours if an order made it: one that stands where nothing was ordered before is of others, and is never touched; nor
/// is an instance with compute instances other than the one that an order makes. No order destroys an instance with a
/// process on it.
///
/// An order that ends without a reading may have been carried out or not: give it again with `was_tried`. A verb makes
/// at most three calls that change something. Two things nobody can see: who made what stands at the
/// place of an order with `was_tried`, and that others replaced an instance by its like between a reading and the call
/// that follows it.
#pragma once

#include <cstdint>
#include <functional>

#include "domain/ports/gpu_changer.h"
#include "domain/ports/gpu_hands.h"
#include "domain/ports/gpu_library.h"

namespace berth::device {

/// What a verb works with.
struct Tools {
  GpuLibrary& library;
  GpuChanger& changer;
  std::function<std::int64_t()> now_us;  ///< a steady clock
};

/// Creates a GPU instance at its place, and the compute instance that covers it. If the latter fails, the former is
/// removed again. A call that reports a failure although it was carried out counts as done. With `was_tried`, what
/// stands at its place is its own, and gets the compute instance if it has none. kFailed: MIG mode is off, or a call
/// failed. kRefused: something stands at its place that is not its own, or compute instances of others do.
[[nodiscard]] DeviceEnd create_instance(Tools& tools, const DeviceOrder& order);

/// Destroys the compute instance of the GPU instance at that place, then itself. Nothing there: done. If the latter
/// fails, the compute instance is made again. kBusy: a process is on it, or the driver says so. kRefused: another
/// profile stands there, or compute instances of others do.
[[nodiscard]] DeviceEnd destroy_instance(Tools& tools, const DeviceOrder& order);

/// Turns MIG on. It is on: done. kBusy: an instance or a process exists. kFailed, "needs a reset of the GPU": it is
/// pending.
[[nodiscard]] DeviceEnd turn_mig_on(Tools& tools, const DeviceOrder& order);

/// The one that the order names.
[[nodiscard]] DeviceEnd carry_out(Tools& tools, const DeviceOrder& order);

}  // namespace berth::device
