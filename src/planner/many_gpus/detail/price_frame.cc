#include "planner/many_gpus/detail/price_frame.h"

#include <algorithm>
#include <utility>

namespace berth::planner::fleet {
namespace {

constexpr std::size_t kDelaysMax = 4;

}  // namespace

PriceFrame::PriceFrame(const Terms& of, std::vector<SlotIndex> begin) : terms(&of), starts(std::move(begin)) {
  set_delays();
  BlockIndex block;
  length.assign(blocks(), 0);
  for (const SlotIndex slot : Indices<SlotIndex>(of.slots)) {
    while (idx(block) + 1 < starts.size() && starts[block + 1] <= slot) ++block;
    block_of_slot.push_back(block);
    ++length[block];
  }
  block_of_slot.emplace_back(blocks() - 1);
  length.back() = of.problem.tail_seconds;
  seconds_before.assign(blocks() * (idx(of.slots) + 2), 0);
  for (const SlotIndex slot : Indices<SlotIndex>(of.slots + 1)) {
    const double seconds = slot == of.slots ? of.problem.tail_seconds : 1;
    for (const BlockIndex k : Indices<BlockIndex>(blocks())) {
      seconds_before[(idx(slot) + 1) * blocks() + k] =
          seconds_before[idx(slot) * blocks() + k] + (k == block_of(slot) ? seconds : 0);
    }
  }
  place_prices();
}

/// A grid point for each delay of each service would be too many: delays are rounded down to one of a few.
void PriceFrame::set_delays() {
  std::vector<int> delays;
  for (const Readiness& readiness : terms->serving) {
    delays.push_back(readiness.on_same_site);
    delays.push_back(readiness.on_new_site);
  }
  std::ranges::sort(delays);
  std::vector<int> different = delays;
  const auto repeated = std::ranges::unique(different);
  different.erase(repeated.begin(), repeated.end());
  if (different.size() > kDelaysMax) {
    different.clear();
    for (std::size_t k = 0; k < kDelaysMax; ++k) {
      const int delay = delays[delays.size() * k / kDelaysMax];
      if (different.empty() || delay > different.back()) different.push_back(delay);
    }
  }
  const auto shorter = [&](int delay) { return *(std::ranges::upper_bound(different, delay) - 1); };
  for (const Readiness& readiness : terms->serving) {
    serving.push_back({.on_same_site = shorter(readiness.on_same_site), .on_new_site = shorter(readiness.on_new_site)});
  }
  grid = make_grid(*terms, starts, different);
}

void PriceFrame::place_prices() {
  std::size_t next = 0;
  for (const ServiceTerms& service : terms->problem.services) {
    PricePlaces its;
    its.capacity = next;
    next += service.variants.size() * blocks();
    its.floor = next;
    next += has_rate_floor(service) ? blocks() : 0;
    its.progress = next;
    next += service.retraining ? blocks() : 0;
    its.change = next;
    next += service.changes_max >= 0 ? 1 : 0;
    places.push_back(its);
  }
  prices = next;
}

double PriceFrame::step_of(ServiceIndex service, RungIndex rung, bool is_fresh) const {
  const Ladder& fresh = terms->fresh[idx(service)];
  if (is_fresh) return fresh.step[rung];
  // In the order of the fresh model, which the prices refer to. Where the stale model has another order, each variant
  // counts as much as the best one after it: more than its worth, but concave.
  const ServiceTerms& its = service_terms(service);
  const auto accuracy = [&](std::size_t from) {
    double best = 0;
    for (std::size_t w = from; w < fresh.order.size(); ++w) {
      best = std::max(best, its.variants[idx(fresh.order[w])].accuracy_before);
    }
    return best;
  };
  return its.value * (accuracy(idx(rung)) - accuracy(idx(rung) + 1));
}

double PriceFrame::step_in_tail(ServiceIndex service, RungIndex rung, bool is_fresh) const {
  const double tail = terms->problem.tail_seconds;
  const std::optional<RetrainingTerms>& retraining = service_terms(service).retraining;
  double fresh_seconds = retraining ? std::min(tail, retraining->tail_fresh_seconds) : tail;
  if (!is_fresh) fresh_seconds = 0;
  const double stale = fresh_seconds < tail ? (tail - fresh_seconds) * step_of(service, rung, false) : 0;
  return fresh_seconds * step_of(service, rung, true) + stale;
}

}  // namespace berth::planner::fleet
