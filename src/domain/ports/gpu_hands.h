/// Orders to change the GPUs of this machine, carried out somewhere else: whoever gives them waits for nobody.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/ports/gpu_library.h"

namespace berth {

enum class DeviceVerb : std::uint8_t { kCreate, kDestroy, kMigModeOn };

/// One change of one GPU. Orders of a GPU are carried out one after the other, in the order in which they come.
struct DeviceOrder {
  std::uint64_t intent = 0;  ///< of the journal, which was written before; unique in a world
  DeviceVerb verb = DeviceVerb::kCreate;
  std::string uuid;              ///< of the GPU
  std::uint32_t profile_id = 0;  ///< kCreate, kDestroy: what the device calls it
  int start = 0;                 ///< placement units
  int length = 0;
  /// It may have been carried out before, wholly or in part, by a process that is gone: what stands at its place is
  /// its own.
  bool was_tried = false;
  friend bool operator==(const DeviceOrder&, const DeviceOrder&) = default;
};

/// Who keeps an instance in use.
struct DeviceHolder {
  std::uint32_t pid = 0;
  std::string name = {};
  friend bool operator==(const DeviceHolder&, const DeviceHolder&) = default;
};

enum class DeviceOutcome : std::uint8_t {
  kDone,
  kFailed,   ///< the device refused, and stands as it stood before
  kBusy,     ///< the same, as somebody uses it: `holders`
  kRefused,  ///< not tried: it is not ours to change, or not managed
};

/// How an order ended.
struct DeviceEnd {
  std::uint64_t intent = 0;
  DeviceOutcome outcome = DeviceOutcome::kFailed;
  bool goes_on = false;      ///< it was given up, and its call has not returned: another end of it follows
  std::string message = {};  ///< why; of kDone what is worth telling ("it stood already"), or empty
  std::string call = {};     ///< the library's function that failed, and its code; empty: none did
  std::string error = {};
  std::vector<DeviceHolder> holders = {};
  std::string mig_uuid = {};         ///< kCreate: of the MIG device
  std::int64_t memory_mib = 0;       ///< kCreate
  std::int64_t gpu_instance_us = 0;  ///< how long the calls took; 0: there was none
  std::int64_t compute_instance_us = 0;
  /// What stands on the GPU afterwards. Absent: it cannot be read. Then kFailed says that nobody knows what became of
  /// the order, and kDone that it was carried out, but not as what.
  std::optional<GpuReading> reading = {};
  friend bool operator==(const DeviceEnd&, const DeviceEnd&) = default;
};

class GpuHands {
 public:
  virtual ~GpuHands() = default;

  /// Never waits. An order that cannot be given ends as kRefused, or kFailed if nobody knows what became of it.
  virtual void submit(const std::vector<DeviceOrder>& orders) = 0;
  /// Orders that ended since the last call.
  [[nodiscard]] virtual std::vector<DeviceEnd> take_ended() = 0;
  /// How orders would have ended (kBusy) that since the last call have found somebody at work for the first time. They
  /// are given again by themselves, and their end follows.
  [[nodiscard]] virtual std::vector<DeviceEnd> take_delayed() = 0;
  /// Why nothing can be changed on a GPU now; nothing: it can. Any thread may ask.
  [[nodiscard]] virtual std::optional<std::string> why_not(const std::string& uuid) const = 0;
};

}  // namespace berth
