/// Slices that were lost with their GPU: clients still see them, in the state `lost`, until the GPU returns. They count
/// for nothing else.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/snapshot.h"

namespace berth::live {

struct LostSlice {
  StandingSlice slice;  ///< holders and generation as when it was lost
  Instant seen_at;      ///< when the slice was first seen
  friend bool operator==(const LostSlice&, const LostSlice&) = default;
};

/// Queries are about a snapshot: GPUs that it does not call lost (yet, or any more) have no lost slices.
class LostSlices {
 public:
  /// Adds a lost slice; those of one GPU come in order. O(log GPUs).
  void add(LostSlice lost);
  /// The GPU is back, and empty.
  void forget(GpuId gpu);
  /// The service is gone, and so are the slices that it held.
  void forget(ServiceId service);

  /// All, by slice.
  [[nodiscard]] std::vector<const LostSlice*> all(const Snapshot& snapshot) const;
  [[nodiscard]] std::vector<const LostSlice*> on(const Snapshot& snapshot, GpuId gpu) const;
  /// Those that the service held, by slice. O(log services + slices of its lost GPUs).
  [[nodiscard]] std::vector<const LostSlice*> of(const Snapshot& snapshot, ServiceId service) const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.slices_, self.gpus_of_);
  }

 private:
  std::map<GpuId, std::vector<LostSlice>> slices_;
  std::map<ServiceId, std::set<GpuId>> gpus_of_;  ///< on which it held slices
};

}  // namespace berth::live
