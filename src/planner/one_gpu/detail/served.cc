#include "planner/one_gpu/detail/served.h"

#include <algorithm>

namespace berth::planner {
namespace {

double accuracy_of(const VariantTerms& variant, bool is_fresh) {
  return is_fresh ? variant.accuracy_after : variant.accuracy_before;
}

std::vector<std::size_t> most_accurate_first(const ServiceTerms& terms, bool is_fresh) {
  std::vector<std::size_t> order(terms.variants.size());
  for (std::size_t v = 0; v < order.size(); ++v) order[v] = v;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const double of_a = accuracy_of(terms.variants[a], is_fresh);
    const double of_b = accuracy_of(terms.variants[b], is_fresh);
    return of_a != of_b ? of_a > of_b : a < b;
  });
  return order;
}

}  // namespace

Served::Served(const Problem& problem, ServiceIndex service)
    : problem_(problem),
      terms_(problem.services[service]),
      slots_and_one_(static_cast<std::size_t>(problem.slots) + 1) {
  for (const bool is_fresh : {false, true}) order_[is_fresh ? 1 : 0] = most_accurate_first(terms_, is_fresh);
}

LevelIndex Served::level_of(std::span<const double> capacity) {
  const auto [place, is_new] = levels_.try_emplace({capacity.begin(), capacity.end()}, LevelIndex(levels_count()));
  if (is_new) add_level(capacity);
  return place->second;
}

void Served::add_level(std::span<const double> capacity) {
  for (const bool is_fresh : {false, true}) {
    if (!is_fresh && !terms_.retraining) {
      // Never read.
      sums_.resize(sums_.size() + slots_and_one_);
      continue;
    }
    double sum = 0;
    sums_.push_back(0);
    for (const SlotIndex slot : Indices<SlotIndex>(problem_.slots)) {
      sum += value_of_second(capacity, slot, is_fresh);
      sums_.push_back(sum);
    }
  }
  const SlotIndex last(problem_.slots);
  // As in problem.h: a service without retraining, or not stale, has `after` for tail_fresh_seconds of the tail.
  const double fresh_seconds = terms_.retraining
                                   ? std::min(problem_.tail_seconds, terms_.retraining->tail_fresh_seconds)
                                   : problem_.tail_seconds;
  const double stale = value_of_second(capacity, last, false);
  const double fresh = value_of_second(capacity, last, true);
  tails_.push_back(problem_.tail_seconds * stale);
  tails_.push_back(fresh_seconds * fresh + (problem_.tail_seconds - fresh_seconds) * stale +
                   (terms_.retraining ? terms_.retraining->fresh_value : 0));
}

double Served::value_of_second(std::span<const double> capacity, SlotIndex slot, bool is_fresh) const {
  const std::size_t samples = static_cast<std::size_t>(problem_.samples);
  const double* loads = terms_.loads.data() + static_cast<std::size_t>(slot) * samples;
  const double* outside =
      terms_.outside.empty() ? nullptr : terms_.outside.data() + static_cast<std::size_t>(slot) * capacity.size();
  double sum = 0;
  double taken = 0;  // of each request stream, by the more accurate variants
  for (const std::size_t v : order_[is_fresh ? 1 : 0]) {
    const double most = capacity[v] + (outside != nullptr ? outside[v] : 0);
    if (most <= 0) continue;
    double served = 0;
    for (std::size_t sample = 0; sample < samples; ++sample) {
      served += std::min(std::max(loads[sample] - taken, 0.0), most);
    }
    sum += served * accuracy_of(terms_.variants[v], is_fresh);
    taken += most;
  }
  return terms_.value * sum / problem_.samples;
}

}  // namespace berth::planner
