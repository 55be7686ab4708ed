#include "kube/known_gpus/gpu_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "domain/mig/geometry.h"
#include "domain/mig/site_map.h"

namespace berth::kube {
namespace {

bool keeps_away(const DeviceTaint& taint) { return taint.effect == "NoSchedule" || taint.effect == "NoExecute"; }

bool is_tainted(const PoolState& pool, const Surroundings& around) {
  const bool has_tainted_device = std::ranges::any_of(
      pool.pool.devices, [](const Device& device) { return std::ranges::any_of(device.taints, keeps_away); });
  return has_tainted_device || std::ranges::any_of(around.rules, [&](const auto& entry) {
           const DeviceTaintRuleFacts& rule = entry.second;
           return keeps_away(rule.taint) && (rule.driver.empty() || rule.driver == pool.pool.name.driver) &&
                  (rule.pool.empty() || rule.pool == pool.pool.name.pool);
         });
}

class TableMaker {
 public:
  explicit TableMaker(const Surroundings& around) : around_(around) {}

  GpuTable make() {
    std::set<PoolName> pools;
    for (const auto& [name, state] : around_.inventory.pools()) {
      if (around_.owned.contains(name) && !is_tainted(state, around_)) pools.insert(name);
    }
    for (const PlannedGpu& gpu : planned_gpus(around_.inventory, pools)) add(gpu);
    return std::move(table_);
  }

 private:
  placement::CutIndex cut_of(const GpuModel& model) {
    for (const placement::CutIndex cut : indices_of<placement::CutIndex>(table_.cuts)) {
      if (table_.cuts[static_cast<std::size_t>(cut)].model == model) return cut;
    }
    table_.cuts.push_back({.model = model, .map = mig::make_site_map(model, mig::all_rules(model).profiles)});
    return placement::CutIndex(table_.cuts.size() - 1);
  }

  TableNode& node_of(const std::string& name, placement::CutIndex cut) {
    std::size_t& index = open_.try_emplace({name, static_cast<int>(cut)}, table_.nodes.size()).first->second;
    if (index < table_.nodes.size() && table_.nodes[index].gpus.size() == kNodeGpusMax) index = table_.nodes.size();
    if (index == table_.nodes.size()) table_.nodes.push_back({.name = name, .cut = cut});
    return table_.nodes[index];
  }

  void add(const PlannedGpu& planned) {
    if (!planned.model.is_mig_capable()) return;
    const placement::CutIndex cut = cut_of(planned.model);
    const mig::SiteMap& map = table_.cuts[static_cast<std::size_t>(cut)].map;
    const PoolState& state = around_.inventory.pools().at(planned.pool);
    TableGpu gpu{.pool = planned.pool, .state = &state};
    gpu.device_of.resize(map.sites.size());
    for (const auto& [place, device] : planned.devices) {
      const auto site = map.find_site({.start = place.second, .profile = place.first});
      if (site) gpu.device_of[static_cast<std::size_t>(*site)] = state.find(device);
    }
    if (!planned.whole.empty()) gpu.whole = state.find(planned.whole);
    node_of(planned.node, cut).gpus.push_back(std::move(gpu));
  }

  const Surroundings& around_;
  GpuTable table_;
  std::map<std::pair<std::string, int>, std::size_t> open_;  ///< the node to which the next GPU is added
};

}  // namespace

GpuTable make_gpu_table(const Surroundings& around) { return TableMaker(around).make(); }

HeldSites held_sites(const TableGpu& gpu, const mig::SiteMap& map) {
  HeldSites held;
  if (gpu.whole && gpu.state->is_taken[*gpu.whole]) held.is_blocked = true;
  for (std::size_t site = 0; site < gpu.device_of.size(); ++site) {
    if (!gpu.device_of[site] || !gpu.state->is_taken[*gpu.device_of[site]]) continue;
    if (!map.fits(held.sites, mig::SiteIndex(site))) held.is_blocked = true;
    held.sites |= mig::SiteSet{1} << site;
  }
  if (held.is_blocked) held.sites = 0;
  return held;
}

}  // namespace berth::kube
