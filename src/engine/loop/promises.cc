#include "engine/loop/promises.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/core/ensure.h"
#include "planner/many_gpus/state.h"
#include "planner/many_gpus/terms.h"
#include "planner/window/check.h"

namespace berth {
namespace {

using planner::GpuIndex;
using planner::ServiceIndex;

std::size_t nth(int index) { return static_cast<std::size_t>(index); }

// ---- promises

std::vector<SupplyStep> steps_of(const planner::fleet::ServiceSupply& supply, int slots, std::size_t variants) {
  std::vector<SupplyStep> steps;
  for (int slot = 0; slot <= slots; ++slot) {
    const auto begin = supply.capacity.begin() + static_cast<std::ptrdiff_t>(nth(slot) * variants);
    SupplyStep step{.slot = slot, .rates = {begin, begin + static_cast<std::ptrdiff_t>(variants)}};
    if (slot < slots) step.progress = supply.progress[nth(slot)];
    const bool goes_on = !steps.empty() && steps.back().rates == step.rates && steps.back().progress == step.progress;
    if (!goes_on) steps.push_back(std::move(step));
  }
  return steps;
}

std::optional<PromisedRetraining> retraining_of(const planner::ServiceTerms& service, const planner::Problem& problem) {
  if (!service.retraining) return std::nullopt;
  const planner::RetrainingTerms& terms = *service.retraining;
  double load = 0;
  const std::size_t tail = nth(problem.slots) * nth(problem.samples);
  for (int sample = 0; sample < problem.samples; ++sample) load += service.loads[tail + nth(sample)] / problem.samples;
  return PromisedRetraining{.is_stale = terms.is_stale,
                            .progress = terms.progress,
                            .fresh_in = terms.fresh_in,
                            .due_slots = {terms.due_slots.begin(), terms.due_slots.end()},
                            .keeps_unfinished = terms.keeps_unfinished,
                            .swap_slots = terms.swap_slots,
                            .tail_fresh_seconds = terms.tail_fresh_seconds,
                            .progress_value = load > 0 ? terms.progress_value / load : 0,
                            .fresh_value = load > 0 ? terms.fresh_value / load : 0};
}

/// Makes promises of one schedule.
class Promising {
 public:
  Promising(const planner::Frame& frame, const planner::Problem& problem, const planner::Schedule& schedule)
      : frame_(frame), problem_(problem), terms_(problem), state_(planner::fleet::state_of(terms_, schedule)) {}

  Promise promise_of(GpuIndex gpu) {
    const planner::fleet::Path path = state_.path(gpu);
    Promise promise{.gpu = {static_cast<std::uint32_t>(gpu)},
                    .slots = problem_.slots,
                    .tail_seconds = problem_.tail_seconds,
                    .gain = 0,
                    .price = problem_.change_price * path.slices_changed,
                    .pieces = pieces_of(gpu, path),
                    .services = {}};
    state_.take_out(gpu);
    state_.put(gpu, planner::fleet::make_path(terms_, gpu, {}));
    std::set<ServiceIndex> touched = services_of(path);
    touched.merge(services_of(state_.path(gpu)));
    std::map<ServiceIndex, planner::fleet::ServiceSupply> without;
    for (const ServiceIndex service : touched) without.emplace(service, state_.service(service));
    state_.take_out(gpu);
    state_.put(gpu, path);
    promise.gain = -promise.price;
    for (const ServiceIndex service : touched) add_service(service, without.at(service), promise);
    return promise;
  }

 private:
  static std::set<ServiceIndex> services_of(const planner::fleet::Path& path) {
    std::set<ServiceIndex> services;
    for (const planner::fleet::Stay& stay : path.stays) services.insert(stay.piece.service);
    services.erase(planner::kNoService);
    return services;
  }

  void add_service(ServiceIndex service, const planner::fleet::ServiceSupply& without, Promise& promise) const {
    const planner::fleet::ServiceSupply& with = state_.service(service);
    const planner::ServiceTerms& terms = problem_.services[nth(service)];
    PromisedService promised{.service = {static_cast<std::uint32_t>(service)},
                             .value = terms.value,
                             .accuracy_before = {},
                             .accuracy_after = {},
                             .retraining = retraining_of(terms, problem_),
                             .with_changes = steps_of(with, problem_.slots, terms.variants.size()),
                             .without_changes = steps_of(without, problem_.slots, terms.variants.size())};
    if (promised.with_changes == promised.without_changes) return;
    for (const planner::VariantTerms& variant : terms.variants) {
      promised.accuracy_before.push_back(variant.accuracy_before);
      promised.accuracy_after.push_back(variant.accuracy_after);
    }
    promise.gain += with.value - without.value;
    promise.services.push_back(std::move(promised));
  }

  /// The pieces that begin with the changes of slot 0.
  [[nodiscard]] std::vector<PromisedPiece> pieces_of(GpuIndex gpu, const planner::fleet::Path& path) const {
    const std::vector<planner::StandingPiece>& standing = problem_.gpus[nth(gpu)].standing;
    std::vector<PromisedPiece> pieces;
    for (const planner::fleet::Stay& stay : path.stays) {
      const bool stood = std::ranges::find(standing, stay.piece, &planner::StandingPiece::piece) != standing.end();
      if (stay.from != 0 || stood || stay.piece.service == planner::kNoService) continue;
      const planner::Rates& rates = terms_.rates(problem_.gpus[nth(gpu)].model, stay.kind, stay.piece.service);
      const bool retrains = stay.piece.use == planner::kRetraining;
      pieces.push_back({.slice = frame_.slice_at({static_cast<std::uint32_t>(gpu)}, stay.piece.site),
                        .service = {static_cast<std::uint32_t>(stay.piece.service)},
                        .variant = stay.piece.use,
                        .rate = retrains ? 1 / rates.retraining_slots : rates.requests_per_second[nth(stay.piece.use)],
                        .ready = stay.ready,
                        .until = stay.until});
    }
    return pieces;
  }

  const planner::Frame& frame_;
  const planner::Problem& problem_;
  planner::fleet::Terms terms_;
  planner::fleet::FleetState state_;
};

// ---- outcomes

/// A supply by slot, as the window problem counts the supply of pieces outside.
struct Supply {
  std::vector<double> rates;     ///< [slot x variants + variant], slots + 1 slots
  std::vector<double> progress;  ///< [slot]
};

Supply supply_of(const std::vector<SupplyStep>& steps, int slots, std::size_t variants) {
  Supply supply{.rates = std::vector<double>(nth(slots + 1) * variants), .progress = std::vector<double>(nth(slots))};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const int end = i + 1 < steps.size() ? steps[i + 1].slot : slots + 1;
    for (int slot = steps[i].slot; slot < end; ++slot) {
      std::ranges::copy(steps[i].rates, supply.rates.begin() + static_cast<std::ptrdiff_t>(nth(slot) * variants));
      if (slot < slots) supply.progress[nth(slot)] = steps[i].progress;
    }
  }
  return supply;
}

/// Counts a piece from the slot in which it worked instead of the planned one. If it was missing for a part of the
/// tail, the tail's supply is reduced by that part.
void move_piece(const PromisedPiece& piece, std::optional<std::int32_t> ready, const Promise& promise,
                std::size_t variants, Supply& supply) {
  const int slots = promise.slots;
  const bool retrains = piece.variant == planner::kRetraining;
  const auto add = [&](int from, double rate) {
    for (int slot = from; slot < std::min(piece.until, slots); ++slot) {
      (retrains ? supply.progress[nth(slot)] : supply.rates[nth(slot) * variants + nth(piece.variant)]) += rate;
    }
  };
  add(piece.ready, -piece.rate);
  if (ready) add(*ready, piece.rate);
  if (retrains || piece.until <= slots) return;
  const double late = ready ? std::max(0, *ready - slots) : promise.tail_seconds;
  const double share = promise.tail_seconds > 0 ? std::min(1.0, late / promise.tail_seconds) : 0;
  supply.rates[nth(slots) * variants + nth(piece.variant)] -= piece.rate * share;
}

/// Rounding errors of adding and subtracting must not leave values below zero.
void clamp(std::vector<double>& numbers) {
  for (double& number : numbers) number = std::max(number, 0.0);
}

planner::ServiceTerms terms_of(const PromisedService& promised, const Promise& promise, const PromiseFacts& facts) {
  planner::ServiceTerms terms;
  terms.value = promised.value;
  terms.loads = facts.loads(promised.service);
  ENSURE(terms.loads.size() == nth(promise.slots + 1) * nth(facts.samples));
  for (std::size_t i = 0; i < promised.accuracy_before.size(); ++i) {
    terms.variants.push_back(
        {.accuracy_before = promised.accuracy_before[i], .accuracy_after = promised.accuracy_after[i]});
  }
  if (!promised.retraining) return terms;
  double load = 0;
  const std::size_t tail = nth(promise.slots) * nth(facts.samples);
  for (int sample = 0; sample < facts.samples; ++sample) load += terms.loads[tail + nth(sample)] / facts.samples;
  const PromisedRetraining& retraining = *promised.retraining;
  terms.retraining = {.is_stale = retraining.is_stale,
                      .progress = retraining.progress,
                      .fresh_in = retraining.fresh_in,
                      .due_slots = {retraining.due_slots.begin(), retraining.due_slots.end()},
                      .keeps_unfinished = retraining.keeps_unfinished,
                      .swap_slots = retraining.swap_slots,
                      .tail_fresh_seconds = retraining.tail_fresh_seconds,
                      .progress_value = retraining.progress_value * load,
                      .fresh_value = retraining.fresh_value * load};
  return terms;
}

}  // namespace

std::vector<Promise> promises_of(const planner::Frame& frame, const planner::Problem& problem,
                                 const planner::Schedule& schedule) {
  const auto changes_now = [](const std::vector<planner::Change>& changes) {
    return !changes.empty() && changes.front().slot == 0;
  };
  std::vector<Promise> promises;
  if (std::ranges::none_of(schedule.gpus, changes_now)) return promises;
  Promising promising(frame, problem, schedule);
  for (const GpuIndex gpu : indices_of<GpuIndex>(schedule.gpus)) {
    if (changes_now(schedule.gpus[nth(gpu)])) promises.push_back(promising.promise_of(gpu));
  }
  return promises;
}

void count_on_expected_loads(Promise& promise, const std::vector<planner::Outlook>& outlooks) {
  const auto raised = [&](ServiceId service) { return outlooks[service.index].raised; };
  for (PromisedService& service : promise.services) {
    const double factor = raised(service.service);
    service.value *= factor;
    for (std::vector<SupplyStep>* steps : {&service.with_changes, &service.without_changes}) {
      for (SupplyStep& step : *steps) {
        for (double& rate : step.rates) rate /= factor;
      }
    }
    if (!service.retraining) continue;
    service.retraining->progress_value *= factor;
    service.retraining->fresh_value *= factor;
  }
  for (PromisedPiece& piece : promise.pieces) {
    if (piece.variant != planner::kRetraining) piece.rate /= raised(piece.service);
  }
}

double gain_of(const Promise& promise, const PromiseFacts& facts) {
  ENSURE(facts.ready.size() == promise.pieces.size());
  planner::Problem problem;
  problem.slots = promise.slots;
  problem.samples = facts.samples;
  problem.tail_seconds = promise.tail_seconds;
  double gain = -promise.price;
  for (const PromisedService& promised : promise.services) {
    const std::size_t variants = promised.accuracy_before.size();
    problem.services = {terms_of(promised, promise, facts)};
    const auto worth_of = [&](Supply supply) {
      clamp(supply.rates);
      clamp(supply.progress);
      problem.services.front().outside = std::move(supply.rates);
      problem.services.front().outside_progress = std::move(supply.progress);
      return planner::evaluate(problem, {}).objective;
    };
    Supply with = supply_of(promised.with_changes, promise.slots, variants);
    for (std::size_t i = 0; i < promise.pieces.size(); ++i) {
      if (promise.pieces[i].service == promised.service) {
        move_piece(promise.pieces[i], facts.ready[i], promise, variants, with);
      }
    }
    gain += worth_of(std::move(with)) - worth_of(supply_of(promised.without_changes, promise.slots, variants));
  }
  return gain;
}

}  // namespace berth
