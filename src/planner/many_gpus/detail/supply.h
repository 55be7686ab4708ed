/// The GPUs' part of the bound: the largest income of each GPU at given prices, and the supply that earns it.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/many_gpus/detail/price_frame.h"
#include "planner/many_gpus/detail/shares.h"
#include "planner/many_gpus/space.h"
#include "planner/many_gpus/terms.h"

namespace berth::planner::fleet {

/// The largest worth of a request per second in each slot (the tail as a whole): at that price others would use it.
struct PriceCaps {
  std::vector<std::vector<std::vector<double>>> serving;  ///< [service][variant][slot]
  std::vector<std::vector<double>> floor;                 ///< [service][slot]; empty without a floor
};

class Supply {
 public:
  /// The frame must outlive this.
  explicit Supply(const PriceFrame& frame);

  /// Chooses at most `most` GPUs, evenly spaced over each model; each represents those around it.
  void choose_gpus(int most);
  /// The sum over the chosen GPUs of A(root, end) at the prices (planner/many_gpus/space.h). Their supply is added to
  /// `slope`, where pieces worth up to `spread` less than the best one get a share each.
  double value(const std::vector<double>& prices, double spread, std::vector<double>& slope);
  /// Whether values count take-overs: where changes have a price, they are a bound only then.
  void count_take_overs(TakeOvers take_overs) { take_overs_ = take_overs; }
  /// Sets reference prices: relative shortfalls are measured against at least the worths at these prices.
  void set_reference(const std::vector<double>& prices);
  /// Sets prices for `caps` without computing a value.
  void fill(const std::vector<double>& prices);
  /// The prices of the last fill or value.
  [[nodiscard]] PriceCaps caps() const;
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }

 private:
  /// Prices of a service summed over the slots before each, [slots + 2].
  struct Sums {
    std::vector<std::vector<double>> serving;  ///< [variant]
    std::vector<double> floor;
    std::vector<double> progress;
  };
  /// Index of a space: of each model for each group, and for all groups together.
  using SpaceIndex = Index<struct SpaceTag>;
  [[nodiscard]] SpaceIndex space_of(ModelIndex model, GroupIndex group) const {
    return SpaceIndex(model * (terms_->groups + 1) + group);
  }
  void sum_prices();
  void fill_spaces();
  [[nodiscard]] std::vector<Offer> offers_of(ModelIndex model, KindIndex kind, ServiceIndex service) const;
  double solve_gpu(GpuIndex gpu);
  void add_supply(GpuIndex gpu, double weight);
  void add_wanted(ModelIndex model, const PlannedPiece& wanted, const Piece& piece, double share);
  void add_piece(ModelIndex model, const Piece& piece, SlotIndex from, SlotIndex ready, SlotIndex until, double share);
  void add_amount(ServiceIndex service, int use, SlotIndex from, SlotIndex ready, SlotIndex until, double amount);
  void add_to_blocks(std::size_t place, SlotIndex from, SlotIndex until, double amount);
  void spread_pieces();
  void spread_piece(ModelIndex model, SpaceIndex space, KindIndex kind, const PlannedPiece& wanted, double count);
  [[nodiscard]] bool is_quick(const PlannedPiece& wanted) const;
  [[nodiscard]] SlotIndex ready_slot(ServiceIndex service, int use, SlotIndex from, bool is_quick) const;
  void add_beginning(ServiceIndex service, const PlannedPiece& wanted, double share);
  [[nodiscard]] double& spread_amount(ServiceIndex service, int use, const PlannedPiece& wanted);
  void add_spread();

  const PriceFrame* frame_;
  const Terms* terms_;
  std::int64_t nodes_ = 0;
  std::vector<double> weights_;  ///< [gpu]: the number of GPUs that it represents
  std::vector<Sums> sums_;
  std::vector<std::vector<std::vector<Offer>>> offers_;  ///< [space][kind]
  std::vector<std::vector<PieceTable>> tables_;          ///< [space][kind]
  std::vector<SpaceShares> shares_;                      ///< [space]
  std::vector<SpaceValues> spaces_;                      ///< by space_of; the last group of a model: all services
  std::vector<std::vector<double>> any_;                 ///< [model]: F of the root over all groups
  std::vector<std::vector<double>> any_base_;
  std::vector<PieceTable> pin_tables_;
  std::vector<NewSpace> new_spaces_;
  std::vector<double> worths_;
  /// Requests or progress per second of spread pieces of all kinds, added to the slope together: [service][use from
  /// kRetraining on][is quick][from point][until point].
  std::vector<double> amounts_;
  std::vector<std::size_t> first_amount_;  ///< [service]
  GpuWalk walk_;
  std::vector<StandingWorth> standing_;
  // Arguments of the current call of `value`.
  const double* prices_ = nullptr;
  std::vector<double>* slope_ = nullptr;
  double spread_ = 0.05;
  TakeOvers take_overs_ = TakeOvers::kIgnored;
  // Results for the GPU solved last.
  SpaceIndex space_;
  PointIndex switch_point_;  ///< from here on other groups may use the GPU
};

}  // namespace berth::planner::fleet
