#include "planner/many_gpus/detail/demand.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace berth::planner::fleet {
namespace {

constexpr double kUnlimited = 1e300;

double sum_before(const std::vector<double>& sums, SlotIndex from, SlotIndex until) {
  return until > from ? sums[idx(until)] - sums[idx(from)] : 0;
}

}  // namespace

Demand::Demand(const PriceFrame& frame) : frame_(&frame), terms_(frame.terms) {
  for (const ServiceTerms& service : terms_->problem.services) {
    const std::size_t size = service.variants.size() * frame.blocks() * 2 * idx(terms_->problem.samples);
    gathered_.emplace_back(service.retraining ? size : 0);
  }
  levels_.resize(frame.places.size());
  scales_.assign(frame.prices, 0);
  price_max_.assign(frame.prices, 0);
  sort_loads();
  set_scales();
}

double Demand::value(const std::vector<double>& prices, std::vector<double>& slope) {
  prices_ = prices.data();
  slope_ = &slope;
  double sum = 0;
  for (const ServiceIndex i : indices_of<ServiceIndex>(terms_->problem.services)) sum += value_of_service(i);
  return sum;
}

const std::vector<DemandLevel>& Demand::levels(ServiceIndex service, RungIndex rung, BlockIndex block) const {
  return levels_[idx(service)][rung * frame_->blocks() + block];
}

double Demand::outside(ServiceIndex service, RungIndex rung, BlockIndex block) const {
  return ranks_[idx(service)].outside[rung * frame_->blocks() + block];
}

void Demand::renew_levels(ServiceIndex service) {
  if (frame_->service_terms(service).retraining) {
    merge_levels(service);
  } else if (levels_[idx(service)].empty()) {
    set_levels(service);
  }
}

void Demand::sort_loads() {
  const std::size_t samples = idx(terms_->problem.samples);
  for (const ServiceTerms& service : terms_->problem.services) {
    Loads loads{.sorted = service.loads, .rest = std::vector<double>((idx(terms_->slots) + 1) * (samples + 1))};
    for (std::size_t slot = 0; slot <= idx(terms_->slots); ++slot) {
      const auto begin = loads.sorted.begin() + static_cast<long>(slot * samples);
      std::sort(begin, begin + static_cast<long>(samples), std::greater());
      double* rest = loads.rest.data() + slot * (samples + 1);
      for (std::size_t s = samples; s-- > 0;) rest[s] = rest[s + 1] + begin[static_cast<long>(s)];
    }
    loads_.push_back(std::move(loads));
    add_ranks(ServiceIndex(loads_.size()) - 1);
  }
}

void Demand::add_ranks(ServiceIndex service) {
  const ServiceTerms& terms = frame_->service_terms(service);
  const Loads& loads = loads_[idx(service)];
  const auto samples = static_cast<std::size_t>(terms_->problem.samples);
  const std::size_t rungs = terms.variants.size();
  Ranks ranks{.capacity = std::vector<double>(frame_->blocks() * samples),
              .served = std::vector<double>(frame_->blocks() * samples),
              .outside = std::vector<double>(frame_->blocks() * rungs)};
  for (const SlotIndex slot : Indices<SlotIndex>(terms_->slots + 1)) {
    const double seconds = slot == terms_->slots ? frame_->length.back() : 1;
    const BlockIndex block = frame_->block_of(slot);
    for (std::size_t k = 0; k < samples; ++k) {
      const double load = loads.sorted[idx(slot) * samples + k];
      const double rest = loads.rest[idx(slot) * (samples + 1) + k];
      ranks.capacity[block * samples + k] += seconds * load;
      ranks.served[block * samples + k] +=
          seconds * (static_cast<double>(k) * load + rest) / static_cast<double>(samples);
    }
    double outside = 0;
    for (std::size_t w = 0; w < rungs && !terms.outside.empty(); ++w) {
      outside += terms.outside[idx(slot) * rungs + idx(terms_->fresh[idx(service)].order[w])];
      ranks.outside[w * frame_->blocks() + block] += seconds * outside;
    }
  }
  ranks_.push_back(std::move(ranks));
}

void Demand::set_scales() {
  for (const ServiceIndex i : indices_of<ServiceIndex>(terms_->problem.services)) {
    double rate = 0;
    for (const ModelTerms& model : terms_->problem.models) {
      for (const std::vector<Rates>& kind : model.rates) {
        if (frame_->service_terms(i).retraining && kind[idx(i)].retraining_slots > 0) {
          rate = std::max(rate, 1 / kind[idx(i)].retraining_slots);
        }
      }
    }
    rate_max_.push_back(rate);
    set_scales_of(i);
  }
}

void Demand::set_scales_of(ServiceIndex service) {
  const ServiceTerms& terms = frame_->service_terms(service);
  const PricePlaces& places = frame_->places[idx(service)];
  const std::size_t samples = idx(terms_->problem.samples);
  std::vector<double> requests(frame_->blocks(), 0);
  double all = 0;
  for (const SlotIndex slot : Indices<SlotIndex>(terms_->slots + 1)) {
    const double seconds = slot == terms_->slots ? terms_->problem.tail_seconds : 1;
    const double load = loads_[idx(service)].rest[idx(slot) * (samples + 1)] / terms_->problem.samples;
    requests[frame_->block_of(slot)] += seconds * load;
    all += seconds * load;
  }
  double best = 0;
  for (const RungIndex w : indices_of<RungIndex>(terms.variants)) {
    const double step = std::max(frame_->step_of(service, w, true), frame_->step_of(service, w, false));
    best += step;
    for (const BlockIndex block : Indices<BlockIndex>(frame_->blocks())) {
      const std::size_t at = frame_->capacity_at(service, w, block);
      price_max_[at] = step;
      const double least = all * frame_->length[block] / std::max(1.0, terms_->slots + frame_->length.back()) * 0.1;
      scales_[at] = step / std::max({requests[block], least, 1e-6});
    }
  }
  const int floor_blocks = has_rate_floor(terms) ? frame_->blocks() : 0;
  for (const BlockIndex block : Indices<BlockIndex>(floor_blocks)) {
    price_max_[places.floor + block] = kUnlimited;
    scales_[places.floor + block] = best / (terms.floor_rate * std::max(1.0, frame_->length[block]));
  }
  if (terms.retraining) {
    double gain = std::max(terms.retraining->progress_value, terms.retraining->fresh_value);
    for (const RungIndex w : indices_of<RungIndex>(terms.variants)) {
      gain += std::max(0.0, frame_->step_of(service, w, true) - frame_->step_of(service, w, false)) * all / 2;
    }
    for (const BlockIndex block : Indices<BlockIndex>(frame_->blocks())) {
      price_max_[places.progress + block] = kUnlimited;
      scales_[places.progress + block] = gain;
    }
  }
  if (terms.changes_max >= 0) {
    price_max_[places.change] = kUnlimited;
    scales_[places.change] = best * all / 20 / (terms.changes_max + 1);
  }
}

Demand::Taken Demand::take(ServiceIndex service, SlotIndex slot, double step, double price) const {
  const auto samples = static_cast<std::size_t>(terms_->problem.samples);
  if (step <= 0 || price >= step) return {};
  const Loads& loads = loads_[idx(service)];
  const auto above = static_cast<std::size_t>(price * static_cast<double>(samples) / step);
  if (above >= samples) return {};
  const double capacity = loads.sorted[idx(slot) * samples + above];
  const double served = (static_cast<double>(above) * capacity + loads.rest[idx(slot) * (samples + 1) + above]) /
                        static_cast<double>(samples);
  return {.worth = step * served - price * capacity, .capacity = capacity};
}

Demand::NetWorth Demand::net_worth(ServiceIndex service) const {
  const std::size_t rungs = frame_->service_terms(service).variants.size();
  const bool has_stale = frame_->service_terms(service).retraining.has_value();
  NetWorth net;
  net.stale.assign(idx(terms_->slots) + 1, 0);
  net.fresh.assign(idx(terms_->slots) + 1, 0);
  const double* prices = prices_ + frame_->places[idx(service)].capacity;
  for (const RungIndex w : Indices<RungIndex>(rungs)) {
    const double fresh = frame_->step_of(service, w, true);
    const double stale = has_stale ? frame_->step_of(service, w, false) : 0;
    double fresh_sum = 0;
    double stale_sum = 0;
    for (const SlotIndex slot : Indices<SlotIndex>(terms_->slots)) {
      const double price = prices[w * frame_->blocks() + frame_->block_of(slot)];
      fresh_sum += take(service, slot, fresh, price).worth;
      if (has_stale) stale_sum += take(service, slot, stale, price).worth;
      net.fresh[idx(slot) + 1] += fresh_sum;
      net.stale[idx(slot) + 1] += stale_sum;
    }
    const double price = prices[w * frame_->blocks() + frame_->blocks() - 1] * frame_->length.back();
    net.tail_fresh += take(service, terms_->tail(), frame_->step_in_tail(service, w, true), price).worth;
    if (has_stale)
      net.tail_stale += take(service, terms_->tail(), frame_->step_in_tail(service, w, false), price).worth;
  }
  if (has_stale) net.tail_fresh += frame_->service_terms(service).retraining->fresh_value;
  return net;
}

/// Adds the service's demand in a slot to the slope. Returns the cost, at the prices, of its capacity elsewhere.
double Demand::charge(ServiceIndex service, SlotIndex slot, bool is_fresh) {
  const ServiceTerms& terms = frame_->service_terms(service);
  const std::size_t variants = terms.variants.size();
  const bool is_tail = slot == terms_->slots;
  const double seconds = is_tail ? frame_->length.back() : 1;
  double outside = 0;
  double paid = 0;
  for (const RungIndex w : Indices<RungIndex>(variants)) {
    const std::size_t at = frame_->capacity_at(service, w, frame_->block_of(slot));
    const double step = is_tail ? frame_->step_in_tail(service, w, is_fresh) : frame_->step_of(service, w, is_fresh);
    const int variant = terms_->fresh[idx(service)].order[w];
    if (!terms.outside.empty()) outside += terms.outside[idx(slot) * variants + idx(variant)];
    (*slope_)[at] += seconds * (outside - take(service, slot, step, prices_[at] * seconds).capacity);
    paid += seconds * outside * prices_[at];
    gather_levels(service, slot, w, is_fresh);
  }
  return paid;
}

/// Records the service's demand in a slot at falling prices.
void Demand::gather_levels(ServiceIndex service, SlotIndex slot, RungIndex rung, bool is_fresh) {
  const auto samples = static_cast<std::size_t>(terms_->problem.samples);
  const double seconds = slot == terms_->slots ? frame_->length.back() : 1;
  const double* sorted = loads_[idx(service)].sorted.data() + idx(slot) * samples;
  double* quantities = gathered_[idx(service)].data() +
                       ((rung * frame_->blocks() + frame_->block_of(slot)) * 2 + (is_fresh ? 1 : 0)) * samples;
  for (std::size_t k = 0; k < samples; ++k) {
    quantities[k] += seconds * (sorted[k] - (k + 1 < samples ? sorted[k + 1] : 0));
  }
}

std::vector<Demand::Epoch> Demand::epochs(ServiceIndex service) const {
  const RetrainingTerms& terms = *frame_->service_terms(service).retraining;
  std::vector<Epoch> epochs;
  Epoch now{.begin = {},
            .end = terms_->tail(),
            .is_last = true,
            .is_fresh = !terms.is_stale,
            .fresh_from = SlotIndex(terms.fresh_in > 0 ? terms.fresh_in : -1),
            .progress = terms.progress,
            .counts_from = {}};
  const bool is_unfinished = terms.is_stale && terms.fresh_in <= 0;
  for (const SlotIndex due : terms.due_slots) {
    now.end = due;
    now.is_last = false;
    if (due > 0) epochs.push_back(now);
    const bool keeps = terms.keeps_unfinished && (due > 0 || is_unfinished);
    now = {.begin = due,
           .end = terms_->tail(),
           .is_last = true,
           .is_fresh = false,
           .fresh_from = SlotIndex(-1),
           .progress = keeps ? terms.progress : 0,
           .counts_from = keeps ? SlotIndex(0) : due};
  }
  epochs.push_back(now);
  return epochs;
}

/// The cheapest way to get `amount` of progress in slots from `from` to `until` at prices below `limit`.
double Demand::pay_progress(ServiceIndex service, SlotIndex from, SlotIndex until, double amount, double limit,
                            bool is_charged, double* bought) const {
  const std::size_t place = frame_->places[idx(service)].progress;
  std::vector<BlockIndex> order(frame_->starts.size());
  std::iota(order.begin(), order.end(), BlockIndex(0));
  std::ranges::sort(order, {}, [&](BlockIndex block) { return std::pair(prices_[place + block], block); });
  double paid = 0;
  double left = amount;
  for (const BlockIndex block : order) {
    if (left <= 0 || prices_[place + block] >= limit) break;
    const SlotIndex begin = std::max(from, frame_->starts[block]);
    const SlotIndex end =
        std::min(until, idx(block) + 1 < frame_->starts.size() ? frame_->starts[block + 1] : terms_->tail());
    if (end <= begin) continue;
    const double part = std::min(left, (end - begin) * rate_max_[idx(service)]);
    paid += part * prices_[place + block];
    left -= part;
    if (is_charged) (*slope_)[place + block] -= part;
  }
  *bought = amount - left;
  return paid;
}

Demand::Completion Demand::best_completion(ServiceIndex service, const Epoch& epoch, const NetWorth& net) const {
  const ServiceTerms& terms = frame_->service_terms(service);
  const RetrainingTerms& retraining = *terms.retraining;
  double given = epoch.progress;
  double bought = 0;
  const auto add_outside = [&](SlotIndex slot) {
    if (!terms.outside_progress.empty()) given += terms.outside_progress[idx(slot)];
  };
  for (SlotIndex slot = epoch.counts_from; slot < epoch.begin; ++slot) add_outside(slot);
  Completion best{.worth = sum_before(net.stale, epoch.begin, epoch.end), .slot = SlotIndex(-1)};
  if (epoch.is_last) {
    double all = given;
    for (SlotIndex slot = epoch.begin; slot < epoch.end; ++slot) {
      if (!terms.outside_progress.empty()) all += terms.outside_progress[idx(slot)];
    }
    const double paid = pay_progress(service, epoch.counts_from, epoch.end, std::max(0.0, kDone - all),
                                     retraining.progress_value, false, &bought);
    best.worth += net.tail_stale + retraining.progress_value * (std::min(1.0, all) + bought) - paid;
  }
  const SlotIndex last = epoch.is_last ? epoch.end : epoch.end - 1;
  for (SlotIndex slot = epoch.begin; slot <= last; ++slot) {
    const double amount = std::max(0.0, kDone - 1e-9 - given);
    const double paid = pay_progress(service, epoch.counts_from, slot, amount, kUnlimited, false, &bought);
    if (slot < epoch.end) add_outside(slot);
    if (bought < amount) continue;
    const SlotIndex fresh_from = std::min(epoch.end, slot + retraining.swap_slots);
    const double worth = sum_before(net.stale, epoch.begin, fresh_from) + sum_before(net.fresh, fresh_from, epoch.end) +
                         (epoch.is_last ? net.tail_fresh : 0) - paid;
    if (worth > best.worth) best = {.worth = worth, .slot = slot};
  }
  return best;
}

double Demand::value_of_epoch(ServiceIndex service, const Epoch& epoch, const NetWorth& net) {
  const RetrainingTerms& retraining = *frame_->service_terms(service).retraining;
  SlotIndex fresh_from = epoch.end;
  bool is_tail_fresh = true;
  double worth = 0;
  double bought = 0;
  if (epoch.is_fresh || epoch.fresh_from >= 0) {
    fresh_from = epoch.is_fresh ? epoch.begin : std::min(epoch.end, epoch.fresh_from);
    worth = sum_before(net.stale, epoch.begin, fresh_from) + sum_before(net.fresh, fresh_from, epoch.end) +
            (epoch.is_last ? net.tail_fresh : 0);
  } else {
    const Completion best = best_completion(service, epoch, net);
    const auto& outside = frame_->service_terms(service).outside_progress;
    const SlotIndex until = best.slot >= 0 ? best.slot : epoch.end;
    double given = epoch.progress;
    for (SlotIndex slot = epoch.counts_from; slot < until && !outside.empty(); ++slot) given += outside[idx(slot)];
    const double limit = best.slot >= 0 ? kUnlimited : epoch.is_last ? retraining.progress_value : 0;
    pay_progress(service, epoch.counts_from, until, std::max(0.0, kDone - given), limit, true, &bought);
    if (best.slot >= 0) fresh_from = std::min(epoch.end, best.slot + retraining.swap_slots);
    is_tail_fresh = best.slot >= 0;
    worth = best.worth;
  }
  for (SlotIndex slot = epoch.begin; slot < epoch.end; ++slot) worth += charge(service, slot, slot >= fresh_from);
  if (epoch.is_last) worth += charge(service, terms_->tail(), is_tail_fresh);
  return worth;
}

/// All slots of a block have one price and one accuracy, so the demand is the same rank of each slot's loads.
double Demand::value_always_fresh(ServiceIndex service) {
  const std::size_t rungs = frame_->service_terms(service).variants.size();
  const auto samples = static_cast<std::size_t>(terms_->problem.samples);
  const Ranks& ranks = ranks_[idx(service)];
  double sum = 0;
  for (const RungIndex w : Indices<RungIndex>(rungs)) {
    const double step = terms_->fresh[idx(service)].step[w];
    for (const BlockIndex block : Indices<BlockIndex>(frame_->blocks())) {
      const std::size_t at = frame_->capacity_at(service, w, block);
      const double price = prices_[at];
      const double outside = ranks.outside[idx(w) * idx(frame_->blocks()) + idx(block)];
      (*slope_)[at] += outside;
      sum += price * outside;
      if (step <= 0 || price >= step) continue;
      const auto above = static_cast<std::size_t>(price * static_cast<double>(samples) / step);
      if (above >= samples) continue;
      const double capacity = ranks.capacity[block * samples + above];
      (*slope_)[at] -= capacity;
      sum += step * ranks.served[block * samples + above] - price * capacity;
    }
  }
  return sum;
}

double Demand::value_of_service(ServiceIndex service) {
  const ServiceTerms& terms = frame_->service_terms(service);
  const PricePlaces& places = frame_->places[idx(service)];
  double sum = 0;
  if (terms.retraining) {
    const NetWorth net = net_worth(service);
    std::ranges::fill(gathered_[idx(service)], 0);
    for (const Epoch& epoch : epochs(service)) sum += value_of_epoch(service, epoch, net);
  } else {
    sum = value_always_fresh(service);
  }
  for (SlotIndex slot = terms_->problem.floors_from; has_rate_floor(terms) && slot < terms_->slots; ++slot) {
    const double surplus = terms.outside_floor_rate - terms.floor_rate * (1 - 1e-9);
    sum += prices_[places.floor + frame_->block_of(slot)] * surplus;
    (*slope_)[places.floor + frame_->block_of(slot)] += surplus;
  }
  if (terms.changes_max >= 0) {
    sum += prices_[places.change] * terms.changes_max;
    (*slope_)[places.change] += terms.changes_max;
  }
  return sum;
}

/// Sets a service's demand levels in each block, if its model is always fresh.
void Demand::set_levels(ServiceIndex service) {
  const std::size_t rungs = frame_->service_terms(service).variants.size();
  const auto samples = static_cast<std::size_t>(terms_->problem.samples);
  std::vector<std::vector<DemandLevel>>& all = levels_[idx(service)];
  all.assign(rungs * frame_->blocks(), {});
  for (const RungIndex w : Indices<RungIndex>(rungs)) {
    const double step = terms_->fresh[idx(service)].step[w];
    if (step <= 0) continue;
    for (const BlockIndex block : Indices<BlockIndex>(frame_->blocks())) {
      std::vector<DemandLevel>& levels = all[w * frame_->blocks() + block];
      levels.reserve(samples);
      double before = 0;
      for (std::size_t k = samples; k-- > 0;) {  // the largest load of all samples comes last
        const double capacity = ranks_[idx(service)].capacity[block * samples + k];
        const double price = step * static_cast<double>(k + 1) / static_cast<double>(samples);
        levels.push_back({.price = price, .quantity = capacity - before});
        before = capacity;
      }
    }
  }
}

/// The same at the prices of the last `value`, if the model is not always fresh: `charge` gathered the slots' levels.
void Demand::merge_levels(ServiceIndex service) {
  const std::size_t rungs = frame_->service_terms(service).variants.size();
  const auto samples = static_cast<std::size_t>(terms_->problem.samples);
  std::vector<std::vector<DemandLevel>>& all = levels_[idx(service)];
  all.assign(rungs * frame_->blocks(), {});
  for (const RungIndex w : Indices<RungIndex>(rungs)) {
    for (const BlockIndex block : Indices<BlockIndex>(frame_->blocks())) {
      if (frame_->length[block] <= 0) continue;
      std::vector<DemandLevel>& levels = all[w * frame_->blocks() + block];
      levels.reserve(2 * samples);
      for (const bool is_fresh : {true, false}) {
        const double* quantities =
            gathered_[idx(service)].data() + ((w * frame_->blocks() + block) * 2 + (is_fresh ? 1 : 0)) * samples;
        const bool is_tail = block + 1 == frame_->blocks();
        const double step = is_tail ? frame_->step_in_tail(service, w, is_fresh) / frame_->length[block]
                                    : frame_->step_of(service, w, is_fresh);
        for (std::size_t k = 0; k < samples; ++k) {
          const double price = step * static_cast<double>(k + 1) / static_cast<double>(samples);
          if (quantities[k] > 0 && price > 0) levels.push_back({.price = price, .quantity = quantities[k]});
        }
      }
      std::ranges::sort(levels, [](const DemandLevel& a, const DemandLevel& b) {
        return a.price != b.price ? a.price > b.price : a.quantity > b.quantity;
      });
    }
  }
}
}  // namespace berth::planner::fleet
