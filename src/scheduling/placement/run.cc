#include "scheduling/placement/run.h"

#include <utility>
#include <variant>

#include "base/core/rng.h"
#include "scheduling/placement/course.h"
#include "scheduling/placement/fragmentation.h"
#include "scheduling/placement/placer.h"

namespace berth::placement {
namespace {

constexpr std::int64_t kArrivalsPerProgress = 1024;
constexpr double kWholePercent = 100.0;

/// The mean share of a capacity, in percent.
class MeanShare {
 public:
  void add(std::int64_t part) {
    sum_ += part;
    ++count_;
  }
  [[nodiscard]] std::optional<double> percent_of(std::int64_t capacity) const {
    if (count_ == 0) return std::nullopt;
    return kWholePercent * static_cast<double>(sum_) / (static_cast<double>(count_) * static_cast<double>(capacity));
  }

 private:
  std::int64_t sum_ = 0;
  std::int64_t count_ = 0;
};

class Run {
 public:
  Run(const Problem& problem, const Arrivals& arrivals, const RunOptions& options, const RunListener& listener)
      : problem_(problem),
        arrivals_(arrivals),
        listener_(listener),
        moves_max_(problem.has_cuts() && options.policy == Policy::kBerth ? options.moves_max : 0),
        cluster_(problem, arrivals.node_order),
        placer_(make_placer(options.policy, cluster_, Rng(options.seed))),
        movable_(cluster_) {
    spots_.reserve(arrivals.rows.size());
  }

  std::optional<RunFigures> run() {
    std::size_t next = 0;
    for (std::size_t i = 0; i < arrivals_.batches.size(); ++i) {
      const Batch& batch = arrivals_.batches[i];
      let_leave(static_cast<std::int64_t>(next));
      decide(batch, next);
      next += static_cast<std::size_t>(batch.count);
      measure(batch, static_cast<std::int64_t>(next));
      if (static_cast<std::int64_t>(i) % kArrivalsPerProgress == 0 && !goes_on(next)) return std::nullopt;
    }
    RunFigures whole = figures();
    if (listener_.ended) listener_.ended(cluster_);
    return whole;
  }

 private:
  [[nodiscard]] bool goes_on(std::size_t decided) const {
    if (!listener_.progressed) return true;
    return listener_.progressed(static_cast<double>(decided) / static_cast<double>(arrivals_.rows.size()));
  }

  void touch(NodeIndex node) {
    std::visit([&](auto& placer) { placer.touch(node); }, placer_);
  }
  void place(const Spot& spot, const Shape& shape) {
    cluster_.place(spot, shape);
    touch(spot.node);
  }
  void remove(const Spot& spot, const Shape& shape) {
    cluster_.remove(spot, shape);
    touch(spot.node);
  }

  void let_leave(std::int64_t arrival) {
    for (; next_departure_ < arrivals_.departures.size(); ++next_departure_) {
      const Departure& departure = arrivals_.departures[next_departure_];
      if (departure.before > arrival) return;
      const auto decision = static_cast<std::size_t>(departure.decision);
      if (!spots_[decision]) continue;
      if (moves_max_ > 0) movable_.remove(lying(decision));
      remove(*spots_[decision], problem_.shape_of(arrivals_.rows[decision]));
      if (listener_.left) listener_.left(departure.decision);
    }
  }

  [[nodiscard]] Lying lying(std::size_t decision) const {
    return {.decision = static_cast<std::int64_t>(decision),
            .shape = problem_.shape_of_pod[static_cast<std::size_t>(arrivals_.rows[decision])],
            .spot = *spots_[decision]};
  }

  /// Decides one pod, timed: returns its spot and updates the state.
  std::optional<Spot> decide_one(std::int32_t row) {
    const ShapeIndex shape = problem_.shape_of_pod[static_cast<std::size_t>(row)];
    const std::int64_t begin = listener_.clock ? listener_.clock() : 0;
    std::optional<Spot> spot = std::visit([&](auto& placer) { return placer.choose(shape); }, placer_);
    if (spot) {
      place(*spot, problem_.shape_of(row));
    } else if (moves_max_ > 0) {
      spot = move_others(shape);
    }
    if (listener_.clock) figures_.decision_ns.push_back(static_cast<std::uint32_t>(listener_.clock() - begin));
    return spot;
  }

  /// Places a pod that fits nowhere by moving slices, if possible.
  std::optional<Spot> move_others(ShapeIndex shape) {
    const auto room = make_room(
        clearances_for(cluster_, movable_, shape, moves_max_), problem_.shapes[static_cast<std::size_t>(shape)],
        {.cluster = &cluster_,
         .touch = [this](NodeIndex node) { touch(node); },
         .choose_again =
             [this](const Lying& pod, const Spot& kept_free) {
               return std::get<BerthPlacer>(placer_).choose_again(pod.shape, pod.spot, kept_free);
             },
         .choose = [this, shape] { return std::get<BerthPlacer>(placer_).choose_anew(shape); }});
    if (!room) return std::nullopt;
    for (const Move& move : room->moves) {
      const auto decision = static_cast<std::size_t>(move.decision);
      movable_.remove(lying(decision));
      spots_[decision] = move.spot;
      movable_.add(lying(decision));
      moves_of_batch_.emplace_back(spots_.size(), move);
    }
    figures_.moves += std::ssize(room->moves);
    return room->spot;
  }

  void decide(const Batch& batch, std::size_t first) {
    const std::size_t begin = spots_.size();
    bool is_failed = false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(batch.count); ++i) {
      const std::int32_t row = arrivals_.rows[first + i];
      demand_milli_ += problem_.shape_of(row).demand_milli();
      spots_.push_back(is_failed ? std::nullopt : decide_one(row));
      is_failed = is_failed || !spots_.back();
    }
    if (is_failed) figures_.failed += batch.count;
    report(first, begin, is_failed);
    if (!is_failed) return keep(begin);
    for (std::size_t i = spots_.size(); i > begin; --i) {
      if (spots_[i - 1]) remove(*spots_[i - 1], problem_.shape_of(arrivals_.rows[i - 1]));
      spots_[i - 1].reset();
    }
  }

  /// Makes the pods of a placed batch movable from now on.
  void keep(std::size_t begin) {
    if (moves_max_ == 0) return;
    for (std::size_t i = begin; i < spots_.size(); ++i) movable_.add(lying(i));
  }

  /// Reports the decisions of a batch, each after the moves made for it.
  void report(std::size_t first, std::size_t begin, bool is_failed) {
    const std::vector<std::pair<std::size_t, Move>> moves = std::exchange(moves_of_batch_, {});
    if (!listener_.decided) return;
    std::size_t reported = 0;
    for (std::size_t i = begin; i < spots_.size(); ++i) {
      for (; reported < moves.size() && moves[reported].first <= i; ++reported) {
        if (listener_.moved) listener_.moved(cluster_, moves[reported].second);
      }
      listener_.decided(cluster_, {.row = arrivals_.rows[first + i - begin],
                                   .spot = spots_[i],
                                   .is_undone = is_failed && spots_[i].has_value()});
    }
  }

  void measure(const Batch& batch, std::int64_t decided) {
    const std::int64_t allocated = cluster_.used_milli();
    const std::int64_t units = cluster_.used_unit_milli();
    const std::int64_t demand = rounded_percent(demand_milli_, problem_.capacity_milli());
    if (listener_.measured) {
      listener_.measured(
          {.arrivals = decided, .batch = batch.count, .demand_milli = demand_milli_, .used_milli = allocated});
    }
    for (int i = 0; i < batch.count; ++i) {
      if (arrivals_.is_churning) {
        if (decided - 1 < arrivals_.measured_from) continue;
        churn_.add(allocated);
        churn_units_.add(units);
      } else if (demand == 100) {
        at_100_.add(allocated);
      } else if (demand == 130) {
        at_130_.add(allocated);
        units_130_.add(units);
      }
    }
  }

  RunFigures figures() {
    const std::int64_t capacity = problem_.capacity_milli();
    figures_.allocated_at_100 = at_100_.percent_of(capacity);
    figures_.allocated_at_130 = at_130_.percent_of(capacity);
    figures_.allocated_churn = churn_.percent_of(capacity);
    if (problem_.has_cuts()) {
      figures_.units_at_130 = units_130_.percent_of(capacity);
      figures_.units_churn = churn_units_.percent_of(capacity);
    } else {
      figures_.fragmented = fragmented_percent();
    }
    return std::move(figures_);
  }

  [[nodiscard]] double fragmented_percent() const {
    Fragmentation fragmentation(problem_);
    std::int64_t sum = 0;
    for (const NodeIndex node : Indices<NodeIndex>(cluster_.node_count()))
      sum += fragmentation.of(cluster_.state(node));
    return kWholePercent * static_cast<double>(sum) /
           (static_cast<double>(fragmentation.rows()) * static_cast<double>(problem_.capacity_milli()));
  }

  const Problem& problem_;
  const Arrivals& arrivals_;
  const RunListener& listener_;
  int moves_max_;
  Cluster cluster_;
  Placer placer_;
  MovablePods movable_;
  std::vector<std::pair<std::size_t, Move>> moves_of_batch_;  ///< with the decision for which each was made
  std::vector<std::optional<Spot>> spots_;                    ///< by decision; absent: failed
  std::size_t next_departure_ = 0;
  std::int64_t demand_milli_ = 0;
  MeanShare at_100_;
  MeanShare at_130_;
  MeanShare units_130_;
  MeanShare churn_;
  MeanShare churn_units_;
  RunFigures figures_ = {};
};

}  // namespace

std::optional<RunFigures> run_placement(const Problem& problem, const Arrivals& arrivals, const RunOptions& options,
                                        const RunListener& listener) {
  return Run(problem, arrivals, options, listener).run();
}

}  // namespace berth::placement
