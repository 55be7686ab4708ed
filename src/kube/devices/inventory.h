/// The pools of a cluster, put together from ResourceSlices, and what is taken in them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/core/result.h"
#include "base/yaml/document.h"
#include "kube/devices/device.h"

namespace berth::kube {

/// What stands of a pool: its devices, which of them are taken, and what is left of its counters.
struct PoolState {
  Pool pool;
  std::int64_t stamp = 0;               ///< another one each time the pool is put together
  std::int64_t change_count = 0;        ///< of devices that were taken or released
  std::vector<bool> is_taken = {};      ///< by device
  std::vector<std::int64_t> left = {};  ///< by counter, milli; may be negative where others overbooked
  std::vector<std::int64_t> loss = {};  ///< by free device: what taking it would rule out

  /// Whether a device is free: not taken, and its counters suffice.
  [[nodiscard]] bool is_free(std::size_t device) const;
  [[nodiscard]] std::optional<std::size_t> find(std::string_view device) const;
  void take(std::size_t device);
  void release(std::size_t device);
  /// Computes `loss` anew: the number of free devices that it would rule out, itself included; among equal numbers
  /// their sizes, as the sum of the shares of counters that they consume. O(devices^2 x counters of a device).
  void weigh();
};

class Inventory {
 public:
  /// A slice came or changed, or went (`slice` null). Error: kMalformed slices, which then count as missing.
  [[nodiscard]] Result<void> put_slice(const std::string& name, const yaml::Node* slice);

  /// A device is held by a claim, or is no longer. Devices that are not known, or not in a complete pool, are kept in
  /// mind.
  void hold(const DeviceName& device);
  void free(const DeviceName& device);

  /// The complete pools, by name.
  [[nodiscard]] const std::map<PoolName, PoolState>& pools() const { return pools_; }
  /// Another number whenever a pool has come, gone or been put together again.
  [[nodiscard]] std::int64_t structure_count() const { return structure_count_; }
  [[nodiscard]] const std::set<DeviceName>& held() const { return held_; }

 private:
  /// A counter that a device consumes, by name: its set may be in another slice of the pool.
  struct NamedUse {
    std::string counter;  ///< "SET/COUNTER"
    std::int64_t amount = 0;
  };
  /// `uses` of the device is filled in by the pool.
  struct SliceDevice {
    Device device;
    std::vector<NamedUse> uses;
  };
  /// What a ResourceSlice says, without its text: clusters have thousands of them.
  struct Slice {
    PoolName pool;
    std::int64_t generation = 0;
    std::int64_t slice_count = 0;
    std::vector<std::pair<std::string, std::int64_t>> counters;  ///< "SET/COUNTER", and what there is, milli
    std::vector<SliceDevice> devices;
  };

  [[nodiscard]] static Result<Slice> read_slice(const yaml::Node& slice);
  static void read_counters(const yaml::Node& spec, Slice& slice);
  [[nodiscard]] static SliceDevice read_device(const yaml::Node& node, const yaml::Node& spec,
                                               const std::string& driver);
  void rebuild(const PoolName& name);

  std::map<std::string, Slice> slices_;
  std::map<PoolName, std::set<std::string>> slices_of_;
  std::map<PoolName, PoolState> pools_;
  std::set<DeviceName> held_;
  std::int64_t stamp_ = 0;
  std::int64_t structure_count_ = 0;
};

}  // namespace berth::kube
