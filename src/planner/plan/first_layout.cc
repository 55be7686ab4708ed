#include "planner/plan/first_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "planner/plan/solve.h"
#include "planner/window/check.h"

namespace berth::planner {
namespace {

constexpr int kAgainMax = 8;
constexpr std::size_t kGpusWithRoomMax = 8;  ///< on larger fleets one slice matters little, and the search takes long
constexpr int kRoomsMax = 2;
constexpr double kRoomGainLeast = 1e-6;  ///< of the objective

/// Multiples of the loads for which spare capacity is searched. Each takes a search of the whole fleet, so large fleets
/// try one, and very large ones, whose loads vary little, none.
constexpr std::array kLoadMultiples = {1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0};
constexpr std::array kLoadMultiplesOfLargeFleets = {2.0};
constexpr std::size_t kSpareGpusOfSmallFleets = 16;
constexpr std::size_t kSpareGpusMax = 256;
/// How far guessed loads are raised towards equal shares of the fleet: in full, half way (in ratios), not at all.
constexpr std::array kEvennesses = {1.0, 0.5, 0.0};
constexpr double kAnsweredShareLeast = 0.999;  ///< of each service's load, for a multiple to count as answered
constexpr double kSpareLossMost = 1e-4;        ///< of the objective

std::size_t ordinal(int index) { return static_cast<std::size_t>(index); }

/// A site on a GPU that is kept free for a slice.
struct FreeRoom {
  GpuIndex gpu;
  SiteIndex site;
};

bool is_of_use_for_retraining(const std::vector<Rates>& rates) {
  return std::ranges::any_of(rates, [](const Rates& each) { return each.retraining_slots > 0; });
}

/// On the first GPU of each GPU model (all are equal, because they are empty), the last site of each kind on which a
/// service can retrain: sites at the end leave the most room for others.
std::vector<FreeRoom> rooms_of(const Problem& problem) {
  std::vector<FreeRoom> rooms;
  std::vector<char> is_known(problem.models.size());
  for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
    if (std::exchange(is_known[ordinal(problem.gpus[gpu].model)], 1) != 0) continue;
    const ModelTerms& model = problem.models[ordinal(problem.gpus[gpu].model)];
    std::vector<SiteIndex> last(model.rates.size(), SiteIndex(-1));
    for (const SiteIndex site : indices_of<SiteIndex>(model.sites)) {
      SiteIndex& known = last[ordinal(model.sites[ordinal(site)].kind)];
      if (known < 0 || model.sites[ordinal(known)].start < model.sites[ordinal(site)].start) known = site;
    }
    std::vector<std::uint64_t> taken;
    for (const KindIndex kind : indices_of<KindIndex>(last)) {
      if (last[kind] < 0 || !is_of_use_for_retraining(model.rates[kind])) continue;
      const std::uint64_t clashes = model.sites[ordinal(last[kind])].clashes;
      if (std::ranges::find(taken, clashes) != taken.end()) continue;  // the largest slice and the whole GPU
      taken.push_back(clashes);
      rooms.push_back({.gpu = gpu, .site = last[kind]});
    }
  }
  return rooms;
}

/// The problem in which all rates on sites that clash with this one are 0.
Problem with_room_left(const Problem& problem, const FreeRoom& room) {
  Problem left = problem;
  GpuTerms& gpu = left.gpus[room.gpu];
  ModelTerms model = left.models[ordinal(gpu.model)];
  std::vector<Rates> useless = model.rates.front();
  for (Rates& rates : useless) {
    std::ranges::fill(rates.requests_per_second, 0.0);
    rates.retraining_slots = 0;
  }
  const KindIndex kind(model.rates.size());
  const std::uint64_t clashes = model.sites[ordinal(room.site)].clashes;
  for (const SiteIndex site : indices_of<SiteIndex>(model.sites)) {
    if ((clashes >> site & 1) != 0) model.sites[site].kind = kind;
  }
  model.rates.push_back(std::move(useless));
  model.sms.push_back(model.sms[ordinal(problem.models[ordinal(gpu.model)].sites[ordinal(room.site)].kind)]);
  gpu.model = ModelIndex(left.models.size());
  left.models.push_back(std::move(model));
  return left;
}

Problem begun_with(const Problem& problem, const Schedule& layout) {
  Problem begun = problem;
  for (const GpuIndex gpu : indices_of<GpuIndex>(begun.gpus)) {
    if (layout.gpus[gpu].empty()) continue;
    for (const Piece& piece : layout.gpus[gpu].front().to) begun.gpus[gpu].standing.push_back({piece, 0});
  }
  return begun;
}

bool is_complete(const Answer& answer) { return !answer.is_infeasible && !answer.misses_floors; }

/// The objective of the window that begins with a layout; nothing if it violates floors.
std::optional<double> window_worth(const Problem& window, const SearchLimits& limits, const Schedule& layout) {
  const Answer answer = solve(begun_with(window, layout), limits);
  return is_complete(answer) ? std::optional(answer.objective) : std::nullopt;
}

/// A layout that leaves room.
struct Roomier {
  Problem first;
  Answer answer;
  double worth = 0;
};

/// The best layout that keeps one more site free than `first` does, if it is worth more than `least`.
std::optional<Roomier> with_one_more(const Problem& window, const Problem& first, const SearchLimits& limits,
                                     double least) {
  std::optional<Roomier> best;
  for (const FreeRoom& room : rooms_of(first)) {
    if (!first.gpus[room.gpu].pins.empty()) continue;
    Problem left = with_room_left(first, room);
    Answer answer = solve(left, limits);
    improve_first_layout(left, limits, answer);
    if (!is_complete(answer)) continue;
    const std::optional<double> worth = window_worth(window, limits, answer.schedule);
    if (!worth || *worth <= least * (1 + kRoomGainLeast)) continue;
    least = *worth;
    best = Roomier{.first = std::move(left), .answer = std::move(answer), .worth = *worth};
  }
  return best;
}

/// Whether the schedule answers nearly all of each service's load.
bool answers_all_loads(const Problem& problem, const Schedule& schedule) {
  const Evaluation evaluation = evaluate(problem, schedule);
  const auto samples = ordinal(problem.samples);
  for (const ServiceIndex i : indices_of<ServiceIndex>(problem.services)) {
    double load = 0;
    double served = 0;
    for (std::size_t slot = 0; slot <= ordinal(problem.slots); ++slot) {
      for (std::size_t k = 0; k < samples; ++k) load += problem.services[i].loads[slot * samples + k];
      served += evaluation.services[i][slot].served * problem.samples;
    }
    if (served < kAnsweredShareLeast * load) return false;
  }
  return true;
}

/// The most requests per second of each service on one SM.
std::vector<double> rates_per_sm(const Problem& problem) {
  std::vector<double> best(problem.services.size());
  for (const ModelTerms& model : problem.models) {
    for (const KindIndex kind : indices_of<KindIndex>(model.rates)) {
      for (std::size_t i = 0; i < best.size(); ++i) {
        for (const double rate : model.rates[kind][i].requests_per_second) {
          best[i] = std::max(best[i], rate / std::max(1, model.sms[ordinal(kind)]));
        }
      }
    }
  }
  return best;
}

/// The problem with the loads of guessed services raised towards that of the one that needs most SMs.
Problem with_guesses_raised(Problem problem, const std::vector<char>& is_guess, double evenness) {
  if (evenness <= 0) return problem;
  const std::vector<double> rates = rates_per_sm(problem);
  std::vector<double> needs(problem.services.size());
  double most = 0;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    if (is_guess[i] == 0 || rates[i] <= 0) continue;
    const std::vector<double>& loads = problem.services[i].loads;
    needs[i] = std::accumulate(loads.begin(), loads.end(), 0.0) / static_cast<double>(loads.size()) / rates[i];
    most = std::max(most, needs[i]);
  }
  for (std::size_t i = 0; i < needs.size(); ++i) {
    if (needs[i] <= 0) continue;
    const double factor = std::pow(most / needs[i], evenness);
    for (double& load : problem.services[i].loads) load *= factor;
  }
  return problem;
}

/// A layout that answers the loads of a problem, and its worth with the original loads.
struct Served {
  Problem problem;
  Schedule schedule;
  double worth = 0;
};

std::optional<Served> served_with_spare(const Problem& first, Problem multiplied, const SearchLimits& limits) {
  Answer found = solve(multiplied, limits);
  improve_first_layout(multiplied, limits, found);
  if (!is_complete(found) || !answers_all_loads(multiplied, found.schedule)) return std::nullopt;
  const double worth = evaluate(first, found.schedule).objective;
  return Served{.problem = std::move(multiplied), .schedule = std::move(found.schedule), .worth = worth};
}

bool has_retraining(const Problem& window) {
  return std::ranges::any_of(window.services,
                             [](const ServiceTerms& service) { return service.retraining.has_value(); });
}

/// The window with the floors that its first layout keeps.
Problem with_floors_of(Problem window, const Problem& first) {
  for (const ServiceIndex i : indices_of<ServiceIndex>(window.services)) {
    window.services[i].floor_rate = first.services[i].floor_rate;
  }
  return window;
}

std::span<const double> multiples_for(const Problem& problem) {
  if (problem.gpus.size() > kSpareGpusMax) return {};
  if (problem.gpus.size() > kSpareGpusOfSmallFleets) return kLoadMultiplesOfLargeFleets;
  return kLoadMultiples;
}

}  // namespace

Problem first_layout_problem(const Problem& window) {
  Problem first = window;
  first.destroy_seconds = 0;
  first.create_seconds = 0;
  for (ModelTerms& model : first.models) {
    model.create_seconds.clear();
    model.destroy_seconds.clear();
  }
  first.plumbing_seconds = 0;
  first.change_price = 0;
  first.is_frozen.assign(ordinal(first.slots), 1);
  first.is_frozen.front() = 0;
  first.floors_from = SlotIndex(0);
  for (ServiceTerms& service : first.services) {
    service.start_seconds = 0;
    service.retraining.reset();
    service.changes_max = -1;
  }
  return first;
}

void improve_first_layout(const Problem& first, const SearchLimits& limits, Answer& answer) {
  for (int round = 0; round < kAgainMax && !answer.is_infeasible; ++round) {
    Answer better = solve(begun_with(first, answer.schedule), limits);
    if (better.is_infeasible || better.objective <= answer.objective * (1 + 1e-9)) return;
    for (const GpuIndex gpu : indices_of<GpuIndex>(first.gpus)) {
      if (better.schedule.gpus[gpu].empty()) better.schedule.gpus[gpu] = answer.schedule.gpus[gpu];
    }
    better.bound = std::min(answer.bound, better.bound);
    answer = std::move(better);
  }
}

Problem with_loads_times(Problem problem, double multiple) {
  for (ServiceTerms& service : problem.services) {
    for (double& load : service.loads) load *= multiple;
  }
  return problem;
}

std::optional<Problem> add_spare_capacity(const Problem& first, const SearchLimits& limits,
                                          const std::vector<char>& is_guess, Answer& answer) {
  if (!is_complete(answer) || !answers_all_loads(first, answer.schedule)) return std::nullopt;
  std::optional<Problem> served;
  const bool are_guesses = !is_guess.empty() && std::ranges::find(is_guess, 0) == is_guess.end();
  for (const double evenness : kEvennesses) {
    if (evenness > 0 && !are_guesses) continue;
    const Problem raised = with_guesses_raised(first, is_guess, evenness);
    for (const double multiple : multiples_for(first)) {
      if (evenness <= 0 && multiple <= 1) continue;  // these loads are answered already
      std::optional<Served> better = served_with_spare(first, with_loads_times(raised, multiple), limits);
      if (!better || better->worth < answer.objective * (1 - kSpareLossMost)) break;
      answer.schedule = std::move(better->schedule);
      served = std::move(better->problem);
    }
    if (served) break;
  }
  if (served) answer.objective = evaluate(first, answer.schedule).objective;
  return served;
}

bool is_worth_as_much(const Problem& window, const Problem& first, const SearchLimits& limits, const Schedule& layout,
                      const Schedule& other) {
  if (!has_retraining(window)) return true;
  const Problem after = with_floors_of(window, first);
  const std::optional<double> worth = window_worth(after, limits, layout);
  const std::optional<double> least = window_worth(after, limits, other);
  return worth && (!least || *worth >= *least * (1 - kSpareLossMost));
}

void leave_room_for_retraining(const Problem& window, const Problem& first, const SearchLimits& limits,
                               Answer& answer) {
  if (!has_retraining(window) || window.gpus.size() > kGpusWithRoomMax || !is_complete(answer)) return;
  const Problem after = with_floors_of(window, first);
  std::optional<double> worth = window_worth(after, limits, answer.schedule);
  Problem left = first;
  for (int slice = 0; slice < kRoomsMax && worth; ++slice) {
    std::optional<Roomier> better = with_one_more(after, left, limits, *worth);
    if (!better) return;
    left = std::move(better->first);
    worth = better->worth;
    answer.schedule = std::move(better->answer.schedule);
    answer.objective = better->answer.objective;
    answer.nodes += better->answer.nodes;
  }
}

}  // namespace berth::planner
