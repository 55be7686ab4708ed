#include "planner/plan/detail/narrow_part.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/core/ensure.h"

namespace berth::planner {
namespace {

using fleet::idx;

/// The rounding that a GPU leaves in sums when it is taken out is less than this, in requests per second or shares.
constexpr double kDust = 1e-9;

std::vector<double> without_dust(std::vector<double> values) {
  for (double& value : values) value = value < kDust ? 0 : value;
  return values;
}

/// The gain of one more slice of a kind in its best use; 0 if the service has no use for it.
double gain_of_kind(const fleet::FleetState& others, ServiceIndex service, const Rates& rates) {
  const fleet::Terms& terms = others.terms();
  const ServiceTerms& service_terms = terms.problem.services[idx(service)];
  const fleet::ServiceSupply& state = others.service(service);
  const std::size_t variants = service_terms.variants.size();
  double best = 0;
  for (std::size_t use = 0; use < rates.requests_per_second.size(); ++use) {
    if (rates.requests_per_second[use] <= 0) continue;
    std::vector<double> capacity = state.capacity;
    for (SlotIndex slot(std::min(terms.slots, terms.serving[idx(service)].on_new_site)); slot <= terms.slots; ++slot) {
      capacity[idx(slot) * variants + use] += rates.requests_per_second[use];
    }
    best = std::max(best, fleet::value_of(terms, service, capacity, state.progress) - state.value);
  }
  const bool may_retrain = service_terms.retraining && !service_terms.retrains_elsewhere &&
                           std::ranges::all_of(state.retraining, [](int count) { return count == 0; });
  if (may_retrain && rates.retraining_slots > 0) {
    std::vector<double> progress = state.progress;
    for (SlotIndex slot(terms.retraining.on_new_site); slot < terms.slots; ++slot) {
      progress[idx(slot)] += 1 / rates.retraining_slots;
    }
    best = std::max(best, fleet::value_of(terms, service, state.capacity, progress) - state.value);
  }
  return best;
}

double gain_per_sm(const fleet::FleetState& others, ServiceIndex service, const ModelTerms& model) {
  double best = 0;
  for (const KindIndex kind : indices_of<KindIndex>(model.rates)) {
    const double gain = gain_of_kind(others, service, model.rates[kind][idx(service)]);
    best = std::max(best, gain / std::max(model.sms[kind], 1));
  }
  return best;
}

void keep_services(ModelTerms& model, const std::vector<ServiceIndex>& services) {
  for (std::vector<Rates>& of_kind : model.rates) {
    std::vector<Rates> kept;
    kept.reserve(services.size());
    for (const ServiceIndex service : services) kept.push_back(std::move(of_kind[idx(service)]));
    of_kind = std::move(kept);
  }
}

/// A service with the capacity that the others give it outside.
ServiceTerms service_next_to(const fleet::FleetState& others, ServiceIndex service) {
  const Problem& problem = others.terms().problem;
  const fleet::ServiceSupply& state = others.service(service);
  ServiceTerms terms = problem.services[idx(service)];
  terms.outside = without_dust(state.capacity);
  if (terms.retraining) terms.outside_progress = without_dust(state.progress);
  terms.retrains_elsewhere |= std::ranges::any_of(state.retraining, [](int count) { return count > 0; });
  if (terms.changes_max >= 0) terms.changes_max = std::max(0, terms.changes_max - state.changed);
  if (!state.serving.empty()) terms.outside_slices = *std::ranges::max_element(state.serving);
  if (terms.floor_rate > 0 && problem.floors_from < problem.slots) {
    terms.outside_floor_rate = *std::min_element(state.standing.begin() + problem.floors_from, state.standing.end());
  }
  return terms;
}

/// A problem without its GPUs, models and services.
Problem frame_of(const Problem& problem) {
  Problem frame;
  frame.slots = problem.slots;
  frame.samples = problem.samples;
  frame.tail_seconds = problem.tail_seconds;
  frame.destroy_seconds = problem.destroy_seconds;
  frame.create_seconds = problem.create_seconds;
  frame.plumbing_seconds = problem.plumbing_seconds;
  frame.change_price = problem.change_price;
  frame.is_frozen = problem.is_frozen;
  frame.floors_from = problem.floors_from;
  return frame;
}

}  // namespace

Piece NarrowPart::to_part(Piece piece) const {
  if (piece.service == kNoService) return piece;
  const auto found = std::ranges::lower_bound(services, piece.service);
  ENSURE(found != services.end() && *found == piece.service);
  piece.service = ServiceIndex(found - services.begin());
  return piece;
}

std::vector<Change> NarrowPart::to_fleet(std::vector<Change> changes) const {
  for (Change& change : changes) {
    for (Piece& piece : change.to) {
      if (piece.service != kNoService) piece.service = services[idx(piece.service)];
    }
  }
  return changes;
}

std::vector<ServiceIndex> likely_services(const fleet::FleetState& others, GpuIndex gpu, std::size_t others_max) {
  const fleet::Terms& terms = others.terms();
  const GpuTerms& gpu_terms = terms.problem.gpus[idx(gpu)];
  std::vector<char> is_needed(terms.problem.services.size(), 0);
  for (const PinnedSite& pin : gpu_terms.pins) is_needed[idx(pin.service)] = 1;
  for (const fleet::Stay& stay : others.path(gpu).stays) is_needed[idx(stay.piece.service)] = 1;
  std::vector<std::pair<double, ServiceIndex>> by_gain;
  for (const ServiceIndex service : indices_of<ServiceIndex>(is_needed)) {
    if (is_needed[idx(service)] == 0) {
      by_gain.emplace_back(-gain_per_sm(others, service, terms.model_of(gpu)), service);
    }
  }
  std::ranges::sort(by_gain);
  for (std::size_t i = 0; i < std::min(others_max, by_gain.size()); ++i) is_needed[idx(by_gain[i].second)] = 1;
  std::vector<ServiceIndex> services;
  for (const ServiceIndex service : indices_of<ServiceIndex>(is_needed)) {
    if (is_needed[idx(service)] != 0) services.push_back(service);
  }
  return services;
}

NarrowPart narrow_part(const fleet::FleetState& others, GpuIndex gpu, std::vector<ServiceIndex> services) {
  const Problem& problem = others.terms().problem;
  NarrowPart part{.problem = frame_of(problem), .services = std::move(services), .has_all_services = true};
  part.has_all_services = part.services.size() == problem.services.size();
  ModelTerms model = others.terms().model_of(gpu);
  keep_services(model, part.services);
  part.problem.models.push_back(std::move(model));
  for (const ServiceIndex service : part.services) part.problem.services.push_back(service_next_to(others, service));
  GpuTerms own = problem.gpus[idx(gpu)];
  own.model = ModelIndex(0);
  for (StandingPiece& standing : own.standing) standing.piece = part.to_part(standing.piece);
  for (PinnedSite& pin : own.pins) pin.service = part.to_part({.site = pin.site, .service = pin.service}).service;
  part.problem.gpus.push_back(std::move(own));
  return part;
}

}  // namespace berth::planner
