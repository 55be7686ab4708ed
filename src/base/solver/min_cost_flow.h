/// The cheapest flow through a network, exactly: all numbers are integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace berth::solver {

/// A directed arc that takes up to `capacity` units of flow at `cost` each. Requires: both >= 0.
struct FlowArc {
  std::size_t from = 0;
  std::size_t to = 0;
  std::int64_t capacity = 0;
  std::int64_t cost = 0;
};

/// `supplies` by node: the flow that enters the network there, negative where it leaves. Requires: they sum to 0.
struct FlowProblem {
  std::vector<std::int64_t> supplies;
  std::vector<FlowArc> arcs;
};

struct FlowAnswer {
  std::int64_t cost = 0;
  std::vector<std::int64_t> flows;  ///< by arc
};

/// Minimises the cost; nothing if the supplies cannot all be sent. The primal-dual method (Ford and Fulkerson 1957):
/// shortest distances by reduced costs, then as much flow as the arcs of shortest paths take, repeated. O(n + m)
/// memory; at most as many rounds as there are different path lengths, each O(m log n) and a maximum flow. Requires:
/// the cost fits 64 bits.
[[nodiscard]] std::optional<FlowAnswer> min_cost_flow(const FlowProblem& problem);

}  // namespace berth::solver
