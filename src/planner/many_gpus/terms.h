/// Tables that the solver derives once from a problem: worth of capacity, readiness, space as a tree, points in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/window/problem.h"

namespace berth::planner::fleet {

inline std::size_t idx(int index) { return static_cast<std::size_t>(index); }

/// Indices of the nodes of a SpaceTree, and of their types.
using NodeIndex = Index<struct NodeTag>;
using NodeTypeIndex = Index<struct NodeTypeTag>;
/// Index of a Grid's point; the one after the last is the end of the tail.
using PointIndex = Index<struct PointTag>;
/// Index of a group of services that may share a GPU.
using GroupIndex = Index<struct GroupTag>;
/// Index of a rung of a Ladder.
using RungIndex = Index<struct RungTag>;

/// The variants of a service, most accurate first (its ladder). The value `step[w]` of being more accurate than the
/// next rung applies to all requests that rungs 0 to w serve together.
struct Ladder {
  std::vector<int> order;
  std::vector<double> step;  ///< value x (accuracy of order[w] - accuracy of order[w + 1])
};

/// A part of a GPU's space: sites that all clash with each other and with the same other sites.
struct SpaceNode {
  NodeIndex parent{-1};
  NodeTypeIndex type;               ///< nodes of one type have equal kinds, and children of equal types
  std::vector<SiteIndex> sites;     ///< of different kinds, by kind
  std::vector<NodeIndex> children;  ///< parts of this one that do not clash with each other
};

/// The sites of a GPU model as a forest. Sites in nodes that are ancestors of each other clash. The reverse holds for
/// the plain profiles of all known GPUs (`is_exact`); if it does not hold, the tree is a relaxation.
struct SpaceTree {
  std::vector<SpaceNode> nodes;  ///< children before parents; the last one is the root and may have no sites
  std::vector<NodeIndex> node_of_site;
  int types = 0;
  std::vector<NodeIndex> node_of_type;  ///< one of each
  bool is_exact = true;
  [[nodiscard]] NodeIndex root() const { return NodeIndex(nodes.size()) - 1; }
};

/// When a GPU may change: slots, ascending; the point after the last one is the end of the tail.
struct Grid {
  std::vector<SlotIndex> points;
  [[nodiscard]] int size() const { return static_cast<int>(points.size()); }
  /// The end of the tail.
  [[nodiscard]] PointIndex end() const { return PointIndex(size()); }
  [[nodiscard]] std::size_t width() const { return points.size() + 1; }
};

/// The least number of slots until a piece is ready: on a site that had a piece before, or on another site.
struct Readiness {
  int on_same_site = 0;
  int on_new_site = 0;  ///< lower bound: the space was free
};

struct Terms {
  explicit Terms(const Problem& of);

  const Problem& problem;
  int slots = 0;
  std::vector<Ladder> stale;  ///< [service]
  std::vector<Ladder> fresh;
  std::vector<SpaceTree> trees;    ///< [model]
  std::vector<Readiness> serving;  ///< [service]
  Readiness retraining;            ///< of all services
  std::vector<GroupIndex> group;   ///< [service]: those of one group may share a GPU
  int groups = 1;
  std::vector<SlotIndex> first_change;  ///< [gpu]: the first slot in which it may change; slots: never
  double value_max = 0;                 ///< no schedule is worth more
  double excess_price = 0;     ///< of a change beyond a budget or a second retraining piece: more than all floors
  double shortfall_price = 0;  ///< of a whole floor in one slot: floors take precedence over everything else

  [[nodiscard]] const ModelTerms& model_of(GpuIndex gpu) const {
    return problem.models[idx(problem.gpus[idx(gpu)].model)];
  }
  [[nodiscard]] const Rates& rates(ModelIndex model, KindIndex kind, ServiceIndex service) const {
    return problem.models[idx(model)].rates[idx(kind)][idx(service)];
  }
  [[nodiscard]] bool may_change_at(SlotIndex slot) const {
    return problem.is_frozen.empty() || problem.is_frozen[idx(slot)] == 0;
  }
  [[nodiscard]] bool has_retraining() const;
  /// The tail is the slot after the last one.
  [[nodiscard]] SlotIndex tail() const { return SlotIndex(slots); }
  [[nodiscard]] SlotIndex tail_end() const { return SlotIndex(slots + 1); }
  /// The first slot from `slot` on in which changes may begin; the tail if there is none.
  [[nodiscard]] SlotIndex next_open(SlotIndex slot) const;
  /// E min(load, capacity) of a slot.
  [[nodiscard]] double served(ServiceIndex service, SlotIndex slot, double capacity) const;
  /// Worth per second of a slot with these capacities, [variant].
  [[nodiscard]] double worth(ServiceIndex service, SlotIndex slot, bool is_fresh, const double* capacity) const;
  /// The worth over all slots with capacities [slot x variants + variant], for a service that is always fresh.
  [[nodiscard]] double worth_always_fresh(ServiceIndex service, const double* capacity) const;
  /// The difference in worth between `before` + `rate` and `before` more capacity of a variant.
  [[nodiscard]] double worth_of_more(ServiceIndex service, SlotIndex slot, bool is_fresh, const double* capacity,
                                     int use, double before, double rate) const;
};

/// Slots until a new piece is ready after a change from `before` (rule of problem.h).
[[nodiscard]] int ready_after(const Terms& terms, const ModelTerms& model, const Configuration& before,
                              const Piece& piece);

/// A grid of the wanted slots, the slots `delays` before them, the first and the last slot, and the ends of frozen
/// ranges. A slot in which no change may begin is replaced by the nearest ones before and after it.
[[nodiscard]] Grid make_grid(const Terms& terms, const std::vector<SlotIndex>& wanted, const std::vector<int>& delays);

inline double Terms::served(ServiceIndex service, SlotIndex slot, double capacity) const {
  const double* loads = problem.services[idx(service)].loads.data() + idx(slot * problem.samples);
  double sum = 0;
  for (int sample = 0; sample < problem.samples; ++sample) sum += loads[sample] < capacity ? loads[sample] : capacity;
  return sum / problem.samples;
}

inline double Terms::worth(ServiceIndex service, SlotIndex slot, bool is_fresh, const double* capacity) const {
  const Ladder& ladder = is_fresh ? fresh[idx(service)] : stale[idx(service)];
  if (ladder.order.size() == 1) return ladder.step[0] * served(service, slot, capacity[0]);
  double sum = 0;
  double together = 0;
  for (std::size_t w = 0; w < ladder.order.size(); ++w) {
    together += capacity[ladder.order[w]];
    sum += ladder.step[w] * served(service, slot, together);
  }
  return sum;
}

inline double Terms::worth_of_more(ServiceIndex service, SlotIndex slot, bool is_fresh, const double* capacity, int use,
                                   double before, double rate) const {
  const Ladder& ladder = is_fresh ? fresh[idx(service)] : stale[idx(service)];
  const double* loads = problem.services[idx(service)].loads.data() + idx(slot * problem.samples);
  double sum = 0;
  double together = before;
  bool counts = false;  // the variant is on this rung or above
  for (std::size_t w = 0; w < ladder.order.size(); ++w) {
    together += capacity[ladder.order[w]];
    counts |= ladder.order[w] == use;
    if (!counts) continue;
    double served_more = 0;
    for (int sample = 0; sample < problem.samples; ++sample) {
      const double missing = loads[sample] - together;
      const double part = missing < rate ? missing : rate;
      served_more += part > 0 ? part : 0;
    }
    sum += ladder.step[w] * served_more;
  }
  return sum / problem.samples;
}

}  // namespace berth::planner::fleet
