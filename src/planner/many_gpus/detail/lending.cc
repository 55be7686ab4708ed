#include "planner/many_gpus/detail/lending.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace berth::planner::fleet {
namespace {

constexpr double kWorthLending = 1e-7;  ///< of the most that any schedule is worth
constexpr int kLoansMax = 12;           ///< of one GPU

}  // namespace

double Lending::improve(FleetState& state, GpuIndex gpu) {
  if (!terms_->has_retraining() || terms_->first_change[idx(gpu)] >= terms_->slots) return 0;
  const double before = state.score();
  for (int loan = 0; loan < kLoansMax && improve_once(state, gpu); ++loan) {
  }
  return state.score() - before;
}

/// Makes the best loan. False if none gains.
bool Lending::improve_once(FleetState& state, GpuIndex gpu) {
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
  for (const ServiceIndex service : indices_of<ServiceIndex>(done_slots_)) {
    const auto& retraining = terms_->problem.services[idx(service)].retraining;
    if (!retraining) continue;
    Freshness freshness = freshness_of(*terms_, service, state.service(service).progress);
    for (SlotIndex slot(1); slot < terms_->slots; ++slot) {
      const bool becomes_fresh = freshness.is_fresh[idx(slot)] != 0 && freshness.is_fresh[idx(slot - 1)] == 0;
      if (becomes_fresh) done_slots_[idx(service)].push_back(slot - retraining->swap_slots);
    }
    is_fresh_[idx(service)] = std::move(freshness.is_fresh);
  }
}

/// The slots of a stay in which a loan may begin: the first one, those in which a model becomes stale, those in which a
/// retraining is completed.
std::vector<SlotIndex> Lending::begins_of(GpuIndex gpu, const Path& path, const Stay& stay,
                                          ServiceIndex service) const {
  std::vector<SlotIndex> wanted = {stay.from};
  const ServiceTerms& terms = terms_->problem.services[idx(service)];
  if (terms.retraining)
    wanted.insert(wanted.end(), terms.retraining->due_slots.begin(), terms.retraining->due_slots.end());
  for (const std::vector<SlotIndex>& slots : done_slots_) wanted.insert(wanted.end(), slots.begin(), slots.end());
  std::vector<SlotIndex> begins;
  begins.reserve(wanted.size());
  for (const SlotIndex slot : wanted) {
    if (slot < stay.from || slot >= stay.until) continue;
    const SlotIndex free = next_free(*terms_, gpu, path.changes, slot);
    if (free < std::min(stay.until, terms_->tail())) begins.push_back(free);
  }
  std::ranges::sort(begins);
  const auto repeated = std::ranges::unique(begins);
  begins.erase(repeated.begin(), repeated.end());
  return begins;
}

std::vector<Lending::Loan> Lending::loans_of(GpuIndex gpu, const Path& path, const Stay& stay) const {
  std::vector<Loan> loans;
  const auto& pins = terms_->problem.gpus[idx(gpu)].pins;
  const bool is_pinned = std::ranges::find(pins, stay.piece.site, &PinnedSite::site) != pins.end();
  for (const ServiceIndex service : indices_of<ServiceIndex>(terms_->problem.services)) {
    if (is_pinned && service != stay.piece.service) continue;
    if (terms_->group[idx(service)] != terms_->group[idx(stay.piece.service)]) continue;
    add_retraining(gpu, path, stay, service, loans);
    if (stay.piece.use == kRetraining) add_serving(gpu, path, stay, service, loans);
  }
  return loans;
}

void Lending::add_retraining(GpuIndex gpu, const Path& path, const Stay& stay, ServiceIndex service,
                             std::vector<Loan>& loans) const {
  const ServiceTerms& terms = terms_->problem.services[idx(service)];
  const ModelIndex model = terms_->problem.gpus[idx(gpu)].model;
  const Piece piece{.site = stay.piece.site, .service = service, .use = kRetraining};
  if (!terms.retraining || terms.retrains_elsewhere || piece == stay.piece) return;
  if (terms_->rates(model, stay.kind, service).retraining_slots <= 0) return;
  // A standing piece without a rate cannot begin again, so it does not return from a loan.
  const bool may_return =
      stay.piece.use != kRetraining &&
      terms_->rates(model, stay.kind, stay.piece.service).requests_per_second[idx(stay.piece.use)] > 0;
  for (const SlotIndex from : begins_of(gpu, path, stay, service)) {
    if (is_fresh_[idx(service)][idx(from)] != 0) continue;
    Stay lent_stay = stay;
    lent_stay.piece = piece;
    const SlotIndex done = done_slot(lent_stay, model, from);
    if (done < std::min(stay.until, terms_->tail()) && may_return) {
      loans.push_back({.piece = piece, .from = from, .until = done});
    }
    loans.push_back({.piece = piece, .from = from, .until = stay.until});
  }
}

void Lending::add_serving(GpuIndex gpu, const Path& path, const Stay& stay, ServiceIndex service,
                          std::vector<Loan>& loans) const {
  const ModelIndex model = terms_->problem.gpus[idx(gpu)].model;
  const std::vector<double>& rates = terms_->rates(model, stay.kind, service).requests_per_second;
  for (int use = 0; idx(use) < rates.size(); ++use) {
    if (rates[idx(use)] <= 0) continue;
    const Piece piece{.site = stay.piece.site, .service = service, .use = use};
    for (const SlotIndex from : begins_of(gpu, path, stay, stay.piece.service)) {
      loans.push_back({.piece = piece, .from = from, .until = stay.until});
    }
  }
}

/// The slot in which a retraining that begins on a standing slice is completed, if nothing else retrains the service.
SlotIndex Lending::done_slot(const Stay& stay, ModelIndex model, SlotIndex from) const {
  const ServiceIndex service = stay.piece.service;
  const RetrainingTerms& retraining = *terms_->problem.services[idx(service)].retraining;
  const bool is_reset = std::ranges::any_of(retraining.due_slots, [&](SlotIndex due) { return due <= from; });
  const double left = retraining.is_stale && !is_reset ? 1 - retraining.progress : 1;
  const double slots = left * terms_->rates(model, stay.kind, service).retraining_slots;
  return from + terms_->retraining.on_same_site + static_cast<int>(std::ceil(slots - 1e-6));
}

}  // namespace berth::planner::fleet
