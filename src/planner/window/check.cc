#include "planner/window/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/core/ensure.h"

namespace berth::planner {
namespace {

using Fault = std::optional<std::string>;

/// The tolerance of a floor, as a share of it.
constexpr double kFloorTolerance = 1e-9;
/// The tolerance with which half a slot is rounded up.
constexpr double kHalfSlack = 1e-9;

std::size_t nth(int index) { return static_cast<std::size_t>(index); }

const Piece* find_on_site(const Configuration& pieces, SiteIndex site) {
  for (const Piece& piece : pieces) {
    if (piece.site == site) return &piece;
  }
  return nullptr;
}

bool holds(const Configuration& pieces, const Piece& wanted) {
  const Piece* found = find_on_site(pieces, wanted.site);
  return found != nullptr && *found == wanted;
}

bool clash(const ModelTerms& model, SiteIndex a, SiteIndex b) { return (model.sites[nth(a)].clashes >> b & 1) != 0; }

/// A range of slots in which a GPU holds one configuration.
struct Tenure {
  SlotIndex from_slot;
  bool is_first = true;  ///< from slot 0 on: the GPU has not changed yet
  Configuration pieces;
  std::vector<SlotIndex> ready_from;  ///< [piece], a slot
};

Tenure standing_tenure(const GpuTerms& gpu) {
  Tenure tenure;
  for (const StandingPiece& standing : gpu.standing) {
    tenure.pieces.push_back(standing.piece);
    tenure.ready_from.emplace_back(standing.ready_in);
  }
  return tenure;
}

SlotIndex ready_from_of(const Tenure& tenure, const Piece& piece) {
  for (std::size_t i = 0; i < tenure.pieces.size(); ++i) {
    if (tenure.pieces[i] == piece) return tenure.ready_from[i];
  }
  ENSURE(false);
}

Tenure tenure_after(const Problem& problem, const ModelTerms& model, const Tenure& before, const Change& change) {
  Tenure tenure{.from_slot = change.slot, .is_first = false, .pieces = change.to, .ready_from = {}};
  for (const Piece& piece : change.to) {
    const bool goes_on = holds(before.pieces, piece);
    tenure.ready_from.push_back(goes_on ? ready_from_of(before, piece)
                                        : change.slot + slots_until_ready(problem, model, before.pieces, piece));
  }
  return tenure;
}

const ModelTerms& model_of(const Problem& problem, GpuIndex gpu) {
  return problem.models[nth(problem.gpus[nth(gpu)].model)];
}

std::vector<Tenure> tenures_of(const Problem& problem, const Schedule& schedule, GpuIndex gpu) {
  std::vector<Tenure> tenures = {standing_tenure(problem.gpus[nth(gpu)])};
  for (const Change& change : schedule.gpus[nth(gpu)]) {
    tenures.push_back(tenure_after(problem, model_of(problem, gpu), tenures.back(), change));
  }
  return tenures;
}

const Tenure& tenure_at(const std::vector<Tenure>& tenures, SlotIndex slot) {
  const Tenure* last = &tenures.front();
  for (const Tenure& tenure : tenures) {
    if (tenure.from_slot <= slot) last = &tenure;
  }
  return *last;
}

const Rates& rates_of(const ModelTerms& model, const Piece& piece) {
  return model.rates[nth(model.sites[nth(piece.site)].kind)][nth(piece.service)];
}

/// The rate of an inference piece; 0 for other pieces.
double inference_rate(const ModelTerms& model, const Piece& piece) {
  if (piece.service == kNoService || piece.use == kRetraining) return 0;
  return rates_of(model, piece).requests_per_second[nth(piece.use)];
}

// ---- faults of one change

bool is_pinned_to_owner(const GpuTerms& gpu, const Piece& piece) {
  return std::ranges::any_of(
      gpu.pins, [&](const PinnedSite& pin) { return pin.site == piece.site && pin.service == piece.service; });
}

Fault fault_of_beginning(const Problem& problem, GpuIndex gpu, const Piece& piece) {
  if (piece.service == kNoService) return fmt::format("a piece on site {} begins without an owner", piece.site);
  if (piece.service < 0 || nth(piece.service) >= problem.services.size()) {
    return fmt::format("no service {}", piece.service);
  }
  const ModelTerms& model = model_of(problem, gpu);
  const ServiceTerms& service = problem.services[nth(piece.service)];
  if (piece.use == kRetraining) {
    if (!service.retraining || rates_of(model, piece).retraining_slots <= 0) {
      return fmt::format("service {} cannot retrain on site {}", piece.service, piece.site);
    }
    const bool may_count = service.retraining->is_stale || !service.retraining->due_slots.empty();
    if (may_count || is_pinned_to_owner(problem.gpus[nth(gpu)], piece)) return std::nullopt;
    return fmt::format("service {} begins to retrain a model that is never stale", piece.service);
  }
  if (piece.use < 0 || nth(piece.use) >= service.variants.size()) {
    return fmt::format("service {} has no variant {}", piece.service, piece.use);
  }
  if (inference_rate(model, piece) > 0) return std::nullopt;
  return fmt::format("service {} cannot serve on site {} with variant {}", piece.service, piece.site, piece.use);
}

Fault fault_of_sites(const ModelTerms& model, const Configuration& pieces) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].site < 0 || nth(pieces[i].site) >= model.sites.size()) {
      return fmt::format("no site {}", pieces[i].site);
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (pieces[j].site >= pieces[i].site) return "pieces are not in the order of their sites";
      if (clash(model, pieces[i].site, pieces[j].site)) {
        return fmt::format("sites {} and {} clash", pieces[j].site, pieces[i].site);
      }
    }
  }
  return std::nullopt;
}

Fault fault_of_neighbours(const Problem& problem, const Configuration& pieces) {
  for (const Piece& one : pieces) {
    for (const Piece& other : pieces) {
      if (one.service == kNoService || other.service == kNoService || one.service == other.service) continue;
      if (problem.services[nth(one.service)].is_alone_on_gpu) {
        return fmt::format("service {} is not alone: service {} is there too", one.service, other.service);
      }
      if (problem.services[nth(one.service)].trust_domain != problem.services[nth(other.service)].trust_domain) {
        return fmt::format("services {} and {} are of two trust domains", one.service, other.service);
      }
    }
  }
  return std::nullopt;
}

Fault fault_of_configuration(const Problem& problem, GpuIndex gpu, const Tenure& before, const Configuration& to) {
  const ModelTerms& model = model_of(problem, gpu);
  if (const Fault fault = fault_of_sites(model, to)) return fault;
  for (const Piece& piece : to) {
    if (holds(before.pieces, piece)) continue;
    if (const Fault fault = fault_of_beginning(problem, gpu, piece)) return fault;
  }
  for (const Piece& piece : to) {
    if (piece.use == kRetraining && piece.service != kNoService &&
        problem.services[nth(piece.service)].retrains_elsewhere) {
      return fmt::format("service {} retrains elsewhere", piece.service);
    }
  }
  for (const PinnedSite& pin : problem.gpus[nth(gpu)].pins) {
    const Piece* piece = find_on_site(to, pin.site);
    if (piece == nullptr || piece->service != pin.service) {
      return fmt::format("site {} is pinned to service {}", pin.site, pin.service);
    }
  }
  return fault_of_neighbours(problem, to);
}

Fault fault_of_time(const Problem& problem, const GpuTerms& gpu, const Tenure& before, SlotIndex slot) {
  if (slot < 0 || slot >= problem.slots) return "not a slot of the window";
  if (slot < gpu.free_from) return fmt::format("no change may begin before slot {}", gpu.free_from);
  if (!problem.is_frozen.empty() && problem.is_frozen[nth(slot)] != 0) return "a change begins in a frozen slot";
  if (!before.is_first && slot <= before.from_slot) return "changes are not in the order of time";
  for (std::size_t i = 0; i < before.pieces.size(); ++i) {
    if (before.ready_from[i] > slot) {
      return fmt::format("the piece on site {} is not ready before slot {}", before.pieces[i].site,
                         before.ready_from[i]);
    }
  }
  return std::nullopt;
}

Fault fault_of_gpu(const Problem& problem, const Schedule& schedule, GpuIndex gpu) {
  Tenure tenure = standing_tenure(problem.gpus[nth(gpu)]);
  for (const Change& change : schedule.gpus[nth(gpu)]) {
    Fault fault = fault_of_time(problem, problem.gpus[nth(gpu)], tenure, change.slot);
    if (!fault) fault = fault_of_configuration(problem, gpu, tenure, change.to);
    if (!fault && change.to == tenure.pieces) fault = "nothing changes";
    if (fault) return fmt::format("gpu-{}, slot {}: {}", gpu, change.slot, *fault);
    tenure = tenure_after(problem, model_of(problem, gpu), tenure, change);
  }
  return std::nullopt;
}

// ---- faults of the fleet

using Fleet = std::vector<std::vector<Tenure>>;

/// The capacity and progress of a service in a slot, from the pieces of the fleet and from outside.
struct Working {
  std::vector<double> capacity;  ///< [variant], ready pieces
  double progress = 0;           ///< of ready pieces
  double floor_rate = 0;         ///< ready or not; a number of pieces where the floor counts_slices
  int serving_count = 0;         ///< pieces, ready or not
  int retraining_count = 0;      ///< ready or not
};

/// [service][slot]; slot `slots` is the tail, where every piece is ready.
using Tally = std::vector<std::vector<Working>>;

Working outside_of(const ServiceTerms& service, int slots, SlotIndex slot) {
  Working working{.capacity = std::vector<double>(service.variants.size()),
                  .progress = 0,
                  .floor_rate = service.outside_floor_rate,
                  .serving_count = service.outside_slices,
                  .retraining_count = 0};
  for (std::size_t v = 0; v < service.variants.size() && !service.outside.empty(); ++v) {
    working.capacity[v] = service.outside[nth(slot) * service.variants.size() + v];
  }
  if (slot < slots && !service.outside_progress.empty()) working.progress = service.outside_progress[nth(slot)];
  return working;
}

void add_piece(const ModelTerms& model, const ServiceTerms& service, const Piece& piece, bool is_ready,
               Working& working) {
  const Rates& rates = rates_of(model, piece);
  if (piece.use == kRetraining) {
    ++working.retraining_count;
    if (is_ready && rates.retraining_slots > 0) working.progress += 1 / rates.retraining_slots;
    return;
  }
  const double rate = rates.requests_per_second[nth(piece.use)];
  ++working.serving_count;
  working.floor_rate += service.counts_slices ? (rate > 0 ? 1 : 0) : rate;
  if (is_ready) working.capacity[nth(piece.use)] += rate;
}

Tally tally_of(const Problem& problem, const Fleet& fleet) {
  Tally tally(problem.services.size());
  for (const ServiceIndex service : indices_of<ServiceIndex>(tally)) {
    for (const SlotIndex slot : Indices<SlotIndex>(problem.slots + 1)) {
      tally[nth(service)].push_back(outside_of(problem.services[nth(service)], problem.slots, slot));
    }
  }
  for (const GpuIndex gpu : indices_of<GpuIndex>(fleet)) {
    for (const SlotIndex slot : Indices<SlotIndex>(problem.slots + 1)) {
      const Tenure& tenure = tenure_at(fleet[nth(gpu)], slot);
      for (std::size_t i = 0; i < tenure.pieces.size(); ++i) {
        const Piece& piece = tenure.pieces[i];
        if (piece.service == kNoService) continue;
        const bool is_ready = slot == problem.slots || tenure.ready_from[i] <= slot;
        add_piece(model_of(problem, gpu), problem.services[nth(piece.service)], piece, is_ready,
                  tally[nth(piece.service)][nth(slot)]);
      }
    }
  }
  return tally;
}

Fault fault_of_slot(const Problem& problem, const Tally& tally, ServiceIndex service, SlotIndex slot) {
  const ServiceTerms& terms = problem.services[nth(service)];
  const Working& working = tally[nth(service)][nth(slot)];
  if (working.retraining_count > 1 && !terms.retrains_elsewhere) {
    return fmt::format("slot {}: service {} has {} retraining pieces", slot, service, working.retraining_count);
  }
  if (terms.slices_max >= 0 && working.serving_count > terms.slices_max) {
    return fmt::format("slot {}: service {} has {} slices, of at most {}", slot, service, working.serving_count,
                       terms.slices_max);
  }
  const bool is_bound = terms.floor_rate > 0 && slot >= problem.floors_from;
  if (!is_bound || working.floor_rate >= terms.floor_rate * (1 - kFloorTolerance)) return std::nullopt;
  return fmt::format("slot {}: service {} has {} of its floor of {} {}", slot, service, working.floor_rate,
                     terms.floor_rate, terms.counts_slices ? "slices" : "requests per second");
}

/// Pieces of a service that one change creates or destroys.
int changed_count(const Configuration& from, const Configuration& to, ServiceIndex service) {
  int count = 0;
  for (const Piece& piece : to) {
    count += piece.service == service && find_on_site(from, piece.site) == nullptr ? 1 : 0;
  }
  for (const Piece& piece : from) {
    count += piece.service == service && find_on_site(to, piece.site) == nullptr ? 1 : 0;
  }
  return count;
}

Fault fault_of_budget(const Problem& problem, const Fleet& fleet, ServiceIndex service) {
  const int limit = problem.services[nth(service)].changes_max;
  if (limit < 0) return std::nullopt;
  int count = 0;
  for (const std::vector<Tenure>& tenures : fleet) {
    for (std::size_t i = 1; i < tenures.size(); ++i) {
      count += changed_count(tenures[i - 1].pieces, tenures[i].pieces, service);
    }
  }
  if (count <= limit) return std::nullopt;
  return fmt::format("service {} has {} slices created or destroyed, of at most {}", service, count, limit);
}

Fleet fleet_of(const Problem& problem, const Schedule& schedule) {
  Fleet fleet;
  fleet.reserve(problem.gpus.size());
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) fleet.push_back(tenures_of(problem, schedule, gpu));
  return fleet;
}

// ---- the objective

/// The state of a service's retraining over time.
struct Training {
  bool is_stale = false;
  bool is_done = false;  ///< the swap is in progress
  double progress = 0;
  SlotIndex fresh_from;  ///< while it is done
};

Training training_at_start(const RetrainingTerms& terms) {
  return {.is_stale = terms.is_stale,
          .is_done = terms.fresh_in > 0,
          .progress = terms.progress,
          .fresh_from = SlotIndex(terms.fresh_in)};
}

void begin_slot(const RetrainingTerms& terms, SlotIndex slot, Training& training) {
  if (std::ranges::find(terms.due_slots, slot) != terms.due_slots.end()) {
    const bool keeps = terms.keeps_unfinished && training.is_stale && !training.is_done;
    if (!keeps) training.progress = 0;
    training.is_stale = true;
    training.is_done = false;
  }
  if (training.is_stale && !training.is_done && training.progress >= kDone) {
    training.is_done = true;
    training.fresh_from = slot + terms.swap_slots;
  }
  if (training.is_done && training.fresh_from <= slot) {
    training.is_done = false;
    training.is_stale = false;
  }
}

/// One second of a service: expected answers and their value. The most accurate variants answer first.
SlotFigures figures_of(const Problem& problem, const ServiceTerms& service, const Working& working, SlotIndex slot,
                       bool is_fresh) {
  const auto accuracy = [&](std::size_t v) {
    return is_fresh ? service.variants[v].accuracy_after : service.variants[v].accuracy_before;
  };
  std::vector<std::size_t> order(service.variants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return accuracy(a) != accuracy(b) ? accuracy(a) > accuracy(b) : a < b;
  });
  SlotFigures figures{.capacity = 0, .served = 0, .value = 0, .is_fresh = is_fresh};
  for (const double capacity : working.capacity) figures.capacity += capacity;
  for (int sample = 0; sample < problem.samples; ++sample) {
    double left = service.loads[nth(slot) * nth(problem.samples) + nth(sample)];
    for (const std::size_t v : order) {
      const double served = std::min(left, working.capacity[v]);
      figures.served += served / problem.samples;
      figures.value += service.value * accuracy(v) * served / problem.samples;
      left -= served;
    }
  }
  return figures;
}

void add_tail(const Problem& problem, const Tally& tally, ServiceIndex service, Training training,
              Evaluation& evaluation) {
  const ServiceTerms& terms = problem.services[nth(service)];
  const Working& working = tally[nth(service)][nth(problem.slots)];
  bool is_fresh = true;
  double fresh_seconds = problem.tail_seconds;
  if (terms.retraining) {
    begin_slot(*terms.retraining, SlotIndex(problem.slots), training);
    is_fresh = !training.is_stale || training.is_done;
    fresh_seconds = is_fresh ? std::min(problem.tail_seconds, terms.retraining->tail_fresh_seconds) : 0;
  }
  const SlotFigures fresh = figures_of(problem, terms, working, SlotIndex(problem.slots), true);
  const SlotFigures stale = figures_of(problem, terms, working, SlotIndex(problem.slots), false);
  evaluation.services[nth(service)].push_back(is_fresh ? fresh : stale);
  evaluation.objective += fresh_seconds * fresh.value + (problem.tail_seconds - fresh_seconds) * stale.value;
  double model_value = 0;
  if (terms.retraining) {
    model_value = is_fresh ? terms.retraining->fresh_value : terms.retraining->progress_value * training.progress;
  }
  evaluation.model_value.push_back(model_value);
  evaluation.objective += model_value;
}

/// Slices that are created or destroyed.
int slices_changed(const Problem& problem, const Schedule& schedule) {
  const auto missing = [](const Configuration& pieces, const Configuration& others) {
    return static_cast<int>(
        std::ranges::count_if(pieces, [&](const Piece& piece) { return find_on_site(others, piece.site) == nullptr; }));
  };
  int count = 0;
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
    Configuration now;
    for (const StandingPiece& standing : problem.gpus[nth(gpu)].standing) now.push_back(standing.piece);
    for (const Change& change : schedule.gpus[nth(gpu)]) {
      count += missing(now, change.to) + missing(change.to, now);
      now = change.to;
    }
  }
  return count;
}

void add_service(const Problem& problem, const Tally& tally, ServiceIndex service, Evaluation& evaluation) {
  const ServiceTerms& terms = problem.services[nth(service)];
  Training training;
  if (terms.retraining) training = training_at_start(*terms.retraining);
  evaluation.services.emplace_back();
  for (const SlotIndex slot : Indices<SlotIndex>(problem.slots)) {
    if (terms.retraining) begin_slot(*terms.retraining, slot, training);
    const Working& working = tally[nth(service)][nth(slot)];
    const SlotFigures figures = figures_of(problem, terms, working, slot, !training.is_stale);
    evaluation.services.back().push_back(figures);
    evaluation.objective += figures.value;
    if (training.is_stale && !training.is_done) training.progress += working.progress;
  }
  add_tail(problem, tally, service, training, evaluation);
}

}  // namespace

int slots_until_ready(const Problem& problem, const ModelTerms& model, const Configuration& from, const Piece& piece) {
  if (holds(from, piece)) return 0;
  double seconds = problem.plumbing_seconds;
  if (piece.use != kRetraining && piece.service != kNoService)
    seconds += problem.services[nth(piece.service)].start_seconds;
  if (find_on_site(from, piece.site) == nullptr) {
    seconds += create_seconds_of(problem, model, model.sites[nth(piece.site)].kind);
    double longest = 0;
    for (const Piece& old : from) {
      if (!clash(model, old.site, piece.site)) continue;
      longest = std::max(longest, destroy_seconds_of(problem, model, model.sites[nth(old.site)].kind));
    }
    seconds += longest;
  }
  return static_cast<int>(std::floor(seconds + 0.5 + kHalfSlack));
}

std::optional<std::string> find_fault(const Problem& problem, const Schedule& schedule) {
  if (schedule.gpus.size() != problem.gpus.size()) {
    return fmt::format("wanted changes of {} GPUs, found {}", problem.gpus.size(), schedule.gpus.size());
  }
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
    if (Fault fault = fault_of_gpu(problem, schedule, gpu)) return fault;
  }
  const Fleet fleet = fleet_of(problem, schedule);
  const Tally tally = tally_of(problem, fleet);
  for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
    for (const SlotIndex slot : Indices<SlotIndex>(problem.slots)) {
      if (Fault fault = fault_of_slot(problem, tally, service, slot)) return fault;
    }
    if (Fault fault = fault_of_budget(problem, fleet, service)) return fault;
  }
  return std::nullopt;
}

Evaluation evaluate(const Problem& problem, const Schedule& schedule) {
  ENSURE(schedule.gpus.size() == problem.gpus.size());
  const Tally tally = tally_of(problem, fleet_of(problem, schedule));
  Evaluation evaluation;
  for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
    add_service(problem, tally, service, evaluation);
  }
  evaluation.objective -= problem.change_price * slices_changed(problem, schedule);
  return evaluation;
}

}  // namespace berth::planner
