#include "planner/one_gpu/detail/price_bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "planner/one_gpu/detail/block_prices.h"
#include "planner/one_gpu/detail/service_path.h"

namespace berth::planner {
namespace {

/// First prices: a retraining costs this share of the gain of a fresh model; for the prices of kinds, progress counts
/// at this share of its price.
constexpr double kGainShare = 0.5;
constexpr double kTrainingShare = 1;
/// Values of a block also include this many slots on each side, at most a block.
constexpr int kSmoothSlotsMax = 8;

/// Rooms whose price is at least this share of the highest are nearly the most expensive.
constexpr double kNearlyMostExpensive = 0.98;
/// The weight of the previous direction in a step (deflected subgradients): steps then follow a valley of the bound
/// instead of crossing it.
constexpr double kMemory = 0.6;
/// Steps are shortened after this many in a row without improvement, by this factor.
constexpr int kPatience = 3;
constexpr double kShorter = 0.7;
/// Factors of the price of progress that are computed together (see `ServiceBound::compute`).
constexpr std::array<double, 1> kOneFactor = {1};
constexpr std::array<double, 5> kWideFactors = {1, 0.25, 0.5, 2, 4};
constexpr std::array<double, 5> kFactors = {1, 0.5, 0.75, 1.5, 2.5};

}  // namespace

PriceBound::PriceBound(const GpuCase& gpu_case, std::vector<ServiceStart> starts, int block_slots, int tune_rounds)
    : case_(gpu_case), starts_(std::move(starts)), block_slots_(block_slots) {
  const Problem& problem = gpu_case.problem;
  const int kinds = gpu_case.rooms.kinds();
  prices_.kinds = kinds;
  for (const SlotIndex t : Indices<SlotIndex>(problem.slots)) {
    const PriceBlockIndex block(std::max(0, t - gpu_case.first_slot) / block_slots);
    prices_.block_of.push_back(block);
    prices_.seconds.resize(ix(block + 1));
    if (t >= gpu_case.first_slot) prices_.seconds[block] += 1;
  }
  prices_.block_of.emplace_back(prices_.seconds.size());
  prices_.seconds.push_back(problem.tail_seconds);
  prices_.kind.assign(prices_.seconds.size() * ix(kinds), 0);
  most_expensive_.resize(prices_.seconds.size());
  services_.reserve(problem.services.size());
  for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
    services_.emplace_back(gpu_case, service);
    double fastest = 0;
    for (const KindIndex kind : Indices<KindIndex>(kinds))
      fastest = std::max(fastest, gpu_case.progress_rate(service, kind));
    retraining_slots_.push_back(fastest > 0 ? 1 / fastest : 1);
    prices_.progress.emplace_back(ix(services_.back().epochs()));
  }
  start_progress();
  start_kinds();
  tune_progress(tune_rounds);
  value_ = compute(prices_, kOneFactor);
  now_ = prices_;
  now_value_ = value_;
}

/// Prices of each block as if changes cost nothing and every model were fresh half of the time. Values include a block
/// on each side: when changes have a cost, services do not follow each wave of their load.
void PriceBound::start_kinds() {
  BlockPrices solver(case_);
  const int smooth = std::min(kSmoothSlotsMax, block_slots_);
  std::vector<std::vector<double>> values(services_.size());
  for (const PriceBlockIndex block : indices_of<PriceBlockIndex>(prices_.seconds)) {
    if (prices_.seconds[block] <= 0) continue;
    const SlotIndex from = std::max(case_.first_slot, case_.first_slot + block * block_slots_ - smooth);
    const SlotIndex to = case_.capped(case_.first_slot + (block + 1) * block_slots_ + smooth);
    for (const ServiceIndex service : indices_of<ServiceIndex>(services_)) {
      values[service] = value_of_rooms(service, block, from, to);
    }
    std::ranges::copy(solver.solve(values), prices_.kind.begin() + static_cast<std::ptrdiff_t>(block) * prices_.kinds);
  }
}

/// Alternately picks the best of several factors of each price of progress, and recomputes the prices of kinds for it.
void PriceBound::tune_progress(int rounds) {
  if (std::ranges::none_of(services_, [](const ServiceBound& bound) { return bound.retrains(); })) return;
  Prices best = prices_;
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < rounds; ++round) {
    const double value = compute(prices_, kWideFactors);
    if (value < least) {
      least = value;
      best = prices_;
    }
    bool changes = false;
    for (const ServiceIndex service : indices_of<ServiceIndex>(services_)) {
      if (!services_[service].retrains()) continue;
      for (const EpochIndex epoch : Indices<EpochIndex>(services_[service].epochs())) {
        const ServiceStart& start = starts_[service];
        const bool is_now = epoch == 0 && start.state.is_open();
        const auto most = std::ranges::max_element(case_.bundles[service].rate) - case_.bundles[service].rate.begin();
        const double factor = services_[service].best_factor(epoch, is_now ? start.bundle : BundleIndex(most),
                                                             is_now ? start.state.progress : 0);
        prices_.progress[service][epoch] *= factor;
        changes = changes || factor != 1;
      }
    }
    if (round == 0) best.progress = prices_.progress;
    if (!changes) break;
    start_kinds();
  }
  prices_ = best;
}

/// The worth per second of the slots [from, to), or of the tail for the last block, to a service in each room.
std::vector<double> PriceBound::value_of_rooms(ServiceIndex service, PriceBlockIndex block, SlotIndex from,
                                               SlotIndex to) const {
  const Bundles& bundles = case_.bundles[service];
  const Served& served = case_.served[service];
  const bool is_tail = ix(block) + 1 == prices_.seconds.size();
  const double seconds = is_tail ? prices_.seconds[block] : to - from;
  const bool retrains = services_[service].retrains();
  const auto& of_epoch = prices_.progress[service];
  const double progress = retrains && !is_tail ? kTrainingShare * *std::ranges::max_element(of_epoch) : 0;
  // New pieces do not work yet at the beginning of the window.
  const bool is_early = !is_tail && (from + to) / 2 < case_.first_slot + case_.start_slots[service];
  std::vector<double> values(ix(case_.rooms.count()), kNever);
  for (const BundleIndex n : Indices<BundleIndex>(bundles.count())) {
    const BundleIndex ready = is_early ? bundles.common_part(n, starts_[service].bundle) : n;
    const LevelIndex level = bundles.level[ready];
    const RoomIndex room = bundles.room[n];
    const auto of = [&](bool is_fresh) {
      return is_tail ? served.tail(level, is_fresh) : served.value(level, is_fresh, from, to);
    };
    const double value = (retrains ? (of(true) + of(false)) / 2 : of(true)) / seconds;
    values[room] = std::max(values[room], value);
    // Even where progress is worth nothing: the prices of a block start from the best basis of the previous one.
    for (KindIndex kind(0); kind < case_.rooms.kinds() && retrains; ++kind) {
      const double rate = case_.progress_rate(service, kind);
      const int more = rate > 0 ? case_.rooms.add(room, kind) : kNoRoom;
      if (more != kNoRoom) values[more] = std::max(values[more], value + progress * rate);
    }
  }
  return values;
}

/// Half of the additional value of a fresh model from the middle of an epoch on, with the whole GPU.
void PriceBound::start_progress() {
  const Problem& problem = case_.problem;
  for (const ServiceIndex service : indices_of<ServiceIndex>(services_)) {
    if (!services_[service].retrains()) continue;
    const RetrainingTerms& terms = *problem.services[service].retraining;
    const Bundles& bundles = case_.bundles[service];
    const auto most = std::ranges::max_element(bundles.rate) - bundles.rate.begin();
    const LevelIndex level = bundles.level[BundleIndex(most)];
    for (const EpochIndex epoch : indices_of<EpochIndex>(prices_.progress[service])) {
      const SlotIndex begin = epoch == 0 ? SlotIndex(0) : terms.due_slots[epoch - 1];
      const bool is_last = ix(epoch) == terms.due_slots.size();
      const SlotIndex end = is_last ? case_.end() : terms.due_slots[epoch];
      const SlotIndex middle = begin + (end - begin) / 2;
      double gain = case_.served[service].value(level, true, middle, end) -
                    case_.served[service].value(level, false, middle, end);
      if (is_last) gain += case_.served[service].tail(level, true) - case_.served[service].tail(level, false);
      prices_.progress[service][epoch] = std::max({0.0, gain * kGainShare, is_last ? terms.progress_value : 0.0});
    }
    // Then one price is used for all epochs.
    if (services_[service].keeps_unfinished())
      prices_.progress[service].front() = std::ranges::max(prices_.progress[service]);
  }
}

void PriceBound::set_sums(const Prices& prices) {
  const Rooms& rooms = case_.rooms;
  const int slots = case_.problem.slots;
  const std::size_t blocks = prices.seconds.size();
  std::vector<double> of_room(blocks * ix(rooms.count()));
  for (const PriceBlockIndex block : Indices<PriceBlockIndex>(blocks)) {
    double* now = of_room.data() + ix(block) * ix(rooms.count());
    for (const RoomIndex room : Indices<RoomIndex>(rooms.count())) {
      double sum = 0;
      for (const KindIndex k : Indices<KindIndex>(prices.kinds)) sum += prices.of(block, k) * rooms.count_of(room, k);
      now[room] = sum;
    }
    most_expensive_[block] = kEmptyRoom;
    for (const RoomIndex room : rooms.maximal()) {
      if (now[room] > now[most_expensive_[block]]) most_expensive_[block] = room;
    }
  }
  sums_.rooms = rooms.count();
  sums_.room.resize(ix(slots + 2) * ix(rooms.count()));
  sums_.income.assign(ix(slots + 2), 0);
  std::fill_n(sums_.room.begin(), rooms.count(), 0);
  for (SlotIndex t(0); t <= slots; ++t) {
    const PriceBlockIndex block = prices.block_of[t];
    const double seconds = t < slots ? 1 : prices.seconds[block];
    const double* each = of_room.data() + ix(block) * ix(rooms.count());
    const double* now = sums_.before(t);
    double* next = sums_.room.data() + ix(t + 1) * ix(rooms.count());
    for (const RoomIndex room : Indices<RoomIndex>(rooms.count())) next[room] = now[room] + seconds * each[room];
  }
  for (SlotIndex t = case_.end(); t >= 0; --t) {
    const PriceBlockIndex block = prices.block_of[t];
    const double seconds = t < slots ? 1 : prices.seconds[block];
    sums_.income[t] =
        sums_.income[t + 1] + seconds * of_room[ix(block) * ix(rooms.count()) + ix(most_expensive_[block])];
  }
}

double PriceBound::compute(const Prices& prices, std::span<const double> factors) {
  set_sums(prices);
  double value = sums_.income[case_.first_slot];
  for (const ServiceIndex service : indices_of<ServiceIndex>(services_)) {
    services_[service].compute(prices, sums_, factors);
    value += from(service, case_.first_slot, starts_[service].bundle, starts_[service].state);
  }
  return value;
}

/// The average counts of kinds over the nearly most expensive rooms: there are many of them, and using only the most
/// expensive one would make steps alternate between them.
std::vector<double> PriceBound::supply_of(PriceBlockIndex block) const {
  const auto worth = [&](RoomIndex room) {
    double sum = 0;
    for (const KindIndex k : Indices<KindIndex>(now_.kinds)) sum += now_.of(block, k) * case_.rooms.count_of(room, k);
    return sum;
  };
  const double most = worth(most_expensive_[block]);
  std::vector<double> supply(ix(now_.kinds));
  int count = 0;
  for (const RoomIndex room : case_.rooms.maximal()) {
    if (worth(room) < most * kNearlyMostExpensive) continue;
    ++count;
    for (const KindIndex k : Indices<KindIndex>(now_.kinds)) supply[k] += case_.rooms.count_of(room, k);
  }
  for (double& each : supply) each /= count;
  return supply;
}

PriceBound::Slope PriceBound::slope() const {
  const std::size_t blocks = prices_.seconds.size();
  const std::size_t kinds = ix(prices_.kinds);
  Slope slope;
  slope.kinds.assign(blocks * kinds, 0);
  for (const ServiceIndex service : indices_of<ServiceIndex>(services_)) {
    Usage use{.kinds = std::vector<double>(blocks * kinds),
              .progress = std::vector<double>(ix(services_[service].epochs()))};
    ServicePath(services_[service])
        .trace(!starts_[service].state.is_open(), starts_[service].state.progress, starts_[service].bundle, use);
    for (std::size_t i = 0; i < use.kinds.size(); ++i) slope.kinds[i] -= use.kinds[i];
    for (const double progress : use.progress) slope.norm += progress * progress * retraining_slots_[service];
    slope.progress.push_back(std::move(use.progress));
  }
  for (const PriceBlockIndex block : Indices<PriceBlockIndex>(blocks)) {
    const std::vector<double> supply = supply_of(block);
    for (std::size_t k = 0; k < kinds; ++k) {
      double& each = slope.kinds[ix(block) * kinds + k];
      const double seconds = prices_.seconds[block];
      each = seconds > 0 ? each / seconds + supply[k] : 0;
      slope.norm += each * each * seconds;
    }
  }
  return slope;
}

/// Mixes a part of the last direction into the new one.
void PriceBound::turn(Slope slope) {
  const auto keep = [&](double before, double now) { return kMemory * before + (1 - kMemory) * now; };
  if (direction_.kinds.empty()) {
    direction_ = std::move(slope);
    return;
  }
  direction_.norm = 0;
  for (std::size_t i = 0; i < slope.kinds.size(); ++i) {
    double& each = direction_.kinds[i];
    each = keep(each, slope.kinds[i]);
    direction_.norm += each * each * prices_.seconds[i / ix(prices_.kinds)];
  }
  for (const ServiceIndex service : indices_of<ServiceIndex>(services_)) {
    for (const EpochIndex epoch : indices_of<EpochIndex>(slope.progress[service])) {
      double& each = direction_.progress[service][epoch];
      each = keep(each, slope.progress[service][epoch]);
      direction_.norm += each * each * retraining_slots_[service];
    }
  }
}

void PriceBound::step(const Slope& slope, double length, Prices& prices) const {
  for (std::size_t i = 0; i < prices.kind.size(); ++i) {
    prices.kind[i] = std::max(0.0, prices.kind[i] - length * slope.kinds[i]);
  }
  for (const ServiceIndex service : indices_of<ServiceIndex>(services_)) {
    for (const EpochIndex epoch : indices_of<EpochIndex>(slope.progress[service])) {
      double& price = prices.progress[service][epoch];
      price = std::max(0.0, price - length * slope.progress[service][epoch] * retraining_slots_[service]);
    }
  }
}

void PriceBound::descend(double known, double gap, int rounds) {
  int since_better = 0;
  for (int round = 0; round < rounds && value_ - known > gap; ++round) {
    turn(slope());
    if (direction_.norm <= 0) break;
    step(direction_, share_ * std::max(now_value_ - known, 0.0) / direction_.norm, now_);
    now_value_ = compute(now_, kOneFactor);
    if (now_value_ < value_) {
      value_ = now_value_;
      prices_ = now_;
      since_better = 0;
    } else if (++since_better >= kPatience) {
      share_ *= kShorter;
      since_better = 0;
    }
  }
  now_ = prices_;
  value_ = std::min(value_, compute(prices_, kFactors));
  now_value_ = value_;
}

}  // namespace berth::planner
