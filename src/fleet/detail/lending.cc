#include "fleet/detail/lending.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace berth::planner::fleet {
namespace {

constexpr double kWorthLending = 1e-7;  ///< of the most that a schedule can be worth
constexpr int kLoansMax = 12;           ///< of one GPU

}  // namespace

double Lending::improve(FleetState& state, int gpu) {
  if (!terms_->has_retraining() || terms_->first_change[idx(gpu)] >= terms_->slots) return 0;
  const double before = state.score();
  for (int loan = 0; loan < kLoansMax && improve_once(state, gpu); ++loan) {
  }
  return state.score() - before;
}

/// The best loan of all.
bool Lending::improve_once(FleetState& state, int gpu) {
  note_freshness(state);
  double score = state.score() + kWorthLending * (1 + terms_->value_max);
  const Path path = state.path(gpu);
  Path best = path;
  bool is_better = false;
  state.take_out(gpu);
  for (const Stay& stay : path.stays) {
    for (const Loan& loan : loans_of(gpu, path, stay)) {
      std::vector<Change> changes = lent(terms_->problem.gpus[idx(gpu)], path, stay, loan.piece, loan.from, loan.until);
      ++nodes_;
      if (!may_carry_out(*terms_, gpu, changes) || !keeps_rules(*terms_, gpu, changes)) continue;
      Path tried = make_path(*terms_, gpu, std::move(changes));
      const double found = state.score_with(gpu, tried);
      if (found <= score) continue;
      score = found;
      best = std::move(tried);
      is_better = true;
    }
  }
  state.put(gpu, std::move(best));
  return is_better;
}

void Lending::note_freshness(const FleetState& state) {
  done_slots_.assign(terms_->problem.services.size(), {});
  is_fresh_.assign(terms_->problem.services.size(), {});
  for (int service = 0; idx(service) < done_slots_.size(); ++service) {
    const auto& retraining = terms_->problem.services[idx(service)].retraining;
    if (!retraining) continue;
    Freshness freshness = freshness_of(*terms_, service, state.service(service).progress);
    for (int slot = 1; slot < terms_->slots; ++slot) {
      const bool becomes_fresh = freshness.is_fresh[idx(slot)] != 0 && freshness.is_fresh[idx(slot - 1)] == 0;
      if (becomes_fresh) done_slots_[idx(service)].push_back(slot - retraining->swap_slots);
    }
    is_fresh_[idx(service)] = std::move(freshness.is_fresh);
  }
}

/// Slots of a stay in which it may be lent: at once, where a model becomes stale, where a retraining is done.
std::vector<int> Lending::begins_of(int gpu, const Path& path, const Stay& stay, int service) const {
  std::vector<int> wanted = {stay.from};
  const ServiceTerms& terms = terms_->problem.services[idx(service)];
  if (terms.retraining)
    wanted.insert(wanted.end(), terms.retraining->due_slots.begin(), terms.retraining->due_slots.end());
  for (const std::vector<int>& slots : done_slots_) wanted.insert(wanted.end(), slots.begin(), slots.end());
  std::vector<int> begins;
  begins.reserve(wanted.size());
  for (const int slot : wanted) {
    if (slot < stay.from || slot >= stay.until) continue;
    const int free = next_free(*terms_, gpu, path.changes, slot);
    if (free < std::min(stay.until, terms_->slots)) begins.push_back(free);
  }
  std::ranges::sort(begins);
  const auto repeated = std::ranges::unique(begins);
  begins.erase(repeated.begin(), repeated.end());
  return begins;
}

std::vector<Lending::Loan> Lending::loans_of(int gpu, const Path& path, const Stay& stay) const {
  std::vector<Loan> loans;
  const auto& pins = terms_->problem.gpus[idx(gpu)].pins;
  const bool is_pinned = std::ranges::find(pins, stay.piece.site, &PinnedSite::site) != pins.end();
  for (int service = 0; idx(service) < terms_->problem.services.size(); ++service) {
    if (is_pinned && service != stay.piece.service) continue;
    if (terms_->group[idx(service)] != terms_->group[idx(stay.piece.service)]) continue;
    add_retraining(gpu, path, stay, service, loans);
    if (stay.piece.use == kRetraining) add_serving(gpu, path, stay, service, loans);
  }
  return loans;
}

void Lending::add_retraining(int gpu, const Path& path, const Stay& stay, int service, std::vector<Loan>& loans) const {
  const ServiceTerms& terms = terms_->problem.services[idx(service)];
  const int model = terms_->problem.gpus[idx(gpu)].model;
  const Piece piece{.site = stay.piece.site, .service = service, .use = kRetraining};
  if (!terms.retraining || terms.retrains_elsewhere || piece == stay.piece) return;
  if (terms_->rates(model, stay.kind, service).retraining_slots <= 0) return;
  // What stood without a rate cannot begin again: it does not come back from a loan.
  const bool may_return =
      stay.piece.use != kRetraining &&
      terms_->rates(model, stay.kind, stay.piece.service).requests_per_second[idx(stay.piece.use)] > 0;
  for (const int from : begins_of(gpu, path, stay, service)) {
    if (is_fresh_[idx(service)][idx(from)] != 0) continue;
    Stay lent_stay = stay;
    lent_stay.piece = piece;
    const int done = done_slot(lent_stay, model, from);
    if (done < std::min(stay.until, terms_->slots) && may_return) {
      loans.push_back({.piece = piece, .from = from, .until = done});
    }
    loans.push_back({.piece = piece, .from = from, .until = stay.until});
  }
}

void Lending::add_serving(int gpu, const Path& path, const Stay& stay, int service, std::vector<Loan>& loans) const {
  const int model = terms_->problem.gpus[idx(gpu)].model;
  const std::vector<double>& rates = terms_->rates(model, stay.kind, service).requests_per_second;
  for (int use = 0; idx(use) < rates.size(); ++use) {
    if (rates[idx(use)] <= 0) continue;
    const Piece piece{.site = stay.piece.site, .service = service, .use = use};
    for (const int from : begins_of(gpu, path, stay, stay.piece.service)) {
      loans.push_back({.piece = piece, .from = from, .until = stay.until});
    }
  }
}

/// When a retraining that begins in a slot on a standing slice is done, if nothing else retrains the service.
int Lending::done_slot(const Stay& stay, int model, int from) const {
  const int service = stay.piece.service;
  const RetrainingTerms& retraining = *terms_->problem.services[idx(service)].retraining;
  const bool is_reset = std::ranges::any_of(retraining.due_slots, [&](int due) { return due <= from; });
  const double left = retraining.is_stale && !is_reset ? 1 - retraining.progress : 1;
  const double slots = left * terms_->rates(model, stay.kind, service).retraining_slots;
  return from + terms_->retraining.on_same_site + static_cast<int>(std::ceil(slots - 1e-6));
}

}  // namespace berth::planner::fleet
