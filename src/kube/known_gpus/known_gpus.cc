#include "kube/known_gpus/known_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "kube/known_gpus/gpu_table.h"
#include "scheduling/placement/berth_placer.h"
#include "scheduling/placement/slices.h"

namespace berth::kube {
namespace {

using placement::NodeIndex;
using placement::Shape;
using placement::Spot;

constexpr std::int64_t kAmountMax = 1'000'000'000;  // of CPU milli and MiB, as lists of nodes have at most
constexpr std::int64_t kMilliPerMib = std::int64_t{1'000} << 20U;
/// Arrivals after which the numbers of requests are taken over, at least.
constexpr std::int64_t kArrivalsMin = 64;

/// Takes whole GPUs; with sites, slices.
Shape gpu_filler() { return {.gpu_count = 1, .gpu_milli = placement::kGpuMilli, .fits_model = {}}; }
/// Takes what pods take beside GPUs.
Shape room_filler(const NodeRoom& room) { return {.cpu_milli = room.cpu, .memory_mib = room.memory, .fits_model = {}}; }

std::string nodes_text(const PodFacts& pod) {
  std::string text;
  for (const auto& [key, value] : pod.node_selector) text += fmt::format("{}={}\n", key, value);
  for (const auto& term : pod.affinity) {
    text += "or\n";
    for (const LabelRequirement& each : term) {
      text += fmt::format("{} {} {}", each.key, each.op, each.is_of_name);
      for (const std::string& value : each.values) text += " " + value;
      text += "\n";
    }
  }
  for (const Toleration& each : pod.tolerations)
    text += fmt::format("tolerates {} {} {} {}\n", each.key, each.value, each.effect, each.is_any_value);
  return text;
}

/// Whether a pod may run on a node, apart from room and devices.
bool allows(const PodFacts& pod, const Surroundings& around, const std::string& name) {
  const auto node = around.nodes.find(name);
  if (node == around.nodes.end()) return false;
  PodFacts unsized = pod;
  unsized.wants = {};
  return !unfit(unsized, node->second, {});
}

/// The sites of a GPU whose devices an option selects, and whether it selects the whole GPU.
struct Selected {
  mig::SiteSet sites = 0;
  bool is_whole = false;
};
Selected selected_on(const TableGpu& gpu, const std::vector<std::size_t>& devices) {
  Selected selected;
  for (std::size_t site = 0; site < gpu.device_of.size(); ++site) {
    if (gpu.device_of[site] && std::ranges::binary_search(devices, *gpu.device_of[site]))
      selected.sites |= mig::SiteSet{1} << site;
  }
  selected.is_whole = gpu.whole && std::ranges::binary_search(devices, *gpu.whole);
  return selected;
}

mig::SiteSet published(const TableGpu& gpu) {
  mig::SiteSet sites = 0;
  for (std::size_t site = 0; site < gpu.device_of.size(); ++site) {
    if (gpu.device_of[site]) sites |= mig::SiteSet{1} << site;
  }
  return sites;
}

}  // namespace

/// The problem, its state, and the placer: they refer to each other.
struct KnownGpus::Board {
  GpuTable table;
  placement::Problem problem;
  std::unique_ptr<placement::Cluster> cluster;
  std::unique_ptr<placement::BerthPlacer> placer;
  std::map<Wish, placement::ShapeIndex> shapes;  ///< those that can be handled
  std::vector<std::vector<HeldSites>> held;      ///< by node and GPU
  std::vector<NodeRoom> used;                    ///< by node
  std::vector<std::int64_t> changes;             ///< by node: of its pools, when they were looked at
  std::int64_t structure = 0;                    ///< of the inventory
  std::int64_t arrivals = 0;                     ///< at which it was made

  /// Nothing: not one profile, or not one that is handled.
  [[nodiscard]] std::optional<placement::Shape> shape_of(const Wish& wish, const Claim& claim,
                                                         const Surroundings& around, Chooser& chooser) const;
  /// Takes over what claims and pods hold now.
  void follow(const Surroundings& around);
  void follow_gpus(std::size_t node);
};

KnownGpus::KnownGpus() = default;
KnownGpus::KnownGpus(KnownGpus&&) noexcept = default;
KnownGpus& KnownGpus::operator=(KnownGpus&&) noexcept = default;
KnownGpus::~KnownGpus() = default;

void KnownGpus::forget() { board_.reset(); }

KnownGpus::Wish KnownGpus::wish_of(const PodFacts& pod, const Claim& claim) {
  Wish wish{.cpu_milli = pod.wants.cpu,
            .memory_mib = (pod.wants.memory + kMilliPerMib - 1) / kMilliPerMib,
            .nodes = nodes_text(pod),
            .options = {}};
  for (const RequestOption& option : claim.requests.front().options) {
    std::string text = option.class_name;
    for (const Selector& selector : option.selectors) text += "\n" + selector.text;
    wish.options.push_back(std::move(text));
  }
  return wish;
}

std::optional<Shape> KnownGpus::Board::shape_of(const Wish& wish, const Claim& claim, const Surroundings& around,
                                                Chooser& chooser) const {
  Shape shape{.cpu_milli = wish.cpu_milli, .memory_mib = wish.memory_mib, .gpu_count = 1, .fits_model = {}};
  bool is_whole = false;
  bool is_any = false;
  for (const RequestOption& option : claim.requests.front().options) {
    auto& needs = shape.slices.emplace_back(table.cuts.size());
    std::vector<bool> is_seen(table.cuts.size());
    for (const TableNode& node : table.nodes) {
      const auto cut = static_cast<std::size_t>(node.cut);
      if (is_seen[cut]) continue;
      is_seen[cut] = true;
      const TableGpu& gpu = node.gpus.front();
      const Selected selected = selected_on(gpu, chooser.selected(option, *gpu.state, around));
      if (selected.is_whole && selected.sites == 0) {
        is_whole = true;
      } else if (selected.is_whole) {
        return std::nullopt;
      }
      if (selected.sites == 0) continue;
      const placement::Cut& its = table.cuts[cut];
      const mig::KindIndex kind = placement::kind_of(its, selected.sites);
      const mig::SiteSet all = its.map.kinds[static_cast<std::size_t>(kind)].sites & published(gpu);
      if (all != selected.sites) return std::nullopt;  // several profiles, or some starts only
      needs[cut] = placement::SliceNeed{.kind = kind};
      is_any = true;
      if (shape.gpu_milli == 0) {
        shape.gpu_milli =
            std::max(1, placement::kGpuMilli * its.map.kinds[static_cast<std::size_t>(kind)].length / its.model.units);
      }
    }
  }
  if (is_whole == is_any) return std::nullopt;  // both, or none of these GPUs
  shape.names_profile = is_any;
  if (is_whole) {
    shape.slices.clear();
    shape.gpu_milli = placement::kGpuMilli;
  }
  return shape;
}

void KnownGpus::add_nodes(const Surroundings& around, Board& board) const {
  // Nodes that the same requests allow, with one model of GPUs, are of one "model" of the problem.
  std::map<std::string, const PodFacts*> kinds_of_pods;
  for (const auto& [wish, known] : known_) kinds_of_pods.emplace(wish.nodes, &known.pod);
  for (const TableNode& node : board.table.nodes) {
    std::string text = board.table.cuts[static_cast<std::size_t>(node.cut)].model.name + " ";
    for (const auto& [nodes, pod] : kinds_of_pods) text += allows(*pod, around, node.name) ? '1' : '0';
    const auto found = std::ranges::find(board.problem.models, text);
    const auto model = found - board.problem.models.begin();
    if (found == board.problem.models.end()) board.problem.models.push_back(text);
    const auto facts = around.nodes.find(node.name);
    const NodeRoom room = facts == around.nodes.end() ? NodeRoom{} : facts->second.room;
    board.problem.nodes.push_back({.row = static_cast<int>(board.problem.nodes.size()),
                                   .cpu_milli = std::min(room.cpu, kAmountMax),
                                   .memory_mib = std::min(room.memory / kMilliPerMib, kAmountMax),
                                   .gpu_count = static_cast<int>(node.gpus.size()),
                                   .model = placement::ModelIndex(model),
                                   .cut = node.cut});
    board.problem.gpu_count += static_cast<std::int64_t>(node.gpus.size());
  }
}

void KnownGpus::add_shapes(const Surroundings& around, Chooser& chooser, Board& board) const {
  for (const auto& [wish, known] : known_) {
    auto shape = board.shape_of(wish, known.claim, around, chooser);
    if (!shape) continue;
    shape->fits_model.assign(board.problem.models.size(), false);
    for (std::size_t i = 0; i < board.problem.nodes.size(); ++i) {
      if (allows(known.pod, around, board.table.nodes[i].name))
        shape->fits_model[static_cast<std::size_t>(board.problem.nodes[i].model)] = true;
    }
    board.shapes.emplace(wish, placement::ShapeIndex(board.problem.shapes.size()));
    board.problem.shapes.push_back(*std::move(shape));
    board.problem.rows_of_shape.push_back(known.count);
  }
}

void KnownGpus::build(const Surroundings& around, Chooser& chooser) {
  auto board = std::make_unique<Board>();
  board->table = make_gpu_table(around);
  board->structure = around.inventory.structure_count();
  board->arrivals = arrivals_;
  add_nodes(around, *board);
  add_shapes(around, chooser, *board);
  board->problem.cuts = board->table.cuts;
  board_ = std::move(board);
  if (board_->problem.nodes.empty() || board_->problem.shapes.empty()) return;
  std::vector<NodeIndex> order;
  for (const NodeIndex node : indices_of<NodeIndex>(board_->problem.nodes)) order.push_back(node);
  board_->cluster = std::make_unique<placement::Cluster>(board_->problem, std::move(order));
  for (const TableNode& node : board_->table.nodes) board_->held.emplace_back(node.gpus.size());
  board_->used.resize(board_->table.nodes.size());
  board_->changes.assign(board_->table.nodes.size(), -1);
  board_->placer = std::make_unique<placement::BerthPlacer>(*board_->cluster);
}

void KnownGpus::Board::follow_gpus(std::size_t node) {
  const TableNode& its = table.nodes[node];
  const mig::SiteMap& map = table.cuts[static_cast<std::size_t>(its.cut)].map;
  bool is_changed = false;
  for (std::size_t gpu = 0; gpu < its.gpus.size(); ++gpu) {
    const HeldSites now = held_sites(its.gpus[gpu], map);
    HeldSites& before = held[node][gpu];
    if (now == before) continue;
    Spot spot{.node = NodeIndex(node), .gpus = static_cast<placement::GpuSet>(1U << gpu)};
    const auto change = [&](const HeldSites& its_sites, bool is_placed) {
      if (its_sites == HeldSites{}) return;
      spot.slices = its_sites.sites;
      if (is_placed) {
        cluster->place(spot, gpu_filler());
      } else {
        cluster->remove(spot, gpu_filler());
      }
    };
    change(before, false);
    change(now, true);
    before = now;
    is_changed = true;
  }
  if (is_changed) placer->touch(NodeIndex(node));
}

void KnownGpus::Board::follow(const Surroundings& around) {
  for (std::size_t i = 0; i < table.nodes.size(); ++i) {
    std::int64_t change_count = 0;
    for (const TableGpu& gpu : table.nodes[i].gpus) change_count += gpu.state->change_count;
    if (change_count != changes[i]) {
      changes[i] = change_count;
      follow_gpus(i);
    }
    const auto found = around.used.find(table.nodes[i].name);
    const placement::Node& node = problem.nodes[i];
    const NodeRoom taken = found == around.used.end() ? NodeRoom{} : found->second;
    const NodeRoom now{.cpu = std::min(taken.cpu, node.cpu_milli),
                       .memory = std::min((taken.memory + kMilliPerMib - 1) / kMilliPerMib, node.memory_mib)};
    NodeRoom& before = used[i];
    if (now.cpu == before.cpu && now.memory == before.memory) continue;
    const Spot spot{.node = NodeIndex(i)};
    cluster->remove(spot, room_filler(before));
    cluster->place(spot, room_filler(now));
    before = now;
    placer->touch(NodeIndex(i));
  }
}

std::optional<Chosen> KnownGpus::choose(const PodFacts& pod, const Claim& claim, const Surroundings& around,
                                        Chooser& chooser) {
  const bool is_handled = claim.requests.size() == 1 && claim.constraints.empty() &&
                          std::ranges::all_of(claim.requests.front().options, [](const RequestOption& option) {
                            return option.count == 1 && option.tolerations.empty();
                          });
  if (!is_handled) return std::nullopt;
  Wish wish = wish_of(pod, claim);
  const auto found = known_.find(wish);
  if (found == known_.end()) {
    if (known_.size() == kShapesMax) return std::nullopt;
    known_.emplace(wish, Known{pod, claim, 0});
    board_.reset();
  }
  ++known_[wish].count;
  ++arrivals_;
  const bool is_current = board_ && board_->structure == around.inventory.structure_count() &&
                          arrivals_ - board_->arrivals < std::max(kArrivalsMin, board_->arrivals);
  if (!is_current) build(around, chooser);
  const auto shape = board_->shapes.find(wish);
  if (!board_->placer || shape == board_->shapes.end()) return std::nullopt;
  board_->follow(around);
  const auto spot = board_->placer->choose(shape->second);
  if (!spot) return std::nullopt;
  const auto node = static_cast<std::size_t>(spot->node);
  const TableNode& its = board_->table.nodes[node];
  const TableGpu& gpu = its.gpus[static_cast<std::size_t>(std::countr_zero(spot->gpus))];
  const auto device =
      spot->slices == 0 ? gpu.whole : gpu.device_of[static_cast<std::size_t>(std::countr_zero(spot->slices))];
  const auto facts = around.nodes.find(its.name);
  if (!device || !gpu.state->is_free(*device) || facts == around.nodes.end()) return std::nullopt;
  const auto used = around.used.find(its.name);
  if (unfit(pod, facts->second, used == around.used.end() ? NodeRoom{} : used->second)) return std::nullopt;
  for (const RequestOption& option : claim.requests.front().options) {
    if (!std::ranges::binary_search(chooser.selected(option, *gpu.state, around), *device)) continue;
    return Chosen{its.name, {{{option.name, {gpu.pool, gpu.state->pool.devices[*device].name}}}}};
  }
  return std::nullopt;
}

}  // namespace berth::kube
