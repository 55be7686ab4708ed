#include "purchase/spot/optimal.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>

namespace berth::purchase {
namespace {

/// The wants of many ways, each as runs of one want, with the beginnings that they have in common stored once.
class Wants {
 public:
  /// A run of one want, behind another run; it lasts until the next one of a way begins, or until the way's tick.
  using RunIndex = std::uint32_t;
  static constexpr RunIndex kNone = 0;

  /// The way that wants this from a tick on, behind another way.
  [[nodiscard]] RunIndex extended(RunIndex way, Holding want, std::int64_t tick) {
    if (way != kNone && runs_[way].want == want) return way;
    runs_.push_back({.want = want, .from_tick = tick, .before = way});
    return static_cast<RunIndex>(runs_.size() - 1);
  }

  /// The wants of the ticks before this one.
  [[nodiscard]] std::vector<Holding> up_to(RunIndex way, std::int64_t tick) const {
    std::vector<Holding> wants(static_cast<std::size_t>(tick));
    for (; way != kNone; way = runs_[way].before) {
      for (; tick > runs_[way].from_tick; --tick) wants[static_cast<std::size_t>(tick - 1)] = runs_[way].want;
    }
    return wants;
  }

  [[nodiscard]] bool is_crowded() const { return runs_.size() > crowded_; }

  /// Forgets the runs of ways that nobody holds any more; `each` visits the ones that are held, by reference.
  template <class EachWay>
  void compact(const EachWay& each) {
    std::vector<RunIndex> place(runs_.size(), kNone);
    each([&](RunIndex way) {
      for (; way != kNone && place[way] == kNone; way = runs_[way].before) place[way] = way;
    });
    RunIndex kept = 1;
    for (RunIndex run = 1; run < runs_.size(); ++run) {  // one before another has the lower index
      if (place[run] == kNone) continue;
      runs_[kept] = runs_[run];
      runs_[kept].before = place[runs_[run].before];
      place[run] = kept++;
    }
    runs_.resize(kept);
    each([&](RunIndex& way) { way = place[way]; });
    crowded_ = std::max(kCrowdedMin, 2 * runs_.size());
  }

 private:
  struct Run {
    Holding want;
    std::int64_t from_tick = 0;
    RunIndex before = kNone;
  };
  static constexpr std::size_t kCrowdedMin = 1U << 16U;

  std::vector<Run> runs_ = {{}};  ///< the first one stands for none
  std::size_t crowded_ = kCrowdedMin;
};

/// A way to the beginning of a tick.
struct Way {
  Holding type;                      ///< held in the tick before
  std::int64_t restart_seconds = 0;  ///< RunState::restart_seconds
  std::int64_t done_seconds = 0;
  std::int64_t cost = 0;  ///< the prices per hour of the ticks so far, summed
  Wants::RunIndex wants = Wants::kNone;
};

/// A way one tick further.
struct Step {
  Way way;               ///< but for its wants, which are those of the way before
  Holding want;          ///< in this tick
  std::uint32_t parent;  ///< the way before, among those kept
};

class Search {
 public:
  Search(const Market& market, const SpotJob& job, const SpotPrices& prices)
      : market_(market), math_{.job = job, .tick_seconds = market.tick_seconds}, prices_(prices) {}

  std::vector<Holding> cheapest() {
    std::vector<Way> ways = {Way{}};
    std::vector<Step> steps;
    for (std::int64_t tick = 0; !ways.empty(); ++tick) {
      steps.clear();
      continue_ways(ways, tick, steps);
      keep_undominated(steps, tick, ways);
      if (wants_.is_crowded()) compact(ways);
    }
    return best_ ? wants_.up_to(best_->wants, best_->tick) : std::vector<Holding>();
  }

 private:
  struct End {
    std::int64_t tick = 0;
    std::int64_t cost = std::numeric_limits<std::int64_t>::max();
    Wants::RunIndex wants = Wants::kNone;
  };

  /// All ways one tick further. Those that are done end here.
  void continue_ways(const std::vector<Way>& ways, std::int64_t tick, std::vector<Step>& steps) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const Way& way = ways[i];
      if (way.done_seconds < math_.job.task_seconds) {
        append_choices(way, tick, static_cast<std::uint32_t>(i), steps);
      } else if (!best_ || way.cost < best_->cost) {
        best_ = End{.tick = tick, .cost = way.cost, .wants = way.wants};
      }
    }
  }

  void append_choices(const Way& way, std::int64_t tick, std::uint32_t parent, std::vector<Step>& steps) const {
    // The next tick begins behind the deadline: whatever is done in this one comes too late or ends just in time.
    if (math_.ticks_left(tick) <= 0) return;
    const bool has_gone = way.type.hold == Hold::kSpot && !market_.has(way.type.zone, tick);
    const RunState state{.tick = tick,
                         .type = way.type,
                         .held = has_gone ? kNothing : way.type,
                         .restart_seconds = way.restart_seconds,
                         .done_seconds = way.done_seconds};
    const auto append = [&](Holding want) {
      const Holding now = granted(math_, market_, state, want);
      const RunState next = math_.after(state, now);
      steps.push_back({.way = {.type = next.type,
                               .restart_seconds = next.restart_seconds,
                               .done_seconds = next.done_seconds,
                               .cost = way.cost + price_of(now),
                               .wants = way.wants},
                       .want = want,
                       .parent = parent});
    };
    append(kNothing);
    if (math_.is_guarded(state)) return;
    append(kOnDemandInstance);
    for (std::size_t zone = 0; zone < market_.zone_count(); ++zone) {
      if (market_.has(zone, tick)) append(spot_in(zone));
    }
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

  /// Of ways with one holding and restart those that cost less than all which have done at least as much, and than the
  /// best.
  void keep_undominated(std::vector<Step>& steps, std::int64_t tick, std::vector<Way>& kept) {
    const auto group = [](const Way& way) {
      return std::tuple(way.type.hold, way.type.zone, way.type.hold == Hold::kNone ? 0 : way.restart_seconds);
    };
    std::ranges::sort(steps, {}, [&](const Step& step) {
      return std::tuple(group(step.way), -step.way.done_seconds, step.way.cost, step.parent);
    });
    kept.clear();
    for (const Step& step : steps) {
      if (best_ && step.way.cost >= best_->cost) continue;
      const bool is_dominated =
          !kept.empty() && group(kept.back()) == group(step.way) && step.way.cost >= kept.back().cost;
      if (is_dominated) continue;
      kept.push_back(step.way);
      kept.back().wants = wants_.extended(step.way.wants, step.want, tick);
    }
  }

  void compact(std::vector<Way>& ways) {
    wants_.compact([&](const auto& visit) {
      for (Way& way : ways) visit(way.wants);
      if (best_) visit(best_->wants);
    });
  }

  const Market& market_;
  TickMath math_;
  SpotPrices prices_;
  Wants wants_;
  std::optional<End> best_;
};

}  // namespace

std::vector<Holding> cheapest_wants(const Market& market, const SpotJob& job, const SpotPrices& prices) {
  return Search(market, job, prices).cheapest();
}

}  // namespace berth::purchase
