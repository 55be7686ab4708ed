#include "purchase/advise/detail/rivals.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "base/core/ensure.h"

namespace berth::purchase::advise {
namespace {

std::int64_t gpu_thousandths(const Need& need) { return std::int64_t{need.whole_gpus} * kGpuMilli + need.share_milli; }

std::vector<std::size_t> rows_descending(const Problem& problem) {
  std::vector<std::size_t> rows(problem.class_of.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const auto key = [&](std::size_t row) {
    const Need& need = problem.class_of_row(row).need;
    return std::tuple(-gpu_thousandths(need), -need.cpu_milli, -need.memory_mib, row);
  };
  std::ranges::sort(rows, [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return rows;
}

/// A node of first fit decreasing whose box is not chosen yet.
struct OpenNode {
  Load load;
  std::vector<std::size_t> boxes;  ///< the choices that hold it, the cheapest first
  std::vector<std::size_t> rows;
};

/// Those of `boxes` that hold a load and accept a kind.
std::vector<std::size_t> holders(const Problem& problem, const std::vector<std::size_t>& boxes, const Load& load,
                                 std::size_t kind) {
  std::vector<std::size_t> found;
  for (const std::size_t box : boxes) {
    if (problem.boxes[box].accepts[kind] != 0 && is_within(load, problem.boxes[box])) found.push_back(box);
  }
  return found;
}

/// Puts the pod on the node if some box still holds all its pods.
bool take_if_held(const Problem& problem, std::size_t row, OpenNode& node) {
  const PodClass& pod = problem.class_of_row(row);
  Load load = node.load;
  load.add(pod.need);
  std::vector<std::size_t> boxes = holders(problem, node.boxes, load, pod.kind);
  if (boxes.empty()) return false;
  node.load = std::move(load);
  node.boxes = std::move(boxes);
  node.rows.push_back(row);
  return true;
}

/// The cheapest box that holds the pod alone; ties: the first offer.
std::size_t cheapest_alone(const Problem& problem, const PodClass& pod) {
  std::optional<std::size_t> best;
  for (std::size_t box = 0; box < problem.boxes.size(); ++box) {
    if (!holds_alone(problem.boxes[box], pod)) continue;
    if (!best || problem.boxes[box].micro_usd < problem.boxes[*best].micro_usd) best = box;
  }
  ENSURE(best.has_value());  // check_each_fits refused pods that no offer holds
  return *best;
}

}  // namespace

Plan first_fit_decreasing(const Problem& problem) {
  std::vector<OpenNode> nodes;
  for (const std::size_t row : rows_descending(problem)) {
    const auto takes = [&](OpenNode& node) { return take_if_held(problem, row, node); };
    if (std::ranges::any_of(nodes, takes)) continue;
    nodes.push_back({.load = {}, .boxes = problem.choices, .rows = {}});
    ENSURE(takes(nodes.back()));
  }
  Plan plan;
  plan.reserve(nodes.size());
  for (OpenNode& node : nodes) plan.push_back({.box = node.boxes.front(), .rows = std::move(node.rows)});
  return plan;
}

Plan cheapest_fit(const Problem& problem) {
  Plan plan;
  std::vector<Load> loads;
  std::vector<std::optional<std::size_t>> alone(problem.classes.size());
  for (const std::size_t row : rows_descending(problem)) {
    const PodClass& pod = problem.class_of_row(row);
    std::size_t node = 0;
    for (; node < plan.size(); ++node) {
      const Box& box = problem.boxes[plan[node].box];
      if (box.accepts[pod.kind] == 0) continue;
      Load load = loads[node];
      load.add(pod.need);
      if (!is_within(load, box)) continue;
      loads[node] = std::move(load);
      break;
    }
    if (node == plan.size()) {
      auto& box = alone[problem.class_of[row]];
      if (!box) box = cheapest_alone(problem, pod);
      plan.push_back({.box = *box, .rows = {}});
      loads.emplace_back().add(pod.need);
    }
    plan[node].rows.push_back(row);
  }
  return plan;
}

}  // namespace berth::purchase::advise
