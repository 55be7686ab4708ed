/// The search for a plan within given limits: demand by demand, with many partial plans in parallel.
///
/// A state is the usage of the demands served so far: slices of each kind (and GPUs, for complete pools). Every weight
/// inequality (row) that all plans satisfy rejects the states that cannot be completed within the limits. If no state
/// was discarded and none is left at the end, there is no plan: that is the proof. Cost: one node for each cover tried
/// on a state.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "planner/packing/detail/covers.h"
#include "planner/packing/detail/gpu_filler.h"
#include "planner/packing/detail/instance.h"
#include "planner/packing/detail/relaxation.h"

namespace berth::packing::detail {

/// A cover for each demand of the instance.
using CoverChoice = std::vector<Counts>;

/// The resources that a plan may use.
struct PlanLimits {
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t price_max = kNone;
  std::int64_t gpus_max = kNone;
  std::int64_t slices_max = kNone;
  std::optional<std::vector<std::int64_t>> offer_gpus_max =
      std::nullopt;              ///< by offer; in addition to the instance's limits
  Counts extra;                  ///< slices that must fit, too
  std::uint32_t extra_pool = 0;  ///< together with those of this pool
};

/// A row of the relaxation with its limit for the plans searched for.
struct LimitedRow {
  PlanRow row;
  std::int64_t limit = 0;
};

struct BeamAnswer {
  std::optional<CoverChoice> plan;
  bool is_proven_none = false;  ///< no plan exists within the limits
};

/// The fillers are those of the instance's offers, by offer.
class Beam {
 public:
  Beam(const Instance& instance, std::span<GpuFiller> fillers, const PlanLimits& limits, std::vector<LimitedRow> rows,
       Budget& budget);
  ~Beam();

  /// Searches for a plan with at most `width` states after each demand. Deterministic. Of the plans found at the end it
  /// returns the cheapest, then the one with the fewest GPUs, slices, SMs.
  [[nodiscard]] BeamAnswer run(std::size_t width);

  /// Runs with more and more states, until a plan is found, there is none, or a wider run would not help.
  [[nodiscard]] BeamAnswer run_wider(std::span<const std::size_t> widths);

 private:
  struct Size;
  struct ListedCover;
  struct Layer;
  /// The origin of a state: its predecessor one layer up, and the cover.
  struct Origin {
    std::uint32_t parent = 0;
    std::uint32_t cover = 0;
  };

  void add_offer_rows();
  void add_slice_row();
  void weigh_demands();
  void weigh_extra();
  void list_covers();
  [[nodiscard]] std::vector<Counts> covers_within(std::size_t demand);
  [[nodiscard]] std::int64_t gpus_max_of(std::size_t offer) const;
  [[nodiscard]] bool is_extra_opened_at(std::size_t position) const;
  [[nodiscard]] Layer first_layer() const;
  [[nodiscard]] Layer expand(const Layer& from, std::size_t position, std::size_t width);
  [[nodiscard]] std::optional<std::vector<std::int64_t>> gpus_when_closed(const Layer& from, std::size_t state);
  [[nodiscard]] Layer close_pool(const Layer& from, std::size_t position);
  [[nodiscard]] std::optional<std::size_t> pick_finished(const Layer& closed) const;
  [[nodiscard]] double tightness(const Layer& layer, std::size_t state, std::size_t position) const;
  void narrow(Layer& layer, std::size_t position, std::size_t width);
  [[nodiscard]] CoverChoice trace_back(const std::vector<std::vector<Origin>>& origins, std::size_t state) const;

  const Instance& instance_;
  std::span<GpuFiller> fillers_;
  PlanLimits limits_;
  std::vector<LimitedRow> rows_;
  Budget& budget_;
  std::vector<std::vector<std::int64_t>> least_;  ///< by demand, then row: the weight of its lightest cover
  std::vector<std::vector<std::int64_t>> rest_;   ///< by demand, then row: the least weight of this and later ones
  std::vector<std::int64_t> extra_weight_;        ///< by row
  std::vector<std::int64_t> slack_;               ///< by row
  std::vector<std::vector<ListedCover>> covers_;  ///< by demand
  std::vector<std::vector<std::int64_t>> cover_weights_;  ///< by demand; of cover c and row r at c x rows + r
  bool is_hopeless_ = false;                              ///< some row rejects every plan
  bool has_all_covers_ = true;
  bool is_complete_ = true;  ///< nothing was discarded in this run
};

}  // namespace berth::packing::detail
