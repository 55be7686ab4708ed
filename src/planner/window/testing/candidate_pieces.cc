#include "planner/window/testing/candidate_pieces.h"

#include <algorithm>
#include <cmath>

#include "base/core/ensure.h"

namespace berth::planner::testing {
namespace {

/// Pins hold in every configuration after a change: pieces that cannot exist next to them cannot begin.
bool agrees_with_pins(const Problem& problem, GpuIndex gpu, const Piece& piece) {
  return std::ranges::all_of(problem.gpus[gpu].pins, [&](const PinnedSite& pin) {
    if (sharing_group_of(problem, pin.service) != sharing_group_of(problem, piece.service)) return false;
    if (pin.site == piece.site) return pin.service == piece.service;
    return !has_site(model_of(problem, gpu).sites[pin.site].clashes, piece.site);
  });
}

bool is_useful(const Problem& problem, GpuIndex gpu, const Piece& piece) {
  const Rates& rates = rates_of(problem, gpu, piece);
  if (piece.use != kRetraining) return rates.requests_per_second[static_cast<std::size_t>(piece.use)] > 0;
  return may_begin_to_retrain(problem.gpus[gpu], problem.services[piece.service], rates, piece);
}

std::vector<CandidatePiece> pieces_that_may_begin(const Problem& problem, GpuIndex gpu) {
  std::vector<CandidatePiece> candidates;
  for (const SiteIndex site : indices_of<SiteIndex>(model_of(problem, gpu).sites)) {
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      for (int use = kRetraining; use < static_cast<int>(problem.services[service].variants.size()); ++use) {
        const Piece piece{.site = site, .service = service, .use = use};
        if (!is_useful(problem, gpu, piece) || !agrees_with_pins(problem, gpu, piece)) continue;
        candidates.push_back({.piece = piece});
      }
    }
  }
  return candidates;
}

int rounded(double seconds) { return static_cast<int>(std::floor(seconds + 0.5 + 1e-9)); }

/// The longest time to destroy slices that may be in the way of a piece: of slow kinds, or only of the others.
double destroy_seconds_in(const Problem& problem, const ModelTerms& model, const Site& site, bool with_slow) {
  const std::vector<char> is_slow = slow_kinds_of(problem, model);
  double longest = 0;
  for (const SiteIndex other : indices_of<SiteIndex>(model.sites)) {
    const KindIndex kind = model.sites[other].kind;
    const bool counts = has_site(site.clashes, other) && (with_slow || is_slow[kind] == 0);
    if (counts) longest = std::max(longest, destroy_seconds_of(problem, model, kind));
  }
  return longest;
}

void set_delays(const Problem& problem, const ModelTerms& model, CandidatePiece& candidate) {
  const ServiceTerms& service = problem.services[candidate.piece.service];
  const double begin = problem.plumbing_seconds + (candidate.piece.use == kRetraining ? 0 : service.start_seconds);
  const int on_slice = rounded(begin);
  const Site& site = model.sites[candidate.piece.site];
  const double created = begin + create_seconds_of(problem, model, site.kind);
  const int in_free = rounded(created);
  const int in_quick = rounded(created + destroy_seconds_in(problem, model, site, false));
  const int in_taken = rounded(created + destroy_seconds_in(problem, model, site, true));
  ENSURE(0 <= on_slice && on_slice <= in_free && in_free <= in_quick && in_quick <= in_taken);
  candidate.delays[BeginWay::kInTakenRoom] = in_taken;
  if (in_quick < in_taken) candidate.delays[BeginWay::kInQuickRoom] = in_quick;
  if (in_free < in_quick) candidate.delays[BeginWay::kInFreeRoom] = in_free;
  const bool counts_slices = service.changes_max >= 0 || problem.change_price > 0;
  if (on_slice < in_taken || counts_slices) candidate.delays[BeginWay::kOnSlice] = on_slice;
}

}  // namespace

std::vector<char> slow_kinds_of(const Problem& problem, const ModelTerms& model) {
  std::vector<double> seconds;
  for (const KindIndex kind : indices_of<KindIndex>(model.rates)) {
    seconds.push_back(destroy_seconds_of(problem, model, kind));
  }
  const double shortest = std::ranges::min(seconds);
  std::vector<char> is_slow;
  std::optional<double> longest;
  for (const double each : seconds) {
    is_slow.push_back(each > shortest ? 1 : 0);
    if (each > shortest) ENSURE(longest.value_or(each) == each);
    if (each > shortest) longest = each;
  }
  return is_slow;
}

std::vector<CandidatePiece> candidate_pieces_of(const Problem& problem, GpuIndex gpu) {
  std::vector<CandidatePiece> candidates = pieces_that_may_begin(problem, gpu);
  for (CandidatePiece& candidate : candidates) set_delays(problem, model_of(problem, gpu), candidate);
  for (const StandingPiece& standing : problem.gpus[gpu].standing) {
    auto found = std::ranges::find(candidates, standing.piece, &CandidatePiece::piece);
    if (found == candidates.end()) {
      candidates.push_back({.piece = standing.piece});
      found = candidates.end() - 1;
    }
    found->ready_in = standing.ready_in;
  }
  std::ranges::sort(candidates, {}, &CandidatePiece::piece);
  return candidates;
}

std::vector<SlotIndex> change_slots_of(const Problem& problem, GpuIndex gpu) {
  SlotIndex first = std::max(problem.gpus[gpu].free_from, SlotIndex(0));
  for (const StandingPiece& standing : problem.gpus[gpu].standing) {
    first = std::max(first, SlotIndex(standing.ready_in));
  }
  std::vector<SlotIndex> slots;
  for (SlotIndex slot = first; slot < problem.slots; ++slot) {
    const bool is_frozen = !problem.is_frozen.empty() && problem.is_frozen[static_cast<std::size_t>(slot)] != 0;
    if (!is_frozen) slots.push_back(slot);
  }
  return slots;
}

std::vector<std::uint64_t> cliques_of(const ModelTerms& model) {
  std::vector<std::uint64_t> cliques;
  const int count = static_cast<int>(model.sites.size());
  ENSURE(count <= 64);
  for (const SiteIndex a : Indices<SiteIndex>(count)) {
    for (SiteIndex b = a; b < count; ++b) {
      const bool clash = has_site(model.sites[a].clashes, b);
      const auto holds_both = [&](std::uint64_t clique) { return has_site(clique, a) && has_site(clique, b); };
      if (!clash || std::ranges::any_of(cliques, holds_both)) continue;
      std::uint64_t clique = std::uint64_t{1} << a | std::uint64_t{1} << b;
      for (const SiteIndex c : Indices<SiteIndex>(count)) {
        if ((clique & ~model.sites[c].clashes) == 0) clique |= std::uint64_t{1} << c;
      }
      cliques.push_back(clique);
    }
  }
  return cliques;
}

SharingGroup sharing_group_of(const Problem& problem, ServiceIndex service) {
  const ServiceTerms& terms = problem.services[service];
  if (terms.is_alone_on_gpu) return {.is_alone = true, .number = service};
  return {.is_alone = false, .number = terms.trust_domain};
}

const ModelTerms& model_of(const Problem& problem, GpuIndex gpu) { return problem.models[problem.gpus[gpu].model]; }

const Rates& rates_of(const Problem& problem, GpuIndex gpu, const Piece& piece) {
  ENSURE(piece.service != kNoService);
  const ModelTerms& model = model_of(problem, gpu);
  return model.rates[model.sites[piece.site].kind][piece.service];
}

}  // namespace berth::planner::testing
