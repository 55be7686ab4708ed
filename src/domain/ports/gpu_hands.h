/// Orders to change the GPUs of this machine, carried out by another process: the caller never waits.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/ports/gpu_library.h"

namespace berth {

enum class DeviceVerb : std::uint8_t { kCreate, kDestroy, kMigModeOn };

/// One change of one GPU. The orders for a GPU are carried out one after the other, in the order of their arrival.
struct DeviceOrder {
  std::uint64_t intent = 0;  ///< number of the journal's intent, written before; unique in a world
  DeviceVerb verb = DeviceVerb::kCreate;
  std::string uuid;              ///< of the GPU
  std::uint32_t profile_id = 0;  ///< kCreate, kDestroy: the device's id
  int start = 0;                 ///< placement units
  int length = 0;
  /// An earlier process may have carried it out, wholly or in part: an instance found at its place is its result.
  bool was_tried = false;
  friend bool operator==(const DeviceOrder&, const DeviceOrder&) = default;
};

/// A process that keeps an instance in use.
struct DeviceHolder {
  std::uint32_t pid = 0;
  std::string name = {};
  friend bool operator==(const DeviceHolder&, const DeviceHolder&) = default;
};

enum class DeviceOutcome : std::uint8_t {
  kDone,
  kFailed,   ///< the device refused, and is unchanged
  kBusy,     ///< the same, because processes use it: `holders`
  kRefused,  ///< not tried: foreign or unmanaged, or the order could not be passed on
};

/// The outcome of an order.
struct DeviceEnd {
  std::uint64_t intent = 0;
  DeviceOutcome outcome = DeviceOutcome::kFailed;
  bool goes_on = false;      ///< it timed out and its call has not returned: a second outcome follows
  std::string message = {};  ///< why; for kDone a remark ("it stood already"), or empty
  std::string call = {};     ///< the library's function that failed; empty: none did
  std::string error = {};
  std::vector<DeviceHolder> holders = {};
  std::string mig_uuid = {};         ///< kCreate: of the MIG device
  std::int64_t memory_mib = 0;       ///< kCreate
  std::int64_t gpu_instance_us = 0;  ///< how long the call took; 0: there was none
  std::int64_t compute_instance_us = 0;
  /// The GPU's state afterwards. Absent: it cannot be read. Then kFailed means that the outcome is unknown, and kDone
  /// that the order was carried out, with an unknown result.
  std::optional<GpuReading> reading = {};
  friend bool operator==(const DeviceEnd&, const DeviceEnd&) = default;
};

class GpuHands {
 public:
  virtual ~GpuHands() = default;

  /// Never waits. An order that cannot be passed on ends as kRefused, or as kFailed if its outcome is unknown.
  virtual void submit(const std::vector<DeviceOrder>& orders) = 0;
  /// The outcomes of orders that ended since the last call.
  [[nodiscard]] virtual std::vector<DeviceEnd> take_ended() = 0;
  /// Orders that were blocked by running processes (kBusy) for the first time since the last call. They are retried
  /// automatically, and their outcome follows.
  [[nodiscard]] virtual std::vector<DeviceEnd> take_delayed() = 0;
  /// Why a GPU cannot be changed now; nothing if it can. Any thread may call it.
  [[nodiscard]] virtual std::optional<std::string> why_not(const std::string& uuid) const = 0;
  /// Why the process that carries them out is not there, and what is done about it; nothing: it is, it has not answered
  /// for the first time yet, or there is none for a reason that lasts. Any thread may call it.
  [[nodiscard]] virtual std::optional<std::string> why_gone() const = 0;
};

}  // namespace berth
