#include "scheduling/placement/idle_capacity.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/core/ensure.h"
#include "scheduling/placement/slices.h"

namespace berth::placement {
namespace {

constexpr std::array kCauseNames = {std::string_view("usable"),
                                    std::string_view("gang does not fit"),
                                    std::string_view("memory used up"),
                                    std::string_view("CPU used up"),
                                    std::string_view("too few GPUs"),
                                    std::string_view("no legal start"),
                                    std::string_view("rest of 500–999 milli"),
                                    std::string_view("rest of 250–499 milli"),
                                    std::string_view("rest of 100–249 milli"),
                                    std::string_view("rest of 1–99 milli"),
                                    std::string_view("wrong model")};
static_assert(kCauseNames.size() == kIdleCauseCount);

IdleCause rest_cause(int milli) {
  constexpr std::array kBySize = {IdleCause::kRest0, IdleCause::kRest1, IdleCause::kRest2, IdleCause::kRest3};
  return kBySize[static_cast<std::size_t>(rest_size(milli))];
}

const Cut* cut_of_node(const Cluster& cluster, NodeIndex node) {
  const std::optional<CutIndex> cut = cluster.node(node).cut;
  return cut ? &cluster.problem().cuts[static_cast<std::size_t>(*cut)] : nullptr;
}

/// Divides the idle milli of one node by cause, for one shape after the other.
class NodeIdle {
 public:
  NodeIdle(const Cluster& cluster, NodeIndex node)
      : cluster_(cluster), node_(node), state_(cluster.state(node)), cut_(cut_of_node(cluster, node)) {
    for (int gpu = 0; gpu < state_.gpu_count; ++gpu) {
      idle_of_[static_cast<std::size_t>(gpu)] = idle_milli_of(cluster, node, gpu);
      idle_ += idle_of_[static_cast<std::size_t>(gpu)];
    }
  }

  [[nodiscard]] std::int64_t idle() const { return idle_; }

  using ByCause = std::array<std::int64_t, kIdleCauseCount>;
  [[nodiscard]] ByCause divided(const Shape& shape) const {
    ByCause milli = {};
    const auto add = [&](IdleCause cause, std::int64_t part) { milli[static_cast<std::size_t>(cause)] += part; };
    if (!suits_model(shape)) {
      add(IdleCause::kModel, idle_);
      return milli;
    }
    int suiting = 0;
    std::int64_t suiting_milli = 0;
    for (int gpu = 0; gpu < state_.gpu_count; ++gpu) {
      const int idle = idle_of_[static_cast<std::size_t>(gpu)];
      if (idle == 0) continue;
      if (const auto cause = misfit(shape, gpu, idle)) {
        add(*cause, idle);
      } else {
        ++suiting;
        suiting_milli += idle;
      }
    }
    add(cause_beside(shape, suiting), suiting_milli);
    return milli;
  }

 private:
  [[nodiscard]] bool suits_model(const Shape& shape) const {
    if (!shape.fits_model[static_cast<std::size_t>(state_.model)]) return false;
    if (shape.slices.empty()) return true;
    if (cut_ == nullptr) return !shape.names_profile;
    return std::ranges::any_of(shape.slices, [&](const auto& needs) {
      const auto need = need_here(needs);
      return need && lowest_sites(*cut_, 0, *need).has_value();
    });
  }

  [[nodiscard]] std::optional<SliceNeed> need_here(const std::vector<std::optional<SliceNeed>>& needs) const {
    return needs[static_cast<std::size_t>(*cluster_.node(node_).cut)];
  }

  /// Why a GPU with idle milli does not suit, apart from its model; nothing if it does.
  [[nodiscard]] std::optional<IdleCause> misfit(const Shape& shape, int gpu, int idle) const {
    if (cut_ == nullptr || shape.slices.empty()) {
      return idle >= shape.gpu_milli ? std::nullopt : std::optional(rest_cause(idle));
    }
    const mig::SiteSet standing = cluster_.slices_on(node_, gpu);
    const int units = free_units(*cut_, standing);
    bool has_units = false;
    for (const auto& needs : shape.slices) {
      const auto need = need_here(needs);
      if (!need) continue;
      if (lowest_sites(*cut_, standing, *need)) return std::nullopt;
      has_units = has_units || units >= need->count * cut_->map.kinds[static_cast<std::size_t>(need->kind)].length;
    }
    return has_units ? IdleCause::kStart : rest_cause(idle);
  }

  /// The cause for GPUs that suit.
  [[nodiscard]] IdleCause cause_beside(const Shape& shape, int suiting) const {
    if (suiting < shape.gpu_count) return IdleCause::kGpus;
    if (state_.cpu_free < shape.cpu_milli) return IdleCause::kCpu;
    return state_.memory_free < shape.memory_mib ? IdleCause::kMemory : IdleCause::kUsable;
  }

  const Cluster& cluster_;
  NodeIndex node_;
  const NodeState& state_;
  const Cut* cut_;
  std::array<int, kNodeGpusMax> idle_of_ = {};
  std::int64_t idle_ = 0;
};

/// The first of a node's GPUs on which a pod without slices fits.
GpuSet first_gpus(const NodeState& state, const Shape& shape) {
  if (!shape.is_shared()) return first_free_gpus(state, shape.gpu_count);
  const auto gpu = std::ranges::find_if(state.free_of, [&](int free) { return free >= shape.gpu_milli; });
  return static_cast<GpuSet>(1U << static_cast<unsigned>(gpu - state.free_of.begin()));
}

/// The first node, GPU and start, for the first alternative that fits anywhere.
std::optional<Spot> first_spot(const Cluster& cluster, const Shape& shape, std::int64_t& looks) {
  const std::size_t alternatives = std::max<std::size_t>(1, shape.slices.size());
  for (std::size_t alternative = 0; alternative < alternatives; ++alternative) {
    for (const NodeIndex node : Indices<NodeIndex>(cluster.node_count())) {
      ++looks;
      const NodeState& state = cluster.state(node);
      if (shape.slices.empty()) {
        if (fits(state, shape)) return Spot{.node = node, .gpus = first_gpus(state, shape)};
        continue;
      }
      if (!has_room_beside_gpus(state, shape)) continue;
      for (int gpu = 0; gpu < state.gpu_count; ++gpu) {
        if (const auto spot = slice_spot(cluster, node, gpu, shape, alternative)) return spot;
      }
    }
  }
  return std::nullopt;
}

/// Whether all pods of a gang fit together, or finding out exceeds the limit of looks. The cluster is unchanged
/// afterwards.
bool fits_as_a_whole(Cluster& cluster, const std::vector<ShapeIndex>& gang, std::int64_t& looks) {
  const auto shape_of = [&](ShapeIndex shape) -> const Shape& {
    return cluster.problem().shapes[static_cast<std::size_t>(shape)];
  };
  std::vector<Spot> spots;
  spots.reserve(gang.size());
  bool does_fit = true;
  for (std::size_t i = 0; i < gang.size() && looks <= kIdleLooksMax; ++i) {
    const auto spot = first_spot(cluster, shape_of(gang[i]), looks);
    does_fit = spot.has_value();
    if (!does_fit) break;
    cluster.place(*spot, shape_of(gang[i]));
    spots.push_back(*spot);
  }
  for (std::size_t i = spots.size(); i > 0; --i) cluster.remove(spots[i - 1], shape_of(gang[i - 1]));
  return does_fit;
}

/// By shape: the rows whose gang does not fit as a whole. Gangs of the same shapes are tried once.
std::vector<std::int64_t> rows_of_blocked_gangs(Cluster& cluster) {
  const Problem& problem = cluster.problem();
  std::map<std::string_view, std::vector<ShapeIndex>> gangs;
  for (std::size_t row = 0; row < problem.gangs.size(); ++row) {
    if (!problem.gangs[row].empty()) gangs[problem.gangs[row]].push_back(problem.shape_of_pod[row]);
  }
  std::map<std::vector<ShapeIndex>, std::int64_t> counts;
  for (auto& [name, shapes] : gangs) ++counts[std::move(shapes)];
  std::vector<std::int64_t> blocked(problem.shapes.size());
  std::int64_t looks = 0;
  for (const auto& [shapes, count] : counts) {
    if (looks > kIdleLooksMax) break;
    if (fits_as_a_whole(cluster, shapes, looks)) continue;
    for (const ShapeIndex shape : shapes) blocked[static_cast<std::size_t>(shape)] += count;
  }
  return blocked;
}

}  // namespace

std::string_view name_of(IdleCause cause) { return kCauseNames[static_cast<std::size_t>(cause)]; }

IdleCapacity& IdleCapacity::operator+=(const IdleCapacity& other) {
  ENSURE(rows == other.rows);
  idle_milli += other.idle_milli;
  for (std::size_t cause = 0; cause < kIdleCauseCount; ++cause) milli_rows[cause] += other.milli_rows[cause];
  return *this;
}

AskedRows asked_rows(const Problem& problem) {
  AskedRows asked;
  asked.shapes.reserve(problem.shapes.size());
  for (const ShapeIndex shape : Indices<ShapeIndex>(problem.shapes.size())) {
    if (problem.shapes[static_cast<std::size_t>(shape)].gpu_count == 0) continue;
    asked.shapes.push_back(shape);
    asked.rows_with_gpus += problem.rows_of_shape[static_cast<std::size_t>(shape)];
  }
  const auto rows_of = [&](ShapeIndex shape) { return problem.rows_of_shape[static_cast<std::size_t>(shape)]; };
  std::ranges::sort(asked.shapes, [&](ShapeIndex a, ShapeIndex b) {
    return rows_of(a) != rows_of(b) ? rows_of(a) > rows_of(b) : a < b;
  });
  const std::int64_t shapes_max = std::max<std::int64_t>(1, kIdleLooksMax / std::ssize(problem.nodes));
  if (std::ssize(asked.shapes) > shapes_max) asked.shapes.resize(static_cast<std::size_t>(shapes_max));
  for (const ShapeIndex shape : asked.shapes) asked.rows += rows_of(shape);
  return asked;
}

IdleCapacity idle_capacity(Cluster& cluster, const AskedRows& asked, UsableByNode* usable) {
  const Problem& problem = cluster.problem();
  const std::vector<std::int64_t> blocked = rows_of_blocked_gangs(cluster);
  IdleCapacity found{.rows = asked.rows};
  if (usable != nullptr) usable->assign(static_cast<std::size_t>(cluster.node_count()), 0);
  for (const NodeIndex node : Indices<NodeIndex>(cluster.node_count())) {
    const NodeIdle idle(cluster, node);
    found.idle_milli += idle.idle();
    if (idle.idle() == 0) continue;
    for (const ShapeIndex shape : asked.shapes) {
      const auto index = static_cast<std::size_t>(shape);
      NodeIdle::ByCause milli = idle.divided(problem.shapes[index]);
      const std::int64_t suiting = std::exchange(milli[static_cast<std::size_t>(IdleCause::kUsable)], 0);
      const std::int64_t rows = problem.rows_of_shape[index];
      for (std::size_t cause = 0; cause < kIdleCauseCount; ++cause) found.milli_rows[cause] += milli[cause] * rows;
      found.milli_rows[static_cast<std::size_t>(IdleCause::kGang)] += suiting * blocked[index];
      found.milli_rows[static_cast<std::size_t>(IdleCause::kUsable)] += suiting * (rows - blocked[index]);
      if (usable != nullptr) (*usable)[static_cast<std::size_t>(node)] += suiting * rows;
    }
  }
  return found;
}

int idle_milli_of(const Cluster& cluster, NodeIndex node, int gpu) {
  const Cut* cut = cut_of_node(cluster, node);
  const mig::SiteSet standing = cut == nullptr ? mig::SiteSet{0} : cluster.slices_on(node, gpu);
  if (standing == 0) return cluster.state(node).free_of[static_cast<std::size_t>(gpu)];
  return free_units(*cut, standing) * kGpuMilli / cut->model.units;
}

}  // namespace berth::placement
