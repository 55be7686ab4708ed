#include "base/solver/min_cost_flow.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "base/core/ensure.h"

namespace berth::solver {
namespace {

constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 4;

/// The network with each arc's remaining capacity. Arc number i and i ^ 1 are the two directions of one arc.
class Residual {
 public:
  explicit Residual(const FlowProblem& problem)
      : source_(problem.supplies.size()),
        sink_(source_ + 1),
        arcs_of_(source_ + 2),
        potentials_(source_ + 2, 0),
        distances_(source_ + 2),
        levels_(source_ + 2),
        next_(source_ + 2) {
    for (const FlowArc& arc : problem.arcs) {
      ENSURE(arc.capacity >= 0 && arc.cost >= 0);
      add(arc);
    }
    for (std::size_t node = 0; node < source_; ++node) {
      const std::int64_t supply = problem.supplies[node];
      if (supply > 0) add({.from = source_, .to = node, .capacity = supply, .cost = 0});
      if (supply < 0) add({.from = node, .to = sink_, .capacity = -supply, .cost = 0});
      if (supply > 0) to_send_ += supply;
    }
  }

  /// Sends all supplies; false if they cannot all be sent.
  bool send() {
    while (to_send_ > 0) {
      if (!find_distances()) return false;
      while (find_levels()) {
        next_.assign(next_.size(), 0);
        while (const std::int64_t sent = send_along_a_path()) to_send_ -= sent;
      }
    }
    return true;
  }

  [[nodiscard]] std::int64_t flow_of(std::size_t arc) const { return left_[2 * arc + 1]; }

 private:
  void add(const FlowArc& arc) {
    arcs_of_[arc.from].push_back(heads_.size());
    arcs_of_[arc.to].push_back(heads_.size() + 1);
    heads_.insert(heads_.end(), {arc.to, arc.from});
    left_.insert(left_.end(), {arc.capacity, 0});
    costs_.insert(costs_.end(), {arc.cost, -arc.cost});
  }

  [[nodiscard]] std::int64_t reduced_cost(std::size_t from, std::size_t arc) const {
    return costs_[arc] + potentials_[from] - potentials_[heads_[arc]];
  }

  /// Shortest distances from the source, which update the potentials. False if the sink is unreachable.
  bool find_distances() {
    using Entry = std::pair<std::int64_t, std::size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    distances_.assign(distances_.size(), kFar);
    distances_[source_] = 0;
    queue.emplace(0, source_);
    while (!queue.empty()) {
      const auto [distance, node] = queue.top();
      queue.pop();
      if (distance > distances_[node]) continue;
      for (const std::size_t arc : arcs_of_[node]) {
        if (left_[arc] == 0) continue;
        const std::int64_t through = distance + reduced_cost(node, arc);
        if (through >= distances_[heads_[arc]]) continue;
        distances_[heads_[arc]] = through;
        queue.emplace(through, heads_[arc]);
      }
    }
    if (distances_[sink_] == kFar) return false;
    for (std::size_t node = 0; node < potentials_.size(); ++node) {
      potentials_[node] += std::min(distances_[node], distances_[sink_]);
    }
    return true;
  }

  /// Levels by the number of arcs from the source, over arcs of reduced cost 0. False if the sink has none.
  bool find_levels() {
    levels_.assign(levels_.size(), -1);
    levels_[source_] = 0;
    std::vector<std::size_t> reached = {source_};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const std::size_t node = reached[i];
      for (const std::size_t arc : arcs_of_[node]) {
        const std::size_t head = heads_[arc];
        if (left_[arc] == 0 || levels_[head] >= 0 || reduced_cost(node, arc) != 0) continue;
        levels_[head] = levels_[node] + 1;
        reached.push_back(head);
      }
    }
    return levels_[sink_] >= 0;
  }

  /// Sends as much as one path through the levels takes; 0 if no path is left.
  std::int64_t send_along_a_path() {
    std::vector<std::size_t> path;
    std::size_t node = source_;
    while (node != sink_) {
      const std::size_t arc = next_arc(node);
      if (arc != kNoArc) {
        path.push_back(arc);
        node = heads_[arc];
        continue;
      }
      if (path.empty()) return 0;
      node = heads_[path.back() ^ 1];
      ++next_[node];  // that arc leads nowhere
      path.pop_back();
    }
    std::int64_t sent = kFar;
    for (const std::size_t arc : path) sent = std::min(sent, left_[arc]);
    for (const std::size_t arc : path) {
      left_[arc] -= sent;
      left_[arc ^ 1] += sent;
    }
    return sent;
  }

  std::size_t next_arc(std::size_t node) {
    for (; next_[node] < arcs_of_[node].size(); ++next_[node]) {
      const std::size_t arc = arcs_of_[node][next_[node]];
      const bool is_open = left_[arc] > 0 && levels_[heads_[arc]] == levels_[node] + 1;
      if (is_open && reduced_cost(node, arc) == 0) return arc;
    }
    return kNoArc;
  }

  static constexpr std::size_t kNoArc = std::numeric_limits<std::size_t>::max();

  std::size_t source_;
  std::size_t sink_;
  std::int64_t to_send_ = 0;
  std::vector<std::size_t> heads_;   ///< by arc
  std::vector<std::int64_t> left_;   ///< by arc: remaining capacity
  std::vector<std::int64_t> costs_;  ///< by arc
  std::vector<std::vector<std::size_t>> arcs_of_;
  std::vector<std::int64_t> potentials_;
  std::vector<std::int64_t> distances_;
  std::vector<std::int64_t> levels_;
  std::vector<std::size_t> next_;  ///< by node: the arc to try next
};

}  // namespace

std::optional<FlowAnswer> min_cost_flow(const FlowProblem& problem) {
  Residual residual(problem);
  if (!residual.send()) return std::nullopt;
  FlowAnswer answer;
  answer.flows.reserve(problem.arcs.size());
  for (std::size_t i = 0; i < problem.arcs.size(); ++i) {
    answer.flows.push_back(residual.flow_of(i));
    answer.cost += answer.flows.back() * problem.arcs[i].cost;
  }
  return answer;
}

}  // namespace berth::solver
