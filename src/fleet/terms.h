/// Tables that the fleet solver derives once from a problem: worth of capacity, readiness, space as a tree, points in
/// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "window/problem.h"

namespace berth::planner::fleet {

inline std::size_t idx(int index) { return static_cast<std::size_t>(index); }

/// The variants of a service, most accurate first (its ladder). The value `step[w]` of being more accurate than the
/// next rung applies to all requests that rungs 0 to w serve together.
struct Ladder {
  std::vector<int> order;
  std::vector<double> step;  ///< value x (accuracy of order[w] - accuracy of order[w + 1])
};

/// A part of a GPU's space: sites that all clash with each other and with the same other sites.
struct SpaceNode {
  int parent = -1;
  int type = 0;               ///< nodes of one type have equal kinds, and children of equal types
  std::vector<int> sites;     ///< of different kinds, by kind
  std::vector<int> children;  ///< nodes; parts of this one that do not clash with each other
};

/// The sites of a GPU model as a forest. Sites in nodes that are ancestors of each other clash. The reverse holds for
/// the plain profiles of all known GPUs (`is_exact`); if it does not hold, the tree is a relaxation.
struct SpaceTree {
  std::vector<SpaceNode> nodes;  ///< children before parents; the last one is the root and may have no sites
  std::vector<int> node_of_site;
  int types = 0;
  std::vector<int> node_of_type;  ///< one of each
  bool is_exact = true;
};

/// When a GPU may change: slots, ascending; the index after the last one means the end of the tail.
struct Grid {
  std::vector<int> points;
  [[nodiscard]] int size() const { return static_cast<int>(points.size()); }
  [[nodiscard]] std::size_t width() const { return points.size() + 1; }
};

/// Slots until a piece is ready: on a site where something stood, or on another one.
struct Readiness {
  int on_same_site = 0;
  int on_new_site = 0;  ///< at least: the room was free
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
  std::vector<int> group;          ///< [service]: those of one group may share a GPU
  int groups = 1;
  std::vector<int> first_change;  ///< [gpu]: the first slot in which it may change; slots: never
  double value_max = 0;           ///< no schedule is worth more
  double excess_price = 0;        ///< of a change beyond a budget, of a second retraining piece: more than all floors
  double shortfall_price = 0;     ///< of a whole floor in one slot: floors come before everything else

  [[nodiscard]] const ModelTerms& model_of(int gpu) const { return problem.models[idx(problem.gpus[idx(gpu)].model)]; }
  [[nodiscard]] const Rates& rates(int model, int kind, int service) const {
    return problem.models[idx(model)].rates[idx(kind)][idx(service)];
  }
  [[nodiscard]] bool may_change_at(int slot) const {
    return problem.is_frozen.empty() || problem.is_frozen[idx(slot)] == 0;
  }
  [[nodiscard]] bool has_retraining() const;
  /// The first slot from `slot` on in which changes may begin; slots: none.
  [[nodiscard]] int next_open(int slot) const;
  /// E min(load, capacity) of a slot.
  [[nodiscard]] double served(int service, int slot, double capacity) const;
  /// Worth of a second of a slot with these capacities, [variant].
  [[nodiscard]] double worth(int service, int slot, bool is_fresh, const double* capacity) const;
  /// The sum of all slots' with capacities [slot x variants + variant], for a service that is always fresh.
  [[nodiscard]] double worth_always_fresh(int service, const double* capacity) const;
  /// How much more the worth is with `before` + `rate` more of a variant than with `before`.
  [[nodiscard]] double worth_of_more(int service, int slot, bool is_fresh, const double* capacity, int use,
                                     double before, double rate) const;
};

/// Slots until a new piece is ready after a change from `before` (rule of problem.h).
[[nodiscard]] int ready_after(const Terms& terms, const ModelTerms& model, const Configuration& before,
                              const Piece& piece);

/// A grid of the wanted slots, those that lie `delays` before them, the first and the last slot, and the ends of frozen
/// stretches.
/// In place of a slot in which no change may begin: the ones before and after it.
[[nodiscard]] Grid make_grid(const Terms& terms, const std::vector<int>& wanted, const std::vector<int>& delays);

inline double Terms::served(int service, int slot, double capacity) const {
  const double* loads = problem.services[idx(service)].loads.data() + idx(slot * problem.samples);
  double sum = 0;
  for (int sample = 0; sample < problem.samples; ++sample) sum += loads[sample] < capacity ? loads[sample] : capacity;
  return sum / problem.samples;
}

inline double Terms::worth(int service, int slot, bool is_fresh, const double* capacity) const {
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

inline double Terms::worth_of_more(int service, int slot, bool is_fresh, const double* capacity, int use, double before,
                                   double rate) const {
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
      const double lacks = loads[sample] - together;
      const double part = lacks < rate ? lacks : rate;
      served_more += part > 0 ? part : 0;
    }
    sum += ladder.step[w] * served_more;
  }
  return sum / problem.samples;
}

}  // namespace berth::planner::fleet
