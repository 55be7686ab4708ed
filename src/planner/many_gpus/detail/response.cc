#include "planner/many_gpus/detail/response.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace berth::planner::fleet {
namespace {

constexpr double kGainLeast = 1e-9;  ///< of the score's parts: less is rounding
constexpr std::array kShifts = {-16, -8, -4, -2, -1, 1, 2, 4, 8, 16};
constexpr int kRetimesMax = 20;

/// The services on a path.
void add_services(const Path& path, std::vector<ServiceIndex>& services) {
  for (const Stay& stay : path.stays) services.push_back(stay.piece.service);
  for (const auto& [service, count] : path.changed) services.push_back(service);
  std::ranges::sort(services);
  const auto repeated = std::ranges::unique(services);
  services.erase(repeated.begin(), repeated.end());
}

/// The capacity of a path for a service, [slot x variants + variant].
std::vector<double> capacity_in(const Terms& terms, ModelIndex model, const Path& path, ServiceIndex service) {
  const std::size_t variants = terms.problem.services[idx(service)].variants.size();
  std::vector<double> capacity((idx(terms.slots) + 1) * variants);
  for (const Stay& stay : path.stays) {
    if (stay.piece.service != service || stay.piece.use == kRetraining) continue;
    const double rate = terms.rates(model, stay.kind, service).requests_per_second[idx(stay.piece.use)];
    const SlotIndex until = std::min(stay.until, terms.tail_end());
    for (SlotIndex slot = stay.ready; slot < until; ++slot)
      capacity[idx(slot) * variants + idx(stay.piece.use)] += rate;
  }
  return capacity;
}

/// Whether a stay begins with a change instead of being a standing piece.
bool is_begun(const Path& path, const Stay& stay) {
  return !path.changes.empty() && stay.from >= path.changes.front().slot;
}

bool is_of_group(const Terms& terms, ServiceIndex service, GroupIndex group) {
  return service == kNoService || terms.group[idx(service)] == group;
}

}  // namespace

Responder::Responder(const Terms& terms, Grid grid, int stride)
    : terms_(&terms),
      grid_(std::move(grid)),
      gains_(terms, stride),
      retraining_(terms.problem.services.size()),
      retraining_tables_(terms.problem.models.size(),
                         std::vector<std::vector<PieceTable>>(terms.problem.services.size())) {
  for (const ModelIndex m : indices_of<ModelIndex>(terms.problem.models)) {
    tables_.emplace_back(terms.problem.models[m].rates.size());
    offers_.emplace_back(terms.problem.models[m].rates.size());
    spaces_.emplace_back(terms.trees[m], grid_);
  }
}

void Responder::renew(FleetState& state) {
  for (const ServiceIndex service : gains_.note_changes(state)) {
    retraining_[idx(service)].reset();
    for (auto& tables : retraining_tables_) tables[idx(service)].clear();
  }
}

void Responder::forget_own() {
  std::vector<ServiceIndex> services;
  services.reserve(own_.size());
  for (const OwnCapacity& each : own_) services.push_back(each.service);
  gains_.forget(services);
  own_.clear();
}

/// Moves the GPU's average capacity towards that of a path.
void Responder::move_own(GpuIndex gpu, const Path& path, double share) {
  const ModelIndex model = terms_->problem.gpus[idx(gpu)].model;
  std::vector<ServiceIndex> services;
  services.reserve(own_.size());
  for (const OwnCapacity& each : own_) services.push_back(each.service);
  add_services(path, services);
  for (const ServiceIndex service : services) {
    const std::vector<double> given = capacity_in(*terms_, model, path, service);
    auto found = std::ranges::find(own_, service, &OwnCapacity::service);
    if (found == own_.end()) {
      own_.push_back({.service = service, .capacity = std::vector<double>(given.size())});
      found = own_.end() - 1;
    }
    for (std::size_t i = 0; i < given.size(); ++i) found->capacity[i] += share * (given[i] - found->capacity[i]);
  }
  gains_.forget(services);
}

void Responder::fill_tables(const FleetState& state, GpuIndex gpu, GroupIndex group) {
  const ModelIndex model = terms_->problem.gpus[idx(gpu)].model;
  const auto kinds = static_cast<int>(tables_[idx(model)].size());
  for (const KindIndex kind : Indices<KindIndex>(kinds)) {
    std::vector<Offer>& offers = offers_[idx(model)][idx(kind)];
    offers.clear();
    ServiceIndex last{-1};
    for (const auto& [service, use] : gains_.candidates(model, kind)) {
      if (service == last || !is_of_group(*terms_, service, group)) continue;
      last = service;
      for (const Offer& offer : gains_.offers_of(state, model, kind, service, own_)) offers.push_back(offer);
    }
    fill_piece_table(*terms_, grid_, offers, tables_[idx(model)][idx(kind)]);
  }
  spaces_[idx(model)].fill(terms_->problem.models[idx(model)], tables_[idx(model)]);
}

void Responder::fill_retraining(const FleetState& state, ModelIndex model, ServiceIndex service) {
  std::optional<RetrainingWorth>& worth = retraining_[idx(service)];
  std::vector<PieceTable>& tables = retraining_tables_[idx(model)][idx(service)];
  if (!tables.empty() || !may_retrain(state, service)) return;
  if (!worth) worth.emplace(*terms_, state, service);
  tables.resize(tables_[idx(model)].size());
  for (const KindIndex kind : indices_of<KindIndex>(tables)) {
    const double slots_on = terms_->rates(model, kind, service).retraining_slots;
    if (slots_on > 0) worth->fill_table(grid_, slots_on, tables[kind]);
  }
}

void Responder::fill_retraining(const FleetState& state, ModelIndex model, const std::vector<RetrainingSite>& held) {
  for (const RetrainingSite& each : held) fill_retraining(state, model, each.service);
}

std::vector<double> Responder::standing_worth(const FleetState& state, GpuIndex gpu, const StandingPiece& standing,
                                              GroupIndex group, PointIndex first,
                                              const std::vector<RetrainingSite>& held) {
  const std::size_t width = grid_.width();
  std::vector<double> until(width, 0);
  const Piece& piece = standing.piece;
  if (piece.service == kNoService || !is_of_group(*terms_, piece.service, group)) return until;
  const ModelIndex model = terms_->problem.gpus[idx(gpu)].model;
  const KindIndex kind = terms_->problem.models[idx(model)].sites[idx(piece.site)].kind;
  if (piece.use == kRetraining) {
    const double slots_on = terms_->rates(model, kind, piece.service).retraining_slots;
    const bool is_held = std::ranges::any_of(
        held, [&](const RetrainingSite& each) { return each.service == piece.service && each.site == piece.site; });
    const std::optional<RetrainingWorth>& worth = retraining_[idx(piece.service)];
    if (!is_held || !worth || slots_on <= 0) return until;
    return worth->until_points(grid_, SlotIndex(standing.ready_in), 1 / slots_on);
  }
  if (terms_->rates(model, kind, piece.service).requests_per_second[idx(piece.use)] <= 0) return until;
  const Gain& gain = gains_.gain(state, model, kind, piece.service, piece.use, own_);
  for (std::size_t b = idx(first); b < width; ++b) {
    SlotIndex slot = b + 1 == width ? terms_->tail_end() : grid_.points[b];
    if (static_cast<int>(b) == first) slot = std::max(slot, terms_->first_change[idx(gpu)]);
    const SlotIndex ready(slot > terms_->slots ? std::min(standing.ready_in, terms_->slots) : standing.ready_in);
    until[b] = std::max(0.0, gain.ready[idx(slot)] - gain.ready[idx(std::min(ready, slot))]);
    if (!gain.stands.empty()) until[b] += gain.stands[idx(slot)];
  }
  return until;
}

std::vector<NodeRule> Responder::rules_of(const FleetState& state, GpuIndex gpu, GroupIndex group,
                                          const std::vector<RetrainingSite>& held) {
  const ModelIndex model = terms_->problem.gpus[idx(gpu)].model;
  const auto offers = [&](KindIndex kind, ServiceIndex service) {
    return is_of_group(*terms_, service, group) ? gains_.offers_of(state, model, kind, service, own_)
                                                : std::vector<Offer>();
  };
  std::vector<NodeRule> rules = pin_rules(*terms_, grid_, gpu, offers, pin_tables_);
  for (const RetrainingSite& each : held) {
    const KindIndex kind = terms_->model_of(gpu).sites[idx(each.site)].kind;
    rule_of(rules, terms_->trees[idx(model)].node_of_site[idx(each.site)])
        .extra.push_back({.site = each.site, .table = &retraining_tables_[idx(model)][idx(each.service)][idx(kind)]});
  }
  return rules;
}

Responder::Attempt Responder::attempt(const FleetState& state, GpuIndex gpu, GroupIndex group,
                                      const std::vector<RetrainingSite>& held) {
  ++nodes_;
  const GpuTerms& gpu_terms = terms_->problem.gpus[idx(gpu)];
  SpaceValues& space = spaces_[idx(gpu_terms.model)];
  const std::vector<NodeRule> rules = rules_of(state, gpu, group, held);
  if (!rules.empty()) space.add_rules(terms_->model_of(gpu), tables_[idx(gpu_terms.model)], rules);
  PointIndex first;
  while (first + 1 < grid_.size() && grid_.points[idx(first) + 1] <= terms_->first_change[idx(gpu)]) ++first;
  std::vector<StandingWorth> standing;
  standing.reserve(gpu_terms.standing.size());
  for (const StandingPiece& each : gpu_terms.standing) {
    standing.push_back({.site = each.piece.site, .until = standing_worth(state, gpu, each, group, first, held)});
  }
  Attempt attempt{.expected = walk_.solve(space, standing, first), .changes = {}};
  std::vector<SlotIndex> stays_until;
  std::vector<PlannedPiece> wanted;
  walk_.trace(space, grid_.end(), terms_->slots, stays_until, wanted);
  space.drop_rules();
  for (std::size_t i = 0; i < stays_until.size(); ++i) {
    const Piece& piece = gpu_terms.standing[i].piece;
    for (const PlannedPiece& each : wanted) {  // retrained on another site from then on
      if (piece.use == kRetraining && each.piece.use == kRetraining && each.piece.service == piece.service) {
        stays_until[i] = std::min(stays_until[i], each.from);
      }
    }
  }
  if (own_.empty()) divide(state, gpu, stays_until, wanted);
  attempt.changes = changes_towards(*terms_, gpu, stays_until, wanted);
  return attempt;
}

/// Adds a piece to the GPU's own capacity.
void Responder::add_own(const Piece& piece, ModelIndex model, KindIndex kind, SlotIndex from, SlotIndex until) {
  const std::size_t variants = terms_->problem.services[idx(piece.service)].variants.size();
  auto found = std::ranges::find(own_, piece.service, &OwnCapacity::service);
  if (found == own_.end()) {
    own_.push_back({.service = piece.service,
                    .capacity = std::vector<double>((idx(terms_->slots) + 1) * variants),
                    .is_sure = true});
    found = own_.end() - 1;
  }
  const double rate = terms_->rates(model, kind, piece.service).requests_per_second[idx(piece.use)];
  for (SlotIndex slot = from; slot < std::min(until, terms_->tail_end()); ++slot) {
    found->capacity[idx(slot) * variants + idx(piece.use)] += rate;
  }
  gains_.forget({piece.service});
}

/// Several pieces of one service are worth less together than the sum of the tables: each piece goes to the service
/// with the largest gain, given the pieces before it.
void Responder::divide(const FleetState& state, GpuIndex gpu, const std::vector<SlotIndex>& stays_until,
                       std::vector<PlannedPiece>& wanted) {
  const GpuTerms& terms = terms_->problem.gpus[idx(gpu)];
  const std::vector<Site>& sites = terms_->model_of(gpu).sites;
  std::vector<ServiceIndex> services;
  services.reserve(wanted.size() + stays_until.size());
  const auto is_served = [](const Piece& piece) { return piece.service != kNoService && piece.use != kRetraining; };
  for (const PlannedPiece& each : wanted) {
    if (is_served(each.piece)) services.push_back(each.piece.service);
  }
  for (std::size_t i = 0; i < stays_until.size(); ++i) {
    if (stays_until[i] > 0 && is_served(terms.standing[i].piece)) services.push_back(terms.standing[i].piece.service);
  }
  std::ranges::sort(services);
  if (std::ranges::adjacent_find(services) == services.end()) return;
  for (std::size_t i = 0; i < stays_until.size(); ++i) {
    const auto& [piece, ready_in] = terms.standing[i];
    if (stays_until[i] > 0 && is_served(piece)) {
      add_own(piece, terms.model, sites[idx(piece.site)].kind, SlotIndex(ready_in), stays_until[i]);
    }
  }
  for (PlannedPiece& each : wanted) {
    if (!is_served(each.piece)) continue;
    const KindIndex kind = sites[idx(each.piece.site)].kind;
    const bool is_pinned = std::ranges::find(terms.pins, each.piece.site, &PinnedSite::site) != terms.pins.end();
    double best = 0;
    for (const Offer& offer : offers_[idx(terms.model)][idx(kind)]) {
      if (is_pinned) break;
      gains_.gain(state, terms.model, kind, offer.service, offer.use, own_);  // the offer points to these values
      const double worth = worth_of(*terms_, grid_, offer, each.from_point, each.until_point, each.is_on_same_site);
      if (worth <= best) continue;
      best = worth;
      each.piece.service = offer.service;
      each.piece.use = offer.use;
    }
    const Readiness& readiness = terms_->serving[idx(each.piece.service)];
    const SlotIndex ready = each.from + (each.is_on_same_site ? readiness.on_same_site : readiness.on_new_site);
    add_own(each.piece, terms.model, kind, std::min(ready, terms_->tail()), each.until);
  }
  forget_own();
}

std::vector<RetrainingSite> Responder::held_by(const FleetState& state, GpuIndex gpu, const Path& path) const {
  const ModelIndex model = terms_->problem.gpus[idx(gpu)].model;
  std::vector<RetrainingSite> held;
  for (const Stay& stay : path.stays) {
    if (stay.piece.use != kRetraining) continue;
    // The layout of a file may contain a piece that cannot retrain its service.
    if (terms_->rates(model, stay.kind, stay.piece.service).retraining_slots <= 0) continue;
    const auto found = std::ranges::find(held, stay.piece.service, &RetrainingSite::service);
    if (found != held.end()) {
      found->site = stay.piece.site;
    } else {
      held.push_back({.service = stay.piece.service, .site = stay.piece.site});
    }
  }
  std::erase_if(held, [&](const RetrainingSite& each) { return !may_retrain(state, each.service); });
  return held;
}

bool Responder::may_retrain(const FleetState& state, ServiceIndex service) const {
  const ServiceTerms& terms = terms_->problem.services[idx(service)];
  if (!terms.retraining || terms.retrains_elsewhere) return false;
  return std::ranges::all_of(state.service(service).retraining, [](int count) { return count == 0; });
}

bool Responder::consider(FleetState& state, GpuIndex gpu, Path path, double& score, Path& best) {
  const bool is_known = std::ranges::equal(
      path.changes, best.changes, [](const Change& a, const Change& b) { return a.slot == b.slot && a.to == b.to; });
  if (is_known) return false;
  const double found = state.score_with(gpu, path);
  if (found <= score + kGainLeast * (1 + terms_->value_max)) return false;
  score = found;
  best = std::move(path);
  return true;
}

void Responder::try_retraining(FleetState& state, GpuIndex gpu, GroupIndex group,
                               const std::vector<RetrainingSite>& held, double& score, Path& best) {
  const ModelTerms& model = terms_->model_of(gpu);
  for (const ServiceIndex service : indices_of<ServiceIndex>(terms_->problem.services)) {
    const bool has_tables = !retraining_tables_[idx(terms_->problem.gpus[idx(gpu)].model)][idx(service)].empty();
    if (!has_tables || !is_of_group(*terms_, service, group)) continue;
    std::vector<RetrainingSite> others = held;
    std::erase_if(others, [&](const RetrainingSite& each) { return each.service == service; });
    std::vector<Attempt> attempts;
    if (others.size() < held.size()) attempts.push_back(attempt(state, gpu, group, others));
    for (const SiteIndex site : indices_of<SiteIndex>(model.sites)) {
      const Rates& rates = model.rates[idx(model.sites[idx(site)].kind)][idx(service)];
      const bool is_used = std::ranges::any_of(others, [&](const RetrainingSite& each) { return each.site == site; });
      if (rates.retraining_slots <= 0 || is_used) continue;
      others.push_back({.service = service, .site = site});
      attempts.push_back(attempt(state, gpu, group, others));
      others.pop_back();
    }
    std::ranges::sort(attempts, std::ranges::greater(), &Attempt::expected);
    if (attempts.size() > 2) attempts.resize(2);
    for (Attempt& each : attempts) consider(state, gpu, make_path(*terms_, gpu, std::move(each.changes)), score, best);
  }
}

void Responder::try_group(FleetState& state, GpuIndex gpu, GroupIndex group, const ResponseOptions& options,
                          double& score, Path& best) {
  const std::vector<RetrainingSite> held = held_by(state, gpu, best);
  renew(state);
  const ModelIndex model = terms_->problem.gpus[idx(gpu)].model;
  fill_retraining(state, model, held);
  if (options.moves_retraining) {
    for (const ServiceIndex i : indices_of<ServiceIndex>(terms_->problem.services)) fill_retraining(state, model, i);
  }
  if (options.attempts > 1) move_own(gpu, best, 1);
  for (int i = 0; i < options.attempts; ++i) {
    fill_tables(state, gpu, group);
    Path path = make_path(*terms_, gpu, attempt(state, gpu, group, held).changes);
    consider(state, gpu, path, score, best);
    if (i + 1 < options.attempts) move_own(gpu, path, 2.0 / (i + 3));
  }
  if (options.moves_retraining) try_retraining(state, gpu, group, held, score, best);
  forget_own();
}

double Responder::improve(FleetState& state, GpuIndex gpu, const ResponseOptions& options) {
  if (terms_->first_change[idx(gpu)] >= terms_->slots || grid_.size() == 0) return 0;
  const double before = state.score();
  double score = before;
  Path best = state.path(gpu);
  state.take_out(gpu);
  for (const GroupIndex group : Indices<GroupIndex>(terms_->groups)) try_group(state, gpu, group, options, score, best);
  if (options.attempts > 1) {
    std::vector<ServiceIndex> all(terms_->problem.services.size());
    std::iota(all.begin(), all.end(), ServiceIndex(0));
    while (reassign_one(state, gpu, all, score, best)) {
    }
  }
  state.put(gpu, std::move(best));
  return score - before;
}

/// Gives one piece to one of the takers for its whole life, if that gains.
bool Responder::reassign_one(FleetState& state, GpuIndex gpu, const std::vector<ServiceIndex>& takers, double& score,
                             Path& best) {
  const ModelTerms& model = terms_->model_of(gpu);
  const GpuTerms& gpu_terms = terms_->problem.gpus[idx(gpu)];
  for (std::size_t i = 0; i < best.stays.size(); ++i) {
    const Stay stay = best.stays[i];
    if (stay.from < terms_->first_change[idx(gpu)] && !is_begun(best, stay)) continue;
    if (std::ranges::find(gpu_terms.pins, stay.piece.site, &PinnedSite::site) != gpu_terms.pins.end()) continue;
    for (const ServiceIndex service : takers) {
      if (terms_->group[idx(service)] != terms_->group[idx(stay.piece.service)]) continue;
      const std::vector<double>& rates = model.rates[idx(stay.kind)][idx(service)].requests_per_second;
      for (int use = 0; idx(use) < rates.size(); ++use) {
        const Piece piece{.site = stay.piece.site, .service = service, .use = use};
        if (rates[idx(use)] <= 0 || piece == stay.piece) continue;
        std::vector<Change> changes = given_away(gpu_terms, best, stay, piece);
        ++nodes_;
        if (!may_carry_out(*terms_, gpu, changes)) continue;
        if (consider(state, gpu, make_path(*terms_, gpu, std::move(changes)), score, best)) return true;
      }
    }
  }
  return false;
}

/// Attempts with the service's retraining on one site of each kind.
std::vector<Responder::Attempt> Responder::retraining_attempts(const FleetState& state, GpuIndex gpu,
                                                               ServiceIndex service,
                                                               const std::vector<RetrainingSite>& held) {
  const ModelTerms& model = terms_->model_of(gpu);
  std::vector<RetrainingSite> with = held;
  std::vector<Attempt> attempts;
  std::vector<char> is_tried(model.rates.size(), 0);
  for (const SiteIndex site : indices_of<SiteIndex>(model.sites)) {
    const KindIndex kind = model.sites[idx(site)].kind;
    const bool is_used = std::ranges::any_of(held, [&](const RetrainingSite& each) { return each.site == site; });
    if (is_tried[idx(kind)] != 0 || is_used || model.rates[idx(kind)][idx(service)].retraining_slots <= 0) continue;
    is_tried[idx(kind)] = 1;
    with.push_back({.service = service, .site = site});
    attempts.push_back(attempt(state, gpu, terms_->group[idx(service)], with));
    with.pop_back();
  }
  return attempts;
}

double Responder::retrain(FleetState& state, GpuIndex gpu, ServiceIndex service) {
  if (terms_->first_change[idx(gpu)] >= terms_->slots || grid_.size() == 0) return 0;
  const double before = state.score();
  double score = before;
  Path best = state.path(gpu);
  state.take_out(gpu);
  if (may_retrain(state, service)) {
    std::vector<RetrainingSite> held = held_by(state, gpu, best);
    std::erase_if(held, [&](const RetrainingSite& each) { return each.service == service; });
    renew(state);
    fill_retraining(state, terms_->problem.gpus[idx(gpu)].model, held);
    fill_retraining(state, terms_->problem.gpus[idx(gpu)].model, service);
    fill_tables(state, gpu, terms_->group[idx(service)]);
    std::vector<Attempt> attempts = retraining_attempts(state, gpu, service, held);
    std::ranges::sort(attempts, std::ranges::greater(), &Attempt::expected);
    if (attempts.size() > 2) attempts.resize(2);
    attempts.push_back(attempt(state, gpu, terms_->group[idx(service)], held));
    for (Attempt& each : attempts) consider(state, gpu, make_path(*terms_, gpu, std::move(each.changes)), score, best);
  }
  state.put(gpu, std::move(best));
  return score - before;
}

double Responder::stop_retraining(FleetState& state, GpuIndex gpu, ServiceIndex service) {
  const double before = state.score();
  Path path = state.path(gpu);
  state.take_out(gpu);
  std::vector<RetrainingSite> held = held_by(state, gpu, path);
  std::erase_if(held, [&](const RetrainingSite& each) { return each.service == service; });
  renew(state);
  fill_retraining(state, terms_->problem.gpus[idx(gpu)].model, held);
  fill_tables(state, gpu, terms_->group[idx(service)]);
  path = make_path(*terms_, gpu, attempt(state, gpu, terms_->group[idx(service)], held).changes);
  state.put(gpu, std::move(path));
  return state.score() - before;
}

double Responder::repair_floors(FleetState& state, GpuIndex gpu) {
  std::vector<ServiceIndex> short_services;
  for (const ServiceIndex i : indices_of<ServiceIndex>(terms_->problem.services)) {
    if (state.service(i).shortfall > 0) short_services.push_back(i);
  }
  const double before = state.score();
  double score = before;
  Path best = state.path(gpu);
  state.take_out(gpu);
  while (reassign_one(state, gpu, short_services, score, best)) {
  }
  state.put(gpu, std::move(best));
  return score - before;
}

void Responder::place(FleetState& state, GpuIndex gpu) {
  const ModelIndex model = terms_->problem.gpus[idx(gpu)].model;
  Attempt best{.expected = -1, .changes = {}};
  if (terms_->first_change[idx(gpu)] < terms_->slots && grid_.size() > 0) {
    const std::vector<RetrainingSite> held = held_by(state, gpu, state.path(gpu));
    renew(state);
    fill_retraining(state, model, held);
    for (const GroupIndex group : Indices<GroupIndex>(terms_->groups)) {
      fill_tables(state, gpu, group);
      Attempt found = attempt(state, gpu, group, held);
      if (found.expected > best.expected) best = std::move(found);
    }
  }
  state.put(gpu, make_path(*terms_, gpu, std::move(best.changes)));
}

double Responder::retime(FleetState& state, GpuIndex gpu) {
  const double before = state.score();
  double score = before;
  for (int round = 0; round < kRetimesMax; ++round) {
    const double at_begin = score;
    for (std::size_t c = 0; c < state.path(gpu).changes.size(); ++c) {
      for (const int shift : kShifts) {
        Path old = state.path(gpu);
        std::vector<Change> changes = old.changes;
        changes[c].slot += shift;
        if (changes[c].slot < 0 || !may_carry_out(*terms_, gpu, changes)) continue;
        ++nodes_;
        state.take_out(gpu);
        state.put(gpu, make_path(*terms_, gpu, std::move(changes)));
        const double found = state.score();
        if (found > score + kGainLeast * (1 + terms_->value_max)) {
          score = found;
          continue;
        }
        state.take_out(gpu);
        state.put(gpu, std::move(old));
      }
    }
    if (score <= at_begin) break;
  }
  return score - before;
}

}  // namespace berth::planner::fleet
