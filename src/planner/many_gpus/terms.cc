#include "planner/many_gpus/terms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace berth::planner::fleet {
namespace {

/// A shortfall of one hundredth of a floor in one slot costs more than the maximum objective.
constexpr double kShortfallWeight = 100;
constexpr double kHalfSlotSlack = 1e-9;

int whole_slots(double seconds) { return static_cast<int>(std::floor(seconds + 0.5 + kHalfSlotSlack)); }

Ladder ladder_of(const ServiceTerms& service, bool is_fresh) {
  const auto accuracy = [&](int v) {
    const VariantTerms& variant = service.variants[idx(v)];
    return is_fresh ? variant.accuracy_after : variant.accuracy_before;
  };
  Ladder ladder;
  ladder.order.resize(service.variants.size());
  std::iota(ladder.order.begin(), ladder.order.end(), 0);
  std::ranges::sort(ladder.order,
                    [&](int a, int b) { return accuracy(a) != accuracy(b) ? accuracy(a) > accuracy(b) : a < b; });
  ladder.step.reserve(ladder.order.size());
  for (std::size_t w = 0; w < ladder.order.size(); ++w) {
    const double next = w + 1 < ladder.order.size() ? accuracy(ladder.order[w + 1]) : 0;
    ladder.step.push_back(service.value * (accuracy(ladder.order[w]) - next));
  }
  return ladder;
}

/// Nodes of the tree by their clashes; larger spaces clash with more.
struct Space {
  std::uint64_t clashes = 0;
  std::vector<SiteIndex> sites;
};

std::vector<Space> spaces_of(const ModelTerms& model) {
  std::map<std::uint64_t, std::vector<SiteIndex>> by_clashes;
  for (std::size_t s = 0; s < model.sites.size(); ++s) {
    by_clashes[model.sites[s].clashes | std::uint64_t{1} << s].emplace_back(s);
  }
  std::vector<Space> spaces;
  for (auto& [clashes, sites] : by_clashes) {
    std::ranges::sort(sites, {}, [&](SiteIndex s) { return std::pair(model.sites[idx(s)].kind, s); });
    spaces.push_back({.clashes = clashes, .sites = sites});
  }
  std::ranges::sort(spaces, {},
                    [](const Space& space) { return std::pair(std::popcount(space.clashes), space.sites.front()); });
  return spaces;
}

NodeIndex parent_of(const std::vector<Space>& spaces, std::size_t child) {
  for (std::size_t n = child + 1; n < spaces.size(); ++n) {
    const bool holds_all = (spaces[child].clashes & ~spaces[n].clashes) == 0;
    if (holds_all && (spaces[n].clashes >> spaces[child].sites.front() & 1) != 0) return NodeIndex(n);
  }
  return NodeIndex(spaces.size());  // the root
}

void set_types(const ModelTerms& model, SpaceTree& tree) {
  std::map<std::vector<int>, NodeTypeIndex> types;
  for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
    SpaceNode& node = tree.nodes[n];
    std::vector<int> key;
    key.reserve(node.sites.size() + 1 + node.children.size());
    for (const SiteIndex site : node.sites) key.push_back(model.sites[idx(site)].kind);
    key.push_back(-1);
    std::ranges::sort(node.children, {}, [&](NodeIndex c) { return std::pair(tree.nodes[idx(c)].type, c); });
    for (const NodeIndex child : node.children) key.push_back(tree.nodes[idx(child)].type);
    const auto [found, is_new] = types.emplace(std::move(key), NodeTypeIndex(tree.types));
    if (is_new) {
      ++tree.types;
      tree.node_of_type.emplace_back(n);
    }
    node.type = found->second;
  }
}

bool is_above(const SpaceTree& tree, NodeIndex high, NodeIndex low) {
  for (NodeIndex n = low; n >= 0; n = tree.nodes[idx(n)].parent) {
    if (n == high) return true;
  }
  return false;
}

SpaceTree tree_of(const ModelTerms& model) {
  const std::vector<Space> spaces = spaces_of(model);
  SpaceTree tree;
  tree.nodes.resize(spaces.size() + 1);
  tree.node_of_site.resize(model.sites.size());
  for (std::size_t n = 0; n < spaces.size(); ++n) {
    tree.nodes[n].sites = spaces[n].sites;
    tree.nodes[n].parent = parent_of(spaces, n);
    for (const SiteIndex site : spaces[n].sites) tree.node_of_site[idx(site)] = NodeIndex(n);
    tree.nodes[idx(tree.nodes[n].parent)].children.emplace_back(n);
  }
  set_types(model, tree);
  for (std::size_t a = 0; a < model.sites.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const NodeIndex x = tree.node_of_site[a];
      const NodeIndex y = tree.node_of_site[b];
      const bool is_nested = is_above(tree, x, y) || is_above(tree, y, x);
      if ((model.sites[a].clashes >> b & 1) != 0 && !is_nested) tree.is_exact = false;
    }
  }
  return tree;
}

double value_max_of(const Problem& problem) {
  double sum = 0;
  for (const ServiceTerms& service : problem.services) {
    double accuracy = 0;
    for (const VariantTerms& variant : service.variants) {
      accuracy = std::max({accuracy, variant.accuracy_after, variant.accuracy_before});
    }
    const std::size_t count = idx(problem.slots * problem.samples);
    double requests = std::accumulate(service.loads.begin(), service.loads.begin() + static_cast<long>(count), 0.0);
    requests += problem.tail_seconds *
                std::accumulate(service.loads.begin() + static_cast<long>(count), service.loads.end(), 0.0);
    sum += service.value * accuracy * requests / problem.samples;
    if (service.retraining) sum += std::max(service.retraining->progress_value, service.retraining->fresh_value);
  }
  return sum;
}

SlotIndex first_change_of(const Terms& terms, const GpuTerms& gpu) {
  SlotIndex slot = gpu.free_from;
  for (const StandingPiece& standing : gpu.standing) slot = std::max(slot, SlotIndex(standing.ready_in));
  return terms.next_open(slot);
}

/// The least creation time of any slice on any model.
double least_create_seconds(const Problem& problem) {
  double least = std::numeric_limits<double>::infinity();
  for (const ModelTerms& model : problem.models) {
    if (model.create_seconds.empty()) least = std::min(least, problem.create_seconds);
    for (const double seconds : model.create_seconds) least = std::min(least, seconds);
  }
  return problem.models.empty() ? problem.create_seconds : least;
}

void set_groups(const Problem& problem, Terms& terms) {
  std::map<std::pair<int, int>, GroupIndex> groups;  // {alone service or -1, trust domain}
  for (const ServiceIndex i : indices_of<ServiceIndex>(problem.services)) {
    const ServiceTerms& service = problem.services[i];
    const std::pair key(service.is_alone_on_gpu ? static_cast<int>(i) : -1, service.trust_domain);
    terms.group.push_back(groups.emplace(key, GroupIndex(groups.size())).first->second);
  }
  terms.groups = std::max(1, static_cast<int>(groups.size()));
}

}  // namespace

Terms::Terms(const Problem& of) : problem(of), slots(of.slots) {
  const double create = least_create_seconds(of);
  for (const ServiceTerms& service : of.services) {
    stale.push_back(ladder_of(service, false));
    fresh.push_back(ladder_of(service, true));
    const double start = of.plumbing_seconds + service.start_seconds;
    serving.push_back({.on_same_site = whole_slots(start), .on_new_site = whole_slots(start + create)});
  }
  retraining = {.on_same_site = whole_slots(of.plumbing_seconds),
                .on_new_site = whole_slots(of.plumbing_seconds + create)};
  for (const ModelTerms& model : of.models) trees.push_back(tree_of(model));
  set_groups(of, *this);
  for (const GpuTerms& gpu : of.gpus) first_change.push_back(first_change_of(*this, gpu));
  value_max = value_max_of(of);
  shortfall_price = kShortfallWeight * (value_max + 1);
  excess_price = shortfall_price * (slots + 1) * (static_cast<double>(of.services.size()) + 1);
}

bool Terms::has_retraining() const {
  return std::ranges::any_of(problem.services,
                             [](const ServiceTerms& service) { return service.retraining.has_value(); });
}

SlotIndex Terms::next_open(SlotIndex slot) const {
  SlotIndex open = std::max(SlotIndex(0), slot);
  while (open < slots && !may_change_at(open)) ++open;
  return std::min(open, tail());
}

int ready_after(const Terms& terms, const ModelTerms& model, const Configuration& before, const Piece& piece) {
  const Problem& problem = terms.problem;
  double seconds = problem.plumbing_seconds;
  if (piece.use != kRetraining && piece.service != kNoService)
    seconds += problem.services[idx(piece.service)].start_seconds;
  const Site& site = model.sites[idx(piece.site)];
  bool is_same_site = false;
  double destroys = 0;
  for (const Piece& old : before) {
    if (old == piece) return 0;
    is_same_site |= old.site == piece.site;
    if ((site.clashes >> old.site & 1) == 0) continue;
    destroys = std::max(destroys, destroy_seconds_of(problem, model, model.sites[idx(old.site)].kind));
  }
  if (!is_same_site) seconds += create_seconds_of(problem, model, site.kind) + destroys;
  return whole_slots(seconds);
}

double Terms::worth_always_fresh(ServiceIndex service, const double* capacity) const {
  const Ladder& ladder = fresh[idx(service)];
  const double* loads = problem.services[idx(service)].loads.data();
  const int samples = problem.samples;
  const std::size_t rungs = ladder.order.size();
  double sum = 0;
  for (SlotIndex slot(0); slot < slots; ++slot, loads += samples, capacity += rungs) {
    double together = 0;
    for (std::size_t w = 0; w < rungs; ++w) {
      together += capacity[ladder.order[w]];
      double answered = 0;
      for (int sample = 0; sample < samples; ++sample) answered += loads[sample] < together ? loads[sample] : together;
      sum += ladder.step[w] * answered;
    }
  }
  return sum / samples;
}

Grid make_grid(const Terms& terms, const std::vector<SlotIndex>& wanted, const std::vector<int>& delays) {
  std::vector<SlotIndex> points;
  const auto add = [&](SlotIndex slot) {
    if (slot < 0 || slot >= terms.slots) return;
    points.push_back(terms.next_open(slot));
    SlotIndex before = slot;
    while (before >= 0 && !terms.may_change_at(before)) --before;
    if (before >= 0) points.push_back(before);
  };
  add(SlotIndex(0));
  add(terms.tail() - 1);  // in the tail every piece is ready, however late it began
  for (const SlotIndex slot : wanted) {
    add(slot);
    for (const int delay : delays) add(slot - delay);
  }
  for (SlotIndex slot(1); slot < terms.slots; ++slot) {
    if (terms.may_change_at(slot) != terms.may_change_at(slot - 1)) add(slot);
  }
  std::ranges::sort(points);
  const auto again = std::ranges::unique(points);
  points.erase(again.begin(), again.end());
  std::erase_if(points, [&](SlotIndex slot) { return slot >= terms.slots; });
  return {.points = std::move(points)};
}

}  // namespace berth::planner::fleet
