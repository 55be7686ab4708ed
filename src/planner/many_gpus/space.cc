#include "planner/many_gpus/space.h"

#include <algorithm>
#include <cstring>

#include "base/core/ensure.h"

namespace berth::planner::fleet {
namespace {

/// An offer by points of the grid.
struct OfferByPoint {
  std::vector<double> ready_until;
  std::vector<double> ready_from_new;
  std::vector<double> ready_from_same;
  std::vector<double> stood;
};

void take_points(const Terms& terms, const Grid& grid, const Offer& offer, OfferByPoint& points) {
  const std::size_t width = grid.width();
  points.ready_until.assign(width, 0);
  points.ready_from_new.assign(width, 0);
  points.ready_from_same.assign(width, 0);
  points.stood.assign(width, 0);
  for (std::size_t p = 0; p < width; ++p) {
    const SlotIndex slot = p + 1 == width ? terms.tail_end() : grid.points[p];
    const auto from = [&](int delay) { return idx(std::min(slot + delay, std::max(slot, terms.tail()))); };
    points.ready_until[p] = offer.ready_scale * offer.ready[idx(slot)];
    points.ready_from_new[p] = offer.ready_scale * offer.ready[from(offer.readiness.on_new_site)] + offer.begin_cost;
    points.ready_from_same[p] = offer.ready_scale * offer.ready[from(offer.readiness.on_same_site)];
    if (offer.stands != nullptr) points.stood[p] = offer.stands_scale * offer.stands[idx(slot)];
  }
}

/// best[i] = max(best[i], more + next[i]) for i < count. Vectorised by hand in pairs: compilers do not do it at -O2.
void raise(double* best, const double* next, double more, std::size_t count) {
  using Pair = double __attribute__((vector_size(16)));
  const Pair both = {more, more};
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2) {
    Pair old;
    Pair found;
    std::memcpy(&old, best + i, sizeof old);
    std::memcpy(&found, next + i, sizeof found);
    found += both;
    old = found > old ? found : old;
    std::memcpy(best + i, &old, sizeof old);
  }
  for (; i < count; ++i) best[i] = std::max(best[i], more + next[i]);
}

/// `least`: if a piece is never ready, the cost of beginning it is lost.
void take_best(std::size_t a, std::int16_t which, const OfferByPoint& offer, double begin, double least, double* best,
               std::int16_t* chosen) {
  const std::size_t width = offer.stood.size();
  const double stood = offer.stood[a];
  const double* until = offer.ready_until.data();
  const double* stands = offer.stood.data();
  for (std::size_t b = a + 1; b < width; ++b) {
    const double worth = std::max(until[b] - begin, least) + (stands[b] - stood);
    const bool is_better = worth > best[b];
    best[b] = is_better ? worth : best[b];
    chosen[b] = is_better ? which : chosen[b];
  }
}

/// The most that a piece of any offer is worth in its first slot.
double first_slot_worth(const std::vector<Offer>& offers, SlotIndex slot) {
  double most = 0;
  for (const Offer& offer : offers) {
    double worth = -offer.begin_cost;
    if (offer.stands != nullptr) worth += offer.stands_scale * (offer.stands[idx(slot) + 1] - offer.stands[idx(slot)]);
    if (offer.readiness.on_new_site == 0) {
      worth += offer.ready_scale * (offer.ready[idx(slot) + 1] - offer.ready[idx(slot)]);
    }
    most = std::max(most, worth);
  }
  return most;
}

/// Between two points, the total worth of a piece and of the one that takes over its site is linear in the time of the
/// take-over. Later points are in the tables; the earliest time is one slot after the first piece begins, because a GPU
/// changes at most once per slot.
void add_take_overs(const Terms& terms, const Grid& grid, const std::vector<Offer>& offers, PieceTable& table) {
  const std::size_t width = grid.width();
  std::vector<double> idle(width);
  std::vector<double> used(width);
  OfferByPoint points;
  for (const Offer& offer : offers) {
    if (offer.begin_cost <= 0) continue;
    take_points(terms, grid, offer, points);
    for (std::size_t b = 0; b < width; ++b) {
      idle[b] = points.stood[b];
      used[b] = points.stood[b] + points.ready_until[b];
    }
    for (std::size_t a = 0; a + 1 < width; ++a) {
      const SlotIndex slot = grid.points[a];
      const SlotIndex over = slot + 1;
      const SlotIndex ready = std::min(over + offer.readiness.on_same_site, std::max(over, terms.tail()));
      double before = first_slot_worth(offers, slot);
      if (offer.stands != nullptr) before -= offer.stands_scale * offer.stands[idx(over)];
      double* best = &table.on_new[a * width + a + 1];
      raise(best, &used[a + 1], before - offer.ready_scale * offer.ready[idx(ready)], width - a - 1);
      raise(best, &idle[a + 1], before, width - a - 1);
    }
  }
}

}  // namespace

double worth_of(const Terms& terms, const Grid& grid, const Offer& offer, PointIndex from, PointIndex until,
                bool is_on_same_site) {
  const SlotIndex begin = grid.points[idx(from)];
  const SlotIndex end = until == grid.size() ? terms.tail_end() : grid.points[idx(until)];
  const int delay = is_on_same_site ? offer.readiness.on_same_site : offer.readiness.on_new_site;
  const SlotIndex ready = std::min(begin + delay, terms.tail());
  double worth = end > ready ? offer.ready_scale * (offer.ready[idx(end)] - offer.ready[idx(ready)]) : 0;
  if (!is_on_same_site) worth -= offer.begin_cost;
  if (offer.stands != nullptr) worth += offer.stands_scale * (offer.stands[idx(end)] - offer.stands[idx(begin)]);
  return worth;
}

void fill_piece_table(const Terms& terms, const Grid& grid, const std::vector<Offer>& offers, PieceTable& table) {
  const std::size_t width = grid.width();
  table.on_new.assign(width * width, 0);
  table.on_same.assign(width * width, 0);
  table.which_new.assign(width * width, -1);
  table.which_same.assign(width * width, -1);
  table.uses.clear();
  OfferByPoint points;
  for (const Offer& offer : offers) {
    const auto which = static_cast<std::int16_t>(table.uses.size());
    table.uses.emplace_back(offer.service, offer.use);
    take_points(terms, grid, offer, points);
    for (std::size_t a = 0; a + 1 < width; ++a) {
      take_best(a, which, points, points.ready_from_new[a], -offer.begin_cost, &table.on_new[a * width],
                &table.which_new[a * width]);
      take_best(a, which, points, points.ready_from_same[a], 0, &table.on_same[a * width],
                &table.which_same[a * width]);
    }
  }
}

void fill_piece_maxima(const Terms& terms, const Grid& grid, const std::vector<Offer>& offers, TakeOvers take_overs,
                       PieceTable& table) {
  const std::size_t width = grid.width();
  table.on_new.assign(width * width, 0);
  table.on_same.assign(width * width, 0);
  table.which_new.clear();
  table.which_same.clear();
  OfferByPoint points;
  std::vector<double> idle(width);
  std::vector<double> used(width);
  for (const Offer& offer : offers) {
    take_points(terms, grid, offer, points);
    for (std::size_t b = 0; b < width; ++b) {
      idle[b] = points.stood[b];
      used[b] = points.stood[b] + points.ready_until[b];
    }
    for (std::size_t a = 0; a + 1 < width; ++a) {
      const std::size_t begin = a * width + a + 1;
      const double stood = points.stood[a];
      raise(&table.on_new[begin], &used[a + 1], -points.ready_from_new[a] - stood, width - a - 1);
      raise(&table.on_same[begin], &used[a + 1], -points.ready_from_same[a] - stood, width - a - 1);
      if (offer.stands == nullptr) continue;  // never ready: worth 0 at most
      raise(&table.on_new[begin], &idle[a + 1], -offer.begin_cost - stood, width - a - 1);
      raise(&table.on_same[begin], &idle[a + 1], -stood, width - a - 1);
    }
  }
  if (take_overs == TakeOvers::kCounted) add_take_overs(terms, grid, offers, table);
}

NodeRule& rule_of(std::vector<NodeRule>& rules, NodeIndex node) {
  const auto found = std::ranges::find(rules, node, &NodeRule::node);
  if (found != rules.end()) return *found;
  return rules.emplace_back(NodeRule{.node = node, .is_pinned = false, .is_blocked = false, .extra = {}});
}

std::vector<NodeRule> pin_rules(const Terms& terms, const Grid& grid, GpuIndex gpu,
                                const std::function<std::vector<Offer>(KindIndex, ServiceIndex)>& offers_of,
                                std::vector<PieceTable>& tables) {
  const GpuTerms& gpu_terms = terms.problem.gpus[idx(gpu)];
  const ModelTerms& model = terms.model_of(gpu);
  const SpaceTree& tree = terms.trees[idx(gpu_terms.model)];
  std::vector<NodeRule> rules;
  tables.assign(gpu_terms.pins.size(), {});
  for (std::size_t p = 0; p < gpu_terms.pins.size(); ++p) {
    const PinnedSite& pin = gpu_terms.pins[p];
    fill_piece_table(terms, grid, offers_of(model.sites[idx(pin.site)].kind, pin.service), tables[p]);
    const NodeIndex node = tree.node_of_site[idx(pin.site)];
    rule_of(rules, node).is_pinned = true;
    rule_of(rules, node).extra.push_back({.site = pin.site, .table = &tables[p]});
    for (NodeIndex above = tree.nodes[idx(node)].parent; above >= 0; above = tree.nodes[idx(above)].parent) {
      rule_of(rules, above).is_blocked = true;
    }
  }
  return rules;
}

SpaceValues::SpaceValues(const SpaceTree& tree, const Grid& grid) : tree_(&tree), grid_(&grid) {
  cells_.resize(idx(tree.types));
  cell_of_node_.reserve(tree.nodes.size());
  for (const SpaceNode& node : tree.nodes) cell_of_node_.emplace_back(idx(node.type));
}

void SpaceValues::fill(const ModelTerms& model, const std::vector<PieceTable>& by_kind) {
  drop_rules();
  for (const NodeTypeIndex type : Indices<NodeTypeIndex>(tree_->types)) {  // types of children have smaller numbers
    const SpaceNode& node = tree_->nodes[idx(tree_->node_of_type[idx(type)])];
    Cell& cell = cells_[idx(type)];
    cell.sources.clear();
    cell.children.clear();
    for (const SiteIndex site : node.sites) {
      cell.sources.push_back({.site = site, .table = &by_kind[idx(model.sites[idx(site)].kind)]});
    }
    for (const NodeIndex child : node.children) cell.children.emplace_back(idx(tree_->nodes[idx(child)].type));
    compute(cell);
  }
}

void SpaceValues::add_rules(const ModelTerms& model, const std::vector<PieceTable>& by_kind,
                            const std::vector<NodeRule>& rules) {
  for (const NodeIndex n : indices_of<NodeIndex>(tree_->nodes)) {
    const SpaceNode& node = tree_->nodes[idx(n)];
    const auto rule = std::ranges::find(rules, n, &NodeRule::node);
    const bool is_ruled = rule != rules.end();
    const bool is_changed = is_ruled || std::ranges::any_of(node.children, [&](NodeIndex child) {
                              return cell_of_node_[idx(child)] >= tree_->types;
                            });
    if (!is_changed) continue;
    Cell cell;
    const bool takes_all = !is_ruled || (!rule->is_pinned && !rule->is_blocked);
    for (const SiteIndex site : node.sites) {
      if (takes_all) cell.sources.push_back({.site = site, .table = &by_kind[idx(model.sites[idx(site)].kind)]});
    }
    if (is_ruled) cell.sources.insert(cell.sources.end(), rule->extra.begin(), rule->extra.end());
    for (const NodeIndex child : node.children) {
      if (!is_ruled || !rule->is_pinned) cell.children.push_back(cell_of_node_[idx(child)]);
    }
    compute(cell);
    cell_of_node_[idx(n)] = CellIndex(cells_.size());
    cells_.push_back(std::move(cell));
  }
}

void SpaceValues::drop_rules() {
  cells_.resize(idx(tree_->types));
  for (std::size_t n = 0; n < tree_->nodes.size(); ++n) cell_of_node_[n] = CellIndex(idx(tree_->nodes[n].type));
}

void SpaceValues::compute(Cell& cell) {
  const std::size_t width = grid_->width();
  const std::size_t size = width * width;
  cell.own_new.assign(size, 0);
  cell.own_same.assign(size, 0);
  for (const Source& source : cell.sources) {
    for (std::size_t i = 0; i < size; ++i) {
      cell.own_new[i] = std::max(cell.own_new[i], source.table->on_new[i]);
      cell.own_same[i] = std::max(cell.own_same[i], source.table->on_same[i]);
    }
  }
  cell.base_new.assign(size, 0);
  for (const CellIndex child : cell.children) {
    const std::vector<double>& entry = cells_[idx(child)].entry_new;
    for (std::size_t i = 0; i < size; ++i) cell.base_new[i] += entry[i];
  }
  cell.base_same = cell.base_new;
  for (std::size_t i = 0; i < size; ++i) {
    cell.base_same[i] = std::max(cell.base_same[i], cell.own_same[i]);
    cell.base_new[i] = std::max(cell.base_new[i], cell.own_new[i]);
  }
  cell.entry_new = cell.base_new;
  cell.entry_same = cell.base_same;
  for (std::vector<double>* entry : {&cell.entry_new, &cell.entry_same}) {
    for (std::size_t a = 0; a + 2 < width; ++a) {
      double* row = entry->data() + a * width;
      for (std::size_t m = a + 1; m + 1 < width; ++m) {
        const double before = row[m];
        const double* next = cell.base_same.data() + m * width;
        raise(row + m + 1, next + m + 1, before, width - m - 1);
      }
    }
  }
}

void SpaceValues::trace(NodeIndex node, PointIndex a, PointIndex b, bool is_same, int slots,
                        std::vector<PlannedPiece>& found) const {
  const Cell& values = cell(node);
  const std::size_t width = grid_->width();
  const std::vector<double>& entry = is_same ? values.entry_same : values.entry_new;
  const std::vector<double>& base = is_same ? values.base_same : values.base_new;
  const std::size_t row = idx(a) * width;
  if (entry[row + idx(b)] <= 0) return;
  if (entry[row + idx(b)] == base[row + idx(b)]) {
    trace_base(node, a, b, is_same, slots, found);
    return;
  }
  for (PointIndex m = a + 1; m < b; ++m) {
    if (entry[row + idx(m)] + values.base_same[idx(m) * width + idx(b)] != entry[row + idx(b)]) continue;
    trace(node, a, m, is_same, slots, found);
    trace_base(node, m, b, true, slots, found);
    return;
  }
  ENSURE(false);
}

void SpaceValues::trace_base(NodeIndex node, PointIndex a, PointIndex b, bool is_same, int slots,
                             std::vector<PlannedPiece>& found) const {
  const Cell& values = cell(node);
  const std::size_t at = idx(a) * grid_->width() + idx(b);
  const double worth = is_same ? values.base_same[at] : values.base_new[at];
  if (worth <= 0) return;
  for (std::size_t s = 0; s < values.sources.size(); ++s) {
    const PieceTable& table = *values.sources[s].table;
    if ((is_same ? table.on_same[at] : table.on_new[at]) != worth) continue;
    const std::vector<std::int16_t>& which = is_same ? table.which_same : table.which_new;
    const auto [service, use] = which.empty() ? std::pair(kNoService, 0) : table.uses[idx(which[at])];
    // A type's cell is used for all of its nodes: sites are in the same order in each.
    const bool is_of_type = cell_of_node_[idx(node)] < tree_->types;
    const SiteIndex site = is_of_type ? tree_->nodes[idx(node)].sites[s] : values.sources[s].site;
    found.push_back({.piece = {.site = site, .service = service, .use = use},
                     .from = slot_of(a, slots),
                     .until = slot_of(b, slots),
                     .is_on_same_site = is_same,
                     .from_point = a,
                     .until_point = b});
    return;
  }
  for (const NodeIndex child : tree_->nodes[idx(node)].children) trace(child, a, b, false, slots, found);
}

double GpuWalk::solve(const SpaceValues& space, const std::vector<StandingWorth>& standing, PointIndex first) {
  const SpaceTree& tree = space.tree();
  const std::size_t nodes = tree.nodes.size();
  standing_ = &standing;
  first_ = first;
  here_.assign(nodes, -1);
  is_touched_.assign(nodes, 0);
  kept_.resize(std::max(kept_.size(), nodes));
  best_.resize(std::max(best_.size(), nodes));
  for (std::size_t i = 0; i < standing.size(); ++i) {
    NodeIndex node = tree.node_of_site[idx(standing[i].site)];
    here_[idx(node)] = static_cast<int>(i);
    for (; node >= 0 && is_touched_[idx(node)] == 0; node = tree.nodes[idx(node)].parent) is_touched_[idx(node)] = 1;
  }
  const NodeIndex root = tree.root();
  is_touched_[idx(root)] = 1;
  for (const NodeIndex n : indices_of<NodeIndex>(tree.nodes)) {
    if (is_touched_[idx(n)] != 0) solve_node(space, n);
  }
  return best_[idx(root)].back();
}

double GpuWalk::kept_worth(const SpaceValues& space, NodeIndex node, PointIndex b) const {
  if (here_[idx(node)] >= 0) return (*standing_)[idx(here_[idx(node)])].until[idx(b)];
  const std::size_t width = space.grid().width();
  double sum = 0;
  for (const NodeIndex child : space.tree().nodes[idx(node)].children) {
    if (is_touched_[idx(child)] != 0) {
      sum += best_[idx(child)][idx(b)];
    } else if (b > first_) {
      sum += space.cell(child).entry_new[idx(first_) * width + idx(b)];
    }
  }
  return sum;
}

void GpuWalk::solve_node(const SpaceValues& space, NodeIndex node) {
  const int size = space.grid().size();
  const std::size_t width = space.grid().width();
  std::vector<double>& kept = kept_[idx(node)];
  std::vector<double>& best = best_[idx(node)];
  kept.assign(width, 0);
  for (PointIndex b = first_; b <= size; ++b) kept[idx(b)] = kept_worth(space, node, b);
  best = kept;
  const Cell& cell = space.cell(node);
  const std::vector<double>& entry = here_[idx(node)] >= 0 ? cell.entry_same : cell.entry_new;
  for (PointIndex m = first_; m < size; ++m) {
    const double before = best[idx(m)];
    const double* next = entry.data() + idx(m) * width;
    raise(best.data() + m + 1, next + m + 1, before, width - idx(m) - 1);
  }
}

void GpuWalk::trace(const SpaceValues& space, PointIndex point, int slots, std::vector<SlotIndex>& stays_until,
                    std::vector<PlannedPiece>& found) const {
  std::vector<NewSpace> new_spaces;
  trace_new_spaces(space, point, slots, stays_until, new_spaces);
  found.clear();
  for (const NewSpace& new_space : new_spaces) {
    space.trace(new_space.node, new_space.from_point, new_space.until_point, new_space.is_on_same_site, slots, found);
  }
}

void GpuWalk::trace_new_spaces(const SpaceValues& space, PointIndex point, int slots,
                               std::vector<SlotIndex>& stays_until, std::vector<NewSpace>& new_spaces) const {
  stays_until.assign(standing_->size(), SlotIndex(0));
  new_spaces.clear();
  trace_node(space, space.tree().root(), point, slots, stays_until, new_spaces);
}

void GpuWalk::trace_node(const SpaceValues& space, NodeIndex node, PointIndex b, int slots,
                         std::vector<SlotIndex>& stays_until, std::vector<NewSpace>& new_spaces) const {
  const std::vector<double>& best = best_[idx(node)];
  if (best[idx(b)] == kept_[idx(node)][idx(b)]) {
    if (here_[idx(node)] >= 0) {
      stays_until[idx(here_[idx(node)])] = space.slot_of(b, slots);
      return;
    }
    for (const NodeIndex child : space.tree().nodes[idx(node)].children) {
      if (is_touched_[idx(child)] != 0) {
        trace_node(space, child, b, slots, stays_until, new_spaces);
      } else if (b > first_) {
        new_spaces.push_back({.node = child, .from_point = first_, .until_point = b, .is_on_same_site = false});
      }
    }
    return;
  }
  const bool is_same = here_[idx(node)] >= 0;
  const Cell& cell = space.cell(node);
  const std::vector<double>& entry = is_same ? cell.entry_same : cell.entry_new;
  for (PointIndex m = first_; m < b; ++m) {
    if (best[idx(m)] + entry[idx(m) * space.grid().width() + idx(b)] != best[idx(b)]) continue;
    trace_node(space, node, m, slots, stays_until, new_spaces);
    new_spaces.push_back({.node = node, .from_point = m, .until_point = b, .is_on_same_site = is_same});
    return;
  }
  ENSURE(false);
}

}  // namespace berth::planner::fleet
