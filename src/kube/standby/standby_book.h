/// A cluster as an operator that does not lead sees it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/client/reflector.h"
#include "kube/placing/owned_pools.h"
#include "kube/standby/standby_picture.h"

namespace berth::kube {

class ClusterWorld;
class Inventory;
class Placing;
struct Claim;
struct PlannedGpu;

class StandbyBook {
 public:
  explicit StandbyBook(std::vector<OwnedPools> own);
  StandbyBook(const StandbyBook&) = delete;
  StandbyBook& operator=(const StandbyBook&) = delete;
  ~StandbyBook();

  /// Owns these pools from now on.
  void own(std::vector<OwnedPools> own);
  /// An object came, changed or went: tenants, services, and the claims and pods of services. Others are ignored.
  void take(std::string_view plural, const Change& change);
  /// What is there now, with what `placing` knows. Calls have ascending times. O(claims, and devices if pools changed).
  [[nodiscard]] StandbyPicture read(const Placing& placing, Instant now);

 private:
  /// What the labels of a claim of a service say.
  struct ServiceClaim {
    std::string service;
    std::uint64_t generation = 0;
  };
  struct PodState {
    bool is_ready = false;
    bool is_leaving = false;
  };

  void find_gpus(const Inventory& inventory);
  void put_places(std::uint32_t index, const PlannedGpu& planned);
  void add_gpus(StandbyPicture& picture);
  void add_slices(const Placing& placing, StandbyPicture& picture);
  void add_specs(StandbyPicture& picture) const;
  [[nodiscard]] StandbySlice slice_of(const Claim& claim, const DeviceName& device, const Slice& place) const;
  [[nodiscard]] live::SliceState state_of(const Claim& claim, const ObjectName& service) const;
  void note_drained(StandbyPicture& picture);

  std::vector<OwnedPools> own_;
  std::map<std::string, std::shared_ptr<const yaml::Node>> tenants_;
  std::map<ObjectName, std::shared_ptr<const yaml::Node>> services_;
  std::map<ObjectName, ServiceClaim> claims_;
  std::map<ObjectName, PodState> pods_;  ///< a pod of a service has the name of its claim
  std::optional<std::int64_t> stamps_;   ///< of the pools that were last looked at
  std::set<PoolName> pools_;
  std::vector<device::LocalGpu> fleet_;  ///< by number
  std::map<DeviceName, Slice> places_;   ///< of devices, also of lost GPUs
  std::unique_ptr<ClusterWorld> world_;
  std::vector<GpuState> states_;           ///< as last read
  std::map<DeviceName, Instant> seen_at_;  ///< of claims
};

}  // namespace berth::kube
