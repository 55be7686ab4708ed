#include "planner/plan/first_layout.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "planner/plan/solve.h"

namespace berth::planner {
namespace {

constexpr int kAgainMax = 8;
constexpr std::size_t kGpusWithRoomMax = 8;  ///< on larger fleets one slice matters little, and the search takes long
constexpr int kRoomsMax = 2;
constexpr double kRoomGainLeast = 1e-6;  ///< of the objective

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

void leave_room_for_retraining(const Problem& window, const Problem& first, const SearchLimits& limits,
                               Answer& answer) {
  const bool retrains =
      std::ranges::any_of(window.services, [](const ServiceTerms& service) { return service.retraining.has_value(); });
  if (!retrains || window.gpus.size() > kGpusWithRoomMax || !is_complete(answer)) return;
  Problem after = window;
  for (const ServiceIndex i : indices_of<ServiceIndex>(after.services))
    after.services[i].floor_rate = first.services[i].floor_rate;
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
