#include "purchase/spot/optimal.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

namespace berth::purchase {
namespace {

/// A way to the beginning of a tick; `held` of its state is not set.
struct Way {
  RunState state;
  Holding want;            ///< in the tick before
  std::int64_t cost = 0;   ///< the prices per hour of the ticks so far, summed
  std::size_t parent = 0;  ///< the way at the tick before, among those kept
};

class Search {
 public:
  Search(const Market& market, const SpotJob& job, const SpotPrices& prices)
      : market_(market), math_{.job = job, .tick_seconds = market.tick_seconds}, prices_(prices) {}

  std::vector<Holding> cheapest() {
    kept_.push_back({Way{}});
    while (!kept_.back().empty()) {
      std::vector<Way> next = continued(kept_.back());
      kept_.push_back(without_dominated(std::move(next)));
    }
    return best_ ? wants_of(*best_) : std::vector<Holding>();
  }

 private:
  struct End {
    std::size_t tick = 0;
    std::size_t index = 0;
    std::int64_t cost = std::numeric_limits<std::int64_t>::max();
  };

  /// All ways one tick further. Those that are done, or cannot beat the best, end here.
  std::vector<Way> continued(const std::vector<Way>& ways) {
    std::vector<Way> next;
    const std::size_t tick = kept_.size() - 1;
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const Way& way = ways[i];
      if (way.state.done_seconds == math_.job.task_seconds) {
        if (!best_ || way.cost < best_->cost) best_ = End{.tick = tick, .index = i, .cost = way.cost};
        continue;
      }
      append_choices(way, i, next);
    }
    return next;
  }

  void append_choices(const Way& way, std::size_t parent, std::vector<Way>& next) const {
    // This tick ends after the deadline, so whatever is done in it comes too late.
    if (math_.ticks_left(way.state.tick) <= 0) return;
    RunState state = way.state;
    const bool has_gone = state.type.hold == Hold::kSpot && !market_.has(state.type.zone, state.tick);
    state.held = has_gone ? kNothing : state.type;
    if (math_.is_guarded(state)) return append(way, state, parent, kNothing, next);
    append(way, state, parent, kNothing, next);
    append(way, state, parent, kOnDemandInstance, next);
    for (std::size_t zone = 0; zone < market_.zone_count(); ++zone) {
      if (market_.has(zone, state.tick)) append(way, state, parent, spot_in(zone), next);
    }
  }

  void append(const Way& way, const RunState& state, std::size_t parent, Holding want, std::vector<Way>& next) const {
    const Holding now = granted(math_, market_, state, want);
    next.push_back(
        {.state = math_.after(state, now), .want = want, .cost = way.cost + price_of(now), .parent = parent});
  }

  [[nodiscard]] std::int64_t price_of(Holding now) const {
    switch (now.hold) {
      case Hold::kNone:
        return 0;
      case Hold::kSpot:
        return prices_.spot_micro_usd;
      case Hold::kOnDemand:
        return prices_.on_demand_micro_usd;
    }
    return 0;
  }

  /// Among ways with the same holding and restart, keeps those cheaper than all others that have done at least as much.
  [[nodiscard]] std::vector<Way> without_dominated(std::vector<Way> ways) const {
    const auto group = [](const Way& way) {
      return std::tuple(way.state.type.hold, way.state.type.zone,
                        way.state.type.hold == Hold::kNone ? 0 : way.state.restart_seconds);
    };
    std::sort(ways.begin(), ways.end(), [&](const Way& a, const Way& b) {
      return std::tuple(group(a), -a.state.done_seconds, a.cost, a.parent) <
             std::tuple(group(b), -b.state.done_seconds, b.cost, b.parent);
    });
    std::vector<Way> kept;
    for (const Way& way : ways) {
      if (best_ && way.cost >= best_->cost) continue;
      if (kept.empty() || group(kept.back()) != group(way) || way.cost < kept.back().cost) kept.push_back(way);
    }
    return kept;
  }

  [[nodiscard]] std::vector<Holding> wants_of(const End& end) const {
    std::vector<Holding> wants(end.tick);
    std::size_t index = end.index;
    for (std::size_t tick = end.tick; tick > 0; --tick) {
      const Way& way = kept_[tick][index];
      wants[tick - 1] = way.want;
      index = way.parent;
    }
    return wants;
  }

  const Market& market_;
  TickMath math_;
  SpotPrices prices_;
  std::vector<std::vector<Way>> kept_;  ///< by tick
  std::optional<End> best_;
};

}  // namespace

std::vector<Holding> cheapest_wants(const Market& market, const SpotJob& job, const SpotPrices& prices) {
  return Search(market, job, prices).cheapest();
}

}  // namespace berth::purchase
