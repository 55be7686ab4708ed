#include "surface/cli/place/decision_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <vector>

#include "scheduling/placement/slices.h"

namespace berth::cli {
namespace {

using placement::Cluster;
using placement::Cut;
using placement::GpuSet;
using placement::Spot;

std::vector<int> gpus_of(GpuSet set) {
  std::vector<int> gpus;
  for (unsigned rest = set; rest != 0; rest &= rest - 1) gpus.push_back(std::countr_zero(rest));
  return gpus;
}

const Cut& cut_of(const Cluster& cluster, const Spot& spot) {
  return cluster.problem().cuts[static_cast<std::size_t>(*cluster.node(spot.node).cut)];
}

std::vector<int> starts_of(const Cut& cut, mig::SiteSet sites) {
  std::vector<int> starts;
  for (mig::SiteSet rest = sites; rest != 0; rest &= rest - 1) {
    starts.push_back(cut.map.sites[static_cast<std::size_t>(std::countr_zero(rest))].start);
  }
  return starts;
}

/// `"node":3,"gpus":[0,1]`.
std::string place_text(const Cluster& cluster, const Spot& spot) {
  return fmt::format(R"("node":{},"gpus":[{}])", cluster.node(spot.node).row, fmt::join(gpus_of(spot.gpus), ","));
}

std::string slices_text(const Cluster& cluster, const Spot& spot) {
  return fmt::format(R"("start":[{}])", fmt::join(starts_of(cut_of(cluster, spot), spot.slices), ","));
}

}  // namespace

std::string run_line(const placement::Problem& problem, placement::Policy policy, std::optional<std::uint64_t> seed,
                     const placement::Arrivals& arrivals) {
  std::vector<int> rows;
  rows.reserve(arrivals.node_order.size());
  for (const placement::NodeIndex node : arrivals.node_order) {
    rows.push_back(problem.nodes[static_cast<std::size_t>(node)].row);
  }
  return fmt::format("{{\"policy\":\"{}\",\"seed\":{},\"node_order\":[{}]}}\n", placement::name_of(policy),
                     seed ? fmt::to_string(*seed) : "null", fmt::join(rows, ","));
}

std::string decision_line(const Cluster& cluster, const placement::Decision& decision) {
  if (!decision.spot) return fmt::format("{{\"pod\":{},\"node\":null,\"gpus\":[]}}\n", decision.row);
  const Spot& spot = *decision.spot;
  std::string line = fmt::format("{{\"pod\":{},{}", decision.row, place_text(cluster, spot));
  if (spot.slices != 0) {
    const Cut& cut = cut_of(cluster, spot);
    const mig::SiteKind& kind = cut.map.kinds[static_cast<std::size_t>(placement::kind_of(cut, spot.slices))];
    line += fmt::format(R"(,"profile":"{}",{})", profile_name(cut.model, kind.profile), slices_text(cluster, spot));
  }
  return line + (decision.is_undone ? ",\"undone\":true}\n" : "}\n");
}

std::string departure_line(std::int64_t decision) { return fmt::format("{{\"leaves\":{}}}\n", decision); }

std::string move_line(const Cluster& cluster, const placement::Move& move) {
  return fmt::format("{{\"moves\":{},{},{}}}\n", move.decision, place_text(cluster, move.spot),
                     slices_text(cluster, move.spot));
}

}  // namespace berth::cli
