/// The changes of a label: from deals to placings to new labels.
#pragma once

#include <utility>
#include <vector>

#include "planner/one_gpu/detail/change_bound.h"
#include "planner/one_gpu/detail/deals_by_prices.h"
#include "planner/one_gpu/detail/deals_by_states.h"
#include "planner/one_gpu/detail/share_options.h"

namespace berth::planner {

struct Branch;
struct Deal;
class Draft;
struct SearchState;

class Expansion {
 public:
  /// Keeps a reference.
  explicit Expansion(SearchState& state);

  void set_pool(std::vector<std::vector<Share>> pool) { pool_ = std::move(pool); }
  /// To be called at the beginning of a pass.
  void restart() { options_.restart(); }

  /// Adds a label for each change of a label in slot t that may lead to a better schedule, within the limits of the
  /// pass; the budget records the bound of those left out. Requires: a change may begin at t, and some bound is set.
  void expand(LabelIndex label, SlotIndex t);

 private:
  void expand_from_pool(const Branch& branch);
  [[nodiscard]] double slack_at_prices(const Branch& branch, double alone, const std::vector<Share>& shares) const;
  void try_deals(const Branch& branch, Draft& draft);
  void try_moves(const Branch& branch);
  [[nodiscard]] double bound_of_moves(const Branch& branch);
  void try_placings(const Branch& branch, const Deal& deal);
  void change(const Branch& branch, const Configuration& to);

  SearchState& state_;
  ChangeBound change_bound_;
  ShareOptions options_;
  DealsByPrices by_prices_;
  DealsByStates by_states_;
  std::vector<std::vector<Share>> pool_;
};

}  // namespace berth::planner
