#include "planner/many_gpus/fleet.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "base/core/sort_stably.h"
#include "planner/many_gpus/detail/bound.h"
#include "planner/many_gpus/detail/exchange.h"
#include "planner/many_gpus/detail/lending.h"
#include "planner/many_gpus/detail/recut.h"
#include "planner/many_gpus/detail/response.h"
#include "planner/many_gpus/detail/timing.h"
#include "planner/many_gpus/state.h"
#include "planner/many_gpus/terms.h"
#include "planner/window/checked_bound.h"

namespace berth::planner {
namespace {

constexpr double kRounding = 1e-8;   ///< relative difference of the objective between two orders of summation
constexpr int kSmallFleetGpus = 16;  ///< up to this many GPUs every method is tried
constexpr int kFleetRoundsMax = 12;
constexpr double kRoundLeast = 1e-3;  ///< of the maximum objective: the least gain of a round of a large fleet
constexpr int kPriceBlocks = 3;       ///< blocks of equal prices after the first one
constexpr int kPriceBlocksLarge = 2;  ///< of large fleets
constexpr int kScaledGpus = 100;      ///< of large fleets, for the level of prices
constexpr int kSampleSteps = 100;     ///< price steps on a sample
constexpr int kSampleGpus = 200;      ///< in the sample
constexpr int kAllGpusSteps = 20;     ///< price steps on all GPUs
constexpr double kSoftnessFirst = 0.05;
constexpr double kSoftness = 0.004;
constexpr double kSoftnessLast = 0.0025;
constexpr int kHugeRounds = 3;
/// Each GPU of a large fleet is placed once and responds twice, regardless of the limit of nodes: if there is capacity
/// for all, prices are 0, and the placement alone would leave every GPU empty.
constexpr std::int64_t kTurnsLeast = 3;
constexpr int kFloorRepairsMax = 250;            ///< GPUs examined for floors in a round
constexpr std::int64_t kThoroughNodes = 20'000;  ///< limit of nodes from which small fleets get the thorough effort
constexpr double kSmallNovelty = 0.1;
constexpr std::size_t kRecutsLent = 3;       ///< of a GPU, tried with loans
constexpr double kCandidateShare = 0.8;      ///< of the best use of a kind: uses that are worth less are not tried
constexpr std::size_t kExactGains = 20'000;  ///< GPUs x services up to which every slot is evaluated
constexpr int kStride = 4;
constexpr int kExchangePasses = 12;
constexpr int kRetrainingGpus = 4;  ///< of a large fleet on which a service's retraining is tried
constexpr int kRetrainingStride = 37;

/// The effort spent on small fleets.
struct Effort {
  double first_slot = 1;  ///< of the grid, and how its steps grow
  double growth = 1.3;
  int stride = 1;  ///< of the slots that gains evaluate
  int attempts = 8;
  int price_blocks = 2 * kPriceBlocks;
  int price_steps = 60;
  bool is_shaken = true;
};

constexpr Effort kThoroughEffort;
constexpr Effort kQuickEffort{
    .first_slot = 4, .growth = 2, .stride = 2, .attempts = 3, .price_blocks = 2, .price_steps = 15, .is_shaken = false};

/// Slots that are denser at the beginning of the window.
std::vector<SlotIndex> graded_slots(int slots, double first, double growth) {
  std::vector<SlotIndex> wanted = {SlotIndex(0)};
  double slot = first;
  while (slot < slots) {
    wanted.emplace_back(static_cast<int>(slot));
    slot = std::max(slot + 1, slot * growth);
  }
  return wanted;
}

/// Slots until a new serving piece is ready.
int slots_to_serve(const fleet::Terms& terms) {
  int ready = 1;
  for (const fleet::Readiness& readiness : terms.serving) ready = std::max(ready, readiness.on_new_site);
  return ready;
}

/// Blocks of equal prices: until pieces that begin at once are ready, then of equal length.
std::vector<SlotIndex> price_starts(const fleet::Terms& terms, int blocks) {
  const int ready = slots_to_serve(terms);
  std::vector<SlotIndex> starts = {SlotIndex(0)};
  if (ready < terms.slots / 4) starts.emplace_back(ready);
  const SlotIndex floors = terms.problem.floors_from;
  const SlotIndex begin = starts.back();
  const int count = std::min(blocks, terms.slots - begin);
  const int length = (terms.slots - begin) / std::max(1, count);
  for (int k = 1; k < count; ++k) starts.push_back(begin + (terms.slots - begin) * k / count);
  if (floors > 0 && floors < terms.slots) {  // prices of floors begin there
    const auto near = std::ranges::find_if(
        starts, [&](SlotIndex slot) { return slot > begin && std::abs(slot - floors) < length / 2; });
    if (near != starts.end())
      *near = floors;
    else if (std::ranges::find(starts, floors) == starts.end())
      starts.push_back(floors);
    std::ranges::sort(starts);
  }
  return starts;
}

/// The same for large fleets. The configuration of the last slot is also that of the tail, so a floor in that slot
/// costs capacity of the whole tail and has a price of its own.
std::vector<SlotIndex> price_starts_large(const fleet::Terms& terms) {
  std::vector<SlotIndex> starts = price_starts(terms, kPriceBlocksLarge);
  const SlotIndex last = terms.tail() - 1;
  const bool binds =
      terms.problem.floors_from < last && terms.problem.tail_seconds > 0 &&
      std::ranges::any_of(terms.problem.services, [](const ServiceTerms& service) { return service.floor_rate > 0; });
  if (binds && starts.back() < last) starts.push_back(last);
  return starts;
}

/// On large fleets, changes are made only where prices change, and for the tail: with a finer grid each GPU would
/// change in different slots.
std::vector<SlotIndex> price_changes(const fleet::Terms& terms, std::vector<SlotIndex> starts) {
  starts.emplace_back(std::max(0, terms.slots - slots_to_serve(terms)));
  return starts;
}

/// One problem's search.
class ScheduleSearch {
 public:
  ScheduleSearch(const Problem& problem, const SearchLimits& limits, const Schedule& known)
      : terms_(problem),
        limits_(limits),
        gpus_(static_cast<int>(problem.gpus.size())),
        nodes_max_(std::max(limits.nodes_max, gpus_ > kSmallFleetGpus ? kTurnsLeast * gpus_ * terms_.groups : 0)),
        is_huge_(problem.gpus.size() * problem.services.size() > kExactGains),
        best_(terms_) {
    if (!known.gpus.empty()) keep(fleet::state_of(terms_, known));
  }

  Answer solve() {
    if (gpus_ <= kSmallFleetGpus) {
      solve_small();
    } else {
      solve_large();
    }
    return answer();
  }

 private:
  void solve_small() {
    const Effort effort = limits_.nodes_max < kThoroughNodes ? kQuickEffort : kThoroughEffort;
    const std::vector<SlotIndex> slots = graded_slots(terms_.slots, effort.first_slot, effort.growth);
    fleet::Responder responder(terms_, fleet::make_grid(terms_, slots, {}), effort.stride);
    const fleet::ResponseOptions options{.attempts = effort.attempts};
    improve(responder, best_, options);
    std::optional<fleet::PriceSearch> prices;
    const fleet::BoundOptions steps{.steps = effort.price_steps, .novelty = kSmallNovelty, .gap = limits_.gap};
    if (limits_.gap < 1) {
      prices.emplace(terms_, price_starts(terms_, effort.price_blocks));
      prices->start_from_rents();
      prices->run(best_.objective(), steps);
      prices->take_best_prices();
      fleet::FleetState state = filled(responder, *prices);
      improve(responder, state, options);
      keep(state);
    }
    if (terms_.has_retraining()) cut_nearby();
    if (effort.is_shaken) shake(responder);
    spent_ += responder.nodes();
    if (!prices) return;
    prices->run(best_.objective(), steps);
    bound_ = prices->proven_bound();
    spent_ += prices->nodes();
  }

  /// Empties the fleet and places the GPUs one after the other, at prices that leave each service the slices that it
  /// can use best.
  fleet::FleetState filled(fleet::Responder& responder, const fleet::PriceSearch& prices) {
    fleet::FleetState state(terms_);
    for (const GpuIndex gpu : Indices<GpuIndex>(gpus_)) state.take_out(gpu);
    responder.gains().set_caps(prices.caps());
    for (const GpuIndex gpu : Indices<GpuIndex>(gpus_)) responder.place(state, gpu);
    responder.gains().set_caps(std::nullopt);
    return state;
  }

  /// Rounds of best responses until none gains.
  void improve(fleet::Responder& responder, fleet::FleetState& state, const fleet::ResponseOptions& options) {
    fleet::Timing timing(terms_);
    fleet::Lending lending(terms_);
    for (int round = 0; round < kFleetRoundsMax; ++round) {
      double gain = 0;
      for (GpuIndex gpu(0); gpu < gpus_ && has_nodes(responder); ++gpu) {
        gain += responder.improve(state, gpu, options);
        gain += options.attempts < kThoroughEffort.attempts ? timing.improve(state, gpu) : responder.retime(state, gpu);
        gain += lending.improve(state, gpu);
      }
      if (gain <= kRounding * (1 + terms_.value_max)) break;
    }
    spent_ += timing.nodes() + lending.nodes();
  }

  /// Tries small changes of a GPU's partition as early as possible, with its slices lent from then on: responses that
  /// choose pieces one at a time do not find a new partition that pays off only through the retraining that it allows.
  void cut_nearby() {
    fleet::Lending lending(terms_);
    fleet::Timing timing(terms_);
    for (const GpuIndex gpu : Indices<GpuIndex>(gpus_)) {
      if (!limits_.is_turn_of(gpu, gpus_)) continue;
      for (const std::vector<Change>& changes : likeliest_recuts(gpu)) {
        fleet::FleetState state = best_.branch();
        state.take_out(gpu);
        state.put(gpu, fleet::make_path(terms_, gpu, changes));
        lending.improve(state, gpu);
        timing.improve(state, gpu);
        keep(state);
      }
    }
    spent_ += lending.nodes() + timing.nodes();
  }

  /// The recuts that are worth most on their own.
  std::vector<std::vector<Change>> likeliest_recuts(GpuIndex gpu) {
    const SlotIndex slot = fleet::next_free(terms_, gpu, {}, SlotIndex(0));
    std::vector<std::pair<double, std::vector<Change>>> found;
    if (slot >= terms_.slots) return {};
    fleet::FleetState state = best_.branch();
    state.take_out(gpu);
    for (Configuration& to : recuts_of(terms_.model_of(gpu), terms_.problem.gpus[fleet::idx(gpu)])) {
      std::vector<Change> changes = {{.slot = slot, .to = std::move(to)}};
      ++spent_;
      if (!fleet::may_carry_out(terms_, gpu, changes) || !fleet::keeps_rules(terms_, gpu, changes)) continue;
      found.emplace_back(state.score_with(gpu, fleet::make_path(terms_, gpu, changes)), std::move(changes));
    }
    sort_stably(found, [](const auto& each) { return -each.first; });
    if (found.size() > kRecutsLent) found.resize(kRecutsLent);
    std::vector<std::vector<Change>> best;
    best.reserve(found.size());
    for (auto& [score, changes] : found) best.push_back(std::move(changes));
    return best;
  }

  /// Replans pairs of GPUs from scratch, in both orders.
  void shake(fleet::Responder& responder) {
    for (const GpuIndex first : Indices<GpuIndex>(gpus_)) {
      for (GpuIndex second(0); second < gpus_ && has_nodes(responder); ++second) {
        if (first == second) continue;
        fleet::FleetState state = best_.branch();
        for (const GpuIndex gpu : {first, second}) state.take_out(gpu);
        for (const GpuIndex gpu : {first, second}) responder.place(state, gpu);
        for (const GpuIndex gpu : {first, second, first}) responder.improve(state, gpu, {.attempts = 1});
        keep(state);
      }
    }
    for (const GpuIndex gpu : Indices<GpuIndex>(gpus_)) responder.retime(best_, gpu);
  }

  void solve_large() {
    const std::vector<SlotIndex> starts = price_starts_large(terms_);
    fleet::PriceSearch prices(terms_, starts);
    prices.start_from_rents();
    prices.scale_rents(kScaledGpus);
    prices.run_balance(
        {.steps = kSampleSteps, .gpus_max = kSampleGpus, .softness_first = kSoftnessFirst, .softness_last = kSoftness});
    prices.run_balance({.steps = kAllGpusSteps, .softness_first = kSoftness, .softness_last = kSoftnessLast});
    bound_ = prices.proven_bound();
    prices.take_best_prices();
    fleet::Responder responder(terms_, fleet::make_grid(terms_, price_changes(terms_, starts), {}),
                               is_huge_ ? kStride : 1);
    responder.gains().set_caps(prices.caps());
    responder.gains().keep_candidates(kCandidateShare);
    fleet::FleetState state = filled(responder, prices);
    better_all(responder, state, is_huge_ ? kHugeRounds : kFleetRoundsMax);
    if (terms_.has_retraining()) {
      move_retraining(responder, state);
      better_all(responder, state, 1);
    }
    keep(state);
    spent_ += responder.nodes() + prices.nodes();
  }

  /// Moves each service's retraining to the best of its GPU and a few others; no two services try the same GPU first.
  void move_retraining(fleet::Responder& responder, fleet::FleetState& state) {
    GpuIndex next;
    for (const ServiceIndex i : indices_of<ServiceIndex>(terms_.problem.services)) {
      if (!terms_.problem.services[fleet::idx(i)].retraining) continue;
      const GpuIndex host = host_of(state, i);
      if (host >= 0) responder.retrain(state, host, i);
      const double before = state.score();
      std::vector<std::pair<GpuIndex, fleet::Path>> old;  // of all GPUs that change from here on
      if (host >= 0) {
        old.emplace_back(host, state.path(host));
        responder.stop_retraining(state, host, i);
      }
      for (int k = 0; k < kRetrainingGpus && state.score() <= before && has_nodes(responder); ++k) {
        next = GpuIndex((next + kRetrainingStride) % gpus_);
        if (host >= 0) old.emplace_back(next, state.path(next));
        responder.retrain(state, next, i);
      }
      if (state.score() > before) continue;
      for (; !old.empty(); old.pop_back()) {
        state.take_out(old.back().first);
        state.put(old.back().first, std::move(old.back().second));
      }
    }
  }

  /// The first GPU that retrains a service, or -1.
  [[nodiscard]] GpuIndex host_of(const fleet::FleetState& state, ServiceIndex service) const {
    for (const GpuIndex gpu : Indices<GpuIndex>(gpus_)) {
      for (const fleet::Stay& stay : state.path(gpu).stays) {
        if (stay.piece.use == kRetraining && stay.piece.service == service) return gpu;
      }
    }
    return GpuIndex(-1);
  }

  /// Rounds over all GPUs and all slices until they gain little. In huge fleets a GPU that gained nothing in one round
  /// is skipped in later rounds: nine out of ten would gain nothing again.
  void better_all(fleet::Responder& responder, fleet::FleetState& state, int rounds) {
    fleet::Exchange exchange(terms_);
    fleet::Timing timing(terms_);
    std::vector<char> has_gained(fleet::idx(gpus_), 1);
    for (int round = 0; round < rounds; ++round) {
      const double before = state.score();
      for (GpuIndex gpu(0); gpu < gpus_ && has_nodes(responder); ++gpu) {
        if (is_huge_ && has_gained[fleet::idx(gpu)] == 0) continue;
        double gain = responder.improve(state, gpu, {.attempts = 1, .moves_retraining = false});
        gain += timing.improve(state, gpu);
        has_gained[fleet::idx(gpu)] = gain > 0 ? 1 : 0;
      }
      exchange.run(state, kExchangePasses);
      for (int k = 0; k < std::min(gpus_, kFloorRepairsMax) && state.shortfall() > 0 && has_nodes(responder); ++k) {
        responder.repair_floors(state, GpuIndex((round * kFloorRepairsMax + k) % gpus_));
      }
      if (state.score() - before <= kRoundLeast * terms_.value_max) break;
    }
    spent_ += exchange.nodes() + timing.nodes();
  }

  [[nodiscard]] bool has_nodes(const fleet::Responder& responder) const {
    return spent_ + responder.nodes() < nodes_max_;
  }

  void keep(const fleet::FleetState& state) {
    if (state.score() > best_.score() + kRounding * (1 + terms_.value_max)) best_ = state;
  }

  Answer answer() {
    Answer answer;
    fleet::FleetState exact(terms_);  // sums without the rounding errors of adding and removing paths
    for (const GpuIndex gpu : Indices<GpuIndex>(gpus_)) {
      answer.schedule.gpus.push_back(best_.path(gpu).changes);
      exact.take_out(gpu);
      exact.put(gpu, best_.path(gpu));
    }
    answer.objective = exact.objective();
    answer.misses_floors = exact.shortfall() > 0;
    answer.nodes = spent_;
    answer.bound = std::min(bound_.value_or(terms_.value_max), terms_.value_max);
    const double slack = kRounding * (1 + std::abs(answer.objective));
    if (answer.misses_floors && answer.bound < -slack) answer.is_infeasible = answer.is_infeasibility_proven = true;
    if (!answer.misses_floors) answer.bound = checked_bound(answer.bound, answer.objective);
    return answer;
  }

  fleet::Terms terms_;
  SearchLimits limits_;
  int gpus_;
  std::int64_t nodes_max_;
  bool is_huge_;
  fleet::FleetState best_;
  std::optional<double> bound_;
  std::int64_t spent_ = 0;
};

}  // namespace

Answer solve_fleet(const Problem& problem, const SearchLimits& limits, const Schedule& known) {
  return ScheduleSearch(problem, limits, known).solve();
}

}  // namespace berth::planner
