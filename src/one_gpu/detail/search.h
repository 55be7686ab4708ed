/// Label search for the window problem of one GPU; one_gpu.h says how the passes fit together.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "one_gpu/detail/arrangements.h"
#include "one_gpu/detail/gpu_case.h"
#include "one_gpu/detail/joint_bound.h"
#include "one_gpu/detail/model_state.h"
#include "one_gpu/detail/price_search.h"

namespace berth::planner {

/// The number of a label of the pass under way.
using LabelIndex = Index<struct LabelTag>;
inline constexpr LabelIndex kNoLabelIndex(-1);

/// How much a pass may leave out.
struct PassLimits {
  int width = 8;              ///< labels that are kept in a slot
  int changes_max = 8;        ///< of a label in a slot, by what the services get
  int placings_max = 8;       ///< of one such change
  bool is_from_pool = false;  ///< only changes to configurations of the pool
  int stride = 1;  ///< changes begin in the first slot, in every stride-th one, and where a retraining is due
  std::int64_t nodes_max = 0;
};

class OneGpuSearch {
 public:
  explicit OneGpuSearch(const GpuCase& gpu_case);

  /// What the services have at the first slot in which something may change.
  [[nodiscard]] std::vector<ServiceStart> starts() const;

  void set_pool(std::vector<std::vector<Share>> pool) { pool_ = std::move(pool); }
  /// The bound of the rest of a schedule, set before the first pass: prices, all services together, or the lesser of
  /// the two. Prices are needed if a model may become stale.
  void set_bound(const PriceBound& bound) { bound_ = &bound; }
  void set_bound(JointBound& bound) { joint_ = &bound; }
  /// No search is allowed after it.
  void forget_bounds() {
    bound_ = nullptr;
    joint_ = nullptr;
  }
  /// Only schedules worth more than the best known one by this share are searched.
  void set_gap(double gap) { gap_ = gap; }
  /// Searches for a schedule that is worth more than the best known one.
  void pass(const PassLimits& limits);

  /// A schedule from elsewhere: becomes the best one if it is worth more. Requires: it keeps all rules.
  bool offer(const std::vector<Change>& changes);

  /// One path through the window guided by the joint bound. Requires: it alone bounds the search.
  void dive(double patience, const PassLimits& limits);

  /// Moves the changes of the best schedule in time, and leaves out some, as long as that gains.
  void polish();

  [[nodiscard]] bool has_schedule() const { return best_value_ > kNever; }
  [[nodiscard]] double best_value() const { return best_value_; }
  /// Value of the slots before the first in which something may change.
  [[nodiscard]] double value_before() const { return root_.value; }
  [[nodiscard]] const std::vector<Change>& best_changes() const { return best_changes_; }
  /// Of the last pass: an upper bound on what it left out.
  [[nodiscard]] double left_out() const { return std::max(left_out_, cutoff()); }
  [[nodiscard]] std::int64_t nodes() const { return nodes_; }

 private:
  struct Label {
    ArrangementIndex arrangement{};
    LabelIndex parent = kNoLabelIndex;
    SlotIndex begin{};  ///< slot of the change
    SlotIndex ready{};  ///< slot in which it is done
    double value = 0;   ///< of the slots before now
    double bound = 0;
    std::size_t states = 0;  ///< in states_, one of each service that retrains
    std::size_t used = 0;    ///< in used_, slices changed of each service with a budget
  };
  struct Option {
    Share share;
    RoomIndex room{};
    double loss = 0;
  };
  /// The shares of the services after a change, and the least loss against its label's bound.
  struct Deal {
    double loss = 0;
    std::vector<Share> shares;
  };
  /// Changes of one label in one slot under construction, service by service.
  struct Draft {
    LabelIndex label{};
    SlotIndex slot{};
    double bound = 0;                                 ///< of the label, of the kind that losses are counted from
    double slack = 0;                                 ///< a change that loses this much is useless
    bool is_cut = false;                              ///< some were left out because there were too many
    std::vector<const std::vector<Option>*> options;  ///< [service], what stands first, then least loss first
    std::vector<std::vector<double>> least;  ///< [service][room taken before], loss of it and those after it; NaN: open
    std::vector<Share> shares;
    std::vector<Deal> deals;  ///< a heap, largest loss first
  };

  [[nodiscard]] static bool smaller_loss(const Deal& a, const Deal& b) { return a.loss < b.loss; }
  /// Options computed before, if they depend on slot and bundle alone.
  struct KnownOptions {
    SlotIndex slot = SlotIndex(-1);
    double slack = 0;
    std::vector<Option> options;
  };
  struct Known {
    std::vector<KnownOptions> of_bundle;
    std::vector<Option> latest;
  };

  [[nodiscard]] bool begins_changes(SlotIndex t) const;
  [[nodiscard]] double value_of(const std::vector<Change>& changes);
  void make_root();
  void clear(const PassLimits& limits);
  void start_pass(const PassLimits& limits);
  [[nodiscard]] LabelIndex best_child(LabelIndex label, SlotIndex t, double patience);
  [[nodiscard]] double cutoff() const;
  [[nodiscard]] ModelState state_of(const Label& label, ServiceIndex service) const;
  [[nodiscard]] bool has_spare(const Label& label, SlotIndex t) const;
  [[nodiscard]] double bound_of(const Label& label, SlotIndex t, bool may_take) const;
  [[nodiscard]] double bound_by_prices(const Label& label, SlotIndex t) const;
  [[nodiscard]] static bool is_quiet(const RetrainingTerms& terms, const ModelState& state, double progress_rate,
                                     SlotIndex from, SlotIndex to);
  [[nodiscard]] double advance(ServiceIndex service, BundleIndex bundle, double progress_rate, SlotIndex from,
                               SlotIndex to, ModelState& state) const;
  void leave_out(double bound) { left_out_ = std::max(left_out_, bound); }
  void select(std::vector<LabelIndex>& labels, SlotIndex t);
  void keep_most_promising(std::vector<LabelIndex>& labels, SlotIndex t);
  [[nodiscard]] double value_of_staying(const Label& label, SlotIndex t) const;
  [[nodiscard]] bool covers(const Label& a, const Label& b, SlotIndex t) const;
  [[nodiscard]] std::optional<double> lead_needed(const ModelState& a, const ModelState& b, ServiceIndex service,
                                                  SlotIndex t) const;
  void hold(std::vector<LabelIndex>& labels, SlotIndex t);
  void expand(LabelIndex label, SlotIndex t);
  void expand_from_pool(LabelIndex label, SlotIndex t);
  void expand_jointly(LabelIndex label, SlotIndex t);
  [[nodiscard]] static double keep_best_targets(std::vector<JointBound::Target>& targets, std::size_t most);
  void add_deals(Draft& draft, StateIndex state, ServiceIndex service);
  void note_joint_state(ArrangementIndex arrangement);
  [[nodiscard]] const std::vector<Option>& options_of(const Label& label, ServiceIndex service, SlotIndex t,
                                                      double slack);
  void fill_options(const Label& label, ServiceIndex service, SlotIndex t, double slack,
                    std::vector<Option>& options) const;
  [[nodiscard]] double option_value(const Label& label, ServiceIndex service, const Share& share, SlotIndex t) const;
  [[nodiscard]] double least_loss(Draft& draft, ServiceIndex service, RoomIndex room) const;
  [[nodiscard]] Share share_of(const Label& label, ServiceIndex service) const;
  void combine(Draft& draft, ServiceIndex service, RoomIndex room, double loss, bool changes);
  static void give_up(Draft& draft);
  void add_deal(Draft& draft, double loss);
  void try_deals(Draft& draft);
  void try_placings(const Draft& draft, const Deal& deal);
  void change(LabelIndex label, const Configuration& to, SlotIndex t);
  /// When the pieces of a change get ready, and the last of them.
  struct Begin {
    std::vector<SlotIndex> ready;  ///< [piece], a slot
    SlotIndex end{};
  };
  [[nodiscard]] Begin begin_of(const Configuration& from, const Configuration& to, SlotIndex t) const;
  [[nodiscard]] double price_of(const Configuration& from, const Configuration& to) const;
  bool use_budgets(const Label& parent, const Configuration& to, const Label& child);
  double run_services(const Label& parent, const Arrangement& to, SlotIndex t, SlotIndex end,
                      const std::vector<SlotIndex>& ready, Label& child);
  void finish(const Label& label, LabelIndex parent, const Configuration* last);
  static constexpr std::size_t kKindsMax = 64;  ///< as many as sites
  using KindSet = std::bitset<kKindsMax>;
  /// A bound, and whether a retraining is done before all is ready.
  struct Kept {
    double value = 0;
    bool gets_done = false;
  };
  [[nodiscard]] Kept kept_bound(LabelIndex label, SlotIndex t, const std::vector<Share>& shares,
                                const std::vector<Share>& kept, const KindSet& creates) const;
  [[nodiscard]] double deal_bound(LabelIndex label, SlotIndex t, const std::vector<Share>& shares,
                                  const std::vector<Share>& kept) const;
  [[nodiscard]] KindSet kinds_to_create(const Arrangement& from, const std::vector<Share>& kept) const;
  [[nodiscard]] double tail_of(const Label& label) const;

  const GpuCase& case_;
  Arrangements arrangements_;
  const PriceBound* bound_ = nullptr;
  JointBound* joint_ = nullptr;
  std::vector<StateIndex> joint_states_;  ///< [arrangement], -1: not asked for
  double gap_ = 0;
  PassLimits limits_;
  std::vector<int> state_index_;   ///< [service], -1 where it never retrains
  std::vector<int> budget_index_;  ///< [service], -1 where it has no limit
  int states_count_ = 0;
  int budgets_count_ = 0;
  bool create_matters_ = false;    ///< some piece is ready later where it has to be created
  std::vector<char> after_helps_;  ///< [service], no variant is less accurate after retraining
  std::vector<Known> known_;       ///< [service]
  std::vector<std::vector<Share>> pool_;
  Label root_;
  std::vector<Label> labels_;
  std::vector<ModelState> states_;
  std::vector<int> used_;
  std::vector<std::vector<LabelIndex>> arrivals_;  ///< [slot]
  std::vector<LabelIndex> arrived_now_;            ///< changed in this slot, at once ready
  std::int64_t nodes_ = 0;
  std::int64_t nodes_end_ = 0;
  double best_value_ = kNever;
  double left_out_ = kNever;
  std::vector<Change> best_changes_;
  /// Of kept_bound, which is asked so often that it should not allocate.
  struct Scratch {
    std::vector<SlotIndex> serves_from;  ///< [service]
    std::vector<SlotIndex> trains_from;  ///< [service]
    std::vector<ModelState> models;      ///< [service]
    std::vector<BundleIndex> bundles;    ///< [service]
  };
  mutable Scratch scratch_;
};

}  // namespace berth::planner
