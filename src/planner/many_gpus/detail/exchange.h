/// Large fleets: slices change owners, one at a time or two in exchange, while partitions stay as they are.
///
/// A service needs a certain capacity, and slices of given sizes add up to it only roughly; responses of single GPUs in
/// turn do not find pairs of services that would gain by exchanging slices. The worth to each service of some more (or
/// fewer) requests per second, from a change to the end, is tabulated, so that all pairs of (service, kind of slice)
/// can be compared.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "planner/many_gpus/state.h"
#include "planner/many_gpus/terms.h"

namespace berth::planner::fleet {

class Exchange {
 public:
  explicit Exchange(const Terms& terms);

  /// Exchanges until none gains or `passes` are used up. Each exchange is evaluated exactly before it is kept. Returns
  /// the gain in score.
  double run(FleetState& state, int passes);
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }

 private:
  using AccountIndex = Index<struct AccountTag>;
  using SliceGroupIndex = Index<struct SliceGroupTag>;
  /// Index of a kind, counted through all models.
  using FleetKindIndex = Index<struct FleetKindTag>;

  /// When a slice exists: (nearly) the whole window, the tail, or both.
  enum class When { kWindow, kTail, kBoth };
  /// A service with one of its variants.
  struct Account {
    ServiceIndex service;
    int use = 0;
    double step = 0;  ///< between shifts of the table
    /// The worth of a shift of capacity by -kTableSteps to kTableSteps steps: in the window, in the tail, and in both.
    std::array<std::vector<double>, 3> worth;
    [[nodiscard]] double of(double shift, When when) const;
  };
  /// A slice that began at a change.
  struct BegunSlice {
    GpuIndex gpu;
    SiteIndex site;
    SlotIndex from;
  };
  /// Slices of one kind that one account holds.
  struct SliceGroup {
    AccountIndex account;
    FleetKindIndex kind;
    When when = When::kBoth;
    std::vector<BegunSlice> slices;
  };
  struct OwnerChange {
    double gain = 0;
    SliceGroupIndex from;
    SliceGroupIndex with{-1};  ///< the group that gives a slice in return; -1: none
    AccountIndex account{-1};  ///< the account that gets the slice, if none is given in return
  };

  [[nodiscard]] std::optional<When> when_of(const Path& path, const Stay& stay) const;
  void collect(const FleetState& state);
  void fill_account(const FleetState& state, Account& account) const;
  [[nodiscard]] std::vector<OwnerChange> owner_changes() const;
  [[nodiscard]] OwnerChange best_for(SliceGroupIndex from) const;
  bool apply(FleetState& state, const OwnerChange& change);
  [[nodiscard]] bool may_hold(AccountIndex account, FleetKindIndex kind) const { return rate(account, kind) > 0; }
  [[nodiscard]] double rate(AccountIndex account, FleetKindIndex kind) const {
    return rates_[idx(account) * idx(kinds_) + idx(kind)];
  }

  const Terms* terms_;
  int kinds_ = 0;
  std::vector<FleetKindIndex> first_kind_;  ///< [model]
  std::vector<Account> accounts_;
  std::vector<std::vector<AccountIndex>> account_of_;  ///< [service][use]; -1: takes no part
  std::vector<double> rates_;                          ///< [account x kinds + kind]
  std::vector<SliceGroup> slice_groups_;
  std::int64_t nodes_ = 0;
};

}  // namespace berth::planner::fleet
