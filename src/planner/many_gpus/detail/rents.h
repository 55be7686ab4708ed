/// First prices for the bound.
#pragma once

#include <cstddef>
#include <vector>

#include "planner/many_gpus/detail/demand.h"
#include "planner/many_gpus/detail/price_frame.h"

namespace berth::planner::fleet {

/// Prices at which GPUs earn the same with each service that they serve, if GPUs are divisible and changes are free:
/// for each range of slots a rent of each GPU model, by coordinate descent.
class PriceRents {
 public:
  PriceRents(const PriceFrame& frame, const Demand& demand);
  void set_prices(std::vector<double>& prices);

 private:
  void set_whole();
  void set_rents(BlockIndex block);
  [[nodiscard]] double surplus_of_rent(BlockIndex block, ModelIndex model, const std::vector<double>& rents) const;
  void set_prices_by_rents(BlockIndex block, ServiceIndex service, const std::vector<double>& rents,
                           double* prices) const;
  void price_progress();
  [[nodiscard]] const std::vector<double>& price_max() const { return demand_->price_max(); }

  const PriceFrame* frame_;
  const Terms* terms_;
  const Demand* demand_;
  std::vector<double>* prices_ = nullptr;
  std::vector<std::vector<std::vector<double>>> whole_;  ///< [model][service][rung]: the capacity of a whole GPU
  std::vector<double> gpus_of_model_;
};

}  // namespace berth::planner::fleet
