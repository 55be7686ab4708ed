/// The deals of one label in one slot, combined service by service from each service's loss at prices.
#pragma once

#include <vector>

#include "planner/one_gpu/detail/arrangements.h"

namespace berth::planner {

struct Branch;
class ChangeBound;
class Draft;
class ShareOptions;
struct SearchState;
struct ShareOption;

class DealsByPrices {
 public:
  /// Keeps references.
  DealsByPrices(SearchState& state, ChangeBound& change_bound, ShareOptions& options)
      : state_(state), change_bound_(change_bound), options_(options) {}

  /// Adds all deals that lose less than the draft's slack by the bounds, up to its limits and those of the pass. A
  /// depth-first search over the services, pruned by the least loss of the remaining services. Requires: prices.
  void add_to(Draft& draft, const Branch& branch);

 private:
  [[nodiscard]] double least_loss(ServiceIndex service, RoomIndex taken);
  void combine(Draft& draft, const Branch& branch, ServiceIndex service, RoomIndex taken, double loss);
  void close(Draft& draft, const Branch& branch);

  SearchState& state_;
  ChangeBound& change_bound_;
  ShareOptions& options_;
  std::vector<const std::vector<ShareOption>*> of_service_;  ///< [service]
  std::vector<std::vector<double>> least_;                   ///< [service][room], cache of least_loss; NaN: unknown
  std::vector<Share> shares_;                                ///< chosen so far
  int changed_ = 0;                                          ///< services among them whose share changes
};

}  // namespace berth::planner
