/// The gain of one service at given prices: which requests are answered in which block, by which variant, and when the
/// service retrains.
///
/// A request that arrives in a block may be worked on in the blocks from there to the last one in which an answer can
/// still be in time. It is worth the accuracy in force there less the price there, or nothing. Before the first due
/// time `after` is in force; in a period between two due times `before`, and from a completed retraining on `after`
/// (here: the greater of both, which only relaxes). A completion needs progress 1, bought in the blocks of its period
/// (`unfinished: continue`: since the due time after the last completion) at most at the rate of the fastest slice. The
/// best completions are found exactly, by dynamic programming over the due times.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "domain/values/service.h"
#include "planner/goodput_bound/detail/blocks.h"
#include "planner/goodput_bound/detail/supply.h"

namespace berth::bound::detail {

/// A row of numbers by block for each good.
using Rows = std::vector<std::vector<double>>;

/// The input of a demand.
struct DemandInput {
  const ServiceSpec& service;
  Blocks blocks;
  std::function<std::int64_t(std::int64_t second)> count;  ///< requests of a second
  /// Their offsets in it, in microseconds; may be empty.
  std::function<void(std::int64_t second, std::vector<std::uint32_t>& offsets)> offsets;
  /// Requests may be answered at any later time (`fidelity: rates` does not track deadlines to the microsecond).
  bool is_patient = false;
  std::vector<std::uint32_t> serving_goods;      ///< those that some GPU can make, and
  std::vector<int> serving_variants;             ///< their variants
  std::optional<std::uint32_t> retraining_good;  ///< absent: no GPU can retrain it
  double progress_per_second_max = 0;            ///< on the fastest slice
};

class Demand {
 public:
  explicit Demand(const DemandInput& input);

  [[nodiscard]] double requests() const { return requests_; }
  /// The largest gain at `prices` (per answer, per whole retraining), in accuracies; adds the goods used for it to
  /// `use`, multiplied by `weight`. O(blocks x variants), with retraining O(blocks log blocks).
  [[nodiscard]] double gain(const Rows& prices, double weight, Rows& use);

 private:
  /// Requests of one block that may wait until block `until`.
  struct RequestGroup {
    int from = 0;
    int until = 0;
    double count = 0;
  };
  /// The period between two due times; the first period is before the first due time.
  struct DuePeriod {
    std::int64_t due_us = 0;
    std::int64_t until_us = 0;    ///< the next due time, or the microsecond after the end
    int first = 0;                ///< the first block that begins in it; its last one is the next period's first - 1
    std::size_t group_begin = 0;  ///< groups of its blocks
    std::size_t group_end = 0;
    double stale_gain = 0;  ///< at the prices of the last call, if it stays stale
  };
  /// A retraining that is completed in block `done` of period `period`.
  struct Completion {
    std::size_t period = 0;
    int done = -1;  ///< -1: none, the period stays stale
    bool is_free = false;
  };
  /// Progress to be bought in the cheapest blocks seen so far.
  class Basket;

  /// An answer by a variant in a block; its value is accuracy less price.
  struct PricedAnswer {
    double value = 0;
    int block = -1;
    int variant = 0;  ///< index into goods_
    friend bool operator<(const PricedAnswer& a, const PricedAnswer& b) { return a.value < b.value; }
  };

  void add_periods(const Retraining* retraining);
  void set_accuracies(const DemandInput& input);
  void add_groups(const DemandInput& input);
  void add_requests(std::int64_t first_us, std::int64_t last_us, double count);
  void share_groups();
  [[nodiscard]] std::int64_t earliest_fresh_us(const DuePeriod& period) const;
  [[nodiscard]] int first_fresh_block(const DuePeriod& period, int done_block) const;
  void price_blocks(const Rows& prices);
  void price_patiently();
  void price_groups();
  [[nodiscard]] PricedAnswer best_in(const RequestGroup& group, bool is_fresh) const;
  void plan_retrainings(const Rows& prices);
  void try_completions(const Rows& prices, std::size_t from);
  void try_completion(std::size_t from, Completion completion, double cost);
  void use_everything(const Rows& prices, double weight, Rows& use) const;
  void use_period(std::size_t index, int fresh_from, double weight, Rows& use) const;

  Blocks blocks_;
  bool is_patient_ = false;
  std::int64_t target_us_ = 0;
  double requests_ = 0;
  std::vector<std::uint32_t> goods_;
  std::vector<RequestGroup> groups_;  ///< by from, then until
  std::vector<DuePeriod> periods_;
  std::vector<int> period_of_;  ///< by block

  // Accuracies by [variant index][block].
  Rows stale_;
  Rows fresh_;
  std::vector<char> can_be_fresh_;  ///< by block

  std::optional<std::uint32_t> retraining_good_;
  bool keeps_unfinished_ = false;
  std::int64_t swap_us_ = 0;
  std::int64_t retraining_us_min_ = 0;
  double progress_per_second_max_ = 0;
  double progress_needed_ = 1;

  // At the prices of the last call.
  std::vector<PricedAnswer> stale_answers_;  ///< by block
  std::vector<PricedAnswer> fresh_answers_;
  std::vector<PricedAnswer> stale_ahead_;  ///< by block, if requests may be answered later: the best from that block on
  std::vector<PricedAnswer> fresh_ahead_;
  std::vector<PricedAnswer> stale_choice_;  ///< by group; value 0: not worth its price
  std::vector<PricedAnswer> fresh_choice_;
  std::vector<double> fresh_extra_;  ///< by block: the additional gain of its period if fresh from that block on
  std::vector<double> best_from_;    ///< by period: gain from its due time to the end, no progress made yet
  std::vector<Completion> best_completion_;  ///< by period
};

}  // namespace berth::bound::detail
