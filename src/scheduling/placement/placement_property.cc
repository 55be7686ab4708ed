// Random lists: every placement is legal, no pod that fits is refused, and the tournaments choose the node that a scan
// of all nodes would choose.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <numeric>

#include "scheduling/placement/idle_capacity.h"
#include "scheduling/placement/rivals.h"
#include "scheduling/placement/run.h"
#include "scheduling/placement/slices.h"
#include "scheduling/placement/testing/small_lists.h"

namespace berth::placement {
namespace {

/// Whether a pod could be placed somewhere, by trying every node, GPU and start.
bool fits_somewhere(const Cluster& cluster, const Shape& shape) {
  for (const NodeIndex node : Indices<NodeIndex>(cluster.node_count())) {
    const NodeState& state = cluster.state(node);
    if (shape.slices.empty()) {
      if (fits(state, shape)) return true;
      continue;
    }
    if (!has_room_beside_gpus(state, shape)) continue;
    for (int gpu = 0; gpu < state.gpu_count; ++gpu) {
      for (std::size_t i = 0; i < shape.slices.size(); ++i) {
        if (slice_spot(cluster, node, gpu, shape, i)) return true;
      }
    }
  }
  return false;
}

/// The node that a policy must choose, by scoring all nodes.
std::optional<NodeIndex> best_by_hand(const Cluster& cluster, const Shape& shape, Policy policy) {
  std::optional<NodeIndex> best;
  NodeScore best_score = kNoFit;
  for (const NodeIndex node : Indices<NodeIndex>(cluster.node_count())) {
    const NodeState& state = cluster.state(node);
    if (!fits(state, shape)) continue;
    const NodeScore score = policy == Policy::kDotProduct ? dot_product_score(state, shape)
                            : policy == Policy::kBestFit  ? best_fit_score(state, shape)
                            : policy == Policy::kPacking  ? packing_score(state, shape)
                                                          : clustering_score(state, cluster.pods_by_gpus(node), shape);
    if (score <= best_score) continue;
    best = node;
    best_score = score;
  }
  return best;
}

/// Replays the decisions of a run on a cluster of its own, and checks each before it takes effect.
class Recheck {
 public:
  Recheck(const Problem& problem, const Arrivals& arrivals, Policy policy)
      : problem_(problem), arrivals_(arrivals), cluster_(problem, arrivals.node_order), policy_(policy) {}

  RunListener listener() {
    return {.decided = [this](const Cluster&, const Decision& decision) { check(decision); },
            .left = [this](std::int64_t decision) { leave(static_cast<std::size_t>(decision)); }};
  }

 private:
  void leave(std::size_t decision) {
    RC_ASSERT(spots_[decision].has_value());
    cluster_.remove(*spots_[decision], problem_.shape_of(arrivals_.rows[decision]));
    spots_[decision].reset();
  }

  void check(const Decision& decision) {
    const Shape& shape = problem_.shape_of(decision.row);
    RC_ASSERT(decision.row == arrivals_.rows[spots_.size()]);
    if (decision.spot) {
      RC_ASSERT(!is_failed_);
      RC_ASSERT(std::popcount(decision.spot->gpus) == shape.gpu_count);
      check_choice(decision, shape);
      cluster_.place(*decision.spot, shape);  // ensures that everything was free
    } else if (!is_failed_) {
      RC_ASSERT(!fits_somewhere(cluster_, shape));
      is_failed_ = true;
    }
    spots_.push_back(decision.spot);
    undone_.push_back(decision.is_undone);
    if (++in_batch_ == arrivals_.batches[batch_].count) end_batch();
  }

  /// If one of the pods fits nowhere, none is placed.
  void end_batch() {
    for (std::size_t i = spots_.size() - static_cast<std::size_t>(in_batch_); i < spots_.size(); ++i) {
      RC_ASSERT(undone_[i] == (is_failed_ && spots_[i].has_value()));
      if (undone_[i]) leave(i);
    }
    ++batch_;
    in_batch_ = 0;
    is_failed_ = false;
  }

  void check_choice(const Decision& decision, const Shape& shape) const {
    if (policy_ != Policy::kDotProduct && policy_ != Policy::kBestFit && policy_ != Policy::kPacking &&
        policy_ != Policy::kClustering) {
      return;
    }
    RC_ASSERT(best_by_hand(cluster_, shape, policy_) == decision.spot->node);
    RC_ASSERT(decision.spot->gpus == usual_gpus(cluster_.state(decision.spot->node), shape));
  }

  const Problem& problem_;
  const Arrivals& arrivals_;
  Cluster cluster_;
  Policy policy_;
  std::vector<std::optional<Spot>> spots_;
  std::vector<bool> undone_;
  std::size_t batch_ = 0;
  int in_batch_ = 0;
  bool is_failed_ = false;
};

/// Every idle milli has one cause for each row in question, and the cluster is unchanged.
void check_idle(Cluster& cluster) {
  const Problem& problem = cluster.problem();
  UsableByNode usable;
  const IdleCapacity idle = idle_capacity(cluster, asked_rows(problem), &usable);
  RC_ASSERT(std::accumulate(idle.milli_rows.begin(), idle.milli_rows.end(), std::int64_t{0}) ==
            idle.idle_milli * idle.rows);
  RC_ASSERT(idle.idle_milli == problem.capacity_milli() - cluster.used_unit_milli());  // units divide 1000 here
  RC_ASSERT(std::accumulate(usable.begin(), usable.end(), std::int64_t{0}) ==
            idle.of(IdleCause::kUsable) + idle.of(IdleCause::kGang));
  RC_ASSERT(idle_capacity(cluster, asked_rows(problem)).milli_rows == idle.milli_rows);
}

void check_run(std::uint64_t seed, bool has_cuts, bool is_churning) {
  const Problem problem = testing::random_problem(Rng(seed), has_cuts);
  if (problem.capacity_milli() == 0) return;
  const auto arrivals =
      is_churning ? churning_arrivals(problem, Decimal(13, 10), seed) : Result<Arrivals>(given_arrivals(problem));
  if (!arrivals) return;
  for (const Policy policy : policies_for(problem.has_cuts(), true)) {
    Recheck recheck(problem, *arrivals, policy);
    RunListener listener = recheck.listener();
    listener.ended = check_idle;
    const auto figures = run_placement(problem, *arrivals, {.policy = policy, .seed = seed}, listener);
    RC_ASSERT(figures.has_value());
  }
}

RC_GTEST_PROP(Placement, IsLegalAndRefusesNothingThatFits, (std::uint64_t seed, bool is_churning)) {
  check_run(seed, false, is_churning);
}

RC_GTEST_PROP(Placement, OfSlicesIsLegalAndRefusesNothingThatFits, (std::uint64_t seed, bool is_churning)) {
  check_run(seed, true, is_churning);
}

}  // namespace
}  // namespace berth::placement
