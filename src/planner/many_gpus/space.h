/// The best use of the space of a GPU over time, if the worths of pieces are additive.
///
/// A GPU's sites form a tree (planner/many_gpus/terms.h), and pieces are rectangles: a node of the tree x a range of
/// slots between two points of a grid. With F(n, a, b) the best worth of the space of node n from point a to point b,
/// everything in it begun at a or later,
///     base(n, a, b) = max(0, best piece on a site of n from a to b, sum over children c of F(c, a, b))
///     F(n, a, b)    = max over m in [a, b) of F(n, a, m) + base(n, m, b)             (F(n, a, a) = 0),
/// and for a GPU with existing pieces A(n, b), the same from the first slot on: an existing piece stays to some point
/// and F continues there. Every schedule of the GPU is such a set of rectangles, so A(root, end) is a bound on it; this
/// relaxes the rule that a GPU waits for its pieces before it changes again. O(types x points^3) for F, which all GPUs
/// of a model share, and O(standing pieces x points^2) for each GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "planner/many_gpus/terms.h"

namespace berth::planner::fleet {

/// The worth of a use of a kind of slice: sums over the slots before each slot ([slots + 2]; the tail is the last
/// one).
struct Offer {
  ServiceIndex service;
  int use = 0;
  Readiness readiness;
  const double* ready = nullptr;  ///< worth while it works
  double ready_scale = 1;
  const double* stands = nullptr;  ///< worth while it exists; may be absent
  double stands_scale = 1;
  double begin_cost = 0;  ///< if it begins on a new site
};

/// The best piece on a site of one kind for each range [a x width + b].
struct PieceTable {
  std::vector<double> on_new;
  std::vector<double> on_same;  ///< if a piece was on the site before
  std::vector<std::int16_t> which_new;
  std::vector<std::int16_t> which_same;
  std::vector<std::pair<ServiceIndex, int>> uses;  ///< {service, use}
};

/// The worth of a piece of an offer from one point to another one.
[[nodiscard]] double worth_of(const Terms& terms, const Grid& grid, const Offer& offer, PointIndex from,
                              PointIndex until, bool is_on_same_site);

void fill_piece_table(const Terms& terms, const Grid& grid, const std::vector<Offer>& offers, PieceTable& table);

/// Whether a piece that begins on a new site may also take it over from another one that begins there just before.
/// Beginning it then costs nothing, which a grid with few points cannot show: it is best if the first piece is as short
/// as possible.
enum class TakeOvers : std::uint8_t { kIgnored, kCounted };

/// Fills in only the worths, not the uses that reach them: pieces found by `trace` are then unowned.
void fill_piece_maxima(const Terms& terms, const Grid& grid, const std::vector<Offer>& offers, TakeOvers take_overs,
                       PieceTable& table);

/// A site that a node may use, and the worth of pieces on it.
struct Source {
  SiteIndex site;
  const PieceTable* table = nullptr;
};

/// Index of a cell: first those of the node types, in their order, then those of nodes with their own rules.
using CellIndex = Index<struct CellTag>;

/// Values of a node or of all nodes of a type.
struct Cell {
  std::vector<Source> sources;
  std::vector<CellIndex> children;
  std::vector<double> own_new;
  std::vector<double> own_same;
  std::vector<double> base_new;
  std::vector<double> base_same;
  std::vector<double> entry_new;   ///< F, if no site of the node had a piece before
  std::vector<double> entry_same;  ///< F, if one had
};

/// A new piece of a solution. `until` slots + 1: to the end of the tail.
struct PlannedPiece {
  Piece piece;
  SlotIndex from;
  SlotIndex until;
  bool is_on_same_site = false;  ///< which readiness was assumed
  PointIndex from_point;
  PointIndex until_point;
};

/// An exception for one GPU to the rules of its model.
struct NodeRule {
  NodeIndex node;
  bool is_pinned = false;   ///< only `extra`, and nothing in the children
  bool is_blocked = false;  ///< only `extra` or the children: there is a pinned site below
  std::vector<Source> extra;
};

/// The rules from the pins of a GPU. `offers_of(kind, service)`: the owner's possible uses of the site; `tables`
/// receives the results and must outlive the rules.
[[nodiscard]] std::vector<NodeRule> pin_rules(
    const Terms& terms, const Grid& grid, GpuIndex gpu,
    const std::function<std::vector<Offer>(KindIndex, ServiceIndex)>& offers_of, std::vector<PieceTable>& tables);
/// The rule of a node, added if there is none.
[[nodiscard]] NodeRule& rule_of(std::vector<NodeRule>& rules, NodeIndex node);

/// The values of one GPU model's space.
class SpaceValues {
 public:
  SpaceValues(const SpaceTree& tree, const Grid& grid);

  /// Computes F by type. `by_kind[k]`: pieces of kind k. The tables must outlive this.
  void fill(const ModelTerms& model, const std::vector<PieceTable>& by_kind);
  /// Adds cells for a GPU with its own rules; the other nodes keep their cells. Valid until `drop_rules`.
  void add_rules(const ModelTerms& model, const std::vector<PieceTable>& by_kind, const std::vector<NodeRule>& rules);
  void drop_rules();

  [[nodiscard]] const SpaceTree& tree() const { return *tree_; }
  [[nodiscard]] const Grid& grid() const { return *grid_; }
  [[nodiscard]] const Cell& cell(NodeIndex node) const { return cells_[idx(cell_of_node_[idx(node)])]; }
  [[nodiscard]] const Cell& cell_of_type(NodeTypeIndex type) const { return cells_[idx(type)]; }
  /// Whether a node has its own cell instead of that of its type.
  [[nodiscard]] bool is_ruled(NodeIndex node) const { return cell_of_node_[idx(node)] >= tree_->types; }
  [[nodiscard]] SlotIndex slot_of(PointIndex point, int slots) const {
    return point == grid_->size() ? SlotIndex(slots + 1) : grid_->points[idx(point)];
  }
  /// The pieces behind F(node, a, b).
  void trace(NodeIndex node, PointIndex a, PointIndex b, bool is_same, int slots,
             std::vector<PlannedPiece>& found) const;

 private:
  void compute(Cell& cell);
  void trace_base(NodeIndex node, PointIndex a, PointIndex b, bool is_same, int slots,
                  std::vector<PlannedPiece>& found) const;

  const SpaceTree* tree_;
  const Grid* grid_;
  std::vector<Cell> cells_;  ///< by type, then those of rules
  std::vector<CellIndex> cell_of_node_;
};

/// Space of a node from one point to another one in which everything is new.
struct NewSpace {
  NodeIndex node;
  PointIndex from_point;
  PointIndex until_point;
  bool is_on_same_site = false;  ///< a site of the node existed before
};

/// An existing piece, and its worth until each point of the grid, [width].
struct StandingWorth {
  SiteIndex site;
  std::vector<double> until;
};

/// A(n, b) of one GPU. Keeps its memory between GPUs.
class GpuWalk {
 public:
  /// The worth of the best use from the existing pieces. Changes begin at point `first` or later; existing pieces are
  /// worth `until[first]` before.
  double solve(const SpaceValues& space, const std::vector<StandingWorth>& standing, PointIndex first);
  /// After solve: the worth of the best use up to a point, which is at least the first one.
  [[nodiscard]] double until(const SpaceValues& space, PointIndex point) const {
    return best_[space.tree().nodes.size() - 1][idx(point)];
  }
  /// After solve: for the best use up to a point, how long each existing piece stays, and the new pieces.
  void trace(const SpaceValues& space, PointIndex point, int slots, std::vector<SlotIndex>& stays_until,
             std::vector<PlannedPiece>& found) const;
  /// The same, with the spaces for new pieces instead of the pieces.
  void trace_new_spaces(const SpaceValues& space, PointIndex point, int slots, std::vector<SlotIndex>& stays_until,
                        std::vector<NewSpace>& new_spaces) const;

 private:
  void solve_node(const SpaceValues& space, NodeIndex node);
  [[nodiscard]] double kept_worth(const SpaceValues& space, NodeIndex node, PointIndex b) const;
  void trace_node(const SpaceValues& space, NodeIndex node, PointIndex b, int slots,
                  std::vector<SlotIndex>& stays_until, std::vector<NewSpace>& new_spaces) const;

  const std::vector<StandingWorth>* standing_ = nullptr;
  PointIndex first_;
  std::vector<int> here_;                  ///< [node]: the existing piece on a site of it, or -1
  std::vector<char> is_touched_;           ///< [node]: it has an existing piece
  std::vector<std::vector<double>> kept_;  ///< [node][point]: worth kept up to the point
  std::vector<std::vector<double>> best_;
};

}  // namespace berth::planner::fleet
