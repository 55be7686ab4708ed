#include "purchase/advise/detail/rounding.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace berth::purchase::advise {
namespace {

constexpr std::size_t kSizes = 3;
using Sizes = std::array<std::int64_t, kSizes>;

Sizes sizes_of(const Pod& pod) { return {pod.cpu_milli, pod.memory_mib, pod.gpu_milli}; }

/// Rows of similar pods.
struct Group {
  std::vector<std::size_t> rows;
  Sizes least = {};
  Sizes largest = {};
  std::size_t widest = 0;  ///< the size with the largest spread
  double weight = 0;       ///< that spread, times the pods; 0: all are equal
};

Group group_of(std::span<const Pod> pods, std::vector<std::size_t> rows) {
  Group group{.rows = std::move(rows)};
  group.least = group.largest = sizes_of(pods[group.rows.front()]);
  for (const std::size_t row : group.rows) {
    const Sizes sizes = sizes_of(pods[row]);
    for (std::size_t i = 0; i < kSizes; ++i) {
      group.least[i] = std::min(group.least[i], sizes[i]);
      group.largest[i] = std::max(group.largest[i], sizes[i]);
    }
  }
  for (std::size_t i = 0; i < kSizes; ++i) {
    if (group.least[i] == group.largest[i]) continue;
    const double spread = 1 - static_cast<double>(group.least[i]) / static_cast<double>(group.largest[i]);
    const double weight = spread * static_cast<double>(group.rows.size());
    if (weight <= group.weight) continue;
    group.weight = weight;
    group.widest = i;
  }
  return group;
}

/// Halves by the size with the largest spread.
std::pair<Group, Group> halves_of(std::span<const Pod> pods, Group group) {
  const auto key = [&](std::size_t row) { return std::pair(sizes_of(pods[row])[group.widest], row); };
  std::ranges::sort(group.rows, {}, key);
  const auto middle = group.rows.begin() + static_cast<std::ptrdiff_t>(group.rows.size() / 2);
  return {group_of(pods, {group.rows.begin(), middle}), group_of(pods, {middle, group.rows.end()})};
}

std::vector<Group> groups_of(std::span<const Pod> pods, const Problem& problem, std::size_t groups_max) {
  std::map<std::tuple<std::size_t, int, bool>, std::vector<std::size_t>> alike;
  for (std::size_t row = 0; row < pods.size(); ++row) {
    alike[{problem.class_of_row(row).kind, pods[row].gpu_count, pods[row].is_shared()}].push_back(row);
  }
  std::vector<Group> groups;
  groups.reserve(std::max(groups_max, alike.size()));
  for (auto& [unused, rows] : alike) groups.push_back(group_of(pods, std::move(rows)));
  while (groups.size() < groups_max) {
    const auto widest = std::ranges::max_element(groups, {}, &Group::weight);
    if (widest->weight == 0) break;
    auto [lower, upper] = halves_of(pods, std::move(*widest));
    *widest = std::move(lower);
    groups.push_back(std::move(upper));
  }
  return groups;
}

bool fits_somewhere(const Problem& problem, const Pod& pod, std::size_t kind) {
  return std::ranges::any_of(problem.choices, [&](std::size_t number) {
    const Box& box = problem.boxes[number];
    return box.accepts[kind] != 0 && pod.cpu_milli <= box.capacity[kCpu] && pod.memory_mib <= box.capacity[kMemory] &&
           pod.gpu_count <= box.gpu_count;
  });
}

}  // namespace

std::vector<Pod> round_pods(std::span<const Pod> pods, const Problem& problem, Rounding rounding,
                            std::size_t groups_max) {
  std::vector<Pod> result(pods.begin(), pods.end());
  for (const Group& group : groups_of(pods, problem, groups_max)) {
    const Sizes& sizes = rounding == Rounding::kDown ? group.least : group.largest;
    for (const std::size_t row : group.rows) {
      Pod pod = pods[row];
      pod.cpu_milli = sizes[0];
      pod.memory_mib = sizes[1];
      pod.gpu_milli = static_cast<int>(sizes[2]);
      if (fits_somewhere(problem, pod, problem.class_of_row(row).kind)) result[row] = std::move(pod);
    }
  }
  return result;
}

}  // namespace berth::purchase::advise
