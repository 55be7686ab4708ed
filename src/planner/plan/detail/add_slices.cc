#include "planner/plan/detail/add_slices.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "planner/window/check.h"

namespace berth::planner {
namespace {

/// Where a slice could be.
struct Place {
  int sms = 0;
  GpuIndex gpu;
  Piece piece;
};

/// The variant with the highest rate on a kind of slice; nothing: it cannot serve there.
std::optional<int> best_use(const Rates& rates) {
  const auto best = std::ranges::max_element(rates.requests_per_second);
  if (best == rates.requests_per_second.end() || *best <= 0) return std::nullopt;
  return static_cast<int>(best - rates.requests_per_second.begin());
}

std::vector<Place> places_for(const Problem& problem, ServiceIndex service) {
  std::vector<Place> places;
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
    const ModelTerms& model = problem.models[problem.gpus[gpu].model];
    for (const SiteIndex site : indices_of<SiteIndex>(model.sites)) {
      const KindIndex kind = model.sites[site].kind;
      const auto use = best_use(model.rates[kind][service]);
      if (!use) continue;
      places.push_back({.sms = model.sms[kind], .gpu = gpu, .piece = {.site = site, .service = service, .use = *use}});
    }
  }
  std::ranges::sort(places, {}, [](const Place& place) { return std::tuple(place.sms, place.gpu, place.piece.site); });
  return places;
}

bool clashes(const ModelTerms& model, const Configuration& pieces, SiteIndex site) {
  return std::ranges::any_of(pieces, [&](const Piece& piece) {
    return ((model.sites[piece.site].clashes >> static_cast<unsigned>(site)) & 1U) != 0;
  });
}

Configuration with_piece(Configuration pieces, const Piece& piece) {
  pieces.insert(std::ranges::lower_bound(pieces, piece.site, {}, &Piece::site), piece);
  return pieces;
}

/// The first slot in which the GPU may change.
std::optional<SlotIndex> first_free_slot(const Problem& problem, const GpuTerms& gpu) {
  int ready = gpu.free_from;
  for (const StandingPiece& standing : gpu.standing) ready = std::max(ready, standing.ready_in);
  for (SlotIndex slot(ready); slot < problem.slots; ++slot) {
    if (problem.is_frozen.empty() || problem.is_frozen[static_cast<std::size_t>(slot)] == 0) return slot;
  }
  return std::nullopt;
}

/// The changes of a GPU with the piece in each of its configurations; nothing: there is no room.
std::optional<std::vector<Change>> with_piece(const Problem& problem, const std::vector<Change>& changes,
                                              const Place& place) {
  const GpuTerms& gpu = problem.gpus[place.gpu];
  const ModelTerms& model = problem.models[gpu.model];
  std::vector<Change> more = changes;
  if (more.empty()) {
    const auto slot = first_free_slot(problem, gpu);
    if (!slot) return std::nullopt;
    more.push_back({.slot = *slot, .to = {}});
    for (const StandingPiece& standing : gpu.standing) more.back().to.push_back(standing.piece);
  }
  for (Change& change : more) {
    if (clashes(model, change.to, place.piece.site)) return std::nullopt;
    change.to = with_piece(std::move(change.to), place.piece);
  }
  return more;
}

}  // namespace

Problem without_floors(Problem problem) {
  for (ServiceTerms& service : problem.services) service.floor_rate = 0;
  return problem;
}

Schedule with_missing_slices(const Problem& problem, const Schedule& schedule) {
  Schedule added = schedule;
  Problem eased = without_floors(problem);
  if (find_fault(eased, added)) return schedule;
  int tries = 0;
  for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
    const ServiceTerms& terms = problem.services[service];
    if (!terms.counts_slices) continue;
    // Those that have enough keep it from here on.
    for (double count = 1; count <= terms.floor_rate; ++count) {
      eased.services[service].floor_rate = count;
      if (!find_fault(eased, added)) continue;
      bool is_added = false;
      for (const Place& place : places_for(problem, service)) {
        auto changes = with_piece(problem, added.gpus[place.gpu], place);
        if (!changes) continue;
        if (++tries > kTriesMax) return added;
        Schedule tried = added;
        tried.gpus[place.gpu] = *std::move(changes);
        if (find_fault(eased, tried)) continue;
        added = std::move(tried);
        is_added = true;
        break;
      }
      if (is_added) continue;
      eased.services[service].floor_rate = count - 1;
      break;
    }
  }
  return added;
}

}  // namespace berth::planner
