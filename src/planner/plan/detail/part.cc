#include "planner/plan/detail/part.h"

#include <algorithm>
#include <vector>

#include "planner/window/check.h"

namespace berth::planner {
namespace {

/// A piece that is on another GPU for a range of slots.
struct OutsideStay {
  Piece piece;
  SlotIndex ready_from;
  SlotIndex from;
  SlotIndex until;  ///< the tail is slot problem.slots
};

/// The stays of a GPU under its changes, piece by piece and configuration by configuration.
std::vector<OutsideStay> outside_stays_of(const Problem& problem, const GpuTerms& gpu,
                                          const std::vector<Change>& changes) {
  const ModelTerms& model = problem.models[static_cast<std::size_t>(gpu.model)];
  std::vector<OutsideStay> now;
  Configuration pieces;
  for (const StandingPiece& standing : gpu.standing) {
    now.push_back({.piece = standing.piece, .ready_from = SlotIndex(standing.ready_in), .from = {}, .until = {}});
    pieces.push_back(standing.piece);
  }
  std::vector<OutsideStay> all;
  for (const Change& change : changes) {
    std::vector<OutsideStay> next;
    for (const Piece& piece : change.to) {
      const auto kept = std::ranges::find(now, piece, &OutsideStay::piece);
      next.push_back(kept != now.end()
                         ? *kept
                         : OutsideStay{.piece = piece,
                                       .ready_from = change.slot + slots_until_ready(problem, model, pieces, piece),
                                       .from = change.slot,
                                       .until = {}});
    }
    for (OutsideStay& stay : now) {
      if (std::ranges::find(change.to, stay.piece) != change.to.end()) continue;
      stay.until = change.slot;
      all.push_back(stay);
    }
    now = std::move(next);
    pieces = change.to;
  }
  for (OutsideStay& stay : now) {
    stay.until = SlotIndex(problem.slots + 1);
    all.push_back(stay);
  }
  return all;
}

/// What the other GPUs hold of a service, [slot].
struct Planned {
  std::vector<double> floor;  ///< in the unit of its floor
  std::vector<int> slices;
};

/// Adds the capacity or progress that a piece gives its service from outside.
void add_outside(const Problem& problem, const ModelTerms& model, const OutsideStay& stay, ServiceTerms& service,
                 Planned& planned) {
  const KindIndex kind = model.sites[static_cast<std::size_t>(stay.piece.site)].kind;
  const Rates& rates = model.rates[static_cast<std::size_t>(kind)][static_cast<std::size_t>(stay.piece.service)];
  const std::size_t variants = service.variants.size();
  if (stay.piece.use == kRetraining) {
    service.retrains_elsewhere = true;
    if (rates.retraining_slots <= 0) return;
    service.outside_progress.resize(static_cast<std::size_t>(problem.slots), 0.0);
    for (SlotIndex slot = std::max(stay.from, stay.ready_from); slot < std::min<int>(stay.until, problem.slots);
         ++slot) {
      service.outside_progress[static_cast<std::size_t>(slot)] += 1 / rates.retraining_slots;
    }
    return;
  }
  const auto variant = static_cast<std::size_t>(stay.piece.use);
  const double rate = rates.requests_per_second[variant];
  service.outside.resize(static_cast<std::size_t>(problem.slots + 1) * variants, 0.0);
  for (SlotIndex slot = stay.from; slot < stay.until; ++slot) {
    if (slot < problem.slots) {
      planned.floor[static_cast<std::size_t>(slot)] += floor_part(service, rate);
      ++planned.slices[static_cast<std::size_t>(slot)];
    }
    // In the tail everything works.
    if (slot >= stay.ready_from || slot == problem.slots) {
      service.outside[static_cast<std::size_t>(slot) * variants + variant] += rate;
    }
  }
}

bool has_site_in(const Configuration& pieces, SiteIndex site) {
  return std::ranges::find(pieces, site, &Piece::site) != pieces.end();
}

/// Slices of each service that a GPU's changes create or destroy.
void take_changes(const GpuTerms& gpu, const std::vector<Change>& changes, std::vector<ServiceTerms>& services) {
  Configuration from;
  for (const StandingPiece& standing : gpu.standing) from.push_back(standing.piece);
  const auto take = [&](const Configuration& pieces, const Configuration& others) {
    for (const Piece& piece : pieces) {
      if (piece.service == kNoService || has_site_in(others, piece.site)) continue;
      int& left = services[static_cast<std::size_t>(piece.service)].changes_max;
      if (left > 0) --left;
    }
  };
  for (const Change& change : changes) {
    take(from, change.to);
    take(change.to, from);
    from = change.to;
  }
}

}  // namespace

Problem part_of(const Problem& problem, const Schedule& schedule, GpuIndex gpu) {
  Problem part = problem;
  part.gpus = {problem.gpus[static_cast<std::size_t>(gpu)]};
  const auto slots = static_cast<std::size_t>(problem.slots);
  std::vector<Planned> planned(problem.services.size(),
                               {.floor = std::vector<double>(slots, 0.0), .slices = std::vector<int>(slots, 0)});
  for (const GpuIndex other : indices_of<GpuIndex>(problem.gpus)) {
    if (other == gpu) continue;
    const GpuTerms& terms = problem.gpus[other];
    const ModelTerms& model = problem.models[static_cast<std::size_t>(terms.model)];
    for (const OutsideStay& stay : outside_stays_of(problem, terms, schedule.gpus[other])) {
      if (stay.piece.service == kNoService) continue;
      const ServiceIndex service = stay.piece.service;
      add_outside(problem, model, stay, part.services[service], planned[service]);
    }
    take_changes(terms, schedule.gpus[other], part.services);
  }
  for (const ServiceIndex i : indices_of<ServiceIndex>(part.services)) {
    if (slots > 0) part.services[i].outside_slices += *std::ranges::max_element(planned[i].slices);
    if (part.services[i].floor_rate <= 0 || problem.floors_from >= problem.slots) continue;
    part.services[i].outside_floor_rate +=
        *std::min_element(planned[i].floor.begin() + problem.floors_from, planned[i].floor.end());
  }
  return part;
}

}  // namespace berth::planner
