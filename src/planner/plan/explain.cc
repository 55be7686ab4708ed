#include "planner/plan/explain.h"

#include <algorithm>
#include <cstddef>

#include "planner/many_gpus/state.h"

namespace berth::planner {
namespace {

using fleet::idx;

ServiceShare means_of(const Problem& problem, const std::vector<SlotFigures>& slots, const ServiceTerms& terms) {
  ServiceShare share;
  for (const SlotIndex slot : Indices<SlotIndex>(problem.slots)) {
    share.capacity += slots[static_cast<std::size_t>(slot)].capacity / problem.slots;
    share.served += slots[static_cast<std::size_t>(slot)].served / problem.slots;
    for (int sample = 0; sample < problem.samples; ++sample) {
      share.forecast += terms.loads[static_cast<std::size_t>(slot) * static_cast<std::size_t>(problem.samples) +
                                    static_cast<std::size_t>(sample)] /
                        (static_cast<double>(problem.slots) * problem.samples);
    }
  }
  return share;
}

/// The gain in the objective if a service has `rate` more requests per second of a variant in every slot.
double gain_of_more(const fleet::FleetState& state, ServiceIndex service, std::size_t variant,
                    double requests_per_second) {
  const fleet::ServiceSupply& now = state.service(service);
  const std::size_t variants = state.terms().problem.services[idx(service)].variants.size();
  std::vector<double> capacity = now.capacity;
  for (std::size_t i = variant; i < capacity.size(); i += variants) capacity[i] += requests_per_second;
  return fleet::value_of(state.terms(), service, capacity, now.progress) - now.value;
}

/// One more slice of each kind in turn.
std::optional<SliceStep> best_step_up(const fleet::FleetState& state, ServiceIndex service) {
  const Problem& problem = state.terms().problem;
  std::optional<SliceStep> best;
  double best_per_sm = 0;
  for (const ModelIndex model : indices_of<ModelIndex>(problem.models)) {
    const ModelTerms& terms = problem.models[model];
    for (const KindIndex kind : indices_of<KindIndex>(terms.rates)) {
      const auto& rates = terms.rates[kind][idx(service)].requests_per_second;
      for (std::size_t variant = 0; variant < rates.size(); ++variant) {
        if (rates[variant] <= 0) continue;
        const double gain = gain_of_more(state, service, variant, rates[variant]);
        const double per_sm = gain / std::max(terms.sms[kind], 1);
        if (per_sm <= best_per_sm) continue;
        best_per_sm = per_sm;
        best = SliceStep{.model = model, .kind = kind, .requests_per_second = rates[variant], .change = gain};
      }
    }
  }
  return best;
}

/// The change of the objective (below 0) if a piece of a GPU has no effect while it exists.
double change_without(const fleet::FleetState& state, GpuIndex gpu, const Piece& piece, double rate) {
  const fleet::Terms& terms = state.terms();
  const fleet::ServiceSupply& now = state.service(piece.service);
  const std::size_t variants = terms.problem.services[idx(piece.service)].variants.size();
  std::vector<double> capacity = now.capacity;
  for (const fleet::Stay& stay : state.path(gpu).stays) {
    if (stay.piece != piece) continue;
    const auto take = [&](SlotIndex slot) { capacity[idx(slot) * variants + idx(piece.use)] -= rate; };
    for (SlotIndex slot = stay.ready; slot < std::min(stay.until, terms.tail()); ++slot) take(slot);
    if (stay.until > terms.slots) take(terms.tail());  // in the tail every piece is ready
  }
  return fleet::value_of(terms, piece.service, capacity, now.progress) - now.value;
}

/// The loss of one of the slices that each service has at the end.
std::vector<std::optional<SliceStep>> best_steps_down(const fleet::FleetState& state) {
  const Problem& problem = state.terms().problem;
  std::vector<std::optional<SliceStep>> best(problem.services.size());
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
    const ModelIndex model = problem.gpus[idx(gpu)].model;
    for (const fleet::Stay& stay : state.path(gpu).stays) {
      if (stay.piece.use == kRetraining || stay.until <= problem.slots) continue;
      const double rate =
          state.terms().rates(model, stay.kind, stay.piece.service).requests_per_second[idx(stay.piece.use)];
      const double change = change_without(state, gpu, stay.piece, rate);
      std::optional<SliceStep>& known = best[idx(stay.piece.service)];
      if (known && change <= known->change) continue;
      known = SliceStep{.model = model, .kind = stay.kind, .requests_per_second = rate, .change = change};
    }
  }
  return best;
}

}  // namespace

std::vector<ServiceShare> explain_shares(const Problem& problem, const Schedule& schedule) {
  const Evaluation evaluation = evaluate(problem, schedule);
  const fleet::Terms terms(problem);
  const fleet::FleetState state = fleet::state_of(terms, schedule);
  const std::vector<std::optional<SliceStep>> steps_down = best_steps_down(state);
  std::vector<ServiceShare> shares;
  shares.reserve(problem.services.size());
  for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
    ServiceShare& share =
        shares.emplace_back(means_of(problem, evaluation.services[service], problem.services[service]));
    share.value = state.service(service).value;
    share.one_more = best_step_up(state, service);
    share.one_less = steps_down[service];
  }
  return shares;
}

}  // namespace berth::planner
