/// Layouts of the static policies, which decide once. Pure functions of the policy's knowledge.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "domain/values/scenario.h"
#include "domain/values/slice.h"

namespace berth::partition {

/// No layout exists under the policy's rules; the reason names what is missing.
struct Infeasible {
  std::string why;
  friend bool operator==(const Infeasible&, const Infeasible&) = default;
};

/// Holdings sorted by slice. Every GPU's slices are legal; only the file's layout has unowned slices.
using Layout = std::vector<Holding>;
using LayoutOrInfeasible = std::variant<Layout, Infeasible>;

/// The layout of the scenario's file. Without GPUs there is only the empty one, which need not be written.
[[nodiscard]] LayoutOrInfeasible fixed_layout(const Scenario& scenario);

/// Whole GPUs, services assigned round robin in the order of the file: GPU i mod G gets service i mod S, for i below
/// max(G, S).
[[nodiscard]] LayoutOrInfeasible shared_layout(const Scenario& scenario);

/// One whole GPU per service (the first that can serve it, by augmenting paths if GPU models differ), then each
/// remaining GPU to the service with the largest load per capacity that can use it. `load[s]`: requests of service s
/// over the run (hindsight). A GPU that no service can use stays unused.
[[nodiscard]] LayoutOrInfeasible whole_layout(const Scenario& scenario, const std::vector<double>& load);

/// The layout with the least difference in SMs between services (largest sum minus smallest sum, over slices that can
/// serve their service), ties: more SMs, then order of enumeration; the load is unknown. Exact on one GPU, otherwise
/// coordinate descent over GPUs from a largest-first start. Every service gets a slice that can serve it, otherwise
/// Infeasible.
[[nodiscard]] LayoutOrInfeasible static_even_layout(const Scenario& scenario);

/// PARIS-style (reference: PARIS and ELSA, arXiv 2202.13481; our own where the paper is not explicit, see
/// docs/reference/policies.md): a heterogeneous mix from the histogram of batch sizes that the history shows and the
/// throughput of each slice size. `history[s]`: requests of service s in each second before the run, oldest first;
/// empty if there is none.
[[nodiscard]] LayoutOrInfeasible paris_layout(const Scenario& scenario,
                                              const std::vector<std::vector<std::uint32_t>>& history);

/// What paris_layout had to assume: a sentence for each service without requests in its history.
[[nodiscard]] std::vector<std::string> paris_assumptions(const Scenario& scenario,
                                                         const std::vector<std::vector<std::uint32_t>>& history);

/// What a search for the best static layout needs from its caller, who replays the run.
struct StaticBestSearch {
  /// The figure of one service alone on these slices (sorted), higher is better; used if services do not influence
  /// each other. Called once for each different list of (GPU model, profile) in order. The list is empty only if
  /// `serves_every_service` is false.
  std::function<double(ServiceId, const std::vector<Slice>&)> score_service;
  /// The objective of a whole layout, by a full replay.
  std::function<double(const Layout&)> score_layout;
  /// The weight of each service's figure: score = sum of weight x score_service. By ServiceId.
  std::vector<double> weights;
  /// Services do not influence each other (no interference factor above or below 1), so that scores add up.
  bool is_separable = true;
  /// Every service holds a slice, at any cost to the others; false: a layout may leave a service out if that scores
  /// higher.
  bool serves_every_service = true;
  /// The maximum number of calls of score_service (or score_layout): the budget of the search on several GPUs.
  int evaluations_max = 2000;
};

struct StaticBest {
  LayoutOrInfeasible layout;
  bool is_exhaustive = false;
  std::int64_t layouts_tried = 0;
  int evaluations = 0;
};

/// The best fixed layout in hindsight: exhaustive on one GPU, otherwise a local search from several starts that reports
/// what it tried.
[[nodiscard]] StaticBest static_best_layout(const Scenario& scenario, const StaticBestSearch& search);

/// Slices of `layout` that hold `service` for inference, sorted.
[[nodiscard]] std::vector<Slice> slices_of(const Layout& layout, ServiceId service);

}  // namespace berth::partition
