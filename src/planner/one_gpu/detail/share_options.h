/// The shares that one service may have after a change, each with a lower bound of its cost at the prices of a
/// PriceBound.
#pragma once

#include <vector>

#include "planner/one_gpu/detail/arrangements.h"
#include "planner/one_gpu/detail/labels.h"

namespace berth::planner {

class LabelBound;

struct ShareOption {
  Share share;
  RoomIndex room = RoomIndex(0);
  double loss = 0;  ///< relative to the bound of the service with its current share
};

class ShareOptions {
 public:
  /// Keeps references.
  ShareOptions(const GpuCase& gpu_case, const Labels& labels, const LabelBound& bound)
      : case_(gpu_case), labels_(labels), bound_(bound) {}

  /// Clears the cache. To be called when bounds have changed.
  void restart();

  /// The options of a service in a change of a label in slot t that lose less than `slack`: the current share first,
  /// then by ascending loss. Valid until the next call for the service. Requires: prices; `restart` since they changed.
  [[nodiscard]] const std::vector<ShareOption>& of(const Label& label, ServiceIndex service, SlotIndex t, double slack);

  /// An upper bound on the worth of a service from slot t on if it gets a share then, for any shares of the others.
  /// Requires: prices.
  [[nodiscard]] double value_with(const Label& label, ServiceIndex service, const Share& share, SlotIndex t) const;

 private:
  /// The options of a service that never retrains, which depend only on slot and bundle.
  struct Known {
    SlotIndex slot = SlotIndex(-1);
    double slack = 0;
    std::vector<ShareOption> options;
  };
  struct KnownOptions {
    std::vector<Known> of_bundle;
    std::vector<ShareOption> latest;
  };

  [[nodiscard]] RoomIndex room_of(ServiceIndex service, const Share& share) const;
  [[nodiscard]] bool can_train(const Label& label, ServiceIndex service, SlotIndex t) const;
  void fill(const Label& label, ServiceIndex service, SlotIndex t, double slack,
            std::vector<ShareOption>& options) const;

  const GpuCase& case_;
  const Labels& labels_;
  const LabelBound& bound_;
  std::vector<KnownOptions> known_;  ///< [service]
};

}  // namespace berth::planner
