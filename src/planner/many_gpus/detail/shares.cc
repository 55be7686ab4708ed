#include "planner/many_gpus/detail/shares.h"

#include <algorithm>
#include <cmath>

namespace berth::planner::fleet {
namespace {

constexpr double kShortfallMost = 6;   ///< times the softness: uses with a larger shortfall get nothing
constexpr double kAmountLeast = 1e-4;  ///< of a GPU

}  // namespace

double share_weight(double worth, double best, double softness) {
  const double shortfall = (best - worth) / softness;
  return shortfall < kShortfallMost ? std::exp(-shortfall) : 0;
}

SpaceShares::SpaceShares(const SpaceTree& tree, int kinds, std::size_t width) : width_(width) {
  const std::array<std::vector<double>, 2> none = {std::vector<double>(width * width),
                                                   std::vector<double>(width * width)};
  entries_.assign(idx(tree.types), none);
  bases_.assign(idx(tree.types), none);
  kinds_.assign(idx(kinds), none);
  type_reference_.assign(idx(tree.types), none[0]);
  kind_reference_.assign(idx(kinds), none[0]);
}

void SpaceShares::set_reference(const SpaceValues& space, const std::vector<PieceTable>& by_kind) {
  for (const NodeTypeIndex type : indices_of<NodeTypeIndex>(type_reference_)) {
    type_reference_[type] = space.cell_of_type(type).entry_new;
  }
  for (const KindIndex kind : indices_of<KindIndex>(kind_reference_)) kind_reference_[kind] = by_kind[kind].on_new;
}

void SpaceShares::clear() {
  is_empty_ = true;
  for (auto* tables : {&entries_, &bases_, &kinds_}) {
    for (auto& both : *tables) {
      for (std::vector<double>& table : both) std::ranges::fill(table, 0);
    }
  }
}

void SpaceShares::add(const SpaceTree& tree, const NewSpace& new_space, double amount) {
  is_empty_ = false;
  std::vector<double>& table = entries_[idx(tree.nodes[idx(new_space.node)].type)][new_space.is_on_same_site ? 1 : 0];
  table[idx(new_space.from_point) * width_ + idx(new_space.until_point)] += amount;
}

void SpaceShares::spread(const SpaceValues& space, const ModelTerms& model, double softness) {
  if (is_empty_) return;
  for (NodeTypeIndex type = NodeTypeIndex(entries_.size()) - 1; type >= 0; --type) {  // children have smaller numbers
    const Cell& cell = space.cell_of_type(type);
    split_in_time(cell, type, false, softness);
    split_in_time(cell, type, true, softness);
    split_in_space(space, model, type, false, softness);
    split_in_space(space, model, type, true, softness);
  }
}

/// F(a, b) is base(a, b), or F(a, m) and then base(m, b).
void SpaceShares::split_in_time(const Cell& cell, NodeTypeIndex type, bool is_same, double softness) {
  const std::vector<double>& entry = is_same ? cell.entry_same : cell.entry_new;
  const std::vector<double>& base = is_same ? cell.base_same : cell.base_new;
  std::vector<double>& amounts = entries_[idx(type)][is_same ? 1 : 0];
  std::vector<double>& own = bases_[idx(type)][is_same ? 1 : 0];
  std::vector<double>& later = bases_[idx(type)][1];
  const std::vector<double>& reference = type_reference_[idx(type)];
  weights_.assign(width_, 0);
  for (std::size_t a = 0; a + 1 < width_; ++a) {
    const std::size_t row = a * width_;
    for (std::size_t b = width_ - 1; b > a; --b) {
      const double amount = amounts[row + b];
      const double best = entry[row + b];
      if (amount <= kAmountLeast || best <= 0) continue;
      const double shortfall_scale = softness * std::max(best, reference[row + b]);
      weights_[a] = share_weight(base[row + b], best, shortfall_scale);
      double sum = weights_[a];
      for (std::size_t m = a + 1; m < b; ++m) {
        weights_[m] = share_weight(entry[row + m] + cell.base_same[m * width_ + b], best, shortfall_scale);
        sum += weights_[m];
      }
      own[row + b] += amount * weights_[a] / sum;
      for (std::size_t m = a + 1; m < b; ++m) {
        const double part = amount * weights_[m] / sum;
        amounts[row + m] += part;
        later[m * width_ + b] += part;
      }
    }
  }
}

/// base(a, b) is a piece on a site of the node, or its children.
void SpaceShares::split_in_space(const SpaceValues& space, const ModelTerms& model, NodeTypeIndex type, bool is_same,
                                 double softness) {
  const Cell& cell = space.cell_of_type(type);
  const std::vector<double>& base = is_same ? cell.base_same : cell.base_new;
  const std::vector<double>& amounts = bases_[idx(type)][is_same ? 1 : 0];
  weights_.assign(cell.sources.size() + 1, 0);
  for (std::size_t at = 0; at < amounts.size(); ++at) {
    const double amount = amounts[at];
    const double best = base[at];
    if (amount <= kAmountLeast || best <= 0) continue;
    const double shortfall_scale = softness * std::max(best, type_reference_[idx(type)][at]);
    double sum = 0;
    for (std::size_t s = 0; s < cell.sources.size(); ++s) {
      const PieceTable& table = *cell.sources[s].table;
      weights_[s] = share_weight(is_same ? table.on_same[at] : table.on_new[at], best, shortfall_scale);
      sum += weights_[s];
    }
    double below = 0;
    for (const CellIndex child : cell.children) below += space.cell_of_type(NodeTypeIndex(idx(child))).entry_new[at];
    weights_.back() = cell.children.empty() ? 0 : share_weight(below, best, shortfall_scale);
    sum += weights_.back();
    for (std::size_t s = 0; s < cell.sources.size(); ++s) {
      const KindIndex kind = model.sites[idx(cell.sources[s].site)].kind;
      kinds_[idx(kind)][is_same ? 1 : 0][at] += amount * weights_[s] / sum;
    }
    if (weights_.back() <= 0) continue;
    for (const CellIndex child : cell.children) entries_[idx(child)][0][at] += amount * weights_.back() / sum;
  }
}

}  // namespace berth::planner::fleet
