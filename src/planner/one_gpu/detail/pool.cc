#include "planner/one_gpu/detail/pool.h"

#include <algorithm>
#include <cstddef>

namespace berth::planner {
namespace {

/// A part of the window and the assumptions for it.
struct PoolStretch {
  SlotIndex from = SlotIndex(0);
  SlotIndex to = SlotIndex(0);
  bool is_fresh = true;
  double progress_factor = 0;
};

/// The best value of a service in a part of the window, for each room.
struct PoolChoice {
  double value = kNever;
  Share share;
};

bool is_stale_in(const RetrainingTerms& terms, SlotIndex from) {
  return terms.is_stale || (!terms.due_slots.empty() && terms.due_slots.front() <= from);
}

/// Slices of each kind that are pinned to a service and can serve it: every configuration that a GPU changes to must
/// hold them, whatever their worth.
std::vector<int> pinned_kinds(const GpuCase& gpu_case, ServiceIndex service) {
  if (gpu_case.gpu.pins.empty()) return {};
  std::vector<int> counts(gpu_case.model.rates.size());
  for (const PinnedSite& pin : gpu_case.gpu.pins) {
    const KindIndex kind = gpu_case.model.sites[pin.site].kind;
    const std::vector<double>& rates = gpu_case.model.rates[kind][service].requests_per_second;
    if (pin.service == service && std::ranges::max(rates) > 0) ++counts[kind];
  }
  return counts;
}

bool holds_pins(const Bundles& bundles, const std::vector<int>& pinned, const Share& share) {
  for (const KindIndex kind : indices_of<KindIndex>(pinned)) {
    int lacking = pinned[kind] - (share.retraining_kind == kind ? 1 : 0);
    for (ItemIndex item(0); ix(item) < bundles.items.size() && lacking > 0; ++item) {
      if (bundles.items[item].kind == kind) lacking -= bundles.count_of(share.bundle, item);
    }
    if (lacking > 0) return false;
  }
  return true;
}

std::vector<PoolChoice> choices_of(const GpuCase& gpu_case, const Prices& prices, ServiceIndex service,
                                   const PoolStretch& stretch) {
  const Bundles& bundles = gpu_case.bundles[service];
  const Served& served = gpu_case.served[service];
  const ServiceTerms& terms = gpu_case.problem.services[service];
  const bool is_fresh = stretch.is_fresh || !terms.retraining || !is_stale_in(*terms.retraining, stretch.from);
  std::vector<PoolChoice> choices(ix(gpu_case.rooms.count()));
  const std::vector<int> pinned = pinned_kinds(gpu_case, service);
  const auto consider = [&](RoomIndex room, double value, const Share& share) {
    PoolChoice& choice = choices[room];
    if (value > choice.value && holds_pins(bundles, pinned, share)) choice = {.value = value, .share = share};
  };
  double price = 0;
  if (!is_fresh && stretch.progress_factor > 0) {
    const std::vector<double>& of_epoch = prices.progress[service];
    price = stretch.progress_factor * *std::ranges::max_element(of_epoch) * (stretch.to - stretch.from);
  }
  for (const BundleIndex bundle : Indices<BundleIndex>(bundles.count())) {
    const LevelIndex level = bundles.level[bundle];
    const RoomIndex room = bundles.room[bundle];
    double value = served.value(level, is_fresh, stretch.from, stretch.to);
    if (stretch.to == gpu_case.problem.slots) value += served.tail(level, is_fresh);
    consider(room, value, {.bundle = bundle, .retraining_kind = kNoKind});
    for (KindIndex kind(0); kind < gpu_case.rooms.kinds() && price > 0; ++kind) {
      const double rate = gpu_case.progress_rate(service, kind);
      const RoomIndex more = rate > 0 ? gpu_case.rooms.add(room, kind) : kNoRoom;
      if (more != kNoRoom) consider(more, value + price * rate, {.bundle = bundle, .retraining_kind = kind});
    }
  }
  return choices;
}

/// A dynamic program over services and the room taken so far.
std::vector<Share> best_shares(const GpuCase& gpu_case, const Prices& prices, const PoolStretch& stretch) {
  struct Reached {
    double value = kNever;
    RoomIndex before = RoomIndex(0);
    Share share;
  };
  const int rooms = gpu_case.rooms.count();
  const int services = static_cast<int>(gpu_case.bundles.size());
  std::vector<std::vector<Reached>> reached_by(ix(services + 1), std::vector<Reached>(ix(rooms)));
  reached_by.front().front().value = 0;
  for (const ServiceIndex service : Indices<ServiceIndex>(services)) {
    const std::vector<PoolChoice> choices = choices_of(gpu_case, prices, service, stretch);
    for (const RoomIndex taken : Indices<RoomIndex>(rooms)) {
      const double before = reached_by[service][taken].value;
      if (before == kNever) continue;
      for (const RoomIndex room : Indices<RoomIndex>(rooms)) {
        if (choices[room].value == kNever) continue;
        const RoomIndex joined = gpu_case.rooms.join(taken, room);
        if (joined == kNoRoom) continue;
        Reached& reached = reached_by[service + 1][joined];
        const double value = before + choices[room].value;
        if (value > reached.value) reached = {.value = value, .before = taken, .share = choices[room].share};
      }
    }
  }
  std::vector<Share> shares(ix(services));
  RoomIndex room(0);
  for (RoomIndex other(1); other < rooms; ++other) {
    if (reached_by.back()[other].value > reached_by.back()[room].value) room = other;
  }
  for (ServiceIndex service(services - 1); service >= 0; --service) {
    const Reached& reached = reached_by[service + 1][room];
    shares[service] = reached.share;
    room = reached.before;
  }
  return shares;
}

std::vector<PoolStretch> stretches_of(const GpuCase& gpu_case) {
  const SlotIndex first = gpu_case.first_slot;
  const int left = gpu_case.problem.slots - first;
  std::vector<PoolStretch> stretches;
  for (const int parts : {1, 2, 4, 8}) {
    for (int part = 0; part < parts && left / parts > 0; ++part) {
      stretches.push_back({.from = first + left * part / parts, .to = first + left * (part + 1) / parts});
    }
  }
  std::vector<SlotIndex> marks = {first, gpu_case.end()};
  for (const ServiceTerms& terms : gpu_case.problem.services) {
    if (!terms.retraining) continue;
    for (const SlotIndex due : terms.retraining->due_slots) {
      if (due > first) marks.push_back(due);
    }
  }
  std::ranges::sort(marks);
  for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
    if (marks[i] < marks[i + 1]) stretches.push_back({.from = marks[i], .to = marks[i + 1]});
  }
  return stretches;
}

}  // namespace

std::vector<std::vector<Share>> make_pool(const GpuCase& gpu_case, const Prices& prices) {
  bool retrains = false;
  for (const ServiceTerms& terms : gpu_case.problem.services) retrains = retrains || terms.retraining.has_value();
  std::vector<std::vector<Share>> pool;
  for (PoolStretch stretch : stretches_of(gpu_case)) {
    pool.push_back(best_shares(gpu_case, prices, stretch));
    stretch.is_fresh = false;
    for (const double factor : {0.0, 1.0, 2.0}) {
      if (!retrains) break;
      stretch.progress_factor = factor;
      pool.push_back(best_shares(gpu_case, prices, stretch));
    }
  }
  std::ranges::sort(pool);
  const auto repeated = std::ranges::unique(pool);
  pool.erase(repeated.begin(), repeated.end());
  return pool;
}

}  // namespace berth::planner
