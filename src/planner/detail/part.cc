#include "planner/detail/part.h"

#include <algorithm>
#include <vector>

#include "window/check.h"

namespace berth::planner {
namespace {

/// Something that stands on another GPU for a while.
struct Stretch {
  Piece piece;
  SlotIndex ready_from;
  SlotIndex from;
  SlotIndex until;  ///< the tail is slot problem.slots
};

/// What a GPU does under its changes, piece by piece and configuration by configuration.
std::vector<Stretch> stretches_of(const Problem& problem, const GpuTerms& gpu, const std::vector<Change>& changes) {
  const ModelTerms& model = problem.models[static_cast<std::size_t>(gpu.model)];
  std::vector<Stretch> now;
  Configuration pieces;
  for (const StandingPiece& standing : gpu.standing) {
    now.push_back({.piece = standing.piece, .ready_from = SlotIndex(standing.ready_in), .from{}, .until{}});
    pieces.push_back(standing.piece);
  }
  std::vector<Stretch> all;
  for (const Change& change : changes) {
    std::vector<Stretch> next;
    for (const Piece& piece : change.to) {
      const auto kept = std::ranges::find(now, piece, &Stretch::piece);
      next.push_back(kept != now.end()
                         ? *kept
                         : Stretch{.piece = piece,
                                   .ready_from = change.slot + slots_until_ready(problem, model, pieces, piece),
                                   .from = change.slot,
                                   .until{}});
    }
    for (Stretch& stretch : now) {
      if (std::ranges::find(change.to, stretch.piece) != change.to.end()) continue;
      stretch.until = change.slot;
      all.push_back(stretch);
    }
    now = std::move(next);
    pieces = change.to;
  }
  for (Stretch& stretch : now) {
    stretch.until = SlotIndex(problem.slots + 1);
    all.push_back(stretch);
  }
  return all;
}

/// Adds what a piece gives its service from outside.
void add_outside(const Problem& problem, const ModelTerms& model, const Stretch& stretch, ServiceTerms& service,
                 std::vector<double>& planned) {
  const KindIndex kind = model.sites[static_cast<std::size_t>(stretch.piece.site)].kind;
  const Rates& rates = model.rates[static_cast<std::size_t>(kind)][static_cast<std::size_t>(stretch.piece.service)];
  const std::size_t variants = service.variants.size();
  if (stretch.piece.use == kRetraining) {
    service.retrains_elsewhere = true;
    service.outside_progress.resize(static_cast<std::size_t>(problem.slots), 0.0);
    for (SlotIndex slot = std::max(stretch.from, stretch.ready_from);
         slot < std::min<int>(stretch.until, problem.slots); ++slot) {
      service.outside_progress[static_cast<std::size_t>(slot)] += 1 / rates.retraining_slots;
    }
    return;
  }
  const auto variant = static_cast<std::size_t>(stretch.piece.use);
  const double rate = rates.requests_per_second[variant];
  service.outside.resize(static_cast<std::size_t>(problem.slots + 1) * variants, 0.0);
  for (SlotIndex slot = stretch.from; slot < stretch.until; ++slot) {
    if (slot < problem.slots) planned[static_cast<std::size_t>(slot)] += rate;
    // In the tail everything works.
    if (slot >= stretch.ready_from || slot == problem.slots) {
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
      if (piece.service == kNobody || has_site_in(others, piece.site)) continue;
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
  std::vector<std::vector<double>> planned(problem.services.size(),
                                           std::vector<double>(static_cast<std::size_t>(problem.slots), 0.0));
  for (const GpuIndex other : indices_of<GpuIndex>(problem.gpus)) {
    if (other == gpu) continue;
    const GpuTerms& terms = problem.gpus[other];
    const ModelTerms& model = problem.models[static_cast<std::size_t>(terms.model)];
    for (const Stretch& stretch : stretches_of(problem, terms, schedule.gpus[other])) {
      if (stretch.piece.service == kNobody) continue;
      const ServiceIndex service = stretch.piece.service;
      add_outside(problem, model, stretch, part.services[service], planned[service]);
    }
    take_changes(terms, schedule.gpus[other], part.services);
  }
  for (const ServiceIndex i : indices_of<ServiceIndex>(part.services)) {
    if (part.services[i].floor_rate <= 0 || problem.floors_from >= problem.slots) continue;
    part.services[i].outside_floor_rate +=
        *std::min_element(planned[i].begin() + problem.floors_from, planned[i].end());
  }
  return part;
}

}  // namespace berth::planner
