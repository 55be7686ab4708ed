#include "planner/one_gpu/detail/one_gpu_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/core/ensure.h"
#include "planner/one_gpu/detail/joint_bound.h"

namespace berth::planner {
namespace {

/// Share of the bound: a dive waits if that costs no more.
constexpr double kWaits = 3e-5;

}  // namespace

OneGpuSearch::OneGpuSearch(const GpuCase& gpu_case)
    : state_(gpu_case), dominance_(gpu_case, state_.labels), expansion_(state_), local_search_(state_) {}

std::vector<ServiceStart> OneGpuSearch::starts() const {
  std::vector<ServiceStart> starts;
  const Label& root = state_.labels.root();
  for (const ServiceIndex service : Indices<ServiceIndex>(state_.services())) {
    starts.push_back(
        {.bundle = state_.labels.share_of(root, service).bundle, .state = state_.labels.state_of(root, service)});
  }
  return starts;
}

void OneGpuSearch::start(const PassLimits& limits) {
  ENSURE(state_.bound.bounding() != Bounding::kNone);
  ENSURE(limits.width > 0 && limits.stride > 0);
  state_.restart_pass(limits);
  expansion_.restart();
}

void OneGpuSearch::pass(const PassLimits& limits) {
  if (value_before() == kNever) return;
  start(limits);
  std::vector<LabelIndex> alive;
  const GpuCase& gpu_case = state_.gpu_case;
  for (SlotIndex t = gpu_case.first_slot; t < gpu_case.end(); ++t) {
    const std::vector<LabelIndex>& arrived = state_.arrivals[t];
    alive.insert(alive.end(), arrived.begin(), arrived.end());
    select(alive, t);
    state_.arrived_now.clear();
    for (const LabelIndex label : alive) {
      if (begins_changes(t)) {
        expansion_.expand(label, t);
      } else if (gpu_case.can_change(t)) {
        state_.budget.leave_out(state_.labels[label].bound);
      }
    }
    if (!state_.arrived_now.empty()) {
      alive.insert(alive.end(), state_.arrived_now.begin(), state_.arrived_now.end());
      select(alive, t);
    }
    hold(alive, t);
  }
  // Only a root without any possible change arrives there.
  alive.insert(alive.end(), state_.arrivals.back().begin(), state_.arrivals.back().end());
  for (const LabelIndex label : alive) state_.finish(state_.labels[label]);
}

bool OneGpuSearch::begins_changes(SlotIndex t) const {
  const GpuCase& gpu_case = state_.gpu_case;
  if (!gpu_case.can_change(t)) return false;
  if ((t - gpu_case.first_slot) % state_.budget.limits().stride == 0) return true;
  const auto is_due = [&](const ServiceTerms& terms) {
    return terms.retraining && std::ranges::binary_search(terms.retraining->due_slots, t);
  };
  return std::ranges::any_of(gpu_case.problem.services, is_due);
}

/// Drops labels that cannot be better than the best known schedule, those covered by others, and those beyond the
/// width.
void OneGpuSearch::select(std::vector<LabelIndex>& labels, SlotIndex t) {
  std::erase_if(labels, [&](LabelIndex number) {
    Label& label = state_.labels[number];
    label.bound = std::min(label.bound, state_.bound.of(label, t, true, state_.cutoff()));
    return !(label.bound > state_.cutoff());
  });
  state_.budget.count(static_cast<std::int64_t>(labels.size()));
  drop_covered(labels, t);
  if (labels.size() > ix(state_.budget.limits().width)) keep_most_promising(labels, t);
}

/// A label is compared with those that are equal up to symmetries of the GPU and worth at least as much so far.
void OneGpuSearch::drop_covered(std::vector<LabelIndex>& labels, SlotIndex t) const {
  const auto alike = [&](LabelIndex label) { return state_.labels.arrangement_of(state_.labels[label]).alike; };
  std::ranges::sort(labels, [&](LabelIndex a, LabelIndex b) {
    if (alike(a) != alike(b)) return alike(a) < alike(b);
    if (state_.labels[a].value != state_.labels[b].value) return state_.labels[a].value > state_.labels[b].value;
    return a < b;
  });
  std::vector<LabelIndex> kept;
  kept.reserve(labels.size());
  std::size_t group = 0;  // in `kept`, the first equal one
  for (const LabelIndex label : labels) {
    if (!kept.empty() && alike(kept[group]) != alike(label)) group = kept.size();
    bool is_covered = false;
    for (std::size_t i = group; i < kept.size() && !is_covered; ++i) {
      is_covered = dominance_.covers(state_.labels[kept[i]], state_.labels[label], t);
    }
    if (!is_covered) kept.push_back(label);
  }
  labels = std::move(kept);
}

/// Keeps the labels with the largest bounds, and those with the highest worth without further changes: the bound alone
/// prefers labels whose changes have not caused their costs yet.
void OneGpuSearch::keep_most_promising(std::vector<LabelIndex>& labels, SlotIndex t) {
  const auto by_bound = [&](LabelIndex a, LabelIndex b) {
    const double bound_a = state_.labels[a].bound;
    const double bound_b = state_.labels[b].bound;
    return bound_a != bound_b ? bound_a > bound_b : a < b;
  };
  std::ranges::sort(labels, by_bound);
  const std::size_t width = ix(state_.budget.limits().width);
  const std::size_t first = width / 2;
  const std::size_t others = width - first;
  std::vector<std::pair<double, LabelIndex>> staying;
  staying.reserve(labels.size() - first);
  for (std::size_t i = first; i < labels.size(); ++i) {
    staying.emplace_back(-state_.labels.value_if_staying(state_.labels[labels[i]], t), labels[i]);
  }
  std::ranges::sort(staying);
  labels.resize(first);
  for (std::size_t i = 0; i < staying.size(); ++i) {
    if (i < others) {
      labels.push_back(staying[i].second);
    } else {
      state_.budget.leave_out(state_.labels[staying[i].second].bound);
    }
  }
  std::ranges::sort(labels, by_bound);
}

/// Advances labels by one slot without a change, if the configuration allows it.
void OneGpuSearch::hold(std::vector<LabelIndex>& labels, SlotIndex t) {
  std::erase_if(labels, [&](LabelIndex label) { return !state_.labels.may_stay(state_.labels[label], t, t + 1); });
  for (const LabelIndex number : labels) {
    Label& label = state_.labels[number];
    if (state_.bound.has_joint() && state_.labels.has_spare(label, t)) {
      label.bound = std::min(label.bound, state_.bound.of(label, t, false, state_.cutoff()));
    }
    state_.labels.hold(number, t);
  }
}

/// One path through the window: whenever waiting would lower the joint bound, makes the change that keeps most of it,
/// if that is at most a share `patience` of the bound below the bound of waiting.
void OneGpuSearch::dive(double patience, const PassLimits& limits) {
  if (value_before() == kNever) return;
  start(limits);
  ENSURE(state_.bound.bounding() == Bounding::kJoint);
  LabelIndex now(0);
  for (SlotIndex t = state_.gpu_case.first_slot; t < state_.gpu_case.end();) {
    Label& label = state_.labels[now];
    label.bound = state_.bound.of(label, t, true, state_.cutoff());
    if (!(label.bound > state_.cutoff())) return;
    const LabelIndex child = state_.gpu_case.can_change(t) ? best_child(now, t, patience) : kNoLabel;
    if (child != kNoLabel) {
      now = child;
      t = state_.labels[child].ready;
      if (t > state_.labels[child].begin) continue;
    }
    std::vector<LabelIndex> one = {now};
    hold(one, t);
    if (one.empty()) return;
    ++t;
  }
  state_.finish(state_.labels[now]);
}

/// The child with which a dive continues; kNoLabel: it waits.
LabelIndex OneGpuSearch::best_child(LabelIndex number, SlotIndex t, double patience) {
  const Label& label = state_.labels[number];
  const StateIndex state = state_.bound.joint_state(label.arrangement, state_.labels.arrangement_of(label).shares);
  const double bound = label.bound;
  const double loss = state_.bound.joint().loss_of_waiting(t, state);
  if (!(loss > kWaits * std::abs(bound))) return kNoLabel;
  const LabelIndex first(state_.labels.count());
  expansion_.expand(number, t);
  double least = bound - loss;
  for (LabelIndex child = first; child < state_.labels.count(); ++child) {
    least = std::max(least, state_.labels[child].bound);
  }
  return most_worth_staying(first, least - patience * std::abs(bound));
}

/// Among the labels from `first` on with a bound of at least `least`, the one that is worth most without further
/// changes.
LabelIndex OneGpuSearch::most_worth_staying(LabelIndex first, double least) const {
  LabelIndex best = kNoLabel;
  double most = kNever;
  for (LabelIndex child = first; child < state_.labels.count(); ++child) {
    if (state_.labels[child].bound < least) continue;
    const double value = state_.labels.value_if_staying(state_.labels[child], state_.labels[child].ready);
    if (value > most) best = child;
    most = std::max(most, value);
  }
  return best;
}

}  // namespace berth::planner
