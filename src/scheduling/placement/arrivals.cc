#include "scheduling/placement/arrivals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "base/core/ensure.h"

namespace berth::placement {
namespace {

constexpr std::int64_t kTurnovers = 5;  // of the average number of pods
constexpr std::int64_t kTurnoversUnmeasured = 2;

template <class T>
void shuffle(std::vector<T>& values, Rng rng) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[rng.below(i)]);
}

std::vector<NodeIndex> listed_nodes(const Problem& problem) {
  std::vector<NodeIndex> order;
  order.reserve(problem.nodes.size());
  for (const NodeIndex node : indices_of<NodeIndex>(problem.nodes)) order.push_back(node);
  return order;
}

std::vector<NodeIndex> shuffled_nodes(const Problem& problem, const Rng& rng) {
  std::vector<NodeIndex> order = listed_nodes(problem);
  shuffle(order, rng.split("nodes"));
  return order;
}

/// Rows sorted by the names of their pods, then shuffled.
std::vector<std::int32_t> shuffled_rows(const Problem& problem, const Rng& rng) {
  std::vector<std::int32_t> rows(problem.pod_names.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::ranges::sort(rows, {}, [&](std::int32_t row) -> const std::string& {
    return problem.pod_names[static_cast<std::size_t>(row)];
  });
  shuffle(rows, rng.split("pods"));
  return rows;
}

std::int64_t demand_of(const Problem& problem, const std::vector<std::int32_t>& rows) {
  std::int64_t milli = 0;
  for (const std::int32_t row : rows) milli += problem.shape_of(row).demand_milli();
  return milli;
}

tl::unexpected<Error> nothing_to_draw() {
  return invalid("wanted a pod that asks for a GPU, found none: no number of them reaches the demand");
}

/// The milli that the pods may request: demand x capacity, rounded down.
Result<std::int64_t> allowed_milli(const Problem& problem, const Decimal& demand) {
  const Decimal allowed = demand * Decimal(problem.capacity_milli());
  if (!allowed.fits_int64()) return invalid("--demand: wanted less, found " + demand.to_string());
  return allowed.floor();
}

void remove_at_random(const Problem& problem, std::vector<std::int32_t>& rows, std::int64_t milli, std::int64_t allowed,
                      const Rng& rng) {
  std::vector<std::size_t> places(rows.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  shuffle(places, rng);
  std::vector<bool> is_removed(rows.size());
  for (const std::size_t place : places) {
    if (milli <= allowed) break;
    milli -= problem.shape_of(rows[place]).demand_milli();
    is_removed[place] = true;
  }
  std::vector<std::int32_t> kept;
  for (std::size_t place = 0; place < rows.size(); ++place) {
    if (!is_removed[place]) kept.push_back(rows[place]);
  }
  rows = std::move(kept);
}

Result<void> append_drawn(const Problem& problem, std::vector<std::int32_t>& rows, std::int64_t milli,
                          std::int64_t allowed, Rng rng) {
  if (milli == 0) return nothing_to_draw();
  const auto listed = static_cast<std::uint64_t>(problem.pod_names.size());
  for (;;) {
    const auto row = static_cast<std::int32_t>(rng.below(listed));
    const Shape& shape = problem.shape_of(row);
    // As in the published simulator, only one GPU of the candidate is counted here.
    if (milli + shape.gpu_milli > allowed) return {};
    if (static_cast<std::int64_t>(rows.size()) >= kArrivalsMax) {
      return invalid(fmt::format("wanted at most {} arrivals, found more", kArrivalsMax));
    }
    milli += shape.demand_milli();
    rows.push_back(row);
  }
}

/// Gangs are decided when the first of them arrives, in the order of the list. Rows from `drawn_from` on have none.
void join_gangs(const Problem& problem, std::size_t drawn_from, Arrivals& arrivals) {
  std::map<std::string_view, std::vector<std::int32_t>> members;
  for (std::size_t i = 0; i < drawn_from; ++i) {
    const std::string& gang = problem.gangs[static_cast<std::size_t>(arrivals.rows[i])];
    if (!gang.empty()) members[gang].push_back(arrivals.rows[i]);
  }
  std::vector<std::int32_t> rows;
  rows.reserve(arrivals.rows.size());
  for (std::size_t i = 0; i < arrivals.rows.size(); ++i) {
    const std::string& gang = problem.gangs[static_cast<std::size_t>(arrivals.rows[i])];
    if (i >= drawn_from || gang.empty()) {
      rows.push_back(arrivals.rows[i]);
      arrivals.batches.emplace_back();
      continue;
    }
    std::vector<std::int32_t>& gang_rows = members[gang];
    if (gang_rows.empty()) continue;
    std::ranges::sort(gang_rows);
    rows.insert(rows.end(), gang_rows.begin(), gang_rows.end());
    arrivals.batches.push_back({.count = static_cast<int>(gang_rows.size()), .is_gang = true});
    gang_rows.clear();
  }
  arrivals.rows = std::move(rows);
}

}  // namespace

Arrivals given_arrivals(const Problem& problem) {
  Arrivals arrivals{.node_order = listed_nodes(problem), .rows = {}, .batches = {}, .departures = {}};
  arrivals.rows.resize(problem.pod_names.size());
  std::iota(arrivals.rows.begin(), arrivals.rows.end(), 0);
  join_gangs(problem, arrivals.rows.size(), arrivals);
  return arrivals;
}

Result<Arrivals> seeded_arrivals(const Problem& problem, const Decimal& demand, std::uint64_t seed) {
  const Rng rng(seed);
  Arrivals arrivals{
      .node_order = shuffled_nodes(problem, rng), .rows = shuffled_rows(problem, rng), .batches = {}, .departures = {}};
  const auto allowed = allowed_milli(problem, demand);
  if (!allowed) return pass_on(allowed.error());
  const std::int64_t milli = demand_of(problem, arrivals.rows);
  std::size_t drawn_from = arrivals.rows.size();
  if (milli > *allowed) {
    remove_at_random(problem, arrivals.rows, milli, *allowed, rng.split("removals"));
    drawn_from = arrivals.rows.size();
  } else if (auto drawn = append_drawn(problem, arrivals.rows, milli, *allowed, rng.split("draws")); !drawn) {
    return pass_on(drawn.error());
  }
  join_gangs(problem, drawn_from, arrivals);
  return arrivals;
}

Result<Arrivals> churning_arrivals(const Problem& problem, const Decimal& demand, std::uint64_t seed) {
  const Rng rng(seed);
  Arrivals arrivals{.node_order = shuffled_nodes(problem, rng), .rows = {}, .batches = {}, .departures = {}};
  std::int64_t listed_milli = 0;
  for (const ShapeIndex shape : problem.shape_of_pod) {
    listed_milli += problem.shapes[static_cast<std::size_t>(shape)].demand_milli();
  }
  if (listed_milli == 0) return nothing_to_draw();
  const auto listed = static_cast<std::int64_t>(problem.pod_names.size());
  const Decimal mean = demand * Decimal(problem.capacity_milli()) * Decimal(listed) / Decimal(listed_milli);
  const Decimal count = mean * Decimal(kTurnovers);
  if (count > Decimal(kArrivalsMax))
    return invalid(fmt::format("wanted at most {} arrivals, found more", kArrivalsMax));
  const Decimal unmeasured = mean * Decimal(kTurnoversUnmeasured);
  arrivals.is_churning = true;
  arrivals.measured_from = unmeasured.is_integer() ? unmeasured.floor() : unmeasured.floor() + 1;
  Rng draws = rng.split("draws");
  Rng stays = rng.split("stays");
  const std::int64_t arrivals_count = count.floor();
  arrivals.mean_stay = mean.to_double();
  arrivals.rows.reserve(static_cast<std::size_t>(arrivals_count));
  for (std::int64_t i = 0; i < arrivals_count; ++i) {
    arrivals.rows.push_back(static_cast<std::int32_t>(draws.below(static_cast<std::uint64_t>(listed))));
    const double stay = std::ceil(-std::log1p(-stays.unit()) * arrivals.mean_stay);
    const std::int64_t leaves = i + std::max<std::int64_t>(1, static_cast<std::int64_t>(stay));
    if (leaves < arrivals_count) arrivals.departures.push_back({.before = leaves, .decision = i});
  }
  arrivals.batches.resize(arrivals.rows.size());
  std::ranges::sort(arrivals.departures);
  return arrivals;
}

}  // namespace berth::placement
