#include "planner/many_gpus/state.h"

#include <algorithm>
#include <numeric>

namespace berth::planner::fleet {
namespace {

bool do_sites_clash(const ModelTerms& model, SiteIndex a, SiteIndex b) {
  return (model.sites[idx(a)].clashes >> b & 1) != 0 || a == b;
}

bool may_share(const Terms& terms, const Configuration& pieces, ServiceIndex service) {
  return service == kNoService || std::ranges::all_of(pieces, [&](const Piece& other) {
           return other.service == kNoService || terms.group[idx(other.service)] == terms.group[idx(service)];
         });
}

bool has_room(const ModelTerms& model, const Configuration& pieces, SiteIndex site) {
  return std::ranges::none_of(pieces, [&](const Piece& other) { return do_sites_clash(model, other.site, site); });
}

const Piece* piece_on(const Configuration& pieces, SiteIndex site) {
  const auto found = std::ranges::find(pieces, site, &Piece::site);
  return found == pieces.end() ? nullptr : &*found;
}

bool stands_in(const Configuration& pieces, const Piece& piece) {
  return std::ranges::find(pieces, piece) != pieces.end();
}

/// A GPU while its changes are walked through.
struct GpuUnderWay {
  Configuration now;
  std::vector<SlotIndex> ready;  ///< [piece]
};

GpuUnderWay at_start(const GpuTerms& gpu) {
  GpuUnderWay progress;
  for (const StandingPiece& standing : gpu.standing) {
    progress.now.push_back(standing.piece);
    progress.ready.emplace_back(standing.ready_in);
  }
  return progress;
}

GpuUnderWay after(const Terms& terms, const ModelTerms& model, const GpuUnderWay& before, const Change& change) {
  GpuUnderWay next{.now = change.to, .ready = {}};
  next.ready.reserve(change.to.size());
  for (const Piece& piece : change.to) {
    const auto old = std::ranges::find(before.now, piece);
    next.ready.push_back(old != before.now.end() ? before.ready[idx(static_cast<int>(old - before.now.begin()))]
                                                 : change.slot + ready_after(terms, model, before.now, piece));
  }
  return next;
}

SlotIndex free_at(const Terms& terms, GpuIndex gpu, const GpuUnderWay& progress, SlotIndex slot) {
  SlotIndex free = std::max(slot, terms.first_change[idx(gpu)]);
  for (const SlotIndex ready : progress.ready) free = std::max(free, ready);
  return terms.next_open(free);
}

/// Whether a use of a site can begin.
bool can_begin(const Terms& terms, GpuIndex gpu, const Piece& piece) {
  if (piece.service == kNoService) return false;
  const ModelTerms& model = terms.model_of(gpu);
  const Rates& rates = model.rates[idx(model.sites[idx(piece.site)].kind)][idx(piece.service)];
  if (piece.use != kRetraining) return rates.requests_per_second[idx(piece.use)] > 0;
  return may_begin_to_retrain(terms.problem.gpus[idx(gpu)], terms.problem.services[idx(piece.service)], rates, piece);
}

/// The piece on a pinned site: the wanted one, else the existing one, else the one with the highest rate.
Piece pinned_piece(const Terms& terms, GpuIndex gpu, const PinnedSite& pin, const Configuration& wanted,
                   const Configuration& now, bool& is_possible) {
  for (const Configuration* each : {&wanted, &now}) {
    const Piece* piece = piece_on(*each, pin.site);
    const bool may_retrain = !terms.problem.services[idx(pin.service)].retrains_elsewhere;
    if (piece != nullptr && piece->service == pin.service && (piece->use != kRetraining || may_retrain)) return *piece;
  }
  const ModelTerms& model = terms.model_of(gpu);
  const std::vector<double>& rates =
      model.rates[idx(model.sites[idx(pin.site)].kind)][idx(pin.service)].requests_per_second;
  const auto best = std::ranges::max_element(rates);
  is_possible = best != rates.end() && *best > 0;
  return {.site = pin.site, .service = pin.service, .use = static_cast<int>(best - rates.begin())};
}

/// The configuration after a change: pins first, then the wanted pieces, then pieces that clash with none of these.
bool complete(const Terms& terms, GpuIndex gpu, const Configuration& wanted, const Configuration& now,
              Configuration& to) {
  const ModelTerms& model = terms.model_of(gpu);
  const auto add = [&](const Piece& piece) {
    if (has_room(model, to, piece.site) && may_share(terms, to, piece.service)) to.push_back(piece);
  };
  for (const PinnedSite& pin : terms.problem.gpus[idx(gpu)].pins) {
    bool is_possible = true;
    const Piece piece = pinned_piece(terms, gpu, pin, wanted, now, is_possible);
    if (!is_possible || !has_room(model, to, piece.site) || !may_share(terms, to, piece.service)) return false;
    to.push_back(piece);
  }
  for (const Piece& piece : wanted) {
    if (stands_in(now, piece) || can_begin(terms, gpu, piece)) add(piece);
  }
  for (const Piece& piece : now) {
    if (piece.use != kRetraining) add(piece);
  }
  std::erase_if(to, [&](const Piece& piece) {
    return piece.use == kRetraining && piece.service != kNoService &&
           terms.problem.services[idx(piece.service)].retrains_elsewhere;
  });
  std::ranges::sort(to);
  return true;
}

/// The wanted pieces of a slot.
Configuration wanted_at(const GpuTerms& gpu, const std::vector<SlotIndex>& stays_until,
                        const std::vector<PlannedPiece>& wanted, SlotIndex slot) {
  Configuration pieces;
  for (const PlannedPiece& each : wanted) {
    if (each.from <= slot && slot < each.until) pieces.push_back(each.piece);
  }
  for (std::size_t i = 0; i < gpu.standing.size(); ++i) {
    if (slot < stays_until[i]) pieces.push_back(gpu.standing[i].piece);
  }
  return pieces;
}

/// Counts the pieces of `from` without a slice in `to`, and vice versa.
void count_changed(const Configuration& from, const Configuration& to, Path& path) {
  auto& changed = path.changed;
  const auto count = [&](const Piece& piece, const Configuration& others) {
    if (piece_on(others, piece.site) != nullptr) return;
    ++path.slices_changed;
    if (piece.service == kNoService) return;
    const auto place = std::ranges::lower_bound(changed, piece.service, {}, &std::pair<ServiceIndex, int>::first);
    if (place != changed.end() && place->first == piece.service) {
      ++place->second;
    } else {
      changed.insert(place, {piece.service, 1});
    }
  };
  for (const Piece& piece : to) count(piece, from);
  for (const Piece& piece : from) count(piece, to);
}

}  // namespace

Path make_path(const Terms& terms, GpuIndex gpu, std::vector<Change> changes) {
  const ModelTerms& model = terms.model_of(gpu);
  Path path{.changes = std::move(changes), .stays = {}, .changed = {}};
  GpuUnderWay progress = at_start(terms.problem.gpus[idx(gpu)]);
  const auto begin = [&](std::size_t i, SlotIndex slot) {
    const Piece& piece = progress.now[i];
    if (piece.service == kNoService) return;
    path.stays.push_back({.piece = piece,
                          .kind = model.sites[idx(piece.site)].kind,
                          .from = slot,
                          .ready = progress.ready[i],
                          .until = terms.tail_end()});
  };
  for (std::size_t i = 0; i < progress.now.size(); ++i) begin(i, SlotIndex(0));
  for (const Change& change : path.changes) {
    count_changed(progress.now, change.to, path);
    for (Stay& stay : path.stays) {
      if (stay.until > terms.slots && !stands_in(change.to, stay.piece)) stay.until = change.slot;
    }
    const Configuration before = progress.now;
    progress = after(terms, model, progress, change);
    for (std::size_t i = 0; i < progress.now.size(); ++i) {
      if (!stands_in(before, progress.now[i])) begin(i, change.slot);
    }
  }
  return path;
}

std::vector<Change> changes_towards(const Terms& terms, GpuIndex gpu, const std::vector<SlotIndex>& stays_until,
                                    const std::vector<PlannedPiece>& wanted) {
  const GpuTerms& gpu_terms = terms.problem.gpus[idx(gpu)];
  std::vector<SlotIndex> times(stays_until);
  for (const PlannedPiece& each : wanted) {
    times.push_back(each.from);
    times.push_back(each.until);
  }
  std::ranges::sort(times);
  GpuUnderWay progress = at_start(gpu_terms);
  std::vector<Change> changes;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const SlotIndex slot = free_at(terms, gpu, progress, times[i]);
    if (slot >= terms.slots) break;
    if (i + 1 < times.size() && times[i + 1] <= slot) continue;
    Change change{.slot = slot, .to = {}};
    if (!complete(terms, gpu, wanted_at(gpu_terms, stays_until, wanted, slot), progress.now, change.to)) return {};
    if (change.to == progress.now) continue;
    progress = after(terms, terms.model_of(gpu), progress, change);
    changes.push_back(std::move(change));
  }
  return changes;
}

bool may_carry_out(const Terms& terms, GpuIndex gpu, const std::vector<Change>& changes) {
  GpuUnderWay progress = at_start(terms.problem.gpus[idx(gpu)]);
  SlotIndex last{-1};
  for (const Change& change : changes) {
    if (change.slot <= last || change.slot >= terms.slots) return false;
    if (free_at(terms, gpu, progress, change.slot) != change.slot) return false;
    progress = after(terms, terms.model_of(gpu), progress, change);
    last = change.slot;
  }
  return true;
}

bool keeps_rules(const Terms& terms, GpuIndex gpu, const std::vector<Change>& changes) {
  const auto is_kept_in = [](const PinnedSite& pin, const Configuration& pieces) {
    return std::ranges::any_of(
        pieces, [&](const Piece& piece) { return piece.site == pin.site && piece.service == pin.service; });
  };
  const auto is_sound = [&](const Change& change) {
    GroupIndex group{-1};
    for (const Piece& piece : change.to) {
      if (piece.service == kNoService) continue;
      if (group >= 0 && terms.group[idx(piece.service)] != group) return false;
      group = terms.group[idx(piece.service)];
    }
    return std::ranges::all_of(terms.problem.gpus[idx(gpu)].pins,
                               [&](const PinnedSite& pin) { return is_kept_in(pin, change.to); });
  };
  return std::ranges::all_of(changes, is_sound);
}

SlotIndex next_free(const Terms& terms, GpuIndex gpu, const std::vector<Change>& changes, SlotIndex slot) {
  GpuUnderWay progress = at_start(terms.problem.gpus[idx(gpu)]);
  for (const Change& change : changes) {
    if (change.slot > slot) break;
    if (change.slot == slot) return slot;  // it changes there anyway
    progress = after(terms, terms.model_of(gpu), progress, change);
  }
  return free_at(terms, gpu, progress, slot);
}

std::vector<Change> lent(const GpuTerms& gpu, const Path& path, const Stay& stay, const Piece& piece, SlotIndex from,
                         SlotIndex until) {
  Configuration standing;
  for (const StandingPiece& each : gpu.standing) standing.push_back(each.piece);
  std::vector<Change> stretches = {{.slot = SlotIndex(-1), .to = std::move(standing)}};
  stretches.insert(stretches.end(), path.changes.begin(), path.changes.end());
  for (const SlotIndex slot : {from, until}) {
    const auto next = std::ranges::upper_bound(stretches, slot, {}, &Change::slot);
    if (std::prev(next)->slot == slot || slot >= stay.until) continue;
    Change cut{.slot = slot, .to = std::prev(next)->to};
    stretches.insert(next, std::move(cut));
  }
  std::vector<Change> changes;
  for (std::size_t i = 1; i < stretches.size(); ++i) {
    for (Piece& each : stretches[i].to) {
      if (stretches[i].slot >= from && stretches[i].slot < until && each == stay.piece) each = piece;
    }
    if (stretches[i].to != stretches[i - 1].to) changes.push_back(stretches[i]);
  }
  return changes;
}

std::vector<Change> given_away(const GpuTerms& gpu, const Path& path, const Stay& stay, const Piece& piece) {
  Configuration before;
  for (const StandingPiece& standing : gpu.standing) before.push_back(standing.piece);
  std::vector<Change> changes;
  for (Change change : path.changes) {
    for (Piece& each : change.to) {
      if (change.slot >= stay.from && change.slot < stay.until && each == stay.piece) each = piece;
    }
    if (change.to == before) continue;
    before = change.to;
    changes.push_back(std::move(change));
  }
  return changes;
}

Freshness freshness_of(const Terms& terms, ServiceIndex service, const std::vector<double>& progress) {
  const std::optional<RetrainingTerms>& retraining = terms.problem.services[idx(service)].retraining;
  Freshness freshness{.is_fresh = std::vector<char>(idx(terms.slots), 1),
                      .tail_fresh_seconds = terms.problem.tail_seconds,
                      .model_value = 0};
  if (!retraining) return freshness;
  bool is_stale = retraining->is_stale;
  bool is_done = retraining->fresh_in > 0;
  double done = retraining->progress;
  SlotIndex fresh_from(retraining->fresh_in);
  auto due = retraining->due_slots.begin();
  for (const SlotIndex slot : Indices<SlotIndex>(terms.slots + 1)) {
    if (due != retraining->due_slots.end() && *due == slot) {
      ++due;
      if (!(retraining->keeps_unfinished && is_stale && !is_done)) done = 0;
      is_stale = true;
      is_done = false;
    }
    if (is_stale && !is_done && done >= kDone) {
      is_done = true;
      fresh_from = slot + retraining->swap_slots;
    }
    if (is_done && fresh_from <= slot) is_done = is_stale = false;
    if (slot == terms.slots) break;
    freshness.is_fresh[idx(slot)] = is_stale ? 0 : 1;
    if (is_stale && !is_done) done += progress[idx(slot)];
  }
  const bool is_lost = is_stale && !is_done;
  freshness.tail_fresh_seconds = is_lost ? 0 : std::min(terms.problem.tail_seconds, retraining->tail_fresh_seconds);
  freshness.model_value = is_lost ? retraining->progress_value * done : retraining->fresh_value;
  return freshness;
}

double value_of(const Terms& terms, ServiceIndex service, const std::vector<double>& capacity,
                const std::vector<double>& progress) {
  const ServiceTerms& service_terms = terms.problem.services[idx(service)];
  const std::size_t variants = service_terms.variants.size();
  const double* last = capacity.data() + idx(terms.slots) * variants;
  if (!service_terms.retraining) {
    return terms.worth_always_fresh(service, capacity.data()) +
           terms.problem.tail_seconds * terms.worth(service, terms.tail(), true, last);
  }
  const Freshness freshness = freshness_of(terms, service, progress);
  double value = freshness.model_value;
  for (const SlotIndex slot : Indices<SlotIndex>(terms.slots)) {
    const bool is_fresh = freshness.is_fresh[idx(slot)] != 0;
    value += terms.worth(service, slot, is_fresh, capacity.data() + idx(slot) * variants);
  }
  const double stale_seconds = terms.problem.tail_seconds - freshness.tail_fresh_seconds;
  value += freshness.tail_fresh_seconds * terms.worth(service, terms.tail(), true, last) +
           stale_seconds * terms.worth(service, terms.tail(), false, last);
  return value;
}

FleetState::FleetState(const Terms& terms) : terms_(&terms), is_touched_(terms.problem.services.size(), 1) {
  const std::size_t slots = idx(terms.slots);
  for (const ServiceTerms& service : terms.problem.services) {
    ServiceSupply state;
    state.capacity =
        service.outside.empty() ? std::vector<double>((slots + 1) * service.variants.size()) : service.outside;
    state.standing.assign(slots, service.outside_floor_rate);
    state.progress = service.outside_progress.empty() ? std::vector<double>(slots) : service.outside_progress;
    state.retraining.assign(slots, 0);
    if (service.slices_max >= 0) state.serving.assign(slots, service.outside_slices);
    services_.push_back(std::move(state));
  }
  for (const GpuIndex gpu : indices_of<GpuIndex>(terms.problem.gpus)) {
    paths_.push_back(make_path(terms, gpu, {}));
    add(paths_.back(), terms.problem.gpus[idx(gpu)].model, 1);
  }
  for (const ServiceIndex service : indices_of<ServiceIndex>(services_)) renew(service);
}

double FleetState::score() const {
  return std::accumulate(services_.begin(), services_.end(), -terms_->problem.change_price * slices_changed_,
                         [&](double sum, const ServiceSupply& service) { return sum + service.score(*terms_); });
}

double FleetState::objective() const {
  return std::accumulate(services_.begin(), services_.end(), -terms_->problem.change_price * slices_changed_,
                         [](double sum, const ServiceSupply& service) { return sum + service.value; });
}

double FleetState::shortfall() const {
  return std::accumulate(services_.begin(), services_.end(), 0.0,
                         [](double sum, const ServiceSupply& service) { return sum + service.shortfall; });
}

double FleetState::excess() const {
  return std::accumulate(services_.begin(), services_.end(), 0.0,
                         [](double sum, const ServiceSupply& service) { return sum + service.excess; });
}

void FleetState::add(const Path& path, ModelIndex model, int sign) {
  slices_changed_ += sign * path.slices_changed;
  for (const Stay& stay : path.stays) {
    ServiceSupply& state = services_[idx(stay.piece.service)];
    is_touched_[idx(stay.piece.service)] = 1;
    const Rates& rates = terms_->rates(model, stay.kind, stay.piece.service);
    const SlotIndex until = std::min(stay.until, terms_->tail());
    if (stay.piece.use == kRetraining) {
      const double each = rates.retraining_slots > 0 ? sign / rates.retraining_slots : 0;
      for (SlotIndex slot = stay.from; slot < until; ++slot) state.retraining[idx(slot)] += sign;
      for (SlotIndex slot = stay.ready; slot < until; ++slot) state.progress[idx(slot)] += each;
      continue;
    }
    const ServiceTerms& service = terms_->problem.services[idx(stay.piece.service)];
    const double rate = sign * rates.requests_per_second[idx(stay.piece.use)];
    const double part = sign * floor_part(service, rates.requests_per_second[idx(stay.piece.use)]);
    const std::size_t variants = service.variants.size();
    for (SlotIndex slot = stay.from; slot < until; ++slot) state.standing[idx(slot)] += part;
    for (SlotIndex slot = stay.from; slot < until && !state.serving.empty(); ++slot) state.serving[idx(slot)] += sign;
    double* capacity = state.capacity.data() + idx(stay.piece.use);
    for (SlotIndex slot = stay.ready; slot < until; ++slot) capacity[idx(slot) * variants] += rate;
    if (stay.until > terms_->slots) capacity[idx(terms_->slots) * variants] += rate;
  }
  for (const auto& [service, count] : path.changed) {
    services_[idx(service)].changed += sign * count;
    is_touched_[idx(service)] = 1;
  }
}

void FleetState::renew(ServiceIndex service) {
  const ServiceTerms& terms = terms_->problem.services[idx(service)];
  ServiceSupply& state = services_[idx(service)];
  state.value = value_of(*terms_, service, state.capacity, state.progress);
  state.shortfall = 0;
  const double enough = terms.floor_rate * (1 - kFloorSlack);
  for (SlotIndex slot = terms_->problem.floors_from; terms.floor_rate > 0 && slot < terms_->slots; ++slot) {
    if (state.standing[idx(slot)] < enough) state.shortfall += 1 - state.standing[idx(slot)] / terms.floor_rate;
  }
  state.excess = terms.changes_max >= 0 ? std::max(0, state.changed - terms.changes_max) : 0;
  for (const int count : state.serving) state.excess += std::max(0, count - terms.slices_max);
  if (terms.retrains_elsewhere) return;
  for (const int count : state.retraining) state.excess += std::max(0, count - 1);
}

void FleetState::take_out(GpuIndex gpu) { add(paths_[idx(gpu)], terms_->problem.gpus[idx(gpu)].model, -1); }

void FleetState::put(GpuIndex gpu, Path path) {
  std::vector<ServiceIndex> renewed;
  for (const Path* each : {&paths_[idx(gpu)], &path}) {
    for (const Stay& stay : each->stays) renewed.push_back(stay.piece.service);
    for (const auto& [service, count] : each->changed) renewed.push_back(service);
  }
  add(path, terms_->problem.gpus[idx(gpu)].model, 1);
  paths_[idx(gpu)] = std::move(path);
  std::ranges::sort(renewed);
  const auto repeated = std::ranges::unique(renewed);
  renewed.erase(repeated.begin(), repeated.end());
  for (const ServiceIndex service : renewed) renew(service);
}

double FleetState::score_with(GpuIndex gpu, Path path) {
  std::vector<char> touched = is_touched_;
  put(gpu, std::move(path));
  const double found = score();
  take_out(gpu);
  is_touched_ = std::move(touched);  // all is as it was before
  return found;
}

std::vector<ServiceIndex> FleetState::take_touched() {
  std::vector<ServiceIndex> touched;
  for (std::size_t i = 0; i < is_touched_.size(); ++i) {
    if (is_touched_[i] != 0) touched.emplace_back(i);
    is_touched_[i] = 0;
  }
  return touched;
}

FleetState state_of(const Terms& terms, const Schedule& schedule) {
  FleetState state(terms);
  for (const GpuIndex gpu : indices_of<GpuIndex>(schedule.gpus)) {
    if (schedule.gpus[idx(gpu)].empty()) continue;
    state.take_out(gpu);
    state.put(gpu, make_path(terms, gpu, schedule.gpus[idx(gpu)]));
  }
  return state;
}

}  // namespace berth::planner::fleet
