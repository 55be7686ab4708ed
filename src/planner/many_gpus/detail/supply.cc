#include "planner/many_gpus/detail/supply.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"

namespace berth::planner::fleet {
namespace {

constexpr double kCountLeast = 1e-3;  ///< of a GPU: smaller amounts are ignored

/// A piece's requests per second or progress per second.
double amount_of(const Rates& rates, int use) {
  if (use != kRetraining) return rates.requests_per_second[idx(use)];
  return rates.retraining_slots > 0 ? 1 / rates.retraining_slots : 0;
}

double between(const std::vector<double>& sums, SlotIndex from, SlotIndex until) {
  return until > from ? sums[idx(until)] - sums[idx(from)] : 0;
}

}  // namespace

Supply::Supply(const PriceFrame& frame) : frame_(&frame), terms_(frame.terms) {
  for (const ModelIndex m : indices_of<ModelIndex>(terms_->problem.models)) {
    for (int space = 0; space <= terms_->groups; ++space) {
      spaces_.emplace_back(terms_->trees[m], frame.grid);
      tables_.emplace_back(terms_->problem.models[m].rates.size());
      offers_.emplace_back(terms_->problem.models[m].rates.size());
      shares_.emplace_back(terms_->trees[m], static_cast<int>(terms_->problem.models[m].rates.size()),
                           frame.grid.width());
    }
  }
  std::size_t amounts = 0;
  for (const ServiceTerms& service : terms_->problem.services) {
    first_amount_.push_back(amounts);
    amounts += 2 * (service.variants.size() + 1) * frame.grid.width() * frame.grid.width();
  }
  amounts_.resize(amounts);
}

void Supply::fill(const std::vector<double>& prices) {
  prices_ = prices.data();
  sum_prices();
  fill_spaces();
}

void Supply::sum_prices() {
  sums_.resize(terms_->problem.services.size());
  const std::size_t size = idx(terms_->slots) + 2;
  for (const ServiceIndex i : indices_of<ServiceIndex>(sums_)) {
    const ServiceTerms& terms = frame_->service_terms(i);
    const PricePlaces& places = frame_->places[idx(i)];
    const std::vector<int>& order = terms_->fresh[idx(i)].order;
    Sums& sums = sums_[idx(i)];
    sums.serving.resize(order.size());
    std::vector<double> by_block(frame_->blocks(), 0);
    for (std::size_t w = order.size(); w-- > 0;) {
      for (const BlockIndex block : Indices<BlockIndex>(frame_->blocks())) {
        by_block[block] += prices_[places.capacity + w * frame_->blocks() + block];
      }
      std::vector<double>& serving = sums.serving[idx(order[w])];
      serving.resize(size);
      for (const SlotIndex slot : Indices<SlotIndex>(terms_->slots + 1)) {
        const double seconds = slot == terms_->slots ? frame_->length.back() : 1;
        serving[idx(slot) + 1] = serving[idx(slot)] + by_block[frame_->block_of(slot)] * seconds;
      }
    }
    if (has_rate_floor(terms)) {
      sums.floor.assign(size, 0);
      for (const SlotIndex slot : Indices<SlotIndex>(terms_->slots + 1)) {
        const bool is_bound = slot >= terms_->problem.floors_from && slot < terms_->slots;
        sums.floor[idx(slot) + 1] =
            sums.floor[idx(slot)] + (is_bound ? prices_[places.floor + frame_->block_of(slot)] : 0);
      }
    }
    if (terms.retraining) {
      sums.progress.assign(size, 0);
      for (const SlotIndex slot : Indices<SlotIndex>(terms_->slots)) {
        sums.progress[idx(slot) + 1] = sums.progress[idx(slot)] + prices_[places.progress + frame_->block_of(slot)];
      }
      sums.progress.back() = sums.progress[idx(terms_->slots)];
    }
  }
}

std::vector<Offer> Supply::offers_of(ModelIndex model, KindIndex kind, ServiceIndex service) const {
  const Rates& rates = terms_->rates(model, kind, service);
  const ServiceTerms& terms = frame_->service_terms(service);
  const Sums& sums = sums_[idx(service)];
  const double begin_cost = terms.changes_max >= 0 ? prices_[frame_->places[idx(service)].change] : 0;
  std::vector<Offer> offers;
  const auto add = [&](int use, Readiness readiness, const std::vector<double>& ready, double scale) {
    if (terms_->groups > 1) readiness.on_new_site = readiness.on_same_site;
    const bool counts = use != kRetraining && !sums.floor.empty();
    offers.push_back({.service = service,
                      .use = use,
                      .readiness = readiness,
                      .ready = ready.data(),
                      .ready_scale = scale,
                      .stands = counts ? sums.floor.data() : nullptr,
                      .stands_scale = scale,
                      .begin_cost = terms_->groups > 1 ? 0 : begin_cost});
  };
  for (int use = 0; idx(use) < rates.requests_per_second.size(); ++use) {
    const double rate = rates.requests_per_second[idx(use)];
    if (rate > 0) add(use, frame_->serving[idx(service)], sums.serving[idx(use)], rate);
  }
  if (terms.retraining && rates.retraining_slots > 0 && !terms.retrains_elsewhere) {
    add(kRetraining, terms_->retraining, sums.progress, 1 / rates.retraining_slots);
  }
  return offers;
}

void Supply::fill_spaces() {
  const std::size_t width = frame_->grid.width();
  any_.assign(terms_->problem.models.size(), {});
  any_base_ = any_;
  for (const ModelIndex m : indices_of<ModelIndex>(terms_->problem.models)) {
    const ModelTerms& model = terms_->problem.models[idx(m)];
    any_base_[idx(m)].assign(width * width, 0);
    for (const GroupIndex group : Indices<GroupIndex>(terms_->groups + 1)) {
      if (terms_->groups == 1 && group == 1) continue;
      std::vector<PieceTable>& tables = tables_[idx(space_of(m, group))];
      for (const KindIndex kind : indices_of<KindIndex>(tables)) {
        std::vector<Offer>& offers = offers_[idx(space_of(m, group))][idx(kind)];
        offers.clear();
        for (const ServiceIndex i : indices_of<ServiceIndex>(sums_)) {
          if (group < terms_->groups && terms_->group[idx(i)] != group) continue;
          for (const Offer& offer : offers_of(m, kind, i)) offers.push_back(offer);
        }
        fill_piece_maxima(*terms_, frame_->grid, offers, take_overs_, tables[idx(kind)]);
      }
      SpaceValues& space = spaces_[idx(space_of(m, group))];
      space.fill(model, tables);
      if (group == terms_->groups || terms_->groups == 1) continue;
      const std::vector<double>& root = space.cell(terms_->trees[idx(m)].root()).entry_new;
      for (std::size_t i = 0; i < root.size(); ++i) any_base_[idx(m)][i] = std::max(any_base_[idx(m)][i], root[i]);
    }
    if (terms_->groups == 1) continue;
    any_[idx(m)] = any_base_[idx(m)];
    for (std::size_t a = 0; a + 2 < width; ++a) {
      for (std::size_t point = a + 1; point + 1 < width; ++point) {
        for (std::size_t b = point + 1; b < width; ++b) {
          double& best = any_[idx(m)][a * width + b];
          best = std::max(best, any_[idx(m)][a * width + point] + any_base_[idx(m)][point * width + b]);
        }
      }
    }
  }
}

double Supply::solve_gpu(GpuIndex gpu) {
  ++nodes_;
  const GpuTerms& terms = terms_->problem.gpus[idx(gpu)];
  const ModelTerms& model = terms_->model_of(gpu);
  const std::size_t width = frame_->grid.width();
  const int size = frame_->grid.size();
  const SlotIndex first_change = terms_->first_change[idx(gpu)];
  PointIndex first(first_change >= terms_->slots ? size : 0);
  while (first + 1 < size && frame_->grid.points[idx(first) + 1] <= first_change) ++first;
  standing_.resize(terms.standing.size());
  bool is_mixed = !terms.pins.empty();
  GroupIndex group{-1};
  for (std::size_t i = 0; i < terms.standing.size(); ++i) {
    const auto& [piece, ready_in] = terms.standing[i];
    standing_[i].site = piece.site;
    std::vector<double>& until = standing_[i].until;
    until.assign(width, 0);
    if (piece.service == kNoService) continue;
    const GroupIndex its_group = terms_->group[idx(piece.service)];
    is_mixed |= group >= 0 && group != its_group;
    group = its_group;
    const Rates& rates = model.rates[idx(model.sites[idx(piece.site)].kind)][idx(piece.service)];
    const Sums& sums = sums_[idx(piece.service)];
    const bool retrains = piece.use == kRetraining;
    if (retrains && (sums.progress.empty() || rates.retraining_slots <= 0)) continue;
    const double rate = retrains ? 1 / rates.retraining_slots : rates.requests_per_second[idx(piece.use)];
    const std::vector<double>& ready = retrains ? sums.progress : sums.serving[idx(piece.use)];
    for (std::size_t b = idx(first); b < width; ++b) {
      SlotIndex slot = b + 1 == width ? terms_->tail_end() : frame_->grid.points[b];
      if (static_cast<int>(b) == first && first < size) slot = std::max(slot, first_change);
      const SlotIndex from(std::min(ready_in, terms_->slots));
      until[b] = rate * between(ready, from, slot);
      if (!retrains && !sums.floor.empty()) until[b] += rate * sums.floor[idx(slot)];
    }
  }
  const GroupIndex all(terms_->groups == 1 ? 0 : terms_->groups);
  switch_point_ = frame_->grid.end();
  space_ = space_of(terms.model, is_mixed || group < 0 || terms_->groups == 1 ? all : group);
  SpaceValues& space = spaces_[idx(space_)];
  if (!terms.pins.empty()) {
    const auto offers = [&](KindIndex kind, ServiceIndex service) { return offers_of(terms.model, kind, service); };
    space.add_rules(model, tables_[idx(space_)], pin_rules(*terms_, frame_->grid, gpu, offers, pin_tables_));
  }
  double worth = walk_.solve(space, standing_, first);
  if (space_ == space_of(terms.model, all)) return worth;
  for (PointIndex point = first; point < size; ++point) {
    const double switched = walk_.until(space, point) + any_[idx(terms.model)][idx(point) * width + idx(size)];
    if (switched <= worth) continue;
    worth = switched;
    switch_point_ = point;
  }
  return worth;
}

/// Adds to the slopes of all blocks that overlap [from, until); the tail is [slots, slots + 1).
void Supply::add_to_blocks(std::size_t place, SlotIndex from, SlotIndex until, double amount) {
  if (until <= from) return;
  const std::size_t blocks = idx(frame_->blocks());
  const double* first = frame_->seconds_before.data() + idx(from) * blocks;
  const double* last = frame_->seconds_before.data() + idx(until) * blocks;
  double* slope = slope_->data() + place;
  for (std::size_t block = 0; block < blocks; ++block) slope[block] += amount * (last[block] - first[block]);
}

void Supply::add_piece(ModelIndex model, const Piece& piece, SlotIndex from, SlotIndex ready, SlotIndex until,
                       double share) {
  if (piece.service == kNoService) return;
  const KindIndex kind = terms_->problem.models[idx(model)].sites[idx(piece.site)].kind;
  const double amount = amount_of(terms_->rates(model, kind, piece.service), piece.use);
  add_amount(piece.service, piece.use, from, ready, until, share * amount);
}

void Supply::add_amount(ServiceIndex service, int use, SlotIndex from, SlotIndex ready, SlotIndex until,
                        double amount) {
  const ServiceTerms& terms = frame_->service_terms(service);
  const PricePlaces& places = frame_->places[idx(service)];
  if (use == kRetraining) {
    if (terms.retraining) add_to_blocks(places.progress, ready, std::min(until, terms_->tail()), amount);
    return;
  }
  const std::vector<int>& order = terms_->fresh[idx(service)].order;
  for (std::size_t w = order.size(); w-- > 0;) {
    add_to_blocks(places.capacity + w * frame_->blocks(), ready, until, amount);
    if (order[w] == use) break;
  }
  if (has_rate_floor(terms)) {
    add_to_blocks(places.floor, std::max(from, terms_->problem.floors_from), std::min(until, terms_->tail()), amount);
  }
}

void Supply::add_supply(GpuIndex gpu, double weight) {
  const GpuTerms& terms = terms_->problem.gpus[idx(gpu)];
  const SpaceTree& tree = terms_->trees[idx(terms.model)];
  const SpaceValues& own = spaces_[idx(space_)];
  std::vector<SlotIndex> stays_until;
  std::vector<PlannedPiece> wanted;  // on pinned sites
  walk_.trace_new_spaces(own, switch_point_, terms_->slots, stays_until, new_spaces_);
  for (const NewSpace& new_space : new_spaces_) {
    if (own.is_ruled(new_space.node)) {
      own.trace(new_space.node, new_space.from_point, new_space.until_point, new_space.is_on_same_site, terms_->slots,
                wanted);
    } else {
      shares_[idx(space_)].add(tree, new_space, weight);
    }
  }
  const std::size_t width = frame_->grid.width();
  const NodeIndex root = tree.root();
  for (PointIndex a = switch_point_, end = frame_->grid.end();
       a < end;) {  // backwards: the last range of a group first
    PointIndex begin = a;
    const std::vector<double>& any = any_[idx(terms.model)];
    const std::vector<double>& base = any_base_[idx(terms.model)];
    const double worth = any[idx(a) * width + idx(end)];
    while (begin > a || worth != base[idx(a) * width + idx(end)]) {
      begin = begin == a ? a + 1 : begin + 1;
      ENSURE(begin < end);
      if (any[idx(a) * width + idx(begin)] + base[idx(begin) * width + idx(end)] == worth) break;
    }
    for (const GroupIndex group : Indices<GroupIndex>(terms_->groups)) {
      const SpaceValues& space = spaces_[idx(space_of(terms.model, group))];
      if (space.cell(root).entry_new[idx(begin) * width + idx(end)] != base[idx(begin) * width + idx(end)]) continue;
      shares_[idx(space_of(terms.model, group))].add(
          tree, {.node = root, .from_point = begin, .until_point = end, .is_on_same_site = false}, weight);
      break;
    }
    end = begin;
  }
  for (std::size_t i = 0; i < stays_until.size(); ++i) {
    add_piece(terms.model, terms.standing[i].piece, SlotIndex(0),
              SlotIndex(std::min(terms.standing[i].ready_in, terms_->slots)), stays_until[i], weight);
  }
  const ModelTerms& model = terms_->model_of(gpu);
  for (const PlannedPiece& each : wanted) {
    if (each.piece.service != kNoService) {
      add_wanted(terms.model, each, each.piece, weight);
    } else {
      spread_piece(terms.model, space_, model.sites[idx(each.piece.site)].kind, each, weight);
    }
  }
}

void Supply::add_wanted(ModelIndex model, const PlannedPiece& wanted, const Piece& piece, double share) {
  const SlotIndex ready = ready_slot(piece.service, piece.use, wanted.from, is_quick(wanted));
  add_piece(model, piece, wanted.from, ready, wanted.until, share);
  add_beginning(piece.service, wanted, share);
}

/// When the group changes, new pieces may follow old ones on every site of the GPU at once.
bool Supply::is_quick(const PlannedPiece& wanted) const { return wanted.is_on_same_site || terms_->groups > 1; }

SlotIndex Supply::ready_slot(ServiceIndex service, int use, SlotIndex from, bool is_quick) const {
  const Readiness& readiness = use == kRetraining ? terms_->retraining : frame_->serving[idx(service)];
  return std::min(from + (is_quick ? readiness.on_same_site : readiness.on_new_site), terms_->tail());
}

void Supply::add_beginning(ServiceIndex service, const PlannedPiece& wanted, double share) {
  if (is_quick(wanted) || frame_->service_terms(service).changes_max < 0) return;
  (*slope_)[frame_->places[idx(service)].change] -= share;
}

/// If many GPUs would hold the same piece and other services pay nearly as much, each service gets a share. The slope
/// is then that of a smoother function close to the bound.
void Supply::spread_pieces() {
  const std::size_t width = frame_->grid.width();
  for (const ModelIndex m : indices_of<ModelIndex>(terms_->problem.models)) {
    for (const GroupIndex group : Indices<GroupIndex>(terms_->groups + 1)) {
      if (terms_->groups == 1 && group == 1) continue;
      const SpaceIndex space = space_of(m, group);
      SpaceShares& shares = shares_[idx(space)];
      shares.spread(spaces_[idx(space)], terms_->problem.models[idx(m)], spread_);
      for (const KindIndex kind : indices_of<KindIndex>(tables_[idx(space)])) {
        for (const bool is_same : {false, true}) {
          const std::vector<double>& counts = shares.pieces(kind, is_same);
          for (std::size_t at = 0; at < counts.size(); ++at) {
            if (counts[at] <= kCountLeast) continue;
            const PointIndex from(at / width);
            const PointIndex until(at % width);
            const SpaceValues& values = spaces_[idx(space)];
            spread_piece(m, space, kind,
                         {.piece = {},
                          .from = values.slot_of(from, terms_->slots),
                          .until = values.slot_of(until, terms_->slots),
                          .is_on_same_site = is_same,
                          .from_point = from,
                          .until_point = until},
                         counts[at]);
          }
        }
      }
      shares.clear();
    }
  }
}

void Supply::spread_piece(ModelIndex model, SpaceIndex space, KindIndex kind, const PlannedPiece& wanted,
                          double count) {
  const std::vector<Offer>& offers = offers_[idx(space)][idx(kind)];
  worths_.clear();
  double best = 0;
  for (const Offer& offer : offers) {
    worths_.push_back(
        worth_of(*terms_, frame_->grid, offer, wanted.from_point, wanted.until_point, wanted.is_on_same_site));
    best = std::max(best, worths_.back());
  }
  if (best <= 0) return;
  const std::size_t at = idx(wanted.from_point) * frame_->grid.width() + idx(wanted.until_point);
  const double shortfall_scale = spread_ * std::max(best, shares_[idx(space)].piece_reference(kind, at));
  double sum = 0;
  for (double& worth : worths_) {
    worth = share_weight(worth, best, shortfall_scale);
    sum += worth;
  }
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (worths_[i] <= 0) continue;
    const auto [service, use] = std::pair(offers[i].service, offers[i].use);
    const double share = count * worths_[i] / sum;
    spread_amount(service, use, wanted) += share * amount_of(terms_->rates(model, kind, service), use);
    add_beginning(service, wanted, share);
  }
}

double& Supply::spread_amount(ServiceIndex service, int use, const PlannedPiece& wanted) {
  static_assert(kRetraining == -1);  // uses are counted from kRetraining
  const std::size_t width = frame_->grid.width();
  const std::size_t row = 2 * idx(use - kRetraining) + (is_quick(wanted) ? 1 : 0);
  return amounts_[first_amount_[idx(service)] + (row * width + idx(wanted.from_point)) * width +
                  idx(wanted.until_point)];
}

void Supply::add_spread() {
  const int size = frame_->grid.size();
  const auto slot_of = [&](PointIndex point) { return spaces_.front().slot_of(point, terms_->slots); };
  std::size_t at = 0;
  for (const ServiceIndex service : indices_of<ServiceIndex>(first_amount_)) {
    const int uses = static_cast<int>(frame_->service_terms(service).variants.size());
    for (int row = 0; row < 2 * (uses + 1); ++row) {
      const int use = row / 2 + kRetraining;
      for (const PointIndex from : Indices<PointIndex>(size + 1)) {
        for (PointIndex until(0); until <= size; ++until, ++at) {
          if (amounts_[at] <= 0) continue;
          const SlotIndex ready = ready_slot(service, use, slot_of(from), row % 2 == 1);
          add_amount(service, use, slot_of(from), ready, slot_of(until), amounts_[at]);
          amounts_[at] = 0;
        }
      }
    }
  }
}

double Supply::value(const std::vector<double>& prices, double spread, std::vector<double>& slope) {
  fill(prices);
  slope_ = &slope;
  spread_ = spread;
  double sum = 0;
  for (const GpuIndex gpu : indices_of<GpuIndex>(terms_->problem.gpus)) {
    const double weight = weights_[idx(gpu)];
    if (weight <= 0) continue;
    sum += weight * solve_gpu(gpu);
    add_supply(gpu, weight);
    if (!terms_->problem.gpus[idx(gpu)].pins.empty()) spaces_[idx(space_)].drop_rules();
  }
  spread_pieces();
  add_spread();
  return sum;
}

/// Chooses GPUs of each model at equal distances; each also represents those in between.
void Supply::choose_gpus(int most) {
  const Problem& problem = terms_->problem;
  const int stride = std::max(1, static_cast<int>(problem.gpus.size()) / std::max(1, most));
  std::vector<int> seen(problem.models.size(), 0);
  std::vector<int> chosen(problem.models.size(), 0);
  weights_.assign(problem.gpus.size(), 0);
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
    const ModelIndex model = problem.gpus[gpu].model;
    if (seen[idx(model)]++ % stride != 0) continue;
    weights_[gpu] = 1;
    ++chosen[idx(model)];
  }
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
    const ModelIndex model = problem.gpus[gpu].model;
    weights_[gpu] *= static_cast<double>(seen[idx(model)]) / std::max(1, chosen[idx(model)]);
  }
}

PriceCaps Supply::caps() const {
  PriceCaps caps;
  const auto differences = [&](const std::vector<double>& sums) {
    std::vector<double> each;
    each.reserve(sums.size());
    for (std::size_t slot = 0; slot + 1 < sums.size(); ++slot) each.push_back(sums[slot + 1] - sums[slot]);
    return each;
  };
  for (const Sums& sums : sums_) {
    caps.floor.push_back(differences(sums.floor));
    std::vector<std::vector<double>>& serving = caps.serving.emplace_back();
    for (const std::vector<double>& variant : sums.serving) serving.push_back(differences(variant));
  }
  return caps;
}

void Supply::set_reference(const std::vector<double>& prices) {
  fill(prices);
  for (std::size_t space = 0; space < shares_.size(); ++space) {
    shares_[space].set_reference(spaces_[space], tables_[space]);
  }
}
}  // namespace berth::planner::fleet
