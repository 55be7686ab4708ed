#include "planner/window/others.h"

#include <algorithm>
#include <map>
#include <utility>

#include "domain/mig/geometry.h"

namespace berth::planner {
namespace {

bool do_clash(const GpuModel& model, const Slice& slice, const Site& site) {
  mig::State both = {{.start = slice.start, .profile = slice.profile}, site.placement()};
  std::ranges::sort(both);
  return mig::find_clash(model, both).has_value();
}

/// Whether the GPU has pieces or pins that the terms of a shared GPU do not allow.
bool contradicts(const Problem& problem, const GpuTerms& gpu, mig::SiteSet blocked) {
  const auto is_wrong = [&](SiteIndex site, ServiceIndex service) {
    const bool is_shy =
        service != kNoService && wants_known_neighbours(problem.services[static_cast<std::size_t>(service)]);
    return is_shy || (blocked >> site & 1) != 0;
  };
  return std::ranges::any_of(gpu.standing,
                             [&](const StandingPiece& at) { return is_wrong(at.piece.site, at.piece.service); }) ||
         std::ranges::any_of(gpu.pins, [&](const PinnedSite& pin) { return is_wrong(pin.site, pin.service); });
}

}  // namespace

ModelTerms shared_model(const Problem& problem, const ModelTerms& alone, mig::SiteSet blocked) {
  ModelTerms shared = alone;
  std::vector<Rates> none;
  for (const ServiceTerms& service : problem.services) {
    none.push_back({.requests_per_second = std::vector<double>(service.variants.size())});
  }
  for (std::size_t service = 0; service < problem.services.size(); ++service) {
    if (!wants_known_neighbours(problem.services[service])) continue;
    for (std::vector<Rates>& kind : shared.rates) kind[service] = none[service];
  }
  const KindIndex blocked_kind(shared.rates.size());
  shared.rates.push_back(none);
  // Nothing begins on it, so any numbers would do.
  shared.sms.push_back(shared.sms.front());
  for (std::vector<double>* seconds : {&shared.create_seconds, &shared.destroy_seconds}) {
    if (!seconds->empty()) seconds->push_back(seconds->front());
  }
  std::vector<char> has_sites(shared.rates.size());
  for (std::size_t site = 0; site < shared.sites.size(); ++site) {
    if ((blocked >> site & 1) != 0) shared.sites[site].kind = blocked_kind;
    has_sites[static_cast<std::size_t>(shared.sites[site].kind)] = 1;
  }
  for (std::size_t kind = 0; kind < has_sites.size(); ++kind) {
    if (has_sites[kind] == 0) shared.rates[kind] = none;
  }
  return shared;
}

void keep_off_others(const Scenario& scenario, const Frame& frame, const std::vector<Slice>& others, Problem& problem) {
  std::map<GpuId, mig::SiteSet> blocked_on;
  for (const Slice& slice : others) {
    const std::vector<Site>& sites =
        problem.models[static_cast<std::size_t>(frame.model_of_gpu[slice.gpu.index])].sites;
    mig::SiteSet& blocked = blocked_on[slice.gpu];
    for (std::size_t site = 0; site < sites.size(); ++site) {
      if (do_clash(scenario.model_of(slice.gpu), slice, sites[site])) blocked |= mig::SiteSet{1} << site;
    }
  }
  std::map<std::pair<ModelIndex, mig::SiteSet>, ModelIndex> known;
  for (const auto& [id, blocked] : blocked_on) {
    GpuTerms& gpu = problem.gpus[id.index];
    if (contradicts(problem, gpu, blocked)) {
      gpu.free_from = SlotIndex(problem.slots);
      continue;
    }
    const auto [model, is_new] = known.try_emplace({gpu.model, blocked}, ModelIndex(problem.models.size()));
    if (is_new) {
      ModelTerms shared = shared_model(problem, problem.models[static_cast<std::size_t>(gpu.model)], blocked);
      problem.models.push_back(std::move(shared));
    }
    gpu.model = model->second;
  }
}

}  // namespace berth::planner
